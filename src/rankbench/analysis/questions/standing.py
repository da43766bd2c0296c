"""Who is ahead while a campaign runs, from the medians of its launches so far. No test: the verdict decides. Pure."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean, median

from rankbench.language import Text, list_parts, say
from rankbench.model import Case

LaunchMedians = Mapping[tuple[str, str], Sequence[float]]
"""Medians of launches in ns, in the order of blocks, by candidate and key of the case."""


def choose_compared(counts: Mapping[str, int]) -> list[str]:
    """Return the candidates that are compared over all cases, by the number of cases in which each has values: those
    with more than half as many as the one with most. Others would leave too few cases to compare.
    """
    return [name for name, count in counts.items() if 2 * count > max(counts.values())]


def find_standing(cases: Sequence[Case], names: Sequence[str], medians: LaunchMedians) -> dict[str, float]:
    """Return overall times relative to the lowest, by candidate in rising order, over the cases of which all candidates
    that are compared have values; empty: they share none. Every operation has the same weight.

    Args:
        cases: of the campaign; those of memory are left out.
        names: candidates.
        medians: of launches so far.
    """
    by_operation: defaultdict[str, list[dict[str, float]]] = defaultdict(list)
    names = choose_compared({name: sum(bool(medians.get((name, case.key))) for case in cases) for name in names})
    for case in cases:
        values = {name: medians.get((name, case.key), []) for name in names}
        if case.quantity != "memory" and len(names) > 1 and all(min(times, default=0) > 0 for times in values.values()):
            logs = {name: math.log(median(times)) for name, times in values.items()}
            by_operation[case.operation].append(logs)
    if not by_operation:
        return {}
    means = {
        name: fmean(fmean(logs[name] for logs in operation) for operation in by_operation.values()) for name in names
    }
    lowest = min(means.values())
    return {name: math.exp(mean - lowest) for name, mean in sorted(means.items(), key=lambda item: item[1])}


def describe_standing(ratios: Mapping[str, float]) -> Text:
    """Return relative overall times in words: `so far a is lowest (b 1.95x)`."""
    best, *others = ratios
    rivals = list_parts(say("{name} {ratio:ratio}", name=name, ratio=ratios[name]) for name in others)
    return say("so far {best} is lowest ({rivals})", best=best, rivals=rivals)
