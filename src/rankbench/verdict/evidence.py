"""What findings and the conclusion are drawn from, with the look-ups that they share."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING

import polars as pl

from rankbench.language import NOTHING, Text, Words, say
from rankbench.quantities import format_size
from rankbench.statistics import references, scaling
from rankbench.statistics.correlation import between_launches
from rankbench.statistics.placements import turned
from rankbench.statistics.starts import usual_starts
from rankbench.verdict import naming

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rankbench.model import Campaign, Case, CaseVerdict, Comparison, Launch, Operation, Placement, Summary
    from rankbench.model.verdicts import Outcome
    from rankbench.statistics.correlation import LagOne
    from rankbench.statistics.modes import Repeated
    from rankbench.statistics.references import Levels


NO_FIGURES = pl.DataFrame(
    schema={"case": pl.String, "candidate": pl.String, "block": pl.Int32, "launch": pl.Int32, "figure_ns": pl.Float64}
)
"""Of no launch."""
NO_LAST_RANKS = pl.DataFrame(
    schema={
        "case": pl.String, "candidate": pl.String, "block": pl.Int32, "launch": pl.Int32, "ranks": pl.Int32,
        "rank": pl.Int32, "last": pl.Float64,
    }
)  # fmt: skip
"""Of no launch, as `statistics.ranks.last_ranks` has it."""


class Pairs:
    """The comparisons, looked up in either direction."""

    def __init__(self, comparisons: Iterable[Comparison]) -> None:
        comparisons = list(comparisons)
        self._comparisons = comparisons
        self._levels: dict[str, set[str]] = {}
        self._ratios: dict[tuple[str, str, str], tuple[float, bool]] = {}
        self._intervals: dict[tuple[str, str, str], tuple[float, float]] = {}
        self._alike: set[tuple[str, frozenset[str]]] = set()
        for one in comparisons:
            if one.levels:
                self._levels.setdefault(one.case, set()).update(level.name for level in one.levels if level.enough)
            self._ratios[one.case, one.base, one.other] = one.ratio, one.different
            self._ratios[one.case, one.other, one.base] = 1 / one.ratio, one.different
            self._intervals[one.case, one.base, one.other] = one.low, one.high
            self._intervals[one.case, one.other, one.base] = 1 / one.high, 1 / one.low if one.low else math.inf
            if one.alike:
                self._alike.add((one.case, frozenset((one.base, one.other))))

    def levels(self, case: str) -> dict[str, Pairs]:
        """Return the comparisons at each level of the reference with enough blocks, of a case that has levels."""
        return {name: self._at[name] for name in sorted(self._levels.get(case, ()), reverse=True)}

    @cached_property
    def _at(self) -> dict[str, Pairs]:
        return {name: Pairs(filter(None, (one.at(name) for one in self._comparisons))) for name in ("near", "far")}

    def ratio(self, case: str, base: str, other: str) -> float | None:
        """Return the time of `other` over that of `base`, paired within blocks, where they share a block."""
        return self._ratios.get((case, base, other), (None, False))[0]

    def interval(self, case: str, base: str, other: str) -> tuple[float, float, float] | None:
        """Return the ratio with both ends of its interval, where they share a block."""
        ratio = self.ratio(case, base, other)
        return (ratio, *self._intervals[case, base, other]) if ratio else None

    def different(self, case: str, base: str, other: str) -> bool:
        """Return whether the two can be told apart."""
        return self._ratios.get((case, base, other), (1.0, False))[1]

    def alike(self, case: str, base: str, other: str) -> bool:
        """Return whether the two surely differ by no more than the practical threshold."""
        return (case, frozenset((base, other))) in self._alike

    def slower(self, case: str, base: str, other: str) -> bool:
        """Return whether `other` is told to be slower than `base`."""
        ratio, different = self._ratios.get((case, base, other), (1.0, False))
        return different and ratio > 1


@dataclass(frozen=True)
class Evidence:
    """Everything known about a campaign."""

    campaign: Campaign
    cases: list[CaseVerdict]
    summaries: list[Summary]
    comparisons: list[Comparison]
    control: list[Comparison]
    launches: list[Launch]
    figures: pl.DataFrame = field(default_factory=NO_FIGURES.clone)
    """The figure of every launch that can be judged."""
    modes: Mapping[tuple[str, ...], list[Repeated]] = field(default_factory=dict)
    """The humps of each case's samples, by case and candidate, the main one first."""
    last_ranks: pl.DataFrame = field(default_factory=NO_LAST_RANKS.clone)
    """Which rank ended last how often, per case and launch."""

    @cached_property
    def summary(self) -> dict[tuple[str, str], Summary]:
        """Summaries by case key and candidate."""
        return {(one.case, one.candidate): one for one in self.summaries}

    @cached_property
    def comparison(self) -> dict[tuple[str, str, str], Comparison]:
        """Comparisons by case key, base and other, in either direction."""
        both = (turn for one in self.comparisons for turn in (one, turned(one)))
        return {(one.case, one.base, one.other): one for one in both}

    @cached_property
    def pairs(self) -> Pairs:
        """The comparisons, looked up in either direction."""
        return Pairs(self.comparisons)

    def ratio(self, case: str, base: str, other: str) -> float:
        """Return the time of `other` over that of `base`: paired, or of typical values where no block has both."""
        paired = 1.0 if base == other else self.pairs.ratio(case, base, other)
        return paired or self.summary[case, other].typical_ns / self.summary[case, base].typical_ns

    @cached_property
    def correlation(self) -> LagOne | None:
        """How far ratios of successive blocks resemble each other, of the pairs that the question is about."""
        asked = [one for one in self.comparisons if self.campaign.baseline in {"", one.base}]
        pairs = list(dict.fromkeys((one.base, one.other) for one in asked))
        return between_launches(self.figures, pairs, references.by_case(self.figures, self.campaign))

    def outcome(self, keys: Iterable[str]) -> Outcome | None:
        """Return the outcome that cases share, if there is one."""
        wanted = set(keys)
        shared = {one.outcome for one in self.cases if one.case.key in wanted}
        return shared.pop() if len(shared) == 1 else None

    @cached_property
    def case(self) -> dict[str, Case]:
        """Cases by key."""
        return {verdict.case.key: verdict.case for verdict in self.cases}

    @cached_property
    def operation(self) -> dict[str, Operation]:
        """Operations by name."""
        return {operation.name: operation for operation in self.campaign.operations}

    @cached_property
    def names(self) -> list[str]:
        """Candidates without the A/A twin, in the plan's order."""
        return [candidate.name for candidate in self.campaign.candidates if not candidate.control_of]

    @cached_property
    def usual(self) -> dict[str, Case]:
        """By the key of every case, the one that is like it but has the usual start."""
        return usual_starts(self.campaign)

    @cached_property
    def main(self) -> list[CaseVerdict]:
        """The cases that an answer rests on: each with its usual start only."""
        return [one for one in self.cases if self.usual[one.case.key] == one.case]

    @cached_property
    def times(self) -> list[CaseVerdict]:
        """The main cases whose figures are times."""
        return [one for one in self.main if one.case.quantity != "memory"]

    @cached_property
    def levels(self) -> dict[str, Levels]:
        """The two levels of the reference, by the key of each case that has them."""
        return references.by_case(self.figures, self.campaign)

    @cached_property
    def pairs_of_ranks(self) -> set[str]:
        """Keys of the cases that were made between several pairs of ranks."""
        return naming.between_pairs(self.case.values())

    @cached_property
    def _placement(self) -> dict[str, Placement]:
        return {placement.name: placement for placement in self.campaign.plan.placements}

    def short_of_cores(self, case: Case) -> bool:
        """Return whether ranks of a node, or their threads, are more than its cores, as far as these are known."""
        placement, threads = self._placement[case.placement], int(case.options.get("threads", 1))
        return self.campaign.oversubscribed(placement.ranks_per_node * threads, placement.nodes)

    @cached_property
    def over_nodes(self) -> set[str]:
        """Keys of the cases that were made at several numbers of nodes, whose placements are told as a scale."""
        return scaling.over_nodes(self.campaign)

    def lines(self) -> Iterator[tuple[str, list[CaseVerdict]]]:
        """Yield the times that differ in size only, by size, with a title such as `allreduce persistent`.

        All pairs of ranks are one line, in which a size is there more than once.
        """
        keys = {one.case.key: line_key(self._merged(one.case)) for one in self.times}
        ordered = sorted(self.times, key=lambda one: (keys[one.case.key], one.case.size_bytes))
        for _, group in groupby(ordered, key=lambda one: keys[one.case.key]):
            verdicts = list(group)
            title = self.title(self._merged(verdicts[0].case))
            pairs = verdicts[0].case.key in self.pairs_of_ranks
            yield f"{title} between pairs of ranks" if pairs else title, verdicts

    def _merged(self, case: Case) -> Case:
        return naming.endless(case) if case.key in self.pairs_of_ranks else case

    def title(self, case: Case) -> str:
        """Name a case without its size: only what tells it from the campaign's other cases."""
        alike = [one for one in self.case.values() if one.operation == case.operation]
        called = f"{case.operation} {case.form}" if len({one.form for one in alike}) > 1 else case.operation
        if len(self.campaign.plan.placements) > 1:
            called = f"{called} at {case.placement}"
        if len({one.start for one in alike}) > 1:
            called = f"{called} with start {case.start}"
        unusual = ", ".join(self._unusual(case))
        return f"{called} ({unusual})" if unusual else called

    def _unusual(self, case: Case) -> list[str]:
        words = naming.unusual(case, self.operation[case.operation])
        return ["overall time" if one == "quantity=overlap" else one for one in words]

    def full_title(self, case: Case) -> str:
        """Name a case with its size."""
        return f"{self.title(case)}, {format_size(case.size_bytes)}" if case.size_bytes else self.title(case)


