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
import scipy

from rankbench.model import Comparison
from rankbench.statistics import states, trimming
from rankbench.statistics.estimators import launch_figures
from rankbench.statistics.looks import price
from rankbench.statistics.summaries import LEVEL, median_interval, summarise

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

__all__ = ["LEVEL", "compare", "launch_figures", "median_interval", "summarise"]

FALSE_DISCOVERIES = 0.05
FEWEST_BLOCKS = 3
"""Fewer pairs than this are never called different, whatever they show."""
FINEST_SPREAD = 1e-3
"""Smallest standard deviation of a log ratio that is believed: equal figures from a coarse clock are no certainty."""


def compare(
    figures: pl.DataFrame,
    pairs: Sequence[tuple[str, str]],
    threshold: float,
    *,
    looks: Sequence[int] = (),
    confidence: float = LEVEL,
    unlike: pl.DataFrame | None = None,
    timeless: Collection[str] = (),
) -> list[Comparison]:
    """Compare pairs of candidates in every case by the ratios of their launches' figures, paired within blocks.

    The estimate is the geometric mean of the ratios, trimmed where there are many (`trimming`); interval and p-value
    are Student's on their logarithms. p-values are adjusted over all comparisons of the call (Benjamini and Hochberg,
    1995). Two candidates are called different if the adjusted p-value is at most 5 % and the ratio is beyond the
    practical threshold.

    A campaign that may end after each of several numbers of blocks, its `looks`, has several chances to be misled:
    p-values are multiplied and intervals widened to match (`looks.price`). `confidence` is that of the intervals; who
    differs is not a matter of it. Launches whose figure is below the clock's step are left out: a ratio to nothing says
    nothing.
    So are the pairs of launches in `unlike` (`states.unlike`), which met the machine in unlike states; how many they
    were is told. That matters to times: not to the cases that are `timeless`, such as memory.
    """
    launches = figures.filter(pl.col("figure_ns") > 0)
    apart = states.NONE if unlike is None else unlike
    tables = [_paired(launches, base, other, apart, timeless) for base, other in pairs]
    table = pl.concat(tables) if tables else pl.DataFrame()
    if table.is_empty():
        return []
    estimates = _estimates(table, looks, confidence)
    adjusted = scipy.stats.false_discovery_control(estimates["p_value"].to_numpy())
    return [
        _comparison(row, float(p_adjusted), threshold)
        for row, p_adjusted in zip(estimates.iter_rows(named=True), adjusted, strict=True)
    ]


def _paired(
    launches: pl.DataFrame, base: str, other: str, unlike: pl.DataFrame, timeless: Collection[str]
) -> pl.DataFrame:
    """Return one row per case: the log ratios other / base of the blocks that have both from launches in like state."""
    one, two = (launches.filter(pl.col("candidate") == name) for name in (base, other))
    apart = unlike.cast(launches.schema["launch"]).with_columns(unlike=True)
    ratios = one.join(two, on=["case", "block"], suffix="_other", maintain_order="left").join(
        apart, on=["launch", "launch_other"], how="left", maintain_order="left"
    )
    every = (pl.col("figure_ns_other") / pl.col("figure_ns")).log()
    counting = pl.col("unlike").is_null() | pl.col("case").is_in(list(timeless))
    alike = every.filter(counting)
    return (
        ratios.group_by("case", maintain_order=True)
        .agg(
            alike.len().alias("blocks"),
            (~counting).sum().alias("left_out"),
            pl.coalesce(trimming.mean(alike), every.mean()).alias("log_ratio"),
            trimming.scatter(alike).alias("spread"),
        )
        .with_columns(pl.lit(base).alias("base"), pl.lit(other).alias("other"))
    )


def _estimates(table: pl.DataFrame, looks: Sequence[int], confidence: float) -> pl.DataFrame:
    count = table["blocks"].to_numpy()
    priced = price(looks, count + table["left_out"].to_numpy())
    mean = table["log_ratio"].to_numpy()
    spread = np.maximum(np.nan_to_num(table["spread"].to_numpy()), FINEST_SPREAD)
    enough = count >= 2
    degrees = trimming.degrees(count)
    error = spread / np.sqrt(np.maximum(count, 1))
    p_value = np.where(enough, np.minimum(1.0, priced * 2 * scipy.stats.t.sf(np.abs(mean) / error, degrees)), 1.0)
    half = np.where(enough, scipy.stats.t.isf((1 - confidence) / priced / 2, degrees) * error, np.inf)
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
        left_out=int(row["left_out"]),  # type: ignore[call-overload]
        ratio=ratio,
        low=float(row["low"]),  # type: ignore[arg-type]
        # Of two infinities min takes the first: the record's default, which JSON leaves out.
        high=min(math.inf, float(row["high"])),  # type: ignore[arg-type]
        p_value=float(row["p_value"]),  # type: ignore[arg-type]
        p_adjusted=p_adjusted,
        different=enough and beyond and p_adjusted <= FALSE_DISCOVERIES,
    )
