"""From a stored campaign to its verdict: the one place of this room that reads a store."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import polars as pl

from rankbench import statistics
from rankbench.model import ALL_RANKS
from rankbench.statistics.first_calls import first_calls
from rankbench.statistics.modes import modes_by_launch
from rankbench.statistics.ranks import last_ranks, single_ranks
from rankbench.statistics.references import by_case
from rankbench.statistics.rings import hop_costs, ring_modes, rings
from rankbench.statistics.scaling import over_nodes, scaled
from rankbench.statistics.starts import start_effects, usual_starts
from rankbench.statistics.tails import fit_tail
from rankbench.verdict import judge, maps
from rankbench.verdict.evidence import Evidence
from rankbench.verdict.interim import interim_looks
from rankbench.verdict.naming import between_pairs
from rankbench.verdict.nodes import as_launched

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankbench.model import Campaign, Case, CaseVerdict, Comparison, Launch, Operation, Summary, Verdict
    from rankbench.statistics.modes import Repeated
    from rankbench.statistics.rings import HopCost
    from rankbench.statistics.scaling import Site
    from rankbench.statistics.starts import StartEffect
    from rankbench.statistics.tails import Tail
    from rankbench.store import Store
    from rankbench.verdict.maps import Map


@dataclass(frozen=True)
class Evaluation:
    """A campaign with all that was measured and what it says. What few readers want is computed when asked for."""

    campaign: Campaign
    launches: list[Launch]
    verdict: Verdict
    samples: pl.LazyFrame
    rank_samples: pl.LazyFrame
    """What single ranks saw, where the plan kept it."""
    figures: pl.DataFrame
    """The figure of every launch, those included that are not judged."""
    cases: pl.DataFrame = field(default_factory=pl.DataFrame)
    """The store's cases, one row per case and launch."""
    modes: dict[tuple[str, ...], list[Repeated]] = field(default_factory=dict)
    """The humps of the samples by case and candidate, the main one first."""

    @cached_property
    def evidence(self) -> Evidence:
        """What the verdict was drawn from, with its look-ups."""
        told = self.verdict
        return Evidence(
            self.campaign,
            told.cases,
            told.summaries,
            told.comparisons,
            told.control,
            self.launches,
            judged(self.figures),
            self.modes,
        )

    @cached_property
    def usual(self) -> dict[str, Case]:
        """By the key of every case, the one that is like it but has the usual start."""
        return usual_starts(self.campaign)

    @cached_property
    def moved(self) -> dict[str, tuple[int, int]]:
        """Bytes and messages of one sample by case, of all ranks together; candidates move the same."""
        return {one.case: (one.moved_bytes, one.moved_messages) for one in self.verdict.summaries if one.moved_messages}

    @cached_property
    def pairs(self) -> set[str]:
        """Keys of the cases that were made between several pairs of ranks, and are shown as a matrix."""
        return between_pairs(self.campaign.cases)

    @cached_property
    def scaled(self) -> dict[str, dict[Site, Case]]:
        """Cases at several numbers of nodes or ranks, by what they have in common."""
        return scaled(self.campaign)

    @cached_property
    def over_nodes(self) -> set[str]:
        """Keys of those of these cases that were made at several numbers of nodes."""
        return over_nodes(self.campaign)

    @cached_property
    def maps(self) -> list[Map]:
        """What every candidate takes between all pairs of ranks, those of one operation and size after each other."""
        return maps.maps(self.campaign, self.launches, judged(self.figures), self.operations)

    def alike(self, case: Case) -> list[Case]:
        """Return the cases that are like one but for their start, itself among them, the usual start first."""
        return self._by_usual[self.usual[case.key].key]

    @cached_property
    def _by_usual(self) -> dict[str, list[Case]]:
        found: dict[str, list[Case]] = {}
        for case in sorted(self.campaign.cases, key=lambda one: one != self.usual[one.key]):
            found.setdefault(self.usual[case.key].key, []).append(case)
        return found

    @cached_property
    def operations(self) -> dict[str, Operation]:
        """Operations by name."""
        return {operation.name: operation for operation in self.campaign.operations}

    @cached_property
    def verdict_of(self) -> dict[str, CaseVerdict]:
        """Verdicts by case."""
        return {one.case.key: one for one in self.verdict.cases}

    @cached_property
    def summaries_of(self) -> dict[str, list[tuple[int, Summary]]]:
        """Summaries by case, each with its place among all."""
        found: dict[str, list[tuple[int, Summary]]] = {}
        for place, one in enumerate(self.verdict.summaries):
            found.setdefault(one.case, []).append((place, one))
        return found

    @cached_property
    def comparisons_of(self) -> dict[str, list[Comparison]]:
        """Comparisons by case, less those of the A/A control."""
        found: dict[str, list[Comparison]] = {}
        for one in self.verdict.comparisons:
            found.setdefault(one.case, []).append(one)
        return found

    @cached_property
    def starts(self) -> list[StartEffect]:
        """What each start does to the same case."""
        return start_effects(judged(self.figures), self.campaign)

    @cached_property
    def ranks(self) -> pl.DataFrame:
        """How single ranks fared; those that measure a ring each are told with the rings."""
        operations = {one.name for one in self.campaign.operations if one.rings}
        rings = [case.key for case in self.campaign.cases if case.operation in operations]
        return single_ranks(self.samples, self.rank_samples.filter(~pl.col("case").is_in(rings)))

    @cached_property
    def first_calls(self) -> pl.DataFrame:
        """What the first call of each operation in a launch took, and the second; nothing of what happens once only."""
        names = [one.name for one in self.campaign.operations if one.once]
        memory = [case.key for case in self.campaign.cases if case.quantity == "memory" or case.operation in names]
        found = first_calls(self.cases)
        return found if found.is_empty() else found.filter(~pl.col("case").is_in(memory))

    @cached_property
    def rings(self) -> pl.DataFrame:
        """What each ring took."""
        return rings(self.campaign, self.rank_samples, self.cases, self.campaign.plan.confidence)

    @cached_property
    def ring_directions(self) -> pl.DataFrame:
        """The same of all rings of a case together, whose edge rank is that of no one."""
        together = self.rank_samples.with_columns(series=pl.lit(ALL_RANKS, pl.Int32))
        return rings(self.campaign, together, self.cases, self.campaign.plan.confidence)

    @cached_property
    def hop_costs(self) -> list[HopCost]:
        """What one more hop costs."""
        return hop_costs(self.campaign, self.rank_samples, self.cases, self.campaign.plan.confidence)

    @cached_property
    def ring_modes(self) -> dict[tuple[str, ...], list[Repeated]]:
        """The humps of each ring by case, candidate and edge rank."""
        return ring_modes(self.rank_samples, self.cases)

    def times(self, case: str, candidate: str) -> np.ndarray:
        """Return the samples that count of one case and candidate, without reading those of other cases."""
        if case not in self._times:
            self._times.clear()  # Who asks goes from case to case, and all of them would fill the memory.
            own = self.samples.filter(~pl.col("discarded"), pl.col("case") == case).select("candidate", "time_ns")
            parts = own.collect().partition_by("candidate", as_dict=True, include_key=False, maintain_order=True)
            self._times[case] = {str(name): part["time_ns"].to_numpy() for (name,), part in parts.items()}
        return self._times[case].get(candidate, np.empty(0))

    @cached_property
    def _times(self) -> dict[str, dict[str, np.ndarray]]:
        return {}

    def tail(self, case: str, candidate: str) -> Tail | None:
        """Return the right tail of a case's samples as fitted, none where they are too few."""
        if (case, candidate) not in self._tails:
            self._tails[case, candidate] = fit_tail(self.times(case, candidate))
        return self._tails[case, candidate]

    @cached_property
    def _tails(self) -> dict[tuple[str, str], Tail | None]:
        return {}


