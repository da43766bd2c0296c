"""Effects of the position of a turn, and of the launch that measured just before, on times. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankbench.analysis.statistics.decision import half_width

Numbers = NDArray[np.float64]

FEWEST = 5
"""Least number of blocks for a useful interval of an effect."""
FARTHEST = 4.0
"""Residuals beyond so many standard deviations are taken as at that distance: a lone outlier decides nothing."""
SWEEPS = 10
"""Means of launches and of rounds are subtracted so often; of a round that lacks a launch once would not do."""
ROUND = ["case", "block", "beside", "visit"]
POSITION, AFTER = "position", "after"


class Effect(NamedTuple):
    """The common effect of one position, or of one candidate before, on the times of all candidates."""

    kind: str
    """`position` or `after`."""
    level: str
    """The position, from 1, or the candidate that measured just before."""
    log: float
    """Logarithm of the time over the mean over all positions, or over all that measure before."""
    half: float
    """Half the width of its interval; all effects are within theirs with the given confidence (Bonferroni)."""
    blocks: int

    def exceeds(self, threshold: float) -> bool:
        """Return whether it is significantly larger than this share of the time."""
        return abs(self.log) - self.half > math.log1p(threshold)


def estimate_effects(
    launch_values: pl.DataFrame, beside: Mapping[int, Sequence[str]], confidence: float = 0.95
) -> list[Effect]:
    """Return the effects of position and predecessor over all cases; none if they are unknown.

    `launch_values` is the result of `compute_launch_values`; `beside` has the candidates of a launch's turns. The log
    times of visits are regressed on both, less the means of each launch's case and of each round. Every block gives an
    estimate of its own; the interval is Student's of their mean. Rounds in which a launch was missing are left out.
    """
    visits = _visits(launch_values, beside)
    if visits.is_empty():
        return []
    levels = {POSITION: visits[POSITION].unique().sort().to_list(), AFTER: visits[AFTER].unique().sort().to_list()}
    names = [(kind, level) for kind, kind_levels in levels.items() for level in kind_levels]
    marked = visits.with_columns(
        (pl.col(kind) == level).cast(pl.Float64).alias(f"{kind} {level}") for kind, level in names
    )
    columns = [f"{kind} {level}" for kind, level in names]
    swept = _subtract_means(marked, ["log", *columns])
    values = np.array([_solve(frame, columns) for _, frame in swept.group_by("block", maintain_order=True)])
    if len(values) < FEWEST:
        return []
    errors = values.std(axis=0, ddof=1) / math.sqrt(len(values))
    factor = float(half_width(1.0, len(values) - 1, (1 - confidence) / len(names)))
    return [
        Effect(kind, str(level), float(log), factor * float(error), len(values))
        for (kind, level), log, error in zip(names, values.mean(axis=0), errors, strict=True)
    ]


def _visits(launch_values: pl.DataFrame, beside: Mapping[int, Sequence[str]]) -> pl.DataFrame:
    """Return the visits of whole rounds: case, block, visit, launch, log, position from 1, and who was before."""
    lists = ["visit", "visit_ns", "visit_position", "visit_after"]
    if not set(lists) <= set(launch_values.columns):
        return pl.DataFrame()
    places = [
        (launch, place, name, "\n".join(names)) for launch, names in beside.items() for place, name in enumerate(names)
    ]
    schema = {"launch": pl.Int32, "visit_after": pl.Int8, AFTER: pl.String, "beside": pl.String}
    single = launch_values.select("case", "block", "launch", *lists).explode(lists)
    known = single.filter(pl.col("visit_ns") > 0, pl.col("visit_position") >= 0)
    named = known.join(pl.DataFrame(places, schema, orient="row"), on=["launch", "visit_after"])
    frame = named.with_columns(pl.len().over(ROUND).alias("launches"))
    return frame.filter(pl.col("launches") == pl.col("launches").max()).select(
        *ROUND, "launch", AFTER, pl.col("visit_position").add(1).alias(POSITION), log=pl.col("visit_ns").log()
    )


def _subtract_means(visits: pl.DataFrame, columns: list[str]) -> pl.DataFrame:
    """Return columns less the means of the launch's case and of the round; logs far out are drawn in."""
    values = pl.col(columns)
    for _ in range(SWEEPS):
        visits = visits.with_columns(values - values.mean().over("case", "launch"))
        visits = visits.with_columns(values - values.mean().over(ROUND))
    most = FARTHEST * 1.4826 * pl.col("log").abs().median().over("case")
    return visits.with_columns(pl.col("log").clip(-most, most))


def _solve(visits: pl.DataFrame, columns: list[str]) -> Numbers:
    """Return the least squares of the shortest vector: effects of a kind then have the mean 0."""
    design = visits.select(columns).to_numpy().astype(np.float64)
    logs = visits["log"].to_numpy().astype(np.float64)
    return np.asarray(np.linalg.pinv(design.T @ design, rcond=1e-9, hermitian=True) @ design.T @ logs, np.float64)
