"""The comparisons of a campaign, looked up in either direction. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import cached_property

from rankbench.analysis.questions.placements import invert
from rankbench.model import Comparison


class Comparisons:
    """The comparisons of candidates, in their order, with a lookup by case and two candidates."""

    def __init__(self, comparisons: Iterable[Comparison]) -> None:
        self._comparisons = list(comparisons)
        self._levels: dict[str, set[str]] = {}
        self._ratios: dict[tuple[str, str, str], tuple[float, bool]] = {}
        self._intervals: dict[tuple[str, str, str], tuple[float, float]] = {}
        self._equivalent: set[tuple[str, frozenset[str]]] = set()
        for comparison in self._comparisons:
            case, base, other = comparison.case, comparison.base, comparison.other
            if comparison.levels:
                self._levels.setdefault(case, set()).update(level.name for level in comparison.levels if level.enough)
            self._intervals[case, base, other] = comparison.low, comparison.high
            low, high = 1 / comparison.high, 1 / comparison.low if comparison.low else math.inf
            self._intervals[case, other, base] = low, high
            self._ratios[case, base, other] = comparison.ratio, comparison.different
            self._ratios[case, other, base] = 1 / comparison.ratio, comparison.different
            if comparison.alike:
                self._equivalent.add((case, frozenset((base, other))))

    def __iter__(self) -> Iterator[Comparison]:
        """Iterate over the comparisons in their order."""
        return iter(self._comparisons)

    def __len__(self) -> int:
        """Return the number of comparisons."""
        return len(self._comparisons)

    def __getitem__(self, key: tuple[str, str, str]) -> Comparison:
        """Return the comparison of a case, base and other. Raises KeyError where the two were not compared."""
        return self._by_candidates[key]

    def levels(self, case: str) -> dict[str, Comparisons]:
        """Return the comparisons at each level of the reference with enough blocks, of a case that has levels."""
        return {name: self._at[name] for name in sorted(self._levels.get(case, ()), reverse=True)}

    @cached_property
    def _at(self) -> dict[str, Comparisons]:
        return {
            name: Comparisons(filter(None, (comparison.at(name) for comparison in self._comparisons)))
            for name in ("near", "far")
        }

    @cached_property
    def _by_candidates(self) -> dict[tuple[str, str, str], Comparison]:
        both = (turn for comparison in self._comparisons for turn in (comparison, invert(comparison)))
        return {(turn.case, turn.base, turn.other): turn for turn in both}

    def find(self, case: str, base: str, other: str) -> Comparison | None:
        """Return the comparison of `other` with `base`, reversed where needed."""
        return self._by_candidates.get((case, base, other))

    def ratio(self, case: str, base: str, other: str) -> float | None:
        """Return the time of `other` over that of `base`, paired within blocks, where they share a block."""
        return self._ratios.get((case, base, other), (None, False))[0]

    def interval(self, case: str, base: str, other: str) -> tuple[float, float, float] | None:
        """Return the ratio with both ends of its interval, where they share a block."""
        ratio = self.ratio(case, base, other)
        return (ratio, *self._intervals[case, base, other]) if ratio else None

    def different(self, case: str, base: str, other: str) -> bool:
        """Return whether the two can be distinguished."""
        return self._ratios.get((case, base, other), (1.0, False))[1]

    def equivalent(self, case: str, base: str, other: str) -> bool:
        """Return whether the two significantly differ by no more than the practical threshold."""
        return (case, frozenset((base, other))) in self._equivalent

    def slower(self, case: str, base: str, other: str) -> bool:
        """Return whether `other` is significantly slower than `base`."""
        ratio, different = self._ratios.get((case, base, other), (1.0, False))
        return different and ratio > 1
