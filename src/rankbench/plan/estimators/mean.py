"""The arithmetic mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

ORDER, NAMES, HELP, OVER_CALLS, MIDDLE = 3, "mean", '"mean"', "mean", True


def estimate_times(time: pl.Expr, name: str) -> pl.Expr:  # noqa: ARG001 - the contract
    """Return the mean of the times of a group, in ns."""
    return time.mean()
