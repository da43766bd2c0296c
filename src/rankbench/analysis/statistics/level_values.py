"""The value of each candidate in each case, at each level of the reference, so that values and ratios agree. Pure.

A value is the median over launches. Ratios are trimmed means over values paired within blocks, so that medians of two
candidates need not have the same quotient: launches of one may have been disturbed, or missed the slow minutes. What is
shown must not contradict what was decided. So the values of a case are moved together, by the least amount on a
logarithmic scale (least squares), until the quotient of any two lies in the interval of their ratio. Where medians
agree already, which is usual, they stay as they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
import polars as pl
import scipy
from numpy.typing import NDArray

from rankbench.analysis.statistics.references import Levels, name_level
from rankbench.analysis.statistics.summaries import median_interval
from rankbench.model import Comparison, Level, Summary
from rankbench.model.verdicts import LevelValue

Numbers = NDArray[np.float64]
Bound = tuple[int, int, float, float]

CONTRADICTION = 1e-9
"""Bounds that leave a smaller residual contradict each other: it would be nought without rounding."""
NAMES = ("near", "far")


def agree_values(
    summaries: Iterable[Summary],
    comparisons: Iterable[Comparison],
    launch_values: pl.DataFrame,
    levels: Mapping[str, Levels],
    confidence: float,
) -> list[Summary]:
    """Return the summaries with values by level, and with values that agree with the comparisons.

    Args:
        summaries: of all cases and candidates.
        comparisons: of the candidates, without those of the A/A control.
        launch_values: values of the launches that can be judged.
        levels: the two levels of the reference by the key of each case that has them.
        confidence: of the intervals of values.
    """
    by_case: dict[str, list[Comparison]] = {}
    for comparison in comparisons:
        by_case.setdefault(comparison.case, []).append(comparison)
    split = {case for case, of in by_case.items() if any(comparison.levels for comparison in of)}
    at_levels = tabulate_levels(launch_values, {case: levels[case] for case in split & levels.keys()}, confidence)
    summaries = list(summaries)
    parts: dict[str, list[Summary]] = {}
    for summary in summaries:
        if summary.launches:
            parts.setdefault(summary.case, []).append(summary)
    agreed: dict[tuple[str, str], Summary] = {}
    for case, part in parts.items():
        with_levels = [
            msgspec.structs.replace(summary, levels=at_levels.get((case, summary.candidate), [])) for summary in part
        ]
        for summary in _agree_case(
            with_levels, by_case.get(case, []), _weigh_levels(with_levels, by_case.get(case, []))
        ):
            agreed[case, summary.candidate] = summary
    return [agreed.get((summary.case, summary.candidate), summary) for summary in summaries]


def tabulate_levels(
    launch_values: pl.DataFrame, levels: Mapping[str, Levels], confidence: float
) -> dict[tuple[str, str], list[LevelValue]]:
    """Return the medians over launches of each candidate at each level, by case and candidate.

    A launch's value at a level is the median of its visits there. Visits between the levels belong to neither.
    """
    if not levels:
        return {}
    lists = ["visit_ns", "visit_hop_ns"]
    visits = launch_values.filter(pl.col("case").is_in(list(levels))).explode(lists).drop_nulls(lists)
    medians = (
        visits.filter(pl.col("visit_ns") > 0)
        .with_columns(level=name_level(levels))
        .drop_nulls("level")
        .group_by("case", "candidate", "level", "launch")
        .agg(pl.col("visit_ns").median())
        .group_by("case", "candidate", "level")
        .agg("visit_ns")
    )
    values: dict[tuple[str, str], list[LevelValue]] = {}
    for row in medians.sort("case", "candidate", pl.col("level") == NAMES[1]).iter_rows(named=True):
        times = np.asarray(row["visit_ns"])
        low, high, coverage = median_interval(times, confidence)
        value = LevelValue(row["level"], len(times), float(np.median(times)), low, high, coverage)
        values.setdefault((row["case"], row["candidate"]), []).append(value)
    return values


def agree(logs: Numbers, bounds: Sequence[Bound]) -> Numbers:
    """Return the values closest to these (least squares) whose differences lie within bounds.

    This is least distance programming by non-negative least squares (Lawson and Hanson, Solving Least Squares Problems,
    1974, chapter 23). Bounds that no values satisfy contradict each other, which intervals of ratios hardly ever do:
    then the differences are those closest to the middle of all bounds.

    Args:
        logs: logarithms of values.
        bounds: places of a first and a second value, and the least and the largest second less first.
    """
    difference = np.zeros((len(bounds), len(logs)))
    for row, (first, second, _, _) in enumerate(bounds):
        difference[row, [first, second]] = -1, 1
    low, high = (np.array([bound[place] for bound in bounds]) for place in (2, 3))
    apart = difference @ logs
    sides = np.concatenate([difference, -difference])
    least = np.concatenate([low - apart, apart - high])
    finite = np.isfinite(least)
    if not (least[finite] > 0).any():
        return logs
    dual = np.concatenate([sides[finite].T, least[finite][None]])
    target = np.zeros(len(logs) + 1)
    target[-1] = 1
    residual = dual @ scipy.optimize.nnls(dual, target)[0] - target
    if -residual[-1] > CONTRADICTION:
        return np.asarray(logs - residual[:-1] / residual[-1])
    known = np.isfinite(low) & np.isfinite(high)
    middles = np.append((low[known] + high[known]) / 2, logs.sum())
    equations = np.concatenate([difference[known], np.ones((1, len(logs)))])
    return np.asarray(np.linalg.lstsq(equations, middles, rcond=None)[0])


def _weigh_levels(summaries: Sequence[Summary], comparisons: Sequence[Comparison]) -> dict[str, float]:
    """Return the weight of each level in the value of a case: its mean share, of the levels with enough visits."""
    levels = [level for comparison in comparisons for level in comparison.levels]
    known = [level for level in levels if level.enough] or levels
    shares = {name: [level.share for level in known if level.name == name] for name in NAMES}
    everywhere = {
        name: sum(share) / len(share)
        for name, share in shares.items()
        if share and all(any(level.name == name for level in summary.levels) for summary in summaries)
    }
    return {name: share / sum(everywhere.values()) for name, share in everywhere.items()}


def _agree_case(
    summaries: Sequence[Summary], comparisons: Sequence[Comparison], weights: Mapping[str, float]
) -> list[Summary]:
    """Return the summaries of one case with values that agree with its comparisons, at each level and over all."""
    for name in NAMES:
        summaries = _agree_level(summaries, comparisons, name)
    if weights:
        summaries = [_join_levels(summary, weights) for summary in summaries]
    moved = _move([summary.typical_ns for summary in summaries], _make_bounds(summaries, comparisons))
    return [
        summary if value == summary.typical_ns else msgspec.structs.replace(summary, **_enclose(summary, value))
        for summary, value in zip(summaries, moved, strict=True)
    ]


def _agree_level(summaries: Sequence[Summary], comparisons: Sequence[Comparison], name: str) -> list[Summary]:
    """Return the summaries with values of one level that agree with the comparisons at this level."""
    places = [place for place, summary in enumerate(summaries) if any(level.name == name for level in summary.levels)]
    results = {
        (comparison.base, comparison.other): level
        for comparison in comparisons
        for level in comparison.levels
        if level.name == name and level.enough
    }
    part = [summaries[place] for place in places]
    values = [next(level for level in summary.levels if level.name == name) for summary in part]
    bounds = _list_bounds([summary.candidate for summary in part], results)
    changed = list(summaries)
    for place, level, value in zip(places, values, _move([level.typical_ns for level in values], bounds), strict=True):
        new = level if value == level.typical_ns else msgspec.structs.replace(level, **_enclose(level, value))
        levels = [new if other is level else other for other in summaries[place].levels]
        changed[place] = msgspec.structs.replace(summaries[place], levels=levels)
    return changed


def _make_bounds(summaries: Sequence[Summary], comparisons: Sequence[Comparison]) -> list[Bound]:
    results = {(comparison.base, comparison.other): comparison for comparison in comparisons}
    return _list_bounds([summary.candidate for summary in summaries], results)


def _list_bounds(names: Sequence[str], results: Mapping[tuple[str, str], Comparison | Level]) -> list[Bound]:
    """Return the bounds that the intervals of ratios set to the logarithms of values."""
    place = {name: number for number, name in enumerate(names)}
    return [
        (
            place[base],
            place[other],
            math.log(result.low) if result.low > 0 else -math.inf,
            math.log(result.high) if result.high < math.inf else math.inf,
        )
        for (base, other), result in results.items()
        if base in place and other in place
    ]


def _move(values_ns: Sequence[float], bounds: Sequence[Bound]) -> list[float]:
    """Return values that agree with bounds, the very same ones where they do so already."""
    if not all(value > 0 for value in values_ns):
        return list(values_ns)  # Values below the clock's step have no logarithm, and no comparison.
    logs = np.log(values_ns)
    if all(low <= logs[second] - logs[first] <= high for first, second, low, high in bounds):
        return list(values_ns)
    return [float(value) for value in np.exp(agree(logs, bounds))]


def _join_levels(summary: Summary, weights: Mapping[str, float]) -> Summary:
    """Return a summary whose value and interval are the mean of those of its levels, on a logarithmic scale."""
    levels = {level.name: level for level in summary.levels if level.name in weights}
    means = {
        field: math.exp(sum(share * math.log(getattr(levels[name], field)) for name, share in weights.items()))
        for field in ("typical_ns", "low_ns", "high_ns")
    }
    return msgspec.structs.replace(summary, **means, coverage=min(level.coverage for level in levels.values()))


def _enclose(around: Summary | LevelValue, value: float) -> dict[str, Any]:
    """Return a new value, and the interval of the former one, which has to contain it."""
    return {"typical_ns": value, "low_ns": min(around.low_ns, value), "high_ns": max(around.high_ns, value)}
