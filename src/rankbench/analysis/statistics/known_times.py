"""Accuracy of the core: operations of known time, compared with their measured times."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import numpy as np

from rankbench.analysis.statistics.medians import find_grouped_median
from rankbench.model import CaseResult, CaseStatus, Record, Start

TRUTHS_NS = {"empty": 0.0, "wait-null": 0.0, "wait-up": 1000.0}
"""True time of each self-test of the core, per rank: in `wait-up` the last of n ranks waits n microseconds."""
TOLERANCE_NS = 200.0
TOLERANCE_SHARE = 0.01
MOST_DISCARDED = 0.05
"""Upper limit of the share of discarded samples."""
JUDGED_BY_DISCARDS = "window"
"""The start that promises to discard few rounds: the default of collectives."""


class Wait(Record, frozen=True):
    """One operation of known time under one start."""

    operation: str
    truth_ns: float
    measured_ns: float | None
    """Median over launches of each launch's median; nothing where no launch has a sample that counts."""
    reason: str
    """Why there is no value, as the core says it."""
    bound_ns: float = 0.0
    """How far clocks may have differed, at most, where times are counted from a common start."""

    @property
    def error_ns(self) -> float | None:
        """Return how far the measured time is above the true one."""
        return None if self.measured_ns is None else self.measured_ns - self.truth_ns

    @property
    def tolerance_ns(self) -> float:
        """Return the largest error that passes: what clocks may differ by is stated with every value."""
        return max(TOLERANCE_NS, TOLERANCE_SHARE * self.truth_ns) + self.bound_ns

    @property
    def right(self) -> bool:
        """Return whether the error is within the tolerance."""
        return self.error_ns is not None and abs(self.error_ns) <= self.tolerance_ns


class Trial(Record, frozen=True):
    """All operations of known time under one start."""

    start: Start
    launches: int
    waits: list[Wait]
    discarded: float | None
    """Share of samples that do not count, median over launches; nothing where ranks begin without a schedule."""
    bound_ns: float
    """How far apart clocks may have been, at most."""

    @property
    def keeps_enough(self) -> bool:
        """Return whether as few samples are discarded as the start promises."""
        return self.start.name != JUDGED_BY_DISCARDS or (self.discarded or 0.0) < MOST_DISCARDED

    @property
    def right(self) -> bool:
        """Return whether all errors are within their tolerances."""
        return self.keeps_enough and all(wait.right for wait in self.waits)


def evaluate_trials(by_launch: Sequence[Sequence[CaseResult]], starts: Sequence[Start]) -> list[Trial]:
    """Return a trial of each start of which there are results, one list of them per launch."""
    all_trials = []
    for start in starts:
        launches = [[result for result in results if result.case.start == start.name] for results in by_launch]
        if launches := [results for results in launches if results]:
            all_trials.append(_trial(start, launches))
    return all_trials


def find_wrong_starts(by_launch: Sequence[Sequence[CaseResult]], starts: Sequence[Start]) -> set[str]:
    """Return the names of the starts with an error beyond the tolerance."""
    return {trial.start.name for trial in evaluate_trials(by_launch, starts) if not trial.right}


def _trial(start: Start, launches: list[list[CaseResult]]) -> Trial:
    operations = [result.case.operation for result in launches[0]]
    return Trial(
        start=start,
        launches=len(launches),
        waits=[
            _wait(start, [result for results in launches for result in results if result.case.operation == operation])
            for operation in operations
        ],
        discarded=median(_share_discarded(results) for results in launches) if start.scheduled else None,
        bound_ns=max(result.sync_bound_ns for results in launches for result in results),
    )  # fmt: skip


def _wait(start: Start, results: list[CaseResult]) -> Wait:
    case = results[0].case
    values = [value for result in results if (value := find_median_ns(result, start)) is not None]
    return Wait(
        operation=case.operation,
        truth_ns=TRUTHS_NS[case.operation] * case.ranks,
        measured_ns=median(values) if values else None,
        reason=next((result.reason or result.status for result in results if result.status != CaseStatus.OK), ""),
        bound_ns=max(result.sync_bound_ns for result in results) if start.scheduled else 0.0,
    )


def find_median_ns(result: CaseResult, start: Start) -> float | None:
    """Return the median of the samples that count, within a step of the clock as for any other case."""
    column = result.own_series
    if result.status != CaseStatus.OK or not column:
        return None
    times_ns = np.delete(np.array(column.time_ns), sorted(column.find_discarded(overruns=start.discards_overruns)))
    if not len(times_ns):
        return None
    return find_grouped_median(times_ns) if np.median(times_ns) > 0 else float(np.median(times_ns))


def _share_discarded(results: list[CaseResult]) -> float:
    """Return the share of samples that do not count, over all operations of a launch."""
    total = sum(result.sample_count for result in results)
    return (total - sum(result.valid for result in results)) / total if total else 1.0
