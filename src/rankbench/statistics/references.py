"""Near and far: whether candidates compare otherwise while the cores in use are near each other than while far.

How far apart they are is told by the reference inside each launch: what handing a cache line from rank to rank took,
without MPI, just before and just after each visit of a case. Pure: frames in, records out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from rankbench.statistics import compare
from rankbench.statistics.pairing import visit_logs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankbench.model import Comparison

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


class Turned(NamedTuple):
    """A case in which one candidate is surely faster at one level, and another one at the other."""

    near: Comparison
    far: Comparison


def levels(hops_ns: Sequence[float]) -> Levels | None:
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


def turned(figures: pl.DataFrame, pairs: Sequence[tuple[str, str]], at: Levels, threshold: float) -> list[Turned]:
    """Return the cases whose faster candidate is surely another one at the other level, each pair on its own.

    Args:
        figures: result of `launch_figures`, less what is not to be judged.
        pairs: base and other.
        at: the levels.
        threshold: relative difference that matters.
    """
    return [one for pair in pairs for one in _turned(figures, pair, at, threshold)]


def _turned(figures: pl.DataFrame, pair: tuple[str, str], at: Levels, threshold: float) -> list[Turned]:
    one, two = (figures.filter(pl.col("candidate") == name) for name in pair)
    hop = (pl.col("hop_ns") * pl.col("hop_ns_other")).sqrt()
    level = pl.when(hop <= at.nearest_ns).then(pl.lit("near")).when(hop >= at.farthest_ns).then(pl.lit("far"))
    logs = (
        visit_logs(one, two)
        .filter(pl.col("hop_ns") > 0, pl.col("hop_ns_other") > 0)
        .with_columns(level=level)
        .drop_nulls("level")
        .group_by("case", "level", "block", maintain_order=True)
        .agg(pl.col("log").median())
    )
    if logs.is_empty():
        return []
    # As launches of a case of its own at each level, of which one takes 1 ns.
    cases = logs.with_columns(case=pl.concat_str("level", "case", separator=" "), launch="block")
    frames = [
        cases.select("case", "block", "launch", candidate=pl.lit(name), figure_ns=figure)
        for name, figure in zip(pair, (pl.lit(1.0), pl.col("log").exp()), strict=True)
    ]
    found = {one.case: one for one in compare(pl.concat(frames), [pair], threshold)}
    both = [
        (found[f"near {case}"], found[f"far {case}"])
        for case in logs["case"].unique(maintain_order=True)
        if f"near {case}" in found and f"far {case}" in found
    ]
    return [
        Turned(near, far)
        for near, far in both
        if near.different and far.different and (near.ratio > 1) != (far.ratio > 1)
    ]
