"""A percentile, interpolated linearly. It is the time of single calls, so it shows slow ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

ORDER, NAMES, HELP, OVER_CALLS, MIDDLE = 5, r"p[1-9]\d?", 'a percentile from "p1" to "p99"', "single", False


def estimate_times(time: pl.Expr, name: str) -> pl.Expr:
    """Return a percentile of the times of a group, in ns: the 90th of `p90`."""
    return time.quantile(int(name[1:]) / 100, "linear")
