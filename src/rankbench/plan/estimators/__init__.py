"""Estimators: statistics over a launch's samples of one case. Every module of this folder is one.

A unit has ORDER (its place in a list of all), NAMES (a pattern of the names it has in a plan), HELP (its words in such
a list), OVER_CALLS (what it takes over the calls of a launch, as comparisons with other tools say it), MIDDLE (whether
the few samples of a visit give the same as all: the middle does, the smallest or a high percentile do not), and
`estimate_times(time, name)`, the Polars expression of the times of a group. MEANING is a clause for a report if the
name alone does not say enough. Estimators belong to the room of the plan, which validates their names; they import no
Polars.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from typing import TYPE_CHECKING, cast

from rankbench import units

if TYPE_CHECKING:
    from types import ModuleType

    import polars as pl

QUARTER = 4


@cache
def list_estimators() -> list[ModuleType]:
    """Return all estimators in their order."""
    return sorted(units.modules(sys.modules[__name__]).values(), key=lambda unit: int(unit.ORDER))


def find_estimator(name: str) -> ModuleType:
    """Return the estimator with this name in a plan. Raises ValueError if there is none."""
    unit = next((unit for unit in list_estimators() if re.fullmatch(unit.NAMES, name)), None)
    if unit is None:
        raise ValueError(name)
    return unit


def estimate_times(time: pl.Expr, name: str) -> pl.Expr:
    """Return the expression of an estimator over the times of a group, in ns."""
    return cast("pl.Expr", find_estimator(name).estimate_times(time, name))


def format_help() -> str:
    """Return the names of all estimators, in words."""
    *others, last = (unit.HELP for unit in list_estimators())
    return f"{', '.join(others)} or {last}"


def trim_times(time: pl.Expr) -> pl.Expr:
    """Return the times of a group without a quarter at each end, rounded down as in MPIPerf."""
    dropped = time.len() // QUARTER
    return time.sort().slice(dropped, time.len() - 2 * dropped)
