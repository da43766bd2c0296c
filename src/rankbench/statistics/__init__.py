"""From samples to summaries and comparisons, with stated assumptions. Pure: frames and records in, records out.

The launch is the unit of replication: samples of one launch share its memory layout, its connections and its minute, so
that a thousand of them say little about the next launch (Hunold and Carpen-Amarie, 2016; Hoefler and Belli, SC15).
METHOD.md explains each choice.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from scipy import stats

from rankbench.model import Comparison, Summary
from rankbench.statistics.medians import launch_medians

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["compare", "launch_medians", "summarise"]

LEVEL = 0.95
FALSE_DISCOVERIES = 0.05
FEWEST_BLOCKS = 3
"""Fewer pairs than this are never called different, whatever they show."""
FINEST_SPREAD = 1e-3
"""Smallest standard deviation of a log ratio that is believed: equal figures from a coarse clock are no certainty."""
START_BOUND = 0.05
"""Share of a case's time above which the uncertainty of its start must be told."""


def summarise(medians: pl.DataFrame, samples: pl.LazyFrame, cases: pl.DataFrame) -> list[Summary]:
    """Return one summary per case and candidate that was tried, with or without figures.

    Args:
        medians: result of `launch_medians`.
        samples: the store's samples; quantiles are taken over all that are not discarded.
        cases: the store's cases, one row per case and launch.
    """
    key = ["case", "candidate"]
    tried = cases.group_by(key, maintain_order=True).agg(
        pl.col("status").filter(pl.col("status") != "ok").value_counts().alias("failures"),
        pl.col("late").sum(),
        pl.col("overrun").sum(),
        pl.col("sync_bound_ns").max(),
        pl.col("migrated").sum(),
    )
    launches = medians.group_by(key).agg(pl.col("median_ns"))
    pooled = samples.filter(~pl.col("discarded")).group_by(key).agg(*_pooled()).collect()
    rows = tried.join(launches, on=key, how="left").join(pooled, on=key, how="left")
    return [_summary(row) for row in rows.iter_rows(named=True)]


def compare(
    medians: pl.DataFrame, pairs: Sequence[tuple[str, str]], threshold: float, *, looks: int = 1
) -> list[Comparison]:
    """Compare pairs of candidates in every case by the ratios of their launch medians, paired within blocks.

    The estimate is the geometric mean of the ratios; interval and p-value are Student's on their logarithms. p-values
    are adjusted over all comparisons of the call (Benjamini and Hochberg, 1995). Two candidates are called different if
    the adjusted p-value is at most 5 % and the ratio is beyond the practical threshold.

    A campaign that may end at several `looks` at its figures has several chances to be misled: p-values are multiplied
    by their number and intervals widened to match (Bonferroni). Launches whose median is below the clock's step are
    left out, since a ratio to nothing says nothing.
    """
    blocks = (
        medians.filter(pl.col("median_ns") > 0)
        .group_by("case", "candidate", "block", maintain_order=True)
        .agg(pl.col("median_ns").median())
    )
    tables = [_paired(blocks, base, other) for base, other in pairs]
    table = pl.concat(tables) if tables else pl.DataFrame()
    if table.is_empty():
        return []
    estimates = _estimates(table, looks)
    adjusted = stats.false_discovery_control(estimates["p_value"].to_numpy())
    return [
        _comparison(row, float(p_adjusted), threshold)
        for row, p_adjusted in zip(estimates.iter_rows(named=True), adjusted, strict=True)
    ]


def median_interval(values: NDArray[np.float64], level: float = LEVEL) -> tuple[float, float, float]:
    """Return low, high and true coverage of the narrowest interval of order statistics that covers the median.

    Exact for any continuous distribution (Le Boudec, Performance Evaluation, 2010, section 2.2). Where no interval
    reaches the level, which is so below six values, it is the whole range, with the coverage that this has.
    """
    ordered = np.sort(values)
    count = len(ordered)
    outside = max(int(stats.binom.ppf((1 - level) / 2, count, 0.5)) - 1, -1)
    while outside + 1 < count / 2 - 1 and _coverage(count, outside + 1) >= level:
        outside += 1
    rank = max(outside, 0)
    return float(ordered[rank]), float(ordered[count - 1 - rank]), _coverage(count, rank)


def _coverage(count: int, rank: int) -> float:
    """Return the chance that the median lies between the order statistics `rank` from either end."""
    return float(1 - 2 * stats.binom.cdf(rank, count, 0.5)) if count > 1 else 0.0