def evaluate(store: Store, estimator: str = "", confidence: float = 0.0, threshold: float | None = None) -> Evaluation:
    """Evaluate what a campaign has measured so far, by the rules of its plan or by those given."""
    launches, samples = store.launches(), store.samples()
    campaign = as_launched(_asked(store.campaign, estimator, confidence, threshold), launches)
    names = [candidate.name for candidate in campaign.candidates if not candidate.control_of]
    twins = [(candidate.control_of, candidate.name) for candidate in campaign.candidates if candidate.control_of]
    planned = campaign.plan
    by_ranks = [case.key for case in campaign.cases if not campaign.scheduled(case)]
    figures = statistics.launch_figures(samples, planned.estimator, by_ranks)
    asked = compared_pairs(campaign, names)
    rest = [pair for pair in combinations(names, 2) if pair not in asked and pair[::-1] not in asked]
    compared = statistics.compare(
        judged(figures),
        asked,
        planned.threshold,
        control=[*twins, *rest],
        looks=interim_looks(planned),
        confidence=planned.confidence,
        levels=by_case(judged(figures), campaign),
    )
    control = [one for one in compared if (one.base, one.other) in twins]
    comparisons = [one for one in compared if (one.base, one.other) not in twins]
    cases = store.cases()
    summaries = statistics.summarise(figures, samples, cases, planned.confidence, per_second(campaign))
    modes = modes_by_launch(samples.filter(pl.col("case").is_in(timed(campaign))), ["case", "candidate"])
    verdict = judge(campaign, summaries, comparisons, control, launches, judged(figures), modes, last_ranks(samples))
    return Evaluation(campaign, launches, verdict, samples, store.rank_samples(), figures, cases, modes)


def compared_pairs(campaign: Campaign, names: Sequence[str]) -> list[tuple[str, str]]:
    """Return the pairs of candidates that the question is about: all, or each with the baseline."""
    base = campaign.baseline
    return [(base, name) for name in names if name != base] if base else list(combinations(names, 2))


def per_second(campaign: Campaign) -> list[str]:
    """Return the keys of the cases that are shown as bytes or messages per second."""
    names = {operation.name for operation in campaign.operations if operation.metric in {"bandwidth", "rate"}}
    return [case.key for case in campaign.cases if case.operation in names and case.quantity == "time"]


def timed(campaign: Campaign) -> list[str]:
    """Return the keys of the cases whose samples are times of which a launch has many."""
    once = {operation.name for operation in campaign.operations if operation.once}
    return [case.key for case in campaign.cases if case.quantity == "time" and case.operation not in once]


def judged(figures: pl.DataFrame) -> pl.DataFrame:
    """Return the figures of launches whose start is certain enough, and of which enough rounds count."""
    return figures.filter(~pl.col("uncertain"), ~pl.col("few"))


def _asked(campaign: Campaign, estimator: str, confidence: float, threshold: float | None) -> Campaign:
    """Return the campaign as if its plan had named these, as far as they are given."""
    planned = campaign.plan
    changed = msgspec.structs.replace(
        planned,
        estimator=estimator or planned.estimator,
        confidence=confidence or planned.confidence,
        threshold=planned.threshold if threshold is None else threshold,
    )
    return msgspec.structs.replace(campaign, plan=changed)
