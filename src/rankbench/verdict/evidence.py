"""What findings and the conclusion are drawn from, with the look-ups that they share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING

from rankbench.quantities import format_size
from rankbench.statistics.starts import usual_starts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rankbench.model import Campaign, Case, CaseVerdict, Comparison, Launch, Summary


class Pairs:
    """The comparisons, looked up in either direction."""

    def __init__(self, comparisons: Iterable[Comparison]) -> None:
        self._ratios: dict[tuple[str, str, str], tuple[float, bool]] = {}
        for one in comparisons:
            self._ratios[one.case, one.base, one.other] = one.ratio, one.different
            self._ratios[one.case, one.other, one.base] = 1 / one.ratio, one.different

    def ratio(self, case: str, base: str, other: str) -> float | None:
        """Return the time of `other` over that of `base`, paired within blocks, where they share a block."""
        return self._ratios.get((case, base, other), (None, False))[0]

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

    @cached_property
    def summary(self) -> dict[tuple[str, str], Summary]:
        """Summaries by case key and candidate."""
        return {(one.case, one.candidate): one for one in self.summaries}

    @cached_property
    def pairs(self) -> Pairs:
        """The comparisons, looked up in either direction."""
        return Pairs(self.comparisons)

    def ratio(self, case: str, base: str, other: str) -> float:
        """Return the time of `other` over that of `base`: paired, or of typical values where no block has both."""
        paired = 1.0 if base == other else self.pairs.ratio(case, base, other)
        return paired or self.summary[case, other].typical_ns / self.summary[case, base].typical_ns

    @cached_property
    def case(self) -> dict[str, Case]:
        """Cases by key."""
        return {verdict.case.key: verdict.case for verdict in self.cases}

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

    def lines(self) -> Iterator[tuple[str, list[CaseVerdict]]]:
        """Yield the main cases that differ in size only, by size, with a title such as `allreduce persistent`."""
        ordered = sorted(self.main, key=lambda one: (line_key(one.case), one.case.size_bytes))
        for _, group in groupby(ordered, key=lambda one: line_key(one.case)):
            verdicts = list(group)
            yield self.title(verdicts[0].case), verdicts

    def title(self, case: Case) -> str:
        """Name a case without its size: only what tells it from the campaign's other cases."""
        alike = [one for one in self.case.values() if one.operation == case.operation]
        words = [case.operation, case.form if len({one.form for one in alike}) > 1 else ""]
        if len(self.campaign.plan.placements) > 1:
            words.append(f"at {case.placement}")
        if len({one.start for one in alike}) > 1:
            words.append(f"with start {case.start}")
        words.append(f"({case.memory.label})" if case.memory.label else "")
        return " ".join(word for word in words if word)

    def full_title(self, case: Case) -> str:
        """Name a case with its size."""
        return f"{self.title(case)}, {format_size(case.size_bytes)}" if case.size_bytes else self.title(case)


def line_key(case: Case) -> tuple[str, ...]:
    """Return what cases have in common that differ in size only."""
    return (case.placement, case.operation, case.form, case.datatype, case.start, case.memory.suffix)


def listed(words: Iterable[str]) -> str:
    """Join words as English does: `a`, `a and b`, `a, b and c`."""
    items = list(words)
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


def counted(count: int, noun: str) -> str:
    """Return `1 case`, `2 cases`, `2 launches`."""
    return f"{count} {noun}{'' if count == 1 else 'es' if noun.endswith('ch') else 's'}"


def size_range(cases: list[Case]) -> str:
    """Return ` from 8 B to 1 KiB` for cases in ascending size, or ` at 8 B`, or nothing where there is no size."""
    first, last = format_size(cases[0].size_bytes), format_size(cases[-1].size_bytes)
    if not cases[-1].size_bytes:
        return ""
    return f" at {first}" if first == last else f" from {first} to {last}"
