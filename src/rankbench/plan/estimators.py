"""Estimators: statistics over a launch's samples of one case, a row each. Plans name them; Polars is not imported."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from rankbench.language import NOTHING, Text, join_words, say

if TYPE_CHECKING:
    import polars as pl

QUARTER = 4


def trim_times(time: pl.Expr) -> pl.Expr:
    """Return the times of a group without a quarter at each end, rounded down as in MPIPerf."""
    dropped = time.len() // QUARTER
    return time.sort().slice(dropped, time.len() - 2 * dropped)


class Estimator(NamedTuple):
    """A row of the table."""

    names: str
    """The pattern of its names in a plan."""
    help: str
    """Its words in a list of all."""
    over_calls: str
    """What it takes over the calls of a launch, as comparisons with other tools say it."""
    middle: bool
    """Whether the few samples of a visit give the same as all: the middle does, the smallest or a high percentile do
    not."""
    estimate_times: Callable[[pl.Expr, str], pl.Expr]
    """From the times of a group, in ns, and the name, to the expression of its value."""
    meaning: Text = NOTHING
    """A clause for a report, if the name alone does not say enough."""


ESTIMATORS = (
    # On a step of the clock, where many samples are equal, `statistics` interpolates the median.
    Estimator("median", '"median"', "median", middle=True, estimate_times=lambda time, _: time.median()),
    Estimator("min", '"min"', "minimum", middle=False, estimate_times=lambda time, _: time.min()),
    Estimator("mean", '"mean"', "mean", middle=True, estimate_times=lambda time, _: time.mean()),
    Estimator(
        "trimmed-mean",
        '"trimmed-mean"',
        "trimmed mean",
        middle=True,
        estimate_times=lambda time, _: trim_times(time).mean(),
        meaning=say("(the mean without a quarter of the samples at each end, as in MPIPerf)"),
    ),
    # The time of single calls, so it shows slow ones.
    Estimator(
        r"p[1-9]\d?",
        'a percentile from "p1" to "p99"',
        "single",
        middle=False,
        estimate_times=lambda time, name: time.quantile(int(name[1:]) / 100, "linear"),
    ),
)


def find_estimator(name: str) -> Estimator:
    """Return the estimator with this name in a plan. Raises ValueError if there is none."""
    for row in ESTIMATORS:
        if re.fullmatch(row.names, name):
            return row
    raise ValueError(name)


def estimate_times(time: pl.Expr, name: str) -> pl.Expr:
    """Return the expression of an estimator over the times of a group, in ns."""
    return find_estimator(name).estimate_times(time, name)


def format_help() -> str:
    """Return the names of all estimators, in words."""
    return join_words([row.help for row in ESTIMATORS], "or")
