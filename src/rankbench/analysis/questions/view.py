"""The view of a campaign: all that was measured and what it says, with the lookups that its readers share. Pure.

Findings, plots, tables, reports and exports read the same view. It holds no words: those are made where they are shown.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import numpy as np
import polars as pl

from rankbench.analysis.questions import case_labels, maps, measures
from rankbench.analysis.questions.comparisons import Comparisons
from rankbench.analysis.questions.placements import remove_placement
from rankbench.analysis.questions.rings import estimate_hop_costs, find_ring_modes, tabulate_rings
from rankbench.analysis.questions.same_calls import make_call_key
from rankbench.analysis.questions.scaling import find_scaled, over_nodes
from rankbench.analysis.questions.starts import compare_starts, find_usual_starts
from rankbench.analysis.statistics import pairing, references
from rankbench.analysis.statistics.correlation import correlate_launches
from rankbench.analysis.statistics.first_calls import tabulate_first_calls
from rankbench.analysis.statistics.ranks import tabulate_ranks
from rankbench.model import ALL_RANKS
from rankbench.plan.footprint import ROWS_JUDGED
from rankbench.quantities import format_size

if TYPE_CHECKING:
    from rankbench.analysis.questions.maps import Map
    from rankbench.analysis.questions.measures import Measure
    from rankbench.analysis.questions.rings import HopCost
    from rankbench.analysis.questions.scaling import Site
    from rankbench.analysis.questions.starts import StartEffect
    from rankbench.analysis.statistics.correlation import LagOne
    from rankbench.analysis.statistics.modes import Repeated
    from rankbench.analysis.statistics.references import Levels
    from rankbench.model import Campaign, Case, CaseVerdict, Comparison, Launch, Operation, Placement, Summary, Verdict
    from rankbench.model.program_records import RunRecord
    from rankbench.model.sum_bits import SumRow
    from rankbench.model.verdicts import Outcome

T = TypeVar("T")
Row = dict[str, Any]

NO_VALUES = pl.DataFrame(
    schema={
        "case": pl.String, "candidate": pl.String, "block": pl.Int32, "launch": pl.Int32, "figure_ns": pl.Float64,
        "uncertain": pl.Boolean, "few": pl.Boolean,
    }
)  # fmt: skip
"""Of no launch."""
NO_LAST_RANKS = pl.DataFrame(
    schema={
        "case": pl.String, "candidate": pl.String, "block": pl.Int32, "launch": pl.Int32, "ranks": pl.Int32,
        "rank": pl.Int32, "last": pl.Float64,
    }
)  # fmt: skip
"""Of no launch, as `statistics.ranks.last_ranks` has it."""
SCOPES: dict[str, Callable[[Case], str]] = {
    "campaign": lambda _case: "campaign",
    "placement": lambda case: case.placement,
    "line": case_labels.make_line_key,
    "places": lambda case: case_labels.make_line_key(remove_placement(case)),
    "scale": lambda case: remove_placement(case).key,
    "matrix": lambda case: case_labels.drop_ends(case).key,
    "case": lambda case: case.key,
    "near": lambda case: case.key,
}
"""How cases are put together: by what those of one part have in common."""
CALL = "call"
"""The scope of one call by several tools, which the operations know."""
LEVEL_NAMES = ("near", "far")
"""Levels of the reference, in the order in which they are shown."""
CLOSE = ("case", "near")
"""Scopes whose parts are single cases."""


class shared_property(Generic[T]):  # noqa: N801 - used as a decorator, as functools.cached_property is
    """A property that is computed when first read, once for a view and all its parts.

    It must not depend on which cases a view shows.
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute, self._name = compute, compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, view: None, owner: type) -> shared_property[T]: ...

    @overload
    def __get__(self, view: CampaignView, owner: type) -> T: ...

    def __get__(self, view: CampaignView | None, owner: type) -> T | shared_property[T]:
        """Return the value for a view, computed if it was not read before."""
        if view is None:
            return self
        known = view._lookups
        if self._name not in known:
            known[self._name] = self._compute(view)
        value: T = known[self._name]
        return value


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class CampaignView:
    """A campaign with all that was measured and what it says.

    `cases` are the cases that it shows, all or those of a part; everything else always covers the whole campaign.
    """

    campaign: Campaign
    launches: list[Launch]
    verdict: Verdict
    """While findings are searched, only its cases, summaries and comparisons are there."""
    launch_values: pl.DataFrame = dataclasses.field(default_factory=NO_VALUES.clone)
    """The value of every launch, those included that are not judged."""
    samples: pl.LazyFrame = dataclasses.field(default_factory=pl.LazyFrame)
    rank_samples: pl.LazyFrame = dataclasses.field(default_factory=pl.LazyFrame)
    """What single ranks saw, where the plan kept it."""
    case_rows: pl.DataFrame = dataclasses.field(default_factory=pl.DataFrame)
    """The store's cases, one row per case and launch."""
    modes: Mapping[tuple[str, ...], list[Repeated]] = dataclasses.field(default_factory=dict)
    """The humps of each case's samples, by case and candidate, the main one first."""
    last_ranks: pl.DataFrame = dataclasses.field(default_factory=NO_LAST_RANKS.clone)
    """Which rank ended last how often, per case and launch."""
    sum_rows: Sequence[SumRow] = ()
    """Where the bits of sums differ, by candidate."""
    records: Mapping[str, RunRecord] = dataclasses.field(default_factory=dict)
    """What a program called: by candidate; of no candidate: the profile of the plan."""
    shown: list[Case] | None = None
    """The cases of a part; None: all."""
    only: Collection[str] | None = None
    """Keys of the cases for which plots of single cases are drawn; None: all."""
    near: Collection[str] | None = None
    """The same of plots whose scope is `near`."""
    _lookups: dict[str, Any] = dataclasses.field(default_factory=dict, init=False, repr=False)
    _known: dict[str, Any] = dataclasses.field(default_factory=dict, init=False, repr=False)

    # --- parts -------------------------------------------------------------------------------------------------------

    @property
    def cases(self) -> list[Case]:
        """The cases to show."""
        return self.campaign.cases if self.shown is None else self.shown

    def showing(self, cases: list[Case]) -> CampaignView:
        """Return the view of the same campaign that shows these cases."""
        part = self._of_the_same(shown=cases)
        object.__setattr__(part, "_known", self._known)
        return part

    def drawing(self, only: Collection[str] | None, near: Collection[str] | None) -> CampaignView:
        """Return the view for charts of single cases of these keys only."""
        return self._of_the_same(only=only, near=near)

    def with_verdict(self, verdict: Verdict) -> CampaignView:
        """Return the view with a verdict over the same summaries and comparisons."""
        return self._of_the_same(verdict=verdict)

    def _of_the_same(self, **changes: Any) -> CampaignView:
        view = dataclasses.replace(self, **changes)
        object.__setattr__(view, "_lookups", self._lookups)
        return view

    def without_pairs(self) -> CampaignView:
        """Return the view without the cases that are shown as a matrix."""
        return self.showing([case for case in self.cases if self.key(case) not in self.pair_cases])

    def parts(self, scope: str) -> Iterator[tuple[str, CampaignView]]:
        """Divide the view by a scope, in the order of the cases."""
        parts: dict[str, list[Case]] = {}
        for case in self.cases:
            key = self.key(case) if scope in CLOSE else self.call(case) if scope == CALL else SCOPES[scope](case)
            parts.setdefault(key, []).append(case)
        for name, cases in parts.items():
            yield name, self.showing(cases)

    def once(self, name: str, make: Callable[[], T]) -> T:
        """Return the value of this name, computed when first needed and shared by all parts."""
        if name not in self._known:
            self._known[name] = make()
        value: T = self._known[name]
        return value

    # --- candidates, operations, cases -------------------------------------------------------------------------------

    @shared_property
    def candidates(self) -> tuple[str, ...]:
        """The candidates without A/A twins, in the plan's order."""
        return tuple(candidate.name for candidate in self.campaign.candidates if not candidate.control_of)

    @shared_property
    def operations(self) -> dict[str, Operation]:
        """Operations by name."""
        return {operation.name: operation for operation in self.campaign.operations}

    def operation(self, case: Case) -> Operation:
        """Return the operation of a case."""
        return self.operations[case.operation]

    @shared_property
    def _placements(self) -> dict[str, Placement]:
        return {placement.name: placement for placement in self.campaign.plan.placements}

    @shared_property
    def case_of(self) -> dict[str, Case]:
        """Cases by key."""
        return {case.key: case for case in self.campaign.cases}

    @shared_property
    def _keys(self) -> dict[int, tuple[Case, str]]:
        return {}

    def key(self, case: Case) -> str:
        """Return a case's key, put together once: charts ask for it a hundred times."""
        keys = self._keys
        if id(case) not in keys:
            keys[id(case)] = case, case.key
        return keys[id(case)][1]

    @shared_property
    def usual_of(self) -> dict[str, Case]:
        """By the key of every case, the same case with the usual start."""
        return find_usual_starts(self.campaign)

    def has_usual_start(self, case: Case) -> bool:
        """Return whether a case has the usual start, or is measured with one start only."""
        usual = self.usual_of[self.key(case)]
        return usual is case or usual == case

    def start_variants(self, case: Case) -> list[Case]:
        """Return the cases that differ from a case in their start only, itself among them, the usual start first."""
        return self._by_usual[self.usual_of[case.key].key]

    @shared_property
    def _by_usual(self) -> dict[str, list[Case]]:
        variants: dict[str, list[Case]] = {}
        for case in sorted(self.campaign.cases, key=lambda case: case != self.usual_of[case.key]):
            variants.setdefault(self.usual_of[case.key].key, []).append(case)
        return variants

    @shared_property
    def pair_cases(self) -> set[str]:
        """Keys of the cases that were measured between several pairs of ranks, and are shown as a matrix."""
        return case_labels.find_pair_cases(self.campaign.cases)

    @shared_property
    def scaled(self) -> dict[str, dict[Site, Case]]:
        """Cases at several numbers of nodes or ranks, by what they have in common."""
        return find_scaled(self.campaign)

    @shared_property
    def over_nodes(self) -> set[str]:
        """Keys of the cases that were measured at several numbers of nodes, whose placements are shown as a scale."""
        return over_nodes(self.campaign)

    def short_of_cores(self, case: Case) -> bool:
        """Return whether ranks of a node, or their threads, are more than its cores, as far as these are known."""
        placement, threads = self._placements[case.placement], int(case.options.get("threads", 1))
        return self.campaign.oversubscribed(placement.ranks_per_node * threads, placement.nodes)

    @property
    def main_record(self) -> RunRecord | None:
        """The record of the program: that of the plan's profile, or of the first candidate; None: there is none."""
        return self.records.get("") or next(
            (self.records[name] for name in self.candidates if name in self.records), None
        )

    # --- verdicts, summaries, comparisons ----------------------------------------------------------------------------

    @property
    def case_verdicts(self) -> list[CaseVerdict]:
        """The verdict of every case."""
        return self.verdict.cases

    @property
    def summaries(self) -> list[Summary]:
        """The summaries of all cases and candidates, A/A twins included."""
        return self.verdict.summaries

    @property
    def control(self) -> list[Comparison]:
        """The comparisons of candidates with their A/A twins."""
        return self.verdict.control

    @shared_property
    def comparisons(self) -> Comparisons:
        """The comparisons of candidates, without those of the A/A control."""
        return Comparisons(self.verdict.comparisons)

    @shared_property
    def comparisons_of(self) -> dict[str, list[Comparison]]:
        """Comparisons by case."""
        by_case: dict[str, list[Comparison]] = {}
        for comparison in self.verdict.comparisons:
            by_case.setdefault(comparison.case, []).append(comparison)
        return by_case

    @shared_property
    def verdict_of(self) -> dict[str, CaseVerdict]:
        """Verdicts by case."""
        return {verdict.case.key: verdict for verdict in self.verdict.cases}

    @shared_property
    def summary_of(self) -> dict[tuple[str, str], Summary]:
        """Summaries by case and candidate."""
        return {(summary.case, summary.candidate): summary for summary in self.verdict.summaries}

    @shared_property
    def summaries_of(self) -> dict[str, list[tuple[int, Summary]]]:
        """Summaries by case, each with its place among all."""
        by_case: dict[str, list[tuple[int, Summary]]] = {}
        for place, summary in enumerate(self.verdict.summaries):
            by_case.setdefault(summary.case, []).append((place, summary))
        return by_case

    @shared_property
    def main_verdicts(self) -> list[CaseVerdict]:
        """The verdicts that an answer rests on: each with its usual start only."""
        return [verdict for verdict in self.verdict.cases if self.usual_of[verdict.case.key] == verdict.case]

    @shared_property
    def timed_verdicts(self) -> list[CaseVerdict]:
        """The main verdicts whose values are times."""
        return [verdict for verdict in self.main_verdicts if verdict.case.quantity != "memory"]

    def list_shown_verdicts(self) -> list[CaseVerdict]:
        """Return the verdicts of the cases to show."""
        return [self.verdict_of[self.key(case)] for case in self.cases]

    def list_levels(self, case: Case) -> tuple[str, ...]:
        """Return the levels of the reference at which the values of a case are shown: one without a name where values
        are of no level.
        """
        summaries = (summary for _, summary in self.summaries_of.get(self.key(case), ()))
        names = {level.name for summary in summaries for level in summary.levels}
        return tuple(name for name in LEVEL_NAMES if name in names) or ("",)

    def list_shown_rows(self) -> Iterator[tuple[str, CaseVerdict]]:
        """Yield the verdicts of the cases to show, with the level that each is of: a row of a table each."""
        for verdict in self.list_shown_verdicts():
            for level in self.list_levels(verdict.case):
                yield level, verdict.at(level)

    def list_shown_values(self) -> Iterator[tuple[Case, str, Summary]]:
        """Yield each case to show with each of its levels and the summary of each candidate there."""
        for case, summary in self.list_shown_summaries():
            for level in self.list_levels(case):
                if at := summary.at(level):
                    yield case, level, at

    def find_value(self, case: str, candidate: str, level: str) -> Summary | None:
        """Return the summary of a candidate in a case at a level, None if it was not measured there."""
        summary = self.summary_of.get((case, candidate))
        return summary.at(level) if summary else None

    def list_shown_summaries(self) -> Iterator[tuple[Case, Summary]]:
        """Yield each case to show with the summary of each candidate that has values."""
        placed = [(*pair, case) for case in self.cases for pair in self.summaries_of.get(self.key(case), ())]
        for _, summary, case in sorted(placed, key=lambda row: row[0]):
            if summary.candidate in self.candidates and summary.launches:
                yield case, summary

    def ratio(self, case: str, base: str, other: str) -> float:
        """Return the time of `other` over that of `base`: paired, or of typical values where no block has both."""
        paired = 1.0 if base == other else self.comparisons.ratio(case, base, other)
        return paired or self.summary_of[case, other].typical_ns / self.summary_of[case, base].typical_ns

    def outcome(self, keys: Iterable[str]) -> Outcome | None:
        """Return the outcome that cases share, if there is one."""
        wanted = set(keys)
        shared = {verdict.outcome for verdict in self.verdict.cases if verdict.case.key in wanted}
        return shared.pop() if len(shared) == 1 else None

    # --- values and samples ------------------------------------------------------------------------------------------

    @shared_property
    def judged_values(self) -> pl.DataFrame:
        """The values of launches that can be judged."""
        return select_judgeable(self.launch_values)

    @shared_property
    def judged_blocks(self) -> pl.Series:
        """The blocks of launches that can be judged."""
        return self.judged_values["block"].unique().sort()

    @shared_property
    def _pair_logs(self) -> dict[tuple[str, str], pl.DataFrame]:
        return {}

    def pair_logs(self, base: str, other: str) -> pl.DataFrame:
        """Return the log ratios other / base of launches that can be judged: case, block and log."""
        if (base, other) not in self._pair_logs:
            self._pair_logs[base, other] = pairing.pair_logs(self.judged_values, [(base, other)])
        return self._pair_logs[base, other]

    def list_launch_values(self, case: Case) -> list[Row]:
        """Return the value of every launch of a case; always the same list."""
        return self.once("launch_values", self._group_values_by_case).get(self.key(case), [])

    def _group_values_by_case(self) -> dict[str, list[Row]]:
        launch_values = self.launch_values.filter(pl.col("candidate").is_in(list(self.candidates)))
        return group_by_case(
            launch_values.select("case", "candidate", "launch", "block", pl.col("figure_ns").round_sig_figs(4))
        )

    @shared_property
    def correlation(self) -> LagOne | None:
        """How far ratios of successive blocks resemble each other, of the pairs that the question is about."""
        pairs_ = [pair for pair in self.comparisons if self.campaign.baseline in {"", pair.base}]
        pairs = list(dict.fromkeys((pair.base, pair.other) for pair in pairs_))
        return correlate_launches(self.judged_values, pairs, self.levels)

    @shared_property
    def levels(self) -> dict[str, Levels]:
        """The two levels of the reference, by the key of each case that has them."""
        return references.by_case(self.judged_values, self.campaign)

    @shared_property
    def moved(self) -> dict[str, tuple[int, int]]:
        """Bytes and messages of one sample by case, of all ranks together; candidates move the same."""
        moving = (summary for summary in self.verdict.summaries if summary.moved_messages)
        return {summary.case: (summary.moved_bytes, summary.moved_messages) for summary in moving}

    @shared_property
    def maps(self) -> list[Map]:
        """The map of every candidate between all pairs of ranks, grouped by operation and size."""
        return maps.make_maps(self.campaign, self.launches, self.judged_values, self.operations)

    @shared_property
    def start_effects(self) -> list[StartEffect]:
        """What each start does to the same case."""
        return compare_starts(self.judged_values, self.campaign)

    @shared_property
    def single_ranks(self) -> pl.DataFrame:
        """Values of single ranks; those that measure a ring each are shown with the rings."""
        operations = {operation.name for operation in self.campaign.operations if operation.rings}
        rings = [case.key for case in self.campaign.cases if case.operation in operations]
        return tabulate_ranks(self.samples, self.rank_samples.filter(~pl.col("case").is_in(rings)))

    @shared_property
    def first_calls(self) -> pl.DataFrame:
        """Times of the first and second call of each operation in a launch, if it is called more than once."""
        names = [operation.name for operation in self.campaign.operations if operation.once]
        memory = [case.key for case in self.campaign.cases if case.quantity == "memory" or case.operation in names]
        calls = tabulate_first_calls(self.case_rows)
        return calls if calls.is_empty() else calls.filter(~pl.col("case").is_in(memory))

    @shared_property
    def rings(self) -> pl.DataFrame:
        """The time of each ring."""
        return tabulate_rings(self.campaign, self.rank_samples, self.case_rows, self.campaign.plan.confidence)

    @shared_property
    def ring_directions(self) -> pl.DataFrame:
        """The same of all rings of a case together, whose edge rank is that of no ring."""
        together = self.rank_samples.with_columns(series=pl.lit(ALL_RANKS, pl.Int32))
        return tabulate_rings(self.campaign, together, self.case_rows, self.campaign.plan.confidence)

    @shared_property
    def hop_costs(self) -> list[HopCost]:
        """The cost of one more hop."""
        return estimate_hop_costs(self.campaign, self.rank_samples, self.case_rows, self.campaign.plan.confidence)

    @shared_property
    def ring_modes(self) -> dict[tuple[str, ...], list[Repeated]]:
        """The humps of each ring by case, candidate and edge rank."""
        return find_ring_modes(self.rank_samples, self.case_rows)

    def sample_times(self, case: str, candidate: str) -> np.ndarray:
        """Return the samples that count of one case and candidate; those of other cases are read, too, if few."""
        if case not in self._times:
            self._times.clear()  # Readers go from case to case, and those of a large campaign would fill the memory.
            few = sum(summary.samples for summary in self.summaries) <= ROWS_JUDGED
            wanted = list({case, *(other.key for other in self.campaign.cases)}) if few else [case]
            self._times.update({key: {} for key in wanted})
            valid = self.samples.filter(~pl.col("discarded"), pl.col("case").is_in(wanted))
            frame = valid.select("case", "candidate", "time_ns").collect()
            parts = frame.partition_by("case", "candidate", as_dict=True, include_key=False, maintain_order=True)
            for (key, name), part in parts.items():
                self._times[str(key)][str(name)] = part["time_ns"].to_numpy()
        return self._times[case].get(candidate, np.empty(0))

    @shared_property
    def _times(self) -> dict[str, dict[str, np.ndarray]]:
        return {}

    # --- names of cases ----------------------------------------------------------------------------------------------

    def measure(self, case: Case) -> Measure:
        """Return what the values of a case are."""
        return measures.choose_measure(case, self.operation(case), *self.moved.get(self.key(case), ()))

    def call(self, case: Case) -> str:
        """Return what a case has in common with those of other tools for the same call on the same ranks."""
        return make_call_key(case, self.operation(case), imported=bool(self.campaign.imported))

    def case_name(self, case: Case) -> str:
        """Name a case: `put 8 B, epoch=fence`."""
        return case_labels.name_case(case, self.operation(case))

    def line_name(self) -> str:
        """Name the cases to show, which differ in size only."""
        return case_labels.name_line(self.cases[0], self.operation(self.cases[0]))

    def size_text(self, case: Case) -> str:
        """Return a case's message size."""
        return case_labels.format_case_size(case, self.operation(case))

    def lines(self) -> Iterator[tuple[str, list[CaseVerdict]]]:
        """Yield the times that differ in size only, by size, with a title such as `allreduce persistent`.

        All pairs of ranks are one line, in which a size is there more than once.
        """
        keys = {verdict.case.key: make_sort_key(self._merge(verdict.case)) for verdict in self.timed_verdicts}
        ordered = sorted(self.timed_verdicts, key=lambda verdict: (keys[verdict.case.key], verdict.case.size_bytes))
        for _, group in groupby(ordered, key=lambda verdict: keys[verdict.case.key]):
            verdicts = list(group)
            title = self.title(self._merge(verdicts[0].case))
            pairs = verdicts[0].case.key in self.pair_cases
            yield f"{title} between pairs of ranks" if pairs else title, verdicts

    def _merge(self, case: Case) -> Case:
        return case_labels.drop_ends(case) if case.key in self.pair_cases else case

    def title(self, case: Case) -> str:
        """Name a case without its size: only what distinguishes it from the campaign's other cases."""
        others = [other for other in self.campaign.cases if other.operation == case.operation]
        title = f"{case.operation} {case.form}" if len({other.form for other in others}) > 1 else case.operation
        if len(self.campaign.plan.placements) > 1:
            title = f"{title} at {case.placement}"
        if len({other.start for other in others}) > 1:
            title = f"{title} with start {case.start}"
        unusual = ", ".join(self._unusual(case))
        return f"{title} ({unusual})" if unusual else title

    def _unusual(self, case: Case) -> list[str]:
        words = case_labels.list_unusual(case, self.operation(case))
        return ["overall time" if word == "quantity=overlap" else word for word in words]

    def full_title(self, case: Case) -> str:
        """Name a case with its size."""
        return f"{self.title(case)}, {format_size(case.size_bytes)}" if case.size_bytes else self.title(case)


def make_sort_key(case: Case) -> tuple[str, str]:
    """Return what cases have in common that differ in size only; those of one placement follow each other."""
    return case.placement, case_labels.make_line_key(case)


def select_judgeable(launch_values: pl.DataFrame) -> pl.DataFrame:
    """Return the values of launches whose start is certain enough, and of which enough rounds count."""
    return launch_values.filter(~pl.col("uncertain"), ~pl.col("few"))


def group_by_case(frame: pl.DataFrame) -> dict[str, list[Row]]:
    """Divide the rows of a frame by their column `case`, in one sweep."""
    rows: dict[str, list[Row]] = {}
    for row in frame.iter_rows(named=True):
        rows.setdefault(row.pop("case"), []).append(row)
    return rows