def _pooled() -> list[pl.Expr]:
    time = pl.col("time_ns")
    quantiles = [time.quantile(share).alias(f"p{share * 100:.0f}_ns") for share in (0.1, 0.9, 0.99)]
    return [time.len().alias("samples"), time.min().alias("min_ns"), time.mean().alias("mean_ns"),
            time.max().alias("max_ns"), *quantiles]  # fmt: skip


def _summary(row: dict[str, object]) -> Summary:
    medians = np.asarray(row["median_ns"] or [], dtype=np.float64)
    failures = {str(one["status"]): int(one["count"]) for one in row["failures"]}  # type: ignore[attr-defined]
    figures = _figures(row, medians) if len(medians) else {}
    return Summary(
        case=str(row["case"]),
        candidate=str(row["candidate"]),
        launches=len(medians),
        samples=int(row["samples"] or 0),  # type: ignore[call-overload]
        late=int(row["late"]),  # type: ignore[call-overload]
        overrun=int(row["overrun"]),  # type: ignore[call-overload]
        **figures,
        failures=failures,
        warnings=_warnings(row, len(medians), figures["typical_ns"], figures["coverage"]) if figures else [],
    )


def _figures(row: dict[str, object], medians: NDArray[np.float64]) -> dict[str, float]:
    low, high, coverage = median_interval(medians)
    names = ("min_ns", "mean_ns", "p10_ns", "p90_ns", "p99_ns", "max_ns")
    pooled = {name: float(row[name]) for name in names}  # type: ignore[arg-type]
    return pooled | {"typical_ns": float(np.median(medians)), "low_ns": low, "high_ns": high, "coverage": coverage}


def _warnings(row: dict[str, object], launches: int, typical: float, coverage: float) -> list[str]:
    bound = float(row["sync_bound_ns"] or 0)  # type: ignore[arg-type]
    said = []
    if coverage < LEVEL:
        said.append(f"{launches} launches: the interval holds with {coverage:.1%} only; 6 or more give 95 %")
    if bound > START_BOUND * typical:
        said.append(
            f"starts are uncertain by up to {bound / typical:.0%} of the time; prefer larger messages or start none"
        )
    if row["migrated"]:
        said.append(f"a rank moved to another CPU in {row['migrated']} launches; bind ranks to cores")
    return said


def _paired(blocks: pl.DataFrame, base: str, other: str) -> pl.DataFrame:
    """Return one row per case: the log ratios other / base of the blocks that have both."""
    one, two = (blocks.filter(pl.col("candidate") == name) for name in (base, other))
    ratios = one.join(two, on=["case", "block"], suffix="_other", maintain_order="left").select(
        "case", (pl.col("median_ns_other") / pl.col("median_ns")).log().alias("log_ratio")
    )
    return (
        ratios.group_by("case", maintain_order=True)
        .agg(pl.len().alias("blocks"), pl.col("log_ratio").mean(), pl.col("log_ratio").std().alias("spread"))
        .with_columns(pl.lit(base).alias("base"), pl.lit(other).alias("other"))
    )


def _estimates(table: pl.DataFrame, looks: int) -> pl.DataFrame:
    count = table["blocks"].to_numpy()
    mean = table["log_ratio"].to_numpy()
    spread = np.maximum(np.nan_to_num(table["spread"].to_numpy()), FINEST_SPREAD)
    enough = count >= 2
    degrees = np.where(enough, count - 1, 1)
    error = spread / np.sqrt(count)
    p_value = np.where(enough, np.minimum(1.0, looks * 2 * stats.t.sf(np.abs(mean) / error, degrees)), 1.0)
    half = np.where(enough, stats.t.isf((1 - LEVEL) / looks / 2, degrees) * error, np.inf)
    return table.with_columns(
        pl.Series("p_value", p_value), pl.Series("low", np.exp(mean - half)), pl.Series("high", np.exp(mean + half))
    )


def _comparison(row: dict[str, object], p_adjusted: float, threshold: float) -> Comparison:
    ratio = float(np.exp(row["log_ratio"]))  # type: ignore[call-overload]
    beyond = ratio > 1 + threshold or ratio < 1 / (1 + threshold)
    enough = int(row["blocks"]) >= FEWEST_BLOCKS  # type: ignore[call-overload]
    return Comparison(
        case=str(row["case"]),
        base=str(row["base"]),
        other=str(row["other"]),
        blocks=int(row["blocks"]),  # type: ignore[call-overload]
        ratio=ratio,
        low=float(row["low"]),  # type: ignore[arg-type]
        # Of two infinities min takes the first: the record's default, which JSON leaves out.
        high=min(math.inf, float(row["high"])),  # type: ignore[arg-type]
        p_value=float(row["p_value"]),  # type: ignore[arg-type]
        p_adjusted=p_adjusted,
        different=enough and beyond and p_adjusted <= FALSE_DISCOVERIES,
    )
