"""Comparison of candidates of two campaigns, whose launches are not paired. Pure: frames in, records out.

The ratio is that of geometric means over launches. Interval and p-value are Welch's on the logarithms (Biometrika 34,
1947), which take the two campaigns to scatter differently; p-values are adjusted over all that is compared. What a
campaign has in common with none of the others, such as its day, is in every one of its launches and in no scatter: so
an interval shows what more launches would do, not what another day would.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankbench.analysis.statistics import CONFIDENCE, FINEST_SPREAD, rounding
from rankbench.analysis.statistics.decision import FDR, Decision, Estimate, decide

FEWEST_LAUNCHES = 3
"""Minimum of launches on each side for a difference."""


class Unpaired(NamedTuple):
    """Time of a candidate now over its own, or another's, time then: above 1 it is slower now."""

    case: str
    base: str
    other: str
    launches: tuple[int, int]
    """Then and now."""
    typical_ns: tuple[float, float]
    """Median over launches."""
    ratio: float
    low: float
    high: float
    """Infinite where one side has one launch only."""
    p_value: float
    p_adjusted: float
    different: bool
    error: float = 0.0
    """Standard error of the ratio's logarithm."""
    degrees: float = 0.0
    """Degrees of freedom of that error; 0 where a side has one launch only."""
    rounding: float = 0.0
    """How far that logarithm may be off besides, since tools printed the values rounded."""


def compare_unpaired(
    then: pl.DataFrame,
    now: pl.DataFrame,
    pairs: Sequence[tuple[str, str]],
    threshold: float,
    confidence: float = CONFIDENCE,
    wanted: Callable[[tuple[str, str, str]], bool] = lambda _key: True,
) -> list[Unpaired]:
    """Compare what two campaigns' launches come to, for pairs of a candidate then and one now, in every common case.

    Two are called different if the ratio is certainly beyond the practical threshold: its p-value (`decision`),
    adjusted (Benjamini and Hochberg, 1995), is at most 5%, with three launches or more on either side. Values below
    the clock's step are left out, and so is what is not `wanted`, by case, base and other.
    """
    order = pl.DataFrame(
        [(base, other, place) for place, (base, other) in enumerate(pairs)],
        schema={"base": pl.String, "other": pl.String, "place": pl.Int32},
        orient="row",
    )
    table = (
        _sides(then, "base")
        .join(order, on="base", maintain_order="left")
        .join(_sides(now, "other"), on=["case", "other"], suffix="_now", maintain_order="left")
        .sort("place", maintain_order=True)
    )
    table = table.filter([wanted(key) for key in table.select("case", "base", "other").iter_rows()])
    if table.is_empty():
        return []
    counts = np.stack([table["count"].to_numpy(), table["count_now"].to_numpy()])
    enough = counts.min(axis=0) >= FEWEST_LAUNCHES
    estimates = _welch(table, counts)
    decisions = decide(estimates, threshold, confidence, family=FDR, enough=enough)
    return [_make_unpaired(*row) for row in zip(table.iter_rows(named=True), estimates, decisions, strict=True)]


def _sides(launch_values: pl.DataFrame, name: str) -> pl.DataFrame:
    """Return one row per case and candidate: launches, their median, mean and variance of the logarithms."""
    log = pl.col("figure_ns").log()
    return (
        rounding.complete(launch_values)
        .filter(pl.col("figure_ns") > 0)
        .group_by("case", pl.col("candidate").alias(name), maintain_order=True)
        .agg(
            pl.len().alias("count"),
            pl.col("figure_ns").median().alias("typical_ns"),
            log.mean().alias("mean"),
            log.var().alias("variance"),
            pl.col("rounding").max(),
        )
    )


def _welch(table: pl.DataFrame, counts: NDArray[np.int64]) -> list[Estimate]:
    """Return the log ratio of each row, now over then; where one side has one launch there is no error."""
    variances = np.stack([table["variance"].to_numpy(), table["variance_now"].to_numpy()])
    errors = np.maximum(np.nan_to_num(variances.astype(np.float64)), FINEST_SPREAD**2) / counts
    degrees = errors.sum(axis=0) ** 2 / (errors**2 / np.maximum(counts - 1, 1)).sum(axis=0)
    known = np.where(counts.min(axis=0) >= 2, degrees, 0.0)
    mean = table["mean_now"].to_numpy() - table["mean"].to_numpy()
    offset = (table["rounding"] + table["rounding_now"]).to_numpy()
    return list(map(Estimate, mean, np.sqrt(errors.sum(axis=0)), known, offset))


def _make_unpaired(row: dict[str, Any], estimate: Estimate, decision: Decision) -> Unpaired:
    return Unpaired(
        case=row["case"],
        base=row["base"],
        other=row["other"],
        launches=(row["count"], row["count_now"]),
        typical_ns=(row["typical_ns"], row["typical_ns_now"]),
        ratio=decision.ratio,
        low=decision.low,
        high=decision.high,
        p_value=decision.p_value,
        p_adjusted=decision.p_adjusted,
        different=decision.different,
        error=float(estimate.error),
        degrees=float(estimate.degrees),
        rounding=float(estimate.offset),
    )
