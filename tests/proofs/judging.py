"""A proof repeats within its budget until it can decide, or says why it cannot.

No measured claim is judged by one measurement. A value is measured until the interval of its median lies inside the
claimed limits (holds) or outside (does not hold). A claim that is true or false in each attempt is tried until three
attempts succeeded (holds) or three times more failed than succeeded on a quiet machine (does not hold): other work on
the machine can only spoil an attempt, so failures on a busy machine do not count.
"""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable
from typing import ParamSpec

import numpy as np

from rankbench.analysis.statistics import median_interval
from rankbench.launch.occupancy import QUIET, measure_others_share, read_times

Arguments = ParamSpec("Arguments")
BUDGET_S = float(os.environ.get("BUDGET") or 150)
"""Per proof: `make prove BUDGET=30` sets less, and more claims remain undecided."""
MIN_LAUNCHES = 8
"""Fewer launches have no 95% interval that leaves out an outlier on each side."""


class UndecidedError(Exception):
    """The budget was spent before the claim was decided; the message says why."""


def check_median(measure: Callable[[], float], low: float, high: float, budget_s: float = BUDGET_S) -> None:
    """Measure until the 95% interval of the median lies inside these limits, or outside.

    Raises AssertionError if it lies outside, UndecidedError if it contains a limit when the budget is spent.
    """
    before, values = read_times(), [measure() for _ in range(MIN_LAUNCHES)]
    while True:
        least, most, _ = median_interval(np.array(values))
        text = f"median {np.median(values):.4g} of {len(values)}, 95% interval {least:.4g}..{most:.4g}"
        if low <= least and most <= high:
            print(f"{text}, inside {low:.4g}..{high:.4g}")
            return
        assert least <= high, f"{text}, above {high:.4g}"
        assert most >= low, f"{text}, below {low:.4g}"
        if time.monotonic() - before.wall_s > budget_s:
            raise UndecidedError(
                f"{text}, claimed {low:.4g}..{high:.4g}; "
                f"other processes used {measure_others_share(before):.0%} of the CPUs"
            )
        values.append(measure())


def check_repeatedly(attempt: Callable[[], None], budget_s: float = BUDGET_S, wanted: int = 3) -> None:
    """Repeat an attempt until it has succeeded so often; an attempt raises AssertionError if the claim is violated.

    Raises AssertionError if three times as many attempts failed on a quiet machine, UndecidedError if the budget is
    spent.
    """
    began_s, so, failed, disturbed = time.monotonic(), 0, list[str](), list[float]()
    while so < wanted:
        before, wrong = read_times(), run_attempt(attempt)
        share = measure_others_share(before)
        if not wrong:
            so += 1
        elif share <= QUIET:
            failed.append(wrong)
        else:
            disturbed.append(share)
        text = f"as claimed {so} times, not so {len(failed)} times"
        assert len(failed) < wanted * (so + 1), f"{text}, the last time: {failed[-1]}"
        if time.monotonic() - began_s > budget_s and so < wanted:
            most = max(disturbed, default=0.0)
            raise UndecidedError(
                f"{text}, {len(disturbed)} times disturbed by other work (up to {most:.0%} of the CPUs)"
            )
    print(f"as claimed {so} times, not so {len(failed)} times, {len(disturbed)} times disturbed by other work")


def run_attempt(attempt: Callable[[], None]) -> str:
    """Return the violation found by an attempt, empty if there is none."""
    try:
        attempt()
    except AssertionError as error:
        return (str(error).splitlines() or ["it was not as claimed"])[0]
    return ""


def repeat(proof: Callable[Arguments, None]) -> Callable[Arguments, None]:
    """Decorate a proof so that its assertions are judged by several attempts."""

    @functools.wraps(proof)
    def repeat_proof(*arguments: Arguments.args, **keywords: Arguments.kwargs) -> None:
        check_repeatedly(lambda: proof(*arguments, **keywords))

    return repeat_proof
