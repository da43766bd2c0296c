"""What is left out of comparisons: visits whose ranks waited for a CPU, and whether this selects launches. Pure.

A visit is disturbed by what it did not cause: how long its ranks waited for a CPU, as the system counts it. A call that
takes longer waits longer, too, so that the share of the time counts, which is the same for slow and fast calls. Where
all visits wait, as on a machine that is always busy, none is worse than the others.

Launches of which too few rounds count are left out as well, and a slow call loses more rounds. The core estimates the
time of every case, also of these launches: the estimates of both kinds are compared by a rank test (Mann and Whitney,
Annals of Mathematical Statistics 18, 1947).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankbench.analysis.statistics import distributions
from rankbench.model import LATE_START, TIME_LIMIT, AloneComparison, CaseStatus, Comparison, Summary

KEY = ["case", "candidate", "launch"]
MOST_WAITED, MOST_TIMES = 0.1, 2.0
"""A visit is disturbed above this share of waiting, and above so many times the median over all visits."""
CHANCE = 0.05
"""Largest p-value of estimates that differ."""
MOST_PAIRS = 2500
"""Pairs of values for which all orders are counted."""
FEWEST_COUNTED = 3
"""Launches that count, for a difference that no test can show: most of the others are on one side of all of them."""


class Dropped(NamedTuple):
    """Launches of a candidate in a case that do not count, whose estimates differ from those that do."""

    counted: int
    dropped: int
    ratio: float
    """Median estimate of what is dropped over that of what is kept."""


def find_most_waited(samples: pl.LazyFrame) -> float:
    """Return the share of waiting above which a visit is disturbed."""
    visits = samples.group_by("case", "launch", "visit").agg(pl.col("visit_waited").first())
    middle = visits.select(pl.col("visit_waited").median()).collect().item()
    return max(MOST_WAITED, MOST_TIMES * (middle or 0.0))


def drop_disturbed(samples: pl.LazyFrame, most_waited: float) -> pl.LazyFrame:
    """Return samples without those of disturbed visits, and with a column `disturbed`: no other visit of a launch is
    left, so that all are kept."""
    disturbed = (pl.col("visit_waited") > most_waited).fill_null(value=False)
    key = ["case", "candidate", "block", "launch"]
    launches = samples.group_by(key).agg(disturbed.all().alias("disturbed"))
    return samples.join(launches, on=key, how="left", maintain_order="left").filter(pl.col("disturbed") | ~disturbed)


def compare_dropped(
    launch_values: pl.DataFrame, cases: pl.DataFrame, threshold: float
) -> dict[tuple[str, str], Dropped]:
    """Return, by case and candidate, where launches that are left out differ from the others by their estimates.

    Args:
        launch_values: result of `compute_launch_values`.
        cases: the store's cases, one row per case and launch.
        threshold: a smaller difference of the medians does not matter.
    """
    if "estimate_ns" not in cases.columns or launch_values.is_empty():
        return {}
    poor = launch_values.select(*KEY, poor=pl.col("uncertain") | pl.col("few"))
    refused = (pl.col("status") == CaseStatus.REFUSED) & pl.col("cause").is_in([LATE_START, TIME_LIMIT])
    rows = (
        cases.filter((pl.col("status") == CaseStatus.OK) | refused, pl.col("estimate_ns") > 0)
        .join(poor, on=KEY, how="left")
        .with_columns(dropped=pl.col("poor").fill_null(value=True))
    )
    sides = rows.group_by("case", "candidate", maintain_order=True).agg(
        counted=pl.col("estimate_ns").filter(~pl.col("dropped")), dropped=pl.col("estimate_ns").filter("dropped")
    )
    differences = {}
    for case, candidate, counted, dropped in sides.iter_rows():
        if counted and dropped and differ(counted, dropped, threshold):
            ratio = float(np.median(dropped) / np.median(counted))
            differences[case, candidate] = Dropped(len(counted), len(dropped), ratio)
    return differences


def differ(counted: Sequence[float], dropped: Sequence[float], threshold: float) -> bool:
    """Return whether two sets of times differ: by more than the threshold, and by the test or beyond all that is kept.

    Of few launches a test shows nothing.
    """
    middle = float(np.median(dropped))
    if abs(math.log(middle / np.median(counted))) <= math.log1p(threshold):
        return False
    beyond = not min(counted) <= middle <= max(counted)
    return (beyond and len(counted) >= FEWEST_COUNTED) or find_rank_p(counted, dropped) <= CHANCE


def find_rank_p(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the two-sided p-value of the hypothesis that two sets of values are drawn alike, exact for few values."""
    above = sum((value > other) + (value == other) / 2 for other in first for value in second)
    pairs = len(first) * len(second)
    if pairs > MOST_PAIRS:
        error = math.sqrt(pairs * (len(first) + len(second) + 1) / 12)
        return float(2 * distributions.normal_sf(abs(above - pairs / 2) / error))
    counts = count_orders(len(first), len(second))
    places = np.arange(len(counts))
    tail = min(counts[places >= above].sum(), counts[places <= above].sum())
    return float(min(1.0, 2 * tail / counts.sum()))


def count_orders(first: int, second: int) -> NDArray[np.float64]:
    """Return how many orders of two sets have 0, 1, 2 ... pairs in which the value of the second set is above.

    The highest value is of the second set, above all of the first, or of the first set.
    """
    row = [np.ones(1)] * (second + 1)
    for ones in range(1, first + 1):
        counts = [np.ones(1)]
        for twos in range(1, second + 1):
            highest = np.zeros(ones * twos + 1)
            highest[ones:] += counts[-1]
            highest[: len(row[twos])] += row[twos]
            counts.append(highest)
        row = counts
    return row[second]


def leave_open(
    comparisons: Sequence[Comparison], dropped: Mapping[tuple[str, str], Dropped], alone: Sequence[AloneComparison] = ()
) -> list[Comparison]:
    """Return comparisons of which none is called equivalent where what was left out differs.

    None is decided where candidates compare differently alone.
    """
    apart = {(pair.case, *sorted((pair.base, pair.other))) for pair in alone}
    changed = []
    for comparison in comparisons:
        names = comparison.base, comparison.other
        if (comparison.case, *sorted(names)) in apart:
            changed.append(_restrict(comparison, different=False, alike=False))
        elif any((comparison.case, name) in dropped for name in names):
            changed.append(_restrict(comparison, alike=False))
        else:
            changed.append(comparison)
    return changed


def _restrict(comparison: Comparison, **outcome: bool) -> Comparison:
    """Return a comparison with another outcome, at all levels."""
    levels = [msgspec.structs.replace(level, **outcome) for level in comparison.levels]
    return msgspec.structs.replace(comparison, levels=levels, **outcome)


def name_dropped(summaries: Sequence[Summary], dropped: Mapping[tuple[str, str], Dropped]) -> list[Summary]:
    """Return summaries with what was left out and differs."""
    return [
        msgspec.structs.replace(summary, dropped=difference.dropped, dropped_ratio=difference.ratio)
        if (difference := dropped.get((summary.case, summary.candidate)))
        else summary
        for summary in summaries
    ]
