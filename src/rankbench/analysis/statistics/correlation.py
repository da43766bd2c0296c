"""Whether successive launches are correlated: the lag-1 correlation of log ratios. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankbench.analysis.statistics.by_level import pair_values
from rankbench.analysis.statistics.references import Levels

Numbers = NDArray[np.float64]

ERRORS = 0.025
"""Chance of a correlation that is called positive where there is none; five blocks have no p-value below 1/60."""
SHUFFLES = 1999
FARTHEST = 3.0
"""Residuals are clipped to this many standard deviations, so that a single outlier decides nothing."""
LARGEST = 0.9
"""Upper limit: larger correlations would widen intervals without bound."""
GRID = np.linspace(0, LARGEST, 46)
"""Correlations of which the bias is calculated; between them it is interpolated."""


class LagOne(NamedTuple):
    """The correlation of the residuals of successive blocks, pooled over all comparisons."""

    correlation: float
    p_value: float
    """Chance of one at least as large where blocks are in no order."""
    blocks: int

    @property
    def positive(self) -> bool:
        """Return whether it is significantly above 0."""
        return self.correlation > 0 and self.p_value <= ERRORS

    @property
    def widening(self) -> float:
        """Return the factor by which intervals are too narrow: 1 where the correlation is not significantly positive.

        The variance of a mean of an autoregressive series of first order is (1 + r) / (1 - r) times that of independent
        values, for many values.
        """
        r = min(self.correlation, LARGEST)
        return math.sqrt((1 + r) / (1 - r)) if self.positive else 1.0


def correlate_blocks(logs: Numbers, seed: int = 1) -> LagOne | None:
    """Return the correlation of log ratios, a comparison per row and a block per column, NaN where there is none.

    Comparisons of a campaign share launches, so the null distribution is that of the blocks in random order, the same
    order for all comparisons. It also gives the expectation, which is below 0 for residuals. Returns None where no
    comparison has three blocks with scatter.
    """
    residuals = _standardise(logs)
    blocks = logs.shape[1]
    if not residuals.any():
        return None
    products = residuals.T @ residuals
    total = float(np.trace(products))
    expected = (float(products.sum()) - total) / blocks
    value = float(np.trace(products, offset=1))
    orders = np.random.default_rng(seed).permuted(np.tile(np.arange(blocks), (SHUFFLES, 1)), axis=1)
    shuffled = products[orders[:, :-1], orders[:, 1:]].sum(axis=1)
    as_large = int((shuffled >= value - 1e-9 * total).sum())
    plain = (value - expected) / (total * (blocks - 1) / blocks)
    return LagOne(_correct_bias(plain, blocks), (1 + as_large) / (1 + SHUFFLES), blocks)


def _correct_bias(plain: float, blocks: int) -> float:
    """Return the correlation r of an autoregressive series of which residuals show this one, on average.

    With the mean, residuals lose most of what is common to few correlated values: of ten with r = 0.6 they show 0.39.
    Values below 0 are returned as they are. Above 0, r is at most LARGEST.
    """
    if plain <= 0:
        return plain
    lag = np.abs(np.subtract.outer(np.arange(blocks), np.arange(blocks)))
    centring = np.eye(blocks) - 1 / blocks
    shown = []
    for r in GRID:
        covariance = centring @ r**lag @ centring
        total = float(np.trace(covariance))
        shown.append((float(np.trace(covariance, offset=1)) + total / blocks) / (total * (blocks - 1) / blocks))
    return float(np.interp(plain, shown, GRID))


def _standardise(logs: Numbers) -> Numbers:
    """Return residuals over their standard deviations, 0 where there is no value or no scatter."""
    known = ~np.isnan(logs)
    values = logs[known.sum(axis=1) >= 3]
    if not len(values):
        return np.zeros((0, logs.shape[1]))
    centred = values - np.nanmedian(values, axis=1, keepdims=True)
    scale = np.sqrt(np.nanmean(centred**2, axis=1, keepdims=True))
    scaled = np.divide(centred, scale, out=np.zeros_like(centred), where=scale > 1e-9)
    clipped = np.clip(scaled, -FARTHEST, FARTHEST)
    return np.asarray(np.nan_to_num(clipped - np.nanmean(clipped, axis=1, keepdims=True)), np.float64)


def correlate_launches(
    launch_values: pl.DataFrame, pairs: Sequence[tuple[str, str]], levels: Mapping[str, Levels]
) -> LagOne | None:
    """Return the correlation over all cases of pairs of candidates, from the values of their launches.

    A case with levels of the reference counts at each level on its own, as it is compared.
    """
    return pool(pair_values(launch_values, pairs, levels)) if pairs else None


def pool(table: pl.DataFrame) -> LagOne | None:
    """Return the correlation over all comparisons of a table of `by_level.pair_values`."""
    if table.is_empty():
        return None
    long = table.with_row_index("row").select("row", "logs", "blocks").explode("logs", "blocks")
    order = long["blocks"].unique().sort()
    wide = np.full((len(table), len(order)), np.nan)
    wide[long["row"].to_numpy(), order.search_sorted(long["blocks"]).to_numpy()] = long["logs"].to_numpy()
    return correlate_blocks(wide)
