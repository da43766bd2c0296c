"""Whether launches that follow each other resemble each other: the lag-1 correlation of log ratios. Pure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from rankbench.statistics.pairing import paired_logs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

ERRORS = 0.01
"""Chance of a correlation that is called positive where there is none."""
SHUFFLES = 1999
FARTHEST = 3.0
"""Residuals beyond so many standard deviations are taken as at that distance: a lone outlier decides nothing."""
LARGEST = 0.9
"""Correlations above this would widen an interval without bound."""


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


def lag_one(logs: Numbers, seed: int = 1) -> LagOne | None:
    """Return the correlation of log ratios, a comparison per row and a block per column, NaN where there is none.

    Comparisons of a campaign share launches, so the null distribution is that of the blocks in random order, the same
    order for all comparisons. It also gives the expectation, which is below 0 for residuals. Returns None where no
    comparison has three blocks with scatter.
    """
    residuals = _standardised(logs)
    blocks = logs.shape[1]
    if not residuals.any():
        return None
    products = residuals.T @ residuals
    total = float(np.trace(products))
    expected = (float(products.sum()) - total) / blocks
    found = float(np.trace(products, offset=1))
    orders = np.random.default_rng(seed).permuted(np.tile(np.arange(blocks), (SHUFFLES, 1)), axis=1)
    shuffled = products[orders[:, :-1], orders[:, 1:]].sum(axis=1)
    as_large = int((shuffled >= found - 1e-9 * total).sum())
    correlation = (found - expected) / (total * (blocks - 1) / blocks)
    return LagOne(correlation, (1 + as_large) / (1 + SHUFFLES), blocks)


def _standardised(logs: Numbers) -> Numbers:
    """Return residuals over their standard deviations, 0 where there is no figure or no scatter."""
    known = ~np.isnan(logs)
    kept = logs[known.sum(axis=1) >= 3]
    if not len(kept):
        return np.zeros((0, logs.shape[1]))
    centred = kept - np.nanmedian(kept, axis=1, keepdims=True)
    scale = np.sqrt(np.nanmean(centred**2, axis=1, keepdims=True))
    scaled = np.divide(centred, scale, out=np.zeros_like(centred), where=scale > 1e-9)
    clipped = np.clip(scaled, -FARTHEST, FARTHEST)
    return np.asarray(np.nan_to_num(clipped - np.nanmean(clipped, axis=1, keepdims=True)), np.float64)


def between_launches(figures: pl.DataFrame, pairs: Sequence[tuple[str, str]]) -> LagOne | None:
    """Return the correlation over all cases of pairs of candidates, from the figures of their launches."""
    tables = [
        paired_logs(figures, base, other).with_columns(case=pl.col("case") + pl.lit(f"|{base}|{other}"))
        for base, other in pairs
    ]
    if not tables or (table := pl.concat(tables)).is_empty():
        return None
    wide = table.group_by("case", "block", maintain_order=True).agg(pl.col("log").mean())
    wide = wide.sort("block").pivot(on="block", index="case", values="log", maintain_order=True)
    return lag_one(wide.drop("case").cast(pl.Float64).to_numpy().astype(np.float64))
