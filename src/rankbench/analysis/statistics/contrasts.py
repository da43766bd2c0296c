"""Contrasts: values of the same launch compared with each other, tested over launches. Pure.

A finding makes many statements at once, for example that one time is longer than the sum of others, or a step steeper
than its neighbours. Each is a logarithm per launch, tested against a margin. All statements of a finding are one
family.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from rankbench.analysis.statistics import CONFIDENCE, FEWEST_BLOCKS, FINEST_SPREAD, correlation, rounding
from rankbench.analysis.statistics.decision import Estimate, Family, decide
from rankbench.analysis.statistics.moderation import moderate_spread

Numbers = NDArray[np.float64]

SURE = 0.01
"""Largest adjusted p-value of a finding, stricter than the 5% of comparisons."""


class Contrast(NamedTuple):
    """A ratio over launches, and whether it is significantly beyond its margin."""

    key: tuple[Any, ...]
    blocks: int
    ratio: float
    low: float
    high: float
    p_adjusted: float
    sure: bool


class Claim(NamedTuple):
    """One case that should take no longer than others together, within each launch of each candidate."""

    case: str
    parts: tuple[str, ...]
    margin: float
    """Largest ratio that is not reported."""


def compare_within_launches(launch_values: pl.DataFrame, claims: Sequence[Claim]) -> pl.DataFrame:
    """Return the logarithms of wholes over the sums of their parts, per candidate and launch that has all values.

    Columns: claim (its number), candidate, block, log and margin, a logarithm too, and how far the log may be from the
    truth, `rounding`, where tools printed the values.
    """
    rows = [
        (number, key, key_number > 0, len(claim.parts) + 1, math.log(claim.margin))
        for number, claim in enumerate(claims)
        for key_number, key in enumerate((claim.case, *claim.parts))
    ]
    schema = {"claim": pl.Int64, "case": pl.String, "part": pl.Boolean, "needed": pl.Int64, "margin": pl.Float64}
    frame = pl.DataFrame(rows, schema, orient="row")
    value = pl.col("figure_ns")
    return (
        frame.join(rounding.complete(launch_values).filter(value > 0), on="case")
        .group_by("claim", "candidate", "block", "launch")
        .agg(
            whole=value.filter(~pl.col("part")).sum(),
            parts=value.filter(pl.col("part")).sum(),
            complete=pl.len() == pl.col("needed").first(),
            margin=pl.col("margin").first(),
            rounding=pl.col("rounding").filter(~pl.col("part")).sum() + pl.col("rounding").filter("part").max(),
        )
        .filter("complete")
        .select(
            "claim", "candidate", "block", (pl.col("whole") / pl.col("parts")).log().alias("log"), "margin", "rounding"
        )
        .sort("claim", "candidate", "block")
    )


def judge(logs: pl.DataFrame, keys: Sequence[str], confidence: float = CONFIDENCE) -> list[Contrast]:
    """Judge the logarithms `log` of all launches with the same keys against their `margin`, ordered by the keys.

    Where there is a `block` and successive ones are significantly correlated, errors are larger (`correlation`).
    """
    log = pl.col("log")
    repeated = correlation.pool(_by_block(logs, keys)) if "block" in logs.columns else None
    columns = (log.len().alias("blocks"), log.mean(), log.std().alias("spread"), pl.col("margin").first())
    table = rounding.complete(logs).group_by(keys).agg(*columns, pl.col("rounding").max()).sort(keys)
    count, mean, spread, margin = (table[name].to_numpy() for name in ("blocks", "log", "spread", "margin"))
    wide = spread * (repeated.widening if repeated else 1.0)
    offsets = table["rounding"].to_numpy()
    return decide_contrasts(
        list(table.select(keys).iter_rows()), count, mean, wide, margin, confidence, offsets=offsets
    )


def _by_block(logs: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Return a row per keys with the mean logarithms of its blocks, as `correlation.pool` wants them."""
    means = logs.group_by(*keys, "block", maintain_order=True).agg(pl.col("log").mean())
    return means.group_by(keys, maintain_order=True).agg(logs="log", blocks="block")


def decide_contrasts(
    keys: Sequence[tuple[Any, ...]],
    blocks: ArrayLike,
    log: ArrayLike,
    spread: ArrayLike,
    margin: ArrayLike,
    confidence: float = CONFIDENCE,
    *,
    moderate: bool = True,
    offsets: ArrayLike = 0.0,
) -> list[Contrast]:
    """Return the contrasts with these means and standard deviations of logarithms over so many launches.

    Each is decided one-sided against its margin at 1%, all of the call in one family (`decision`). The interval is
    two-sided and of the ratio itself. If wanted, the scatter of each is moderated by that of all (`moderate_spread`):
    of five launches alone it is hardly known. `offsets` is how far each may be from the truth apart from chance.
    """
    count, mean = np.asarray(blocks), np.asarray(log, dtype=np.float64)
    if not len(count):
        return []
    enough = count >= FEWEST_BLOCKS
    values = np.maximum(np.nan_to_num(np.asarray(spread, dtype=np.float64)), FINEST_SPREAD)
    scatter, degrees = moderate_spread(values, np.where(enough, count - 1, 1), enough & moderate)
    error = scatter / np.sqrt(np.maximum(count, 2))
    known = np.where(enough, degrees, 0.0)
    estimates = list(map(Estimate, mean, error, known, np.broadcast_to(np.asarray(offsets), mean.shape)))
    decisions = decide(estimates, np.expm1(margin), confidence, family=Family("fdr", SURE), one_sided=True)
    return [
        Contrast(key, int(n), decision.ratio, decision.low, decision.high, decision.p_adjusted, decision.different)
        for key, n, decision in zip(keys, count, decisions, strict=True)
    ]
