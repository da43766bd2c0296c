"""The rounding of values that other tools printed: an error that more launches do not reduce. Pure.

A printed value is at most half a unit of its last digit from the truth. So is its logarithm, by a bound of its own, and
a mean of such logarithms, trimmed or not, is off by no more than the largest bound; a ratio by the sum of those of both
sides. Chance is a separate error (`decision.Estimate.offset`).
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

LARGEST_SHARE = 0.999
"""A value that is rounded to a larger share of it is as good as unknown; its logarithm has no lower bound at 1."""
KEY = ["case", "candidate"]


def join_rounding(launch_values: pl.DataFrame, cases: pl.DataFrame) -> pl.DataFrame:
    """Return launches with `rounding`: how far the logarithm of `figure_ns` may be from the truth, 0 if not rounded.

    Args:
        launch_values: one row per case, candidate and launch, with `figure_ns`.
        cases: the store's cases, with the `rounding_ns` of each launch.
    """
    rounded = cases.filter(pl.col("rounding_ns") > 0).select(*KEY, "launch", "rounding_ns")
    share = (pl.col("rounding_ns") / pl.col("figure_ns")).clip(0, LARGEST_SHARE)
    joined = launch_values.join(rounded, on=[*KEY, "launch"], how="left", maintain_order="left")
    return joined.with_columns(rounding=(-(-share).log1p()).fill_null(0.0)).drop("rounding_ns")


def complete(launch_values: pl.DataFrame) -> pl.DataFrame:
    """Return launches with `rounding`, which is 0 where it is not known."""
    if "rounding" in launch_values.columns:
        return launch_values
    return launch_values.with_columns(rounding=pl.lit(0.0))


def find_offsets(launch_values: pl.DataFrame, ratios: Sequence[tuple[str, str, str]]) -> list[float]:
    """Return how far the log ratio of two candidates may be from the truth, for each case, base and other."""
    if "rounding" not in launch_values.columns:
        return [0.0] * len(ratios)
    rows = launch_values.group_by(KEY).agg(pl.col("rounding").max()).iter_rows()
    farthest: dict[tuple[str, str], float] = {(case, candidate): rounding for case, candidate, rounding in rows}
    return [sum(farthest.get((case, name), 0.0) for name in (base, other)) for case, base, other in ratios]
