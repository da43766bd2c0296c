"""The median. On a step of the clock, where many samples are equal, it is interpolated by `statistics`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

ORDER, NAMES, HELP, OVER_CALLS, MIDDLE = 1, "median", '"median"', "median", True


def estimate_times(time: pl.Expr, name: str) -> pl.Expr:  # noqa: ARG001 - the contract
    """Return the median of the times of a group, in ns."""
    return time.median()
