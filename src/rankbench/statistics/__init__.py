"""From samples to summaries and comparisons, with stated assumptions. Pure: frames and records in, records out.

The launch is the unit of replication: samples of one launch share its memory layout, its connections and its minute, so
that a thousand of them say little about the next launch (Hunold and Carpen-Amarie, 2016; Hoefler and Belli, SC15).
`docs/explanation/deciding.md` explains each choice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankbench.model import Comparison
from rankbench.statistics import by_level, correlation, rounding, trimming
from rankbench.statistics.by_level import FEWEST_BLOCKS
from rankbench.statistics.decision import FALSE_DISCOVERIES, FDR, Estimate, decide
from rankbench.statistics.launch_values import compute_launch_values
from rankbench.statistics.looks import Penalty
from rankbench.statistics.moderation import FEWEST_MODERATED, moderate_spread
from rankbench.statistics.summaries import CONFIDENCE, median_interval, summarise

if TYPE_CHECKING:
    from rankbench.statistics.decision import Decision
    from rankbench.statistics.references import Levels

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
    tables = [
        by_level.pair_values(launch_values, base, other, levels).with_columns(counts=number < len(pairs))
        for number, (base, other) in enumerate((*pairs, *control))
    ]
    table = pl.concat(tables) if tables else pl.DataFrame()
    if table.is_empty():
        return []
    # A level with few visits is not compared: it would only make the correction stricter for the others.
    counts = table["counts"] & ((table["level"] == "") | (table["logs"].list.len() >= FEWEST_BLOCKS))
    repeated = correlation.pool(table.filter(counts))
    estimates, degrees = _estimates(table, repeated.widening if repeated else 1.0)
    offsets = rounding.find_offsets(launch_values, table.select("case", "base", "other").rows())
    estimates = [estimate._replace(offset=offset) for estimate, offset in zip(estimates, offsets, strict=True)]
    decisions = decide(
        estimates,
        threshold,
        confidence,
        penalty=Penalty(tuple(looks), table["after"].to_numpy()),
        family=FDR,
        members=counts.to_numpy(),
        enough=table["logs"].list.len().to_numpy() >= FEWEST_BLOCKS,
    )
    rows = zip(table.iter_rows(named=True), estimates, degrees.tolist(), decisions, strict=True)
    comparisons = [_comparison(*row) for row in rows]
    return by_level.combine(comparisons, table, confidence, looks) if levels else comparisons


def _estimates(table: pl.DataFrame, widening: float) -> tuple[list[Estimate], Numbers]:
    """Return the estimate of each row, without an error where it has one block, and the degrees of freedom of all.

    `widening` is the factor of the errors for blocks that are not independent.
    """
    logs = table["logs"].to_list()
    blocks = np.array([len(log) for log in logs])
    many = (blocks >= trimming.FEWEST).sum() >= FEWEST_MODERATED
    centres = trimming.centre(logs, trimming.FEWEST if many else trimming.FEWEST_ALONE)
    values = np.maximum(centres.scatter, FINEST_SPREAD)
    scatter, degrees = moderate_spread(values, centres.degrees, blocks >= FEWEST_BLOCKS)
    known = np.where(blocks >= 2, degrees, 0.0)
    return list(map(Estimate, centres.mean, scatter * widening / np.sqrt(centres.remaining), known)), degrees


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
