"""From samples to summaries and comparisons, with stated assumptions. Pure: frames and records in, records out.

The launch is the unit of replication: samples of one launch share its memory layout, its connections and its minute, so
that a thousand of them say little about the next launch (Hunold and Carpen-Amarie, 2016; Hoefler and Belli, SC15).
METHOD.md explains each choice.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import scipy

from rankbench.model import Comparison
from rankbench.statistics import threshold as threshold_test
from rankbench.statistics import trimming
from rankbench.statistics.estimators import launch_figures
from rankbench.statistics.looks import price
from rankbench.statistics.moderation import FEWEST_MODERATED, moderated
from rankbench.statistics.pairing import paired_logs
from rankbench.statistics.summaries import LEVEL, median_interval, summarise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

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
    control: Sequence[tuple[str, str]] = (),
    looks: Sequence[int] = (),
    confidence: float = LEVEL,
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
    """
    tables = [_paired(figures, base, other) for base, other in (*pairs, *control)]
    table = pl.concat(tables) if tables else pl.DataFrame()
    if table.is_empty():
        return []
    estimates = _estimates(table, threshold, looks, confidence)
    asked = sum(map(len, tables[: len(pairs)]))
    adjusted = _adjusted(estimates["p_value"].to_numpy(), asked)
    return [
        _comparison(row, float(p_adjusted), threshold)
        for row, p_adjusted in zip(estimates.iter_rows(named=True), adjusted, strict=True)
    ]


def _paired(figures: pl.DataFrame, base: str, other: str) -> pl.DataFrame:
    """Return one row per case: the log ratios other / base of its blocks."""
    return (
        paired_logs(figures, base, other)
        .group_by("case", maintain_order=True)
        .agg(logs="log")
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
    error, priced = scatter / np.sqrt(found.left), price(looks, blocks)
    p_beyond = threshold_test.p_beyond(found.mean, error, degrees, math.log1p(threshold))
    p_value = np.where(enough, np.minimum(1.0, priced * p_beyond), 1.0)
    half = np.where(enough, scipy.stats.t.isf((1 - confidence) / priced / 2, degrees) * error, np.inf)
    with np.errstate(over="ignore"):
        return table.select("case", "base", "other").with_columns(
            pl.Series("blocks", blocks),
            pl.Series("ratio", np.exp(found.mean)),
            pl.Series("low", np.exp(found.mean - half)),
            pl.Series("high", np.exp(found.mean + half)),
            pl.Series("error", error),
            pl.Series("degrees", degrees),
            pl.Series("p_value", p_value),
        )


def _adjusted(p_values: Numbers, asked: int) -> Numbers:
    """Return p-values adjusted over the first `asked`; the others as these were at what called them different."""
    own = scipy.stats.false_discovery_control(p_values[:asked]) if asked else p_values[:0]
    passed = p_values[:asked][own <= FALSE_DISCOVERIES]
    cutoff = passed.max() if len(passed) else FALSE_DISCOVERIES / max(asked, 1)
    return np.append(own, np.minimum(p_values[asked:] * (FALSE_DISCOVERIES / cutoff), 1.0))


def _comparison(row: dict[str, Any], p_adjusted: float, threshold: float) -> Comparison:
    told = {name: float(row[name]) for name in ("ratio", "low", "error", "degrees", "p_value")}
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
