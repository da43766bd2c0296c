"""MPIPerf's trimmed mean: the mean without the smallest and the largest quarter, of whole samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankbench.language import say
from rankbench.plan.estimators import trim_times

if TYPE_CHECKING:
    import polars as pl

ORDER, NAMES, HELP, OVER_CALLS, MIDDLE = 4, "trimmed-mean", '"trimmed-mean"', "trimmed mean", True
MEANING = say("(the mean without a quarter of the samples at each end, as in MPIPerf)")


def estimate_times(time: pl.Expr, name: str) -> pl.Expr:  # noqa: ARG001 - the contract
    """Return the trimmed mean of the times of a group, in ns."""
    return trim_times(time).mean()
