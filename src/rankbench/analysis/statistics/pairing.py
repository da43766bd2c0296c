"""The log ratios of two candidates' values, of which each block has one in every case. Pure."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

BLOCK = ["base", "other", "case", "block"]
"""What names a ratio."""


def pair_logs(launch_values: pl.DataFrame, pairs: Iterable[tuple[str, str]]) -> pl.DataFrame:
    """Return the log ratios other / base of the blocks that have values of both: base, other, case, block and log.

    Pairs follow each other as given; the rows of each are in the order of the values of its base.

    The ratio of a block is the median of the ratios of single visits: launches that measure in turn make the first, the
    second ... visit of a case within milliseconds, and a machine that changes from visit to visit changes for both.
    Where there is only one visit, or visits are not known, it is the ratio of the launches' values. Values below the
    clock's step are left out: a ratio to nothing says nothing.
    """
    launches = launch_values.filter(pl.col("figure_ns") > 0)
    ours, theirs = _select_both(launches, pairs)
    ratios = ours.join(theirs, on=BLOCK, suffix="_other", maintain_order="left").with_columns(
        log=_log_ratio("figure_ns")
    )
    if "visit_ns" in launches.columns:
        by = _pair_visits(ours, theirs).group_by(BLOCK)
        of_visits = by.agg(pl.col("log").median().alias("of_visits"), pl.len()).filter(pl.col("len") > 1).drop("len")
        ratios = ratios.join(of_visits, on=BLOCK, how="left", maintain_order="left")
        ratios = ratios.with_columns(log=pl.coalesce("of_visits", "log"))
    return ratios.select(*BLOCK, "log")


def pair_visits(launch_values: pl.DataFrame, pairs: Iterable[tuple[str, str]]) -> pl.DataFrame:
    """Return the log ratios of the visits that launches of both made: as `pair_logs`, with visit and both `hop_ns`."""
    return _pair_visits(*_select_both(launch_values, pairs))


def tabulate_blocks(launch_values: pl.DataFrame, base: str, other: str) -> pl.DataFrame:
    """Return a row per case and block of both: its log ratio, and the log time and the reference of each (0: none)."""
    hop = pl.lit(0.0)
    if "visit_hop_ns" in launch_values.columns:
        hop = pl.col("visit_hop_ns").list.eval(pl.element().filter(pl.element() > 0)).list.median().fill_null(0.0)
    values = launch_values.filter(pl.col("figure_ns") > 0).select(
        "case", "candidate", "block", time=pl.col("figure_ns").log(), hop_ns=hop
    )
    ours, theirs = (values.filter(candidate=name).drop("candidate") for name in (base, other))
    logs = pair_logs(launch_values, [(base, other)]).select("case", "block", "log")
    return logs.join(ours, on=["case", "block"], maintain_order="left").join(
        theirs, on=["case", "block"], suffix="_other", maintain_order="left"
    )


def _select_both(launch_values: pl.DataFrame, pairs: Iterable[tuple[str, str]]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the values of the base of each pair, and those of the other."""
    named = pl.DataFrame(list(dict.fromkeys(pairs)), {"base": pl.String, "other": pl.String}, orient="row")
    ours, theirs = (
        named.join(launch_values, left_on=name, right_on="candidate", maintain_order="left_right")
        for name in ("base", "other")
    )
    return ours, theirs


def _pair_visits(ours: pl.DataFrame, theirs: pl.DataFrame) -> pl.DataFrame:
    lists = ["visit", "visit_ns", "visit_hop_ns"]
    visits, their_visits = (of.select(*BLOCK, *lists).explode(lists) for of in (ours, theirs))
    return (
        visits.join(their_visits, on=[*BLOCK, "visit"], suffix="_other", maintain_order="left")
        .filter(pl.col("visit_ns") > 0, pl.col("visit_ns_other") > 0)
        .select(*BLOCK, "visit", log=_log_ratio("visit_ns"), hop_ns="visit_hop_ns", hop_ns_other="visit_hop_ns_other")
    )


def _log_ratio(value: str) -> pl.Expr:
    return (pl.col(f"{value}_other") / pl.col(value)).log()
