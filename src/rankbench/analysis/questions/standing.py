"""Who is ahead while a campaign runs, from the medians of its launches so far. No test: the verdict decides. Pure."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean, median
from typing import NamedTuple

from rankbench.language import Text, list_parts, say
from rankbench.model import Case

LaunchMedians = Mapping[tuple[str, str], Sequence[float]]
"""Medians of launches in ns, in the order of blocks, by candidate and key of the case."""


class Standing(NamedTuple):
    """Relative overall times, and in how many cases one candidate was lowest in every block."""

    ratios: Mapping[str, float]
    """Time relative to the lowest, by candidate in rising order; every operation has the same weight."""
    steady: int
    cases: int
    blocks: int
    """The most that a case has. One shows nothing of other blocks."""

    def describe(self) -> Text:
        """Return the standing in words: `so far a is lowest (b 1.95x); ...`."""
        best, *others = self.ratios
        rivals = list_parts(say("{name} {ratio:ratio}", name=name, ratio=self.ratios[name]) for name in others)
        ahead = say("so far {best} is lowest ({rivals})", best=best, rivals=rivals)
        if self.blocks < 2:
            return ahead
        return say(
            "{ahead}; one candidate was lowest in every block in {steady} of {cases:count case}",
            ahead=ahead,
            steady=self.steady,
            cases=self.cases,
        )


def choose_compared(counts: Mapping[str, int]) -> list[str]:
    """Return the candidates that are compared over all cases, by the number of cases in which each has values: those
    with more than half as many as the one with most. Others would leave too few cases to compare.
    """
    return [name for name, count in counts.items() if 2 * count > max(counts.values())]


def find_standing(cases: Sequence[Case], names: Sequence[str], medians: LaunchMedians) -> Standing | None:
    """Return the standing of the candidates that are compared over the cases of which all have values; None: they share
    none.

    Args:
        cases: of the campaign; those of memory are left out.
        names: candidates.
        medians: of launches so far.
    """
    by_operation: defaultdict[str, list[dict[str, float]]] = defaultdict(list)
    steady = most = 0
    names = choose_compared({name: sum(bool(medians.get((name, case.key))) for case in cases) for name in names})
    for case in cases:
        values = {name: medians.get((name, case.key), []) for name in names}
        if case.quantity != "memory" and len(names) > 1 and all(min(times, default=0) > 0 for times in values.values()):
            logs = {name: math.log(median(times)) for name, times in values.items()}
            by_operation[case.operation].append(logs)
            blocks = list_blocks(values)
            steady += len({min(names, key=block.__getitem__) for block in blocks}) == 1
            most = max(most, len(blocks))
    if not by_operation:
        return None
    means = {
        name: fmean(fmean(logs[name] for logs in operation) for operation in by_operation.values()) for name in names
    }
    lowest = min(means.values())
    ratios = {name: math.exp(mean - lowest) for name, mean in sorted(means.items(), key=lambda item: item[1])}
    return Standing(ratios, steady, sum(map(len, by_operation.values())), most)


def list_blocks(values: Mapping[str, Sequence[float]]) -> list[dict[str, float]]:
    """Return the values of each block that all candidates have."""
    return [dict(zip(values, block, strict=True)) for block in zip(*values.values(), strict=False)]
