"""Judgement of the self-test on results of known truth."""

from __future__ import annotations

import msgspec
import pytest

from rankbench.analysis.statistics import known_times
from rankbench.model import ALL_RANKS, Case, CaseResult, CaseStatus, Series, Start

WINDOW = Start(name="window", help="", scheduled=True)
STRICT = Start(name="window-mpiperf", help="", scheduled=True, discards_overruns=True)
BARRIER = Start(name="barrier", help="")


def _make_result(
    time_ns: list[float],
    operation: str = "wait-up",
    start: str = "window",
    ranks: int = 4,
    late: list[int] | None = None,
    overrun: list[int] | None = None,
    status: CaseStatus = CaseStatus.OK,
) -> CaseResult:
    case = Case(operation=operation, form="blocking", size_bytes=0, datatype="byte", placement=f"1x{ranks}",
                ranks=ranks, start=start)  # fmt: skip
    late, overrun = late or [], overrun or []
    column = Series(rank=ALL_RANKS, time_ns=time_ns, last_rank=[], late=late, overrun=overrun)
    strict = overrun if start == STRICT.name else []
    return CaseResult(case=case, status=status, reason="no round began in time" if status != CaseStatus.OK else "",
                      sample_count=len(time_ns), valid=len(time_ns) - len(late) - len(strict), late=len(late),
                      overrun=len(overrun), series=[column] if status == CaseStatus.OK else [])  # fmt: skip


def _wait_up(result: CaseResult, start: Start = WINDOW) -> known_times.Wait:
    (trial,) = known_times.evaluate_trials([[result]], [start])
    return trial.waits[0]


@pytest.mark.parametrize(
    ("operation", "ranks", "measured", "right"),
    [
        ("wait-up", 4, 4199.0, True),
        ("wait-up", 4, 4201.0, False),
        ("wait-up", 4, 3799.0, False),
        ("wait-up", 64, 64600.0, True),
        ("wait-up", 64, 64700.0, False),
        ("wait-null", 4, 199.0, True),
        ("wait-null", 4, 201.0, False),
        ("empty", 4, 199.0, True),
        ("empty", 4, 201.0, False),
    ],
)
def test_a_time_is_right_within_1_percent_or_200_ns_of_the_truth(
    operation: str, ranks: int, measured: float, right: bool
) -> None:
    wait = _wait_up(_make_result([measured] * 9, operation, ranks=ranks))
    assert wait.measured_ns == measured
    assert wait.right is right


@pytest.mark.parametrize(
    ("start", "measured", "right"),
    [(WINDOW, 4690.0, True), (WINDOW, 4710.0, False), (BARRIER, 4190.0, True), (BARRIER, 4690.0, False)],
)
def test_clocks_may_differ_by_their_stated_bound_if_times_count_from_a_common_start(
    start: Start, measured: float, right: bool
) -> None:
    result = msgspec.structs.replace(_make_result([measured] * 9, start=start.name), sync_bound_ns=500.0)
    assert _wait_up(result, start).right is right


def test_late_samples_do_not_count() -> None:
    wait = _wait_up(_make_result([4000.0, 4010.0, 4020.0, 9e6, 9e6, 9e6, 9e6], late=[3, 4, 5, 6]))
    assert wait.measured_ns == 4010.0


def test_overruns_count_unless_the_start_discards_them() -> None:
    times = [4000.0, 4010.0, 4020.0, 9000.0, 9010.0]
    assert _wait_up(_make_result(times, overrun=[3, 4])).measured_ns == 4020.0
    assert _wait_up(_make_result(times, start=STRICT.name, overrun=[3, 4]), STRICT).measured_ns == 4010.0


def test_the_median_of_launches_is_judged() -> None:
    """One launch of three was disturbed."""
    (trial,) = known_times.evaluate_trials([[_make_result([time] * 9)] for time in (9000.0, 4030.0, 4040.0)], [WINDOW])
    assert (trial.launches, trial.waits[0].measured_ns, trial.right) == (3, 4040.0, True)


def test_only_starts_that_were_launched_have_a_trial() -> None:
    both = [_make_result([4000.0] * 9), _make_result([5000.0] * 9, start="barrier")]
    again = [_make_result([5000.0] * 9, start="barrier")]
    by_launch = [both, again, again]
    window, barrier = known_times.evaluate_trials(by_launch, [WINDOW, BARRIER, STRICT])
    assert (window.start, window.launches, window.right) == (WINDOW, 1, True)
    assert (barrier.start, barrier.launches, barrier.right) == (BARRIER, 3, False)
    assert known_times.find_wrong_starts(by_launch, [WINDOW, BARRIER, STRICT]) == {"barrier"}


@pytest.mark.parametrize(("late", "keeps"), [(0, True), (4, True), (5, False)])
def test_window_must_discard_few_rounds(late: int, keeps: bool) -> None:
    """The share is that of all operations: of 100 samples 10 are of wait-null, none of them late, 90 of wait-up."""
    results = [_make_result([20.0] * 10, "wait-null"), _make_result([4000.0] * 90, late=list(range(late)))]
    (trial,) = known_times.evaluate_trials([results], [WINDOW])
    assert trial.discarded == pytest.approx(late / 100)
    assert (trial.keeps_enough, trial.right) == (keeps, keeps)


def test_other_starts_may_discard_any_share() -> None:
    (strict,) = known_times.evaluate_trials([[_make_result([4000.0] * 8, start=STRICT.name, overrun=[0, 1])]], [STRICT])
    (barrier,) = known_times.evaluate_trials([[_make_result([4000.0] * 8, start="barrier")]], [BARRIER])
    assert (strict.discarded, strict.right) == (0.25, True)
    assert (barrier.discarded, barrier.right) == (None, True)


def test_a_case_without_samples_is_wrong_with_a_reason() -> None:
    wait = _wait_up(_make_result([], status=CaseStatus.FAILED))
    assert (wait.measured_ns, wait.error_ns, wait.right) == (None, None, False)
    assert wait.reason == "no round began in time"


def test_a_time_of_zero_may_be_measured_as_zero() -> None:
    assert _wait_up(_make_result([0.0] * 9, "wait-null")).measured_ns == 0.0
