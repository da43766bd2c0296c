"""The log ratios of two candidates' values, of which each block has one in every case. Pure."""

from __future__ import annotations

import polars as pl


def pair_logs(launch_values: pl.DataFrame, base: str, other: str) -> pl.DataFrame:
    """Return the log ratios other / base of the blocks that have values of both: case, block and log.

    That of a block is the median of the ratios of single visits: launches that measure in turn make the first, the
    second ... visit of a case within milliseconds, and a machine that changes from visit to visit changes for both.
    Where there is only one visit, or visits are not known, it is the ratio of the launches' values. Values below the
    clock's step are left out: a ratio to nothing says nothing.
    """
    key = ["case", "block"]
    launches = launch_values.filter(pl.col("figure_ns") > 0)
    frame, two = (launches.filter(pl.col("candidate") == name) for name in (base, other))
    ratios = frame.join(two, on=key, suffix="_other", maintain_order="left").with_columns(log=_log_ratio("figure_ns"))
    if "visit_ns" in launches.columns:
        ratios = ratios.join(_of_visits(frame, two), on=key, how="left", maintain_order="left")
        ratios = ratios.with_columns(log=pl.coalesce("of_visits", "log"))
    return ratios.select(*key, "log")


def pair_visits(frame: pl.DataFrame, two: pl.DataFrame) -> pl.DataFrame:
    """Return the log ratios of the visits that launches of both made: case, block, visit, log, and both `hop_ns`."""
    key = ["case", "block", "visit"]
    lists = ["visit", "visit_ns", "visit_hop_ns"]
    ours, theirs = (of.select("case", "block", *lists).explode(lists) for of in (frame, two))
    return (
        ours.join(theirs, on=key, suffix="_other", maintain_order="left")
        .filter(pl.col("visit_ns") > 0, pl.col("visit_ns_other") > 0)
        .select(*key, log=_log_ratio("visit_ns"), hop_ns="visit_hop_ns", hop_ns_other="visit_hop_ns_other")
    )


def _of_visits(frame: pl.DataFrame, two: pl.DataFrame) -> pl.DataFrame:
    """Return the median log ratio of each block's visits, of blocks in which both made several."""
    by = pair_visits(frame, two).group_by("case", "block")
    return by.agg(pl.col("log").median().alias("of_visits"), pl.len()).filter(pl.col("len") > 1).drop("len")


def _log_ratio(value: str) -> pl.Expr:
    return (pl.col(f"{value}_other") / pl.col(value)).log()
