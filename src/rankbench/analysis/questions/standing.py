"""Who is ahead while a campaign runs, from the medians of its launches so far. No test: the verdict decides. Pure."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean, median

from rankbench.language import Text, list_parts, say
from rankbench.model import Calls, Case

SECOND_NS = 1e9
LaunchMedians = Mapping[tuple[str, str], Sequence[float]]
"""Medians of launches in ns, in the order of blocks, by candidate and key of the case."""


def choose_compared(counts: Mapping[str, int]) -> list[str]:
    """Return the candidates that are compared over all cases, by the number of cases in which each has values: those
    with more than half as many as the one with most. Others would leave too few cases to compare.
    """
    return [name for name, count in counts.items() if 2 * count > max(counts.values())]


def find_standing(
    cases: Sequence[Case], names: Sequence[str], medians: LaunchMedians, calls: Sequence[Calls] = ()
) -> dict[str, float]:
    """Return overall times relative to the lowest, by candidate in rising order, over the cases of which all candidates
    that are compared have values; empty: they share none.

    Args:
        cases: of the campaign; those of memory are left out.
        names: candidates.
        medians: of launches so far.
        calls: those of the plan, of whose time a case has a share; without any, every operation has the same weight.
    """
    names = choose_compared({name: sum(bool(medians.get((name, case.key))) for case in cases) for name in names})
    timed: dict[Case, dict[str, float]] = {}
    for case in cases:
        values = {name: medians.get((name, case.key), []) for name in names}
        if case.quantity != "memory" and len(names) > 1 and all(min(times, default=0) > 0 for times in values.values()):
            timed[case] = {name: math.log(median(times)) for name, times in values.items()}
    if not timed:
        return {}
    weights = weigh_called(timed, calls) or weigh_equally(timed)
    total = sum(weights.values())
    means = {name: sum(weight * timed[case][name] for case, weight in weights.items()) / total for name in names}
    lowest = min(means.values())
    return {name: math.exp(mean - lowest) for name, mean in sorted(means.items(), key=lambda item: item[1])}


def weigh_called(timed: Mapping[Case, Mapping[str, float]], calls: Sequence[Calls]) -> dict[Case, float]:
    """Return the time of the calls that each case is most like, in ns, as the mean of the candidates has it."""
    weights: defaultdict[Case, float] = defaultdict(float)
    for call in calls:
        alike: defaultdict[str, list[Case]] = defaultdict(list)
        for case in timed:
            if case.operation == call.operation and call.ranks in {0, case.ranks}:
                alike[case.placement].append(case)
        for at_placement in alike.values():
            nearest = max(at_placement, key=lambda case: measure_likeness(case, call))
            time_ns = math.exp(fmean(timed[nearest].values()))
            weights[nearest] += call.share * SECOND_NS or call.calls * time_ns
    return weights


def measure_likeness(case: Case, call: Calls) -> tuple[bool, int, float]:
    """Return how like a call a case of its operation is: its form, then its options, then its size."""
    same = sum(case.options.get(name) == value for name, value in call.options.items())
    distance = abs(math.log(max(case.size_bytes, 1) / max(call.size_bytes, 1)))
    return call.form in {"", case.form}, 2 * same - len(case.options), -distance


def weigh_equally(timed: Mapping[Case, Mapping[str, float]]) -> dict[Case, float]:
    """Return weights by which every operation counts as much."""
    counts = Counter(case.operation for case in timed)
    return {case: 1 / counts[case.operation] for case in timed}


def describe_standing(ratios: Mapping[str, float]) -> Text:
    """Return relative overall times in words: `so far a is lowest (b 1.95x)`."""
    best, *others = ratios
    rivals = list_parts(say("{name} {ratio:ratio}", name=name, ratio=ratios[name]) for name in others)
    return say("so far {best} is lowest ({rivals})", best=best, rivals=rivals)
