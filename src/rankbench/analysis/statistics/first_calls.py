"""The first call of an operation in a launch, which sets up what later calls use, and the second one beside it.

Only the first case of its operation and form in a launch sees a first call. The order of cases differs between blocks,
and with it the sizes of these cases where a plan has several.
"""

from __future__ import annotations

import polars as pl

FIRST = ["launch", "operation", "form"]


def tabulate_first_calls(cases: pl.DataFrame) -> pl.DataFrame:
    """Return one row per launch, operation and form: `first_ns`, `second_ns` and their `ratio`.

    Args:
        cases: the store's cases, those of a launch in the order in which they were measured.
    """
    if "first_ns" not in cases.columns:
        return pl.DataFrame()
    called = cases.filter(pl.col("first_ns") > 0).unique(FIRST, keep="first", maintain_order=True)
    known = called.filter(pl.col("status") == "ok", pl.col("second_ns") > 0)
    names = ("launch", "candidate", "case", "operation", "form", "size_bytes", "placement", "first_ns", "second_ns")
    return known.select(*names, ratio=pl.col("first_ns") / pl.col("second_ns"))


def summarise_first_calls(frame: pl.DataFrame) -> pl.DataFrame:
    """Return one row per placement, operation, form and candidate: medians over launches, their ratio, and the
    least and the largest ratio of a launch.
    """
    if frame.is_empty():
        return frame
    summed = frame.group_by("placement", "operation", "form", "candidate", maintain_order=True).agg(
        pl.col("first_ns", "second_ns").median(),
        pl.col("ratio").min().alias("least"),
        pl.col("ratio").max().alias("largest"),
        pl.col("size_bytes").min().alias("from_bytes"),
        pl.col("size_bytes").max().alias("to_bytes"),
        pl.col("case").unique(maintain_order=True).alias("cases"),
        pl.len().alias("launches"),
    )
    return summed.with_columns(ratio=pl.col("first_ns") / pl.col("second_ns"))
