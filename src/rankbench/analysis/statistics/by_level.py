"""Comparisons at each level of the reference, where a cache line takes one of two times from rank to rank.

Libraries react differently to a machine in which cores are near each other at times and far at others, so that the
ratio of two libraries has a value at each level. A trimmed mean over both depends on which share of the blocks happens
to be far, and has no interval of known coverage. At one level ratios scatter as elsewhere. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import msgspec
import numpy as np
import polars as pl

from rankbench.analysis.statistics.decision import Estimate, decide
from rankbench.analysis.statistics.looks import Penalty
from rankbench.analysis.statistics.pairing import BLOCK, pair_logs, pair_visits
from rankbench.analysis.statistics.references import Levels
from rankbench.model import Comparison, Level
from rankbench.model.verdicts import LEVEL_FIELDS

FEWEST_BLOCKS = 3
"""Minimum of pairs for a difference."""

CASE = ["base", "other", "case"]
"""What names a comparison."""


def pair_values(
    launch_values: pl.DataFrame, pairs: Sequence[tuple[str, str]], levels: Mapping[str, Levels]
) -> pl.DataFrame:
    """Return one row per pair and case, or per pair, case and level, with the log ratios other / base of its blocks.

    Columns: base, other, case, level, logs, blocks (of each log its block), share (of the visits), after (blocks of all
    levels), and `basis`: how the row's scatter is known, "own", "levels" (where no level of the case has pairs enough
    but all together have: from the scatter within each) or "" (not at all). Pairs follow each other as given.
    """
    frame = pair_logs(launch_values, pairs).with_columns(level=pl.lit(""), share=pl.lit(1.0))
    if levels and "visit_ns" in launch_values.columns:
        at_levels = compute_logs(launch_values, pairs, levels)
        frame = pl.concat([frame.join(at_levels, on=CASE, how="anti", maintain_order="left"), at_levels])
        places = {pair: place for place, pair in enumerate(dict.fromkeys(pairs))}
        frame = frame[np.argsort([places[pair] for pair in frame.select("base", "other").rows()], kind="stable")]
    return (
        frame.with_columns(after=pl.col("block").n_unique().over(CASE))
        .group_by(*CASE, "level", maintain_order=True)
        .agg(pl.col("log").alias("logs"), pl.col("block").alias("blocks"), pl.col("share", "after").first())
        .with_columns(basis=_find_basis())
    )


def _find_basis() -> pl.Expr:
    """Return how the scatter of a row of `pair_values` is known."""
    pairs, level = pl.col("logs").list.len(), pl.col("level")
    together = (level != "") & (pairs.max().over(CASE) < FEWEST_BLOCKS) & (pairs.sum().over(CASE) >= FEWEST_BLOCKS)
    return (
        pl.when(pairs >= FEWEST_BLOCKS).then(pl.lit("own")).when(together).then(pl.lit("levels")).otherwise(pl.lit(""))
    )


def compute_logs(
    launch_values: pl.DataFrame, pairs: Sequence[tuple[str, str]], levels: Mapping[str, Levels]
) -> pl.DataFrame:
    """Return the median log ratio of each block's visits at each level, with the level and its share of the visits.

    Visits between the levels, or of an unknown level, belong to neither. Near comes before far in every case.
    """
    launch_values = launch_values.filter(pl.col("case").is_in(list(levels)))
    visits = pair_visits(launch_values, pairs).filter(pl.col("hop_ns") > 0, pl.col("hop_ns_other") > 0)
    hop = (pl.col("hop_ns") * pl.col("hop_ns_other")).sqrt()
    nearest, farthest = (
        pl.col("case").replace_strict({key: getattr(at, name) for key, at in levels.items()}, return_dtype=pl.Float64)
        for name in ("nearest_ns", "farthest_ns")
    )
    level = pl.when(hop <= nearest).then(pl.lit("near")).when(hop >= farthest).then(pl.lit("far"))
    return (
        visits.with_columns(level=level)
        .drop_nulls("level")
        .with_columns(share=pl.len().over(*CASE, "level") / pl.len().over(CASE))
        .sort("case", pl.col("level") == "far", "block", maintain_order=True)
        .group_by(*BLOCK, "level", "share", maintain_order=True)
        .agg(pl.col("log").median())
        .select(*BLOCK, "log", "level", "share")
    )


def combine(
    row_comparisons: Sequence[Comparison], table: pl.DataFrame, confidence: float, looks: Sequence[int]
) -> list[Comparison]:
    """Return one comparison per pair and case: as it is, or of its levels.

    Args:
        row_comparisons: a comparison for each row of the table.
        table: with case, base, other, level, the level's share of the visits, and the blocks of all levels, `after`.
        confidence: of the intervals.
        looks: numbers of blocks after which the campaign may end.
    """
    rows = zip(row_comparisons, table.iter_rows(named=True), strict=True)
    comparisons: list[Comparison] = []
    for _, group in groupby(rows, key=lambda row: (row[1]["base"], row[1]["other"], row[1]["case"])):
        parts = list(group)
        comparison, row = parts[0]
        if not row["level"]:
            comparisons.append(comparison)
            continue
        levels = [_level(comparison, its) for comparison, its in parts]
        blocks = msgspec.structs.replace(comparison, blocks=row["after"])
        penalty = Penalty(tuple(looks), row["after"])
        comparisons.append(_combine_levels(blocks, levels, confidence, penalty, together=row["basis"] == "levels"))
    return comparisons


def _level(comparison: Comparison, row: dict[str, Any]) -> Level:
    values = {field: getattr(comparison, field) for field in LEVEL_FIELDS}
    return Level(name=row["level"], share=row["share"], blocks=comparison.blocks, enough=row["basis"] != "", **values)


def _combine_levels(
    comparison: Comparison, levels: list[Level], confidence: float, penalty: Penalty, *, together: bool
) -> Comparison:
    """Return a comparison whose values are the mean of its levels' by their shares of the visits.

    Degrees of freedom are those of Welch and Satterthwaite, or of the scatter that the levels have `together`.
    """
    known = [level for level in levels if level.enough] or levels
    weights = np.array([level.share for level in known]) / sum(level.share for level in known)
    log = float(weights @ np.log([level.ratio for level in known]))
    squares = np.square(weights * [level.error for level in known])
    degrees = float(squares.sum() ** 2 / (squares**2 / [level.degrees for level in known]).sum())
    degrees = known[0].degrees if together else degrees
    error = math.sqrt(squares.sum())
    bounded = all(level.high < math.inf for level in known)
    rounding = float(weights @ [level.rounding for level in known])
    estimate = Estimate(log, error, degrees if bounded else 0.0, rounding)
    (decision,) = decide([estimate], 0.0, confidence, penalty=penalty)
    return msgspec.structs.replace(
        comparison,
        ratio=decision.ratio,
        low=decision.low,
        high=decision.high,
        error=error,
        degrees=degrees,
        rounding=rounding,
        p_value=max(level.p_value for level in known),
        p_adjusted=max(level.p_adjusted for level in known),
        different=all(level.different for level in known) and len({level.ratio > 1 for level in known}) == 1,
        alike=all(level.alike for level in known),
        levels=levels,
    )
