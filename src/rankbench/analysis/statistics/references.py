"""Near and far: the levels of the reference inside launches.

The reference is the time to hand a cache line from rank to rank, without MPI, just before and just after each visit of
a case. It has two levels where the cores in use are near each other at times and far at others. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from rankbench.model import Campaign

APART = 1.5
"""How many times as long a hop takes while cores are far, where that is more than noise."""
LEAST, BETWEEN = 0.1, 0.1
"""Share of the visits that each level must have, and that may lie between them, since the machine just changed."""


class Levels(NamedTuple):
    """Two levels of the time that a hop takes; what lies between `nearest` and `farthest` belongs to neither."""

    near_ns: float
    far_ns: float
    nearest_ns: float
    farthest_ns: float


def find_levels(hops_ns: Sequence[float]) -> Levels | None:
    """Return the two levels of hop times, or nothing where there is one level only or none is known.

    They are divided where the variance within both parts is least (Otsu, 1979), on a logarithmic scale.
    """
    logs = np.sort(np.log([hop for hop in hops_ns if hop > 0]))
    count = len(logs)
    if count < 2 / LEAST:
        return None
    sums = np.cumsum(logs)[:-1]
    below = np.arange(1, count)
    means = sums / below, (logs.sum() - sums) / (count - below)
    cut = int(np.argmax(below * (count - below) * (means[1] - means[0]) ** 2)) + 1
    near, far = float(np.median(logs[:cut])), float(np.median(logs[cut:]))
    nearest, farthest = near + (far - near) / 3, far - (far - near) / 3
    shares = (logs <= nearest).mean(), (logs >= farthest).mean()
    if far - near < np.log(APART) or min(shares) < LEAST or 1 - sum(shares) > BETWEEN:
        return None
    return Levels(*(float(np.exp(log)) for log in (near, far, nearest, farthest)))


def name_level(levels: Mapping[str, Levels]) -> pl.Expr:
    """Return the level of a visit as an expression of its `case` and `visit_hop_ns`: `near`, `far`, or nothing where
    the machine just changed, the hop is not known, or the case has no levels.
    """
    hop = pl.col("visit_hop_ns")
    if not levels:
        return pl.lit(None, pl.String)
    nearest, farthest = (
        pl.col("case").replace_strict(
            {key: getattr(at, name) for key, at in levels.items()}, default=None, return_dtype=pl.Float64
        )
        for name in ("nearest_ns", "farthest_ns")
    )
    near, far = pl.lit("near"), pl.lit("far")
    return pl.when(hop <= 0).then(None).when(hop <= nearest).then(near).when(hop >= farthest).then(far)


def is_alike(column: str, other: str | pl.Expr) -> pl.Expr:
    """Return whether two hops are of one level as far as they are known: columns, or the other an expression."""
    first, second = pl.col(column), pl.col(other) if isinstance(other, str) else other
    return (first <= 0) | (second <= 0) | ((first / second).log().abs() < math.log(APART))


def by_case(launch_values: pl.DataFrame, campaign: Campaign) -> dict[str, Levels]:
    """Return the levels of each case, by its key, whose placement has two; those of memory, and of programs that do not
    measure the reference, have none.

    Args:
        launch_values: result of `compute_launch_values`, less what is not to be judged.
        campaign: the campaign.
    """
    if "visit_hop_ns" not in launch_values.columns:
        return {}
    placements: dict[str, list[str]] = {}
    for case in campaign.cases:
        if case.quantity != "memory":
            placements.setdefault(case.placement, []).append(case.key)
    levelses: dict[str, Levels] = {}
    for keys in placements.values():
        hops = launch_values.filter(pl.col("case").is_in(keys)).select("case", "visit_hop_ns").explode("visit_hop_ns")
        known = hops.filter(pl.col("visit_hop_ns") > 0)
        if at := find_levels(known["visit_hop_ns"].to_list()):
            measured = {*known["case"].to_list()}
            levelses |= {key: at for key in keys if key in measured}
    return levelses
