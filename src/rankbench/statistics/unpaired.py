"""Candidates of two campaigns compared: no launch of one has a partner in the other. Pure: frames in, records out.

The ratio is that of geometric means over launches. Interval and p-value are Welch's on the logarithms (Biometrika 34,
1947), which take the two campaigns to scatter differently; p-values are adjusted over all that is compared. What a
campaign has in common with none of the others, such as its day, is in every one of its launches and in no scatter: so
an interval tells what more launches would do, not what another day would.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl
import scipy

from rankbench.statistics import FALSE_DISCOVERIES, FINEST_SPREAD, LEVEL
from rankbench.statistics.threshold import p_beyond

if TYPE_CHECKING:
    from collections.abc import Sequence

FEWEST_LAUNCHES = 3
"""With fewer launches on either side nothing is called different."""


class Unpaired(NamedTuple):
    """What a candidate takes now over what it, or another, took then: above 1 it is slower now."""

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


def compare_unpaired(
    then: pl.DataFrame,
    now: pl.DataFrame,
    pairs: Sequence[tuple[str, str]],
    threshold: float,
    confidence: float = LEVEL,
) -> list[Unpaired]:
    """Compare what two campaigns' launches come to, for pairs of a candidate then and one now, in every common case.

    Two are called different if the ratio is certainly beyond the practical threshold: its p-value (`threshold`),
    adjusted (Benjamini and Hochberg, 1995), is at most 5 %, with three launches or more on either side. Figures below
    the clock's step are left out.
    """
    order = pl.DataFrame(
        [(base, other, place) for place, (base, other) in enumerate(pairs)],
        schema={"base": pl.String, "other": pl.String, "place": pl.Int32},
        orient="row",
    )
    table = (
        _sides(then, "base")
        .join(order, on="base")
        .join(_sides(now, "other"), on=["case", "other"], suffix="_now")
        .sort("place", maintain_order=True)
    )
    if table.is_empty():
        return []
    estimates = _welch(table, threshold, confidence)
    adjusted = scipy.stats.false_discovery_control(estimates["p_value"].to_numpy())
    return [
        _unpaired(row, float(p_adjusted))
        for row, p_adjusted in zip(estimates.iter_rows(named=True), adjusted, strict=True)
    ]


def _sides(figures: pl.DataFrame, name: str) -> pl.DataFrame:
    """Return one row per case and candidate: launches, their median, mean and variance of the logarithms."""
    log = pl.col("figure_ns").log()
    return (
        figures.filter(pl.col("figure_ns") > 0)
        .group_by("case", pl.col("candidate").alias(name), maintain_order=True)
        .agg(
            pl.len().alias("count"),
            pl.col("figure_ns").median().alias("typical_ns"),
            log.mean().alias("mean"),
            log.var().alias("variance"),
        )
    )


def _welch(table: pl.DataFrame, threshold: float, confidence: float) -> pl.DataFrame:
    counts = np.stack([table["count"].to_numpy(), table["count_now"].to_numpy()])
    variances = np.stack([table["variance"].to_numpy(), table["variance_now"].to_numpy()])
    errors = np.maximum(np.nan_to_num(variances.astype(np.float64)), FINEST_SPREAD**2) / counts
    enough = counts.min(axis=0) >= 2
    degrees = errors.sum(axis=0) ** 2 / (errors**2 / np.maximum(counts - 1, 1)).sum(axis=0)
    error = np.sqrt(errors.sum(axis=0))
    mean = table["mean_now"].to_numpy() - table["mean"].to_numpy()
    p_value = np.where(enough, p_beyond(mean, error, degrees, math.log1p(threshold)), 1.0)
    half = np.where(enough, scipy.stats.t.isf((1 - confidence) / 2, degrees) * error, np.inf)
    return table.with_columns(
        pl.Series("ratio", np.exp(mean)),
        pl.Series("p_value", p_value),
        pl.Series("low", np.exp(mean - half)),
        pl.Series("high", np.exp(mean + half)),
    )


def _unpaired(row: dict[str, object], p_adjusted: float) -> Unpaired:
    ratio, launches = float(row["ratio"]), (int(row["count"]), int(row["count_now"]))  # type: ignore[arg-type, call-overload]
    return Unpaired(
        case=str(row["case"]),
        base=str(row["base"]),
        other=str(row["other"]),
        launches=launches,
        typical_ns=(float(row["typical_ns"]), float(row["typical_ns_now"])),  # type: ignore[arg-type]
        ratio=ratio,
        low=float(row["low"]),  # type: ignore[arg-type]
        high=float(row["high"]),  # type: ignore[arg-type]
        p_value=float(row["p_value"]),  # type: ignore[arg-type]
        p_adjusted=p_adjusted,
        different=min(launches) >= FEWEST_LAUNCHES and p_adjusted <= FALSE_DISCOVERIES,
    )