def line_key(case: Case) -> tuple[str, str]:
    """Return what cases have in common that differ in size only; those of one placement follow each other."""
    return case.placement, naming.line_key(case)


def either(words: Iterable[str]) -> str:
    """Join words: `a`, `a or b`, `a or b or c`."""
    return " or ".join(words)


def some(words: list[str], most: int) -> list[Words]:
    """Return words; where they are more than one above the most, as many, and how many more there are."""
    return [*words] if len(words) <= most + 1 else [*words[:most], say("{n} more", n=len(words) - most)]


def counted(count: int, noun: str) -> str:
    """Return `1 case`, `2 cases`, `2 launches`."""
    return f"{count} {noun}{'' if count == 1 else 'es' if noun.endswith('ch') else 's'}"


def sized(what: str, cases: list[Case]) -> Words:
    """Return `x from 8 B to 1 KiB` for cases in ascending size, or `x at 8 B`, or `x` where there is no size."""
    return say("{what} {sizes}", what=what, sizes=sizes) if (sizes := extent(cases)) else what


def extent(cases: list[Case]) -> Text:
    """Return `from 8 B to 1 KiB` for cases in ascending size, or `at 8 B`, or nothing where there is no size."""
    first, last = cases[0].size_bytes, cases[-1].size_bytes
    if not last:
        return NOTHING
    if first == last:
        return say("at {size:size}", size=first)
    return say("from {first:size} to {last:size}", first=first, last=last)
