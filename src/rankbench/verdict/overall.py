"""How long one candidate takes against another over all cases, with its interval. Pure.

Launches are what is repeated, and the cases of one launch err together: so there is one figure for each block, the mean
log ratio of its cases, and of these figures the trimmed mean over blocks with Student's interval.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import polars as pl
import scipy

from rankbench.statistics import FEWEST_BLOCKS, FINEST_SPREAD, trimming
from rankbench.statistics.pairing import paired_logs

if TYPE_CHECKING:
    from collections.abc import Collection

    from rankbench.verdict.evidence import Evidence


class Overall(NamedTuple):
    """A geometric mean of ratios over cases; where launches are too few for an interval it is 0 to infinity."""

    mean: float
    low: float
    high: float


def overall(evidence: Evidence, base: str, other: str, cases: Collection[str]) -> Overall:
    """Return how long `other` takes over these cases, of which both have figures, against `base`.

    A block that lacks some of the cases, as where deciding has ended them, tells how far its own are off what they
    take usually. One with less than half as many cases as the fullest tells nothing.
    """
    typical = {key: math.log(evidence.ratio(key, base, other)) for key in cases}
    middle = sum(typical.values()) / len(typical)
    logs = paired_logs(evidence.figures.filter(pl.col("case").is_in(list(cases))), base, other)
    off = pl.col("log") - pl.col("case").replace_strict(typical, return_dtype=pl.Float64)
    per_block = logs.group_by("block").agg(off.mean().alias("off"), pl.len())
    blocks = per_block.filter(2 * pl.col("len") >= pl.col("len").max())["off"].to_list()
    if len(blocks) < FEWEST_BLOCKS:
        return Overall(math.exp(middle), 0.0, math.inf)
    centre = trimming.centre([blocks], trimming.FEWEST_ALONE)
    mean = middle + float(centre.mean[0])
    error = max(float(centre.scatter[0]), FINEST_SPREAD) / math.sqrt(centre.left[0])
    half = float(scipy.stats.t.isf((1 - evidence.campaign.plan.confidence) / 2, centre.degrees[0])) * error
    return Overall(math.exp(mean), math.exp(mean - half), math.exp(mean + half))
