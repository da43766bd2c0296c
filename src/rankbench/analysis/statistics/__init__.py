"""From samples to summaries and comparisons, with stated assumptions. Pure: frames and records in, records out.

The launch is the unit of replication: samples of one launch share its memory layout, its connections and its minute, so
that a thousand of them say little about the next launch (Hunold and Carpen-Amarie, 2016; Hoefler and Belli, SC15).
`docs/explanation/deciding.md` explains each choice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankbench.analysis.statistics import by_level, correlation, rounding, trimming
from rankbench.analysis.statistics.by_level import FEWEST_BLOCKS
from rankbench.analysis.statistics.decision import FALSE_DISCOVERIES, FDR, Decision, Estimate, decide
from rankbench.analysis.statistics.launch_values import compute_launch_values
from rankbench.analysis.statistics.looks import Penalty
from rankbench.analysis.statistics.moderation import FEWEST_MODERATED, moderate_spread
from rankbench.analysis.statistics.references import Levels
from rankbench.analysis.statistics.summaries import CONFIDENCE, median_interval, summarise
from rankbench.model import Comparison

Numbers = NDArray[np.float64]

__all__ = [
    "CONFIDENCE",
    "FALSE_DISCOVERIES",
    "FEWEST_BLOCKS",
    "compare",
    "compute_launch_values",
    "median_interval",
    "summarise",
]

NO_LEVELS: Mapping[str, Levels] = MappingProxyType({})
FINEST_SPREAD = 1e-3
"""Lower limit of the standard deviation of a log ratio: equal values of a coarse clock are not exact."""


def compare(
    launch_values: pl.DataFrame,
    pairs: Sequence[tuple[str, str]],
    threshold: float,
    *,
    control: Sequence[tuple[str, str]] = (),
    looks: Sequence[int] = (),
    confidence: float = CONFIDENCE,
    levels: Mapping[str, Levels] = NO_LEVELS,
) -> list[Comparison]:
    """Compare pairs of candidates in every case by the ratios of their launches' values, paired within blocks.

    The estimate is the trimmed geometric mean of the ratios (`trimming`), its scatter moderated by that of all others
    of the call (`moderation`). Two candidates are *different* if the ratio is significantly beyond the practical
    threshold, not only beyond 1, and *equivalent* if the interval lies within the threshold on both sides (`decision`).
    Otherwise the comparison is undecided. The comparisons of `pairs` are one family.

    Pairs in `control` are one candidate under two names. They are tested with the largest p-value that passed among the
    others.

    A campaign that may end after each of several numbers of blocks, its `looks`, has several chances of a false result:
    p-values and intervals account for that (`looks.Penalty`). `confidence` is that of the intervals only; it does not
    affect `different`.

    `levels` has the two levels of the reference, for cases with two. These are compared at each level, all in one
    correction, and then combined (`by_level.combine`).

    If successive blocks are significantly correlated over all `pairs`, all errors are multiplied by the factor for such
    a mean (`correlation.LagOne.widening`).

    Where values were printed rounded (`rounding`), ratios may be off by that much as well.
    """
    table = by_level.pair_values(launch_values, [*pairs, *control], levels)
    if table.is_empty():
        return []
    judged = np.array([pair in set(pairs) for pair in table.select("base", "other").rows()])
    # A level with few visits is not compared: it would only make the correction stricter for the others.
    counts = judged & ((table["level"] == "") | (table["basis"] != "")).to_numpy()
    repeated = correlation.pool(table.filter(counts & (table["basis"] != "levels").to_numpy()))
    estimates, degrees = _estimates(table, repeated.widening if repeated else 1.0)
    offsets = rounding.find_offsets(launch_values, table.select("case", "base", "other").rows())
    estimates = [estimate._replace(offset=offset) for estimate, offset in zip(estimates, offsets, strict=True)]
    decisions = decide(
        estimates,
        threshold,
        confidence,
        penalty=Penalty(tuple(looks), table["after"].to_numpy()),
        family=FDR,
        members=counts,
        enough=(table["basis"] != "").to_numpy(),
    )
    rows = zip(table.iter_rows(named=True), estimates, degrees.tolist(), decisions, strict=True)
    comparisons = [_comparison(*row) for row in rows]
    return by_level.combine(comparisons, table, confidence, looks) if levels else comparisons


def _estimates(table: pl.DataFrame, widening: float) -> tuple[list[Estimate], Numbers]:
    """Return the estimate of each row, without an error where its scatter is unknown, and all degrees of freedom.

    `widening` is the factor of the errors for blocks that are not independent.
    """
    logs = table["logs"].to_list()
    blocks = np.array([len(log) for log in logs])
    many = (blocks >= trimming.FEWEST).sum() >= FEWEST_MODERATED
    centres = trimming.centre(logs, trimming.FEWEST if many else trimming.FEWEST_ALONE)
    values, degrees, places = _pool_levels(table, centres)
    first = np.unique(places, return_index=True)[1]
    known = (table["basis"] != "").to_numpy()
    scatter, degrees = moderate_spread(np.maximum(values, FINEST_SPREAD)[first], degrees[first], known[first])
    scatter, degrees = scatter[places], degrees[places]
    errors = scatter * widening / np.sqrt(centres.remaining)
    return list(map(Estimate, centres.mean, errors, np.where(known | (blocks >= 2), degrees, 0.0))), degrees


def _pool_levels(table: pl.DataFrame, centres: trimming.Centre) -> tuple[Numbers, Numbers, NDArray[np.int64]]:
    """Return scatter and degrees of freedom of each row, and which rows have them in common.

    Levels of a case with too few pairs each have the scatter within them in common.
    """
    names = [row if row[-1] == "levels" else number for number, row in
             enumerate(table.select("case", "base", "other", "basis").iter_rows())]  # fmt: skip
    numbers: dict[Any, int] = {}
    places = np.array([numbers.setdefault(name, len(numbers)) for name in names])
    within = np.maximum(centres.remaining - 1, 0)
    sums, degrees = (np.bincount(places, each) for each in (within * centres.scatter**2, within))
    common = np.sqrt(sums / np.maximum(degrees, 1))
    return common[places], np.maximum(degrees, 1)[places], places


def _comparison(row: dict[str, Any], estimate: Estimate, degrees: float, decision: Decision) -> Comparison:
    return Comparison(
        case=row["case"],
        base=row["base"],
        other=row["other"],
        blocks=len(row["logs"]),
        ratio=decision.ratio,
        low=decision.low,
        high=decision.high,
        p_value=decision.p_value,
        p_adjusted=decision.p_adjusted,
        error=float(estimate.error),
        degrees=degrees,
        rounding=estimate.offset,
        different=decision.different,
        alike=decision.equivalent,
    )
