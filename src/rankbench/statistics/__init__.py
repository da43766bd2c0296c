"""From samples to summaries and comparisons, with stated assumptions. Pure: frames and records in, records out.

The launch is the unit of replication: samples of one launch share its memory layout, its connections and its minute, so
that a thousand of them say little about the next launch (Hunold and Carpen-Amarie, 2016; Hoefler and Belli, SC15).
METHOD.md explains each choice.
"""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import scipy

from rankbench.model import Comparison
from rankbench.statistics import by_level, trimming
from rankbench.statistics import threshold as threshold_test
from rankbench.statistics.by_level import FEWEST_BLOCKS
from rankbench.statistics.estimators import launch_figures
from rankbench.statistics.looks import price
from rankbench.statistics.moderation import FEWEST_MODERATED, moderated
from rankbench.statistics.pairing import paired_logs
from rankbench.statistics.summaries import LEVEL, median_interval, summarise

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from rankbench.statistics.references import Levels

    Numbers = NDArray[np.float64]

__all__ = ["FEWEST_BLOCKS", "LEVEL", "compare", "launch_figures", "median_interval", "summarise"]

FALSE_DISCOVERIES = 0.05
NO_LEVELS: Mapping[str, Levels] = MappingProxyType({})
FINEST_SPREAD = 1e-3
"""Smallest standard deviation of a log ratio that is believed: equal figures from a coarse clock are no certainty."""


def compare(
    figures: pl.DataFrame,
    pairs: Sequence[tuple[str, str]],
    threshold: float,
    *,
    control: Sequence[tuple[str, str]] = (),
    looks: Sequence[int] = (),
    confidence: float = LEVEL,
    levels: Mapping[str, Levels] = NO_LEVELS,
) -> list[Comparison]:
    """Compare pairs of candidates in every case by the ratios of their launches' figures, paired within blocks.

    The estimate is the trimmed geometric mean of the ratios (`trimming`), its scatter moderated by that of all others
    of the call (`moderation`). Two candidates are *different* if the ratio is surely beyond the practical threshold,
    not only beyond 1: its p-value (`threshold`), adjusted over the comparisons of `pairs` (Benjamini and Hochberg,
    1995), is at most 5 %. They are *alike* if the interval lies within the threshold on both
    sides. Else it is not known.

    Pairs in `control` are one candidate under two names. They are judged by the largest p-value that passed among the
    others: by the cutoff, so, that called the others different.

    A campaign that may end after each of several numbers of blocks, its `looks`, has several chances to be misled:
    p-values are multiplied and intervals widened to match (`looks.price`). `confidence` is that of the intervals; who
    differs is not a matter of it.

    `levels`, by case, are the two levels of the reference where it has two. Such a case is compared at each level on
    its own, all in one correction, and then both are combined (`by_level.combined`).
    """
    tables = [_paired(figures, base, other, levels) for base, other in (*pairs, *control)]
    table = pl.concat(tables) if tables else pl.DataFrame()
    if table.is_empty():
        return []
    asked = pl.Series([number < len(pairs) for number, one in enumerate(tables) for _ in range(len(one))])
    # A level that is hardly met is no comparison of its own: it must not make the others harder to prove.
    asked &= (table["level"] == "") | (table["logs"].list.len() >= FEWEST_BLOCKS)
    estimates = _estimates(table, threshold, looks, confidence)
    adjusted = _adjusted(estimates["p_value"].to_numpy(), asked.to_numpy())
    found = [
        _comparison(row, float(p_adjusted), threshold)
        for row, p_adjusted in zip(estimates.iter_rows(named=True), adjusted, strict=True)
    ]
    priced = price(looks, table["after"].to_numpy())
    return by_level.combined(found, table, confidence, priced) if levels else found


def _paired(figures: pl.DataFrame, base: str, other: str, levels: Mapping[str, Levels]) -> pl.DataFrame:
    """Return one row per case, or per case and level: the log ratios other / base of its blocks."""
    logs = paired_logs(figures, base, other).with_columns(level=pl.lit(""), share=pl.lit(1.0))
    if levels and "visit_ns" in figures.columns:
        at_levels = by_level.logs(figures, base, other, levels)
        logs = pl.concat([logs.join(at_levels, on="case", how="anti", maintain_order="left"), at_levels])
    return (
        logs.with_columns(after=pl.col("block").n_unique().over("case"))
        .group_by("case", "level", maintain_order=True)
        .agg(pl.col("log").alias("logs"), pl.col("share", "after").first())
        .with_columns(pl.lit(base).alias("base"), pl.lit(other).alias("other"))
    )


def _estimates(table: pl.DataFrame, threshold: float, looks: Sequence[int], confidence: float) -> pl.DataFrame:
    logs = table["logs"].to_list()
    blocks = np.array([len(one) for one in logs])
    many = (blocks >= trimming.FEWEST).sum() >= FEWEST_MODERATED
    found = trimming.centre(logs, trimming.FEWEST if many else trimming.FEWEST_ALONE)
    enough = blocks >= 2
    own = np.maximum(found.scatter, FINEST_SPREAD)
    scatter, degrees = moderated(own, found.degrees, blocks >= FEWEST_BLOCKS)
    error, priced = scatter / np.sqrt(found.left), price(looks, table["after"].to_numpy())
    p_beyond = threshold_test.p_beyond(found.mean, error, degrees, math.log1p(threshold))
    p_value = np.where(enough, np.minimum(1.0, priced * p_beyond), 1.0)
    half = np.where(enough, scipy.stats.t.isf((1 - confidence) / priced / 2, degrees) * error, np.inf)
    with np.errstate(over="ignore"):
        return table.select("case", "level", "share", "base", "other").with_columns(
            pl.Series("blocks", blocks),
            pl.Series("ratio", np.exp(found.mean)),
            pl.Series("low", np.exp(found.mean - half)),
            pl.Series("high", np.exp(found.mean + half)),
            pl.Series("error", error),
            pl.Series("degrees", degrees),
            pl.Series("p_value", p_value),
        )


def _adjusted(p_values: Numbers, asked: NDArray[np.bool_]) -> Numbers:
    """Return p-values adjusted over those `asked`; the others as these were at what called them different."""
    own = p_values[asked]
    found = scipy.stats.false_discovery_control(own) if len(own) else own
    passed = own[found <= FALSE_DISCOVERIES]
    cutoff = passed.max() if len(passed) else FALSE_DISCOVERIES / max(len(own), 1)
    adjusted = np.minimum(p_values * (FALSE_DISCOVERIES / cutoff), 1.0)
    adjusted[asked] = found
    return adjusted


def _comparison(row: dict[str, Any], p_adjusted: float, threshold: float) -> Comparison:
    told: dict[str, Any] = {name: float(row[name]) for name in ("ratio", "low", "error", "degrees", "p_value")}
    # Of two infinities min takes the first: the record's default, which JSON leaves out.
    high = min(math.inf, float(row["high"]))
    enough = row["blocks"] >= FEWEST_BLOCKS
    return Comparison(
        case=row["case"],
        base=row["base"],
        other=row["other"],
        blocks=row["blocks"],
        high=high,
        p_adjusted=p_adjusted,
        different=enough and p_adjusted <= FALSE_DISCOVERIES,
        alike=enough and told["low"] >= 1 / (1 + threshold) and high <= 1 + threshold,
        **told,
    )
