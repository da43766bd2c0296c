"""The pace of a case, core/timing/pace.c, with artificial times: it compiles without MPI."""

from __future__ import annotations

import ctypes
import random
import statistics
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

CORE = Path(__file__).parents[2] / "core"
LIMIT_NS = 40e6
"""Of a visit of a campaign."""
CALL_NS = 400.0
STALL_NS = 6e6


class Pacing(ctypes.Structure):
    _fields_ = (
        ("scheduled", ctypes.c_bool), ("agrees", ctypes.c_bool), ("lead", ctypes.c_int),
        ("fixed_rounds", ctypes.c_int), ("growth", ctypes.c_double), ("bad_share", ctypes.c_double),
        ("cost_ns", ctypes.c_double), ("step_ns", ctypes.c_double), ("spread_ns", ctypes.c_int64),
        ("gap_ns", ctypes.c_int64),
    )  # fmt: skip


class LastVisit(ctypes.Structure):
    _fields_ = (("good", ctypes.c_bool), ("unsettled", ctypes.c_int32))


class Trial(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_int) for name in ("rounds", "valid", "stages", "parted_at_once"))


class Pace(ctypes.Structure):
    _fields_ = (
        ("estimate_ns", ctypes.c_double), ("longest_ns", ctypes.c_double), ("warm_ups", ctypes.c_int64),
        ("messages", ctypes.c_int32), ("last", LastVisit), ("window_ns", ctypes.c_int64), ("slack_ns", ctypes.c_int64),
        ("tolerance_ns", ctypes.c_int64),
        ("margin_ns", ctypes.c_int64), ("lead", ctypes.c_int32), ("rounds", ctypes.c_int32),
        ("unsettled", ctypes.c_int32), ("group", ctypes.c_int32), ("rest", ctypes.c_int32),
        ("timed", ctypes.c_int64), ("partings", ctypes.c_int64), ("trial", Trial),
        ("longer_windows", ctypes.c_bool), ("calls_between", ctypes.c_bool),
    )  # fmt: skip


class Course(ctypes.Structure):
    _fields_ = (
        ("times_ns", ctypes.POINTER(ctypes.c_double)), ("valid", ctypes.c_int), ("rounds", ctypes.c_int),
        ("late", ctypes.c_int), ("skipped", ctypes.c_int), ("partings", ctypes.c_int), ("first_late", ctypes.c_bool),
        ("second_late", ctypes.c_bool),
    )  # fmt: skip


STRUCTURES = {"pacing": Pacing, "last_visit": LastVisit, "trial": Trial, "pace": Pace, "course": Course}
"""The core's structures as they are above."""
WINDOW = Pacing(scheduled=True, lead=2, growth=1.2, bad_share=0.05, cost_ns=20, step_ns=10)


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    path = tmp_path_factory.mktemp("pace") / "pace.so"
    sizes = path.with_name("sizes.c")
    functions = (f"int size_of_{name}(void) {{ return sizeof(struct {name}); }}\n" for name in STRUCTURES)
    sizes.write_text('#include "timing/pace.h"\n' + "".join(functions))
    sources = [str(CORE / "timing/pace.c"), str(sizes)]
    subprocess.run(["cc", "-std=c11", "-shared", "-fPIC", f"-I{CORE}", "-o", str(path), *sources, "-lm"], check=True)
    library = ctypes.CDLL(str(path))
    # A structure that the core has changed would be written beyond its end.
    actual_sizes = {name: getattr(library, f"size_of_{name}")() for name in STRUCTURES}
    assert actual_sizes == {name: ctypes.sizeof(structure) for name, structure in STRUCTURES.items()}
    library.update_pace.restype = ctypes.c_bool
    library.is_tolerable.restype = ctypes.c_bool
    library.is_tolerable.argtypes = [ctypes.POINTER(Pace), ctypes.POINTER(Pacing), ctypes.c_double]
    library.warm_pace.argtypes = [
        ctypes.POINTER(Pace), ctypes.POINTER(ctypes.c_double), ctypes.c_int, ctypes.c_double, ctypes.c_double,
    ]  # fmt: skip
    return library


def make_array(times_ns: Sequence[float]) -> ctypes.Array[ctypes.c_double]:
    return (ctypes.c_double * len(times_ns))(*times_ns)


def warm_up(core: ctypes.CDLL, times_ns: Sequence[float], last: LastVisit | None = None, *, messages: int = 1) -> Pace:
    """Return the pace after a warm-up whose calls take these times, the last of them from then on."""
    pace, waiting, spent_ns, rounds = Pace(last=last or LastVisit(), messages=messages), list(times_ns), 0.0, 1
    while rounds:
        stage = [waiting.pop(0) if len(waiting) > 1 else waiting[0] for _ in range(rounds)]
        spent_ns += sum(stage)
        rounds = core.warm_pace(ctypes.byref(pace), make_array(stage), rounds, spent_ns, LIMIT_NS)
    core.begin_pace(ctypes.byref(pace), ctypes.byref(WINDOW))
    return pace


def update(core: ctypes.CDLL, pace: Pace, times_ns: Sequence[float], **counts: int) -> bool:
    course = Course(times_ns=make_array(times_ns), valid=len(times_ns), rounds=pace.rounds, **counts)
    return bool(core.update_pace(ctypes.byref(pace), ctypes.byref(WINDOW), ctypes.byref(course)))


@pytest.mark.parametrize("call_ns", [200, CALL_NS, 100_000])
def test_repeated_warm_ups_take_a_quarter_of_the_time(core: ctypes.CDLL, call_ns: float) -> None:
    first, again = warm_up(core, [call_ns]), warm_up(core, [call_ns], LastVisit(good=True))
    assert 8 <= again.warm_ups < first.warm_ups
    assert again.estimate_ns == first.estimate_ns


@pytest.mark.parametrize("last", [LastVisit(), LastVisit(good=True)])
def test_runs_of_many_messages_need_few_warm_ups(core: ctypes.CDLL, last: LastVisit) -> None:
    """One in three may be interrupted."""
    long_ns = 0.03 * LIMIT_NS
    single = warm_up(core, [long_ns], last)
    for times_ns in ([long_ns], [2 * long_ns, long_ns], [long_ns, 2 * long_ns, long_ns]):
        many = warm_up(core, times_ns, last, messages=64)
        assert 3 <= many.warm_ups <= single.warm_ups
        assert many.estimate_ns == single.estimate_ns
    assert warm_up(core, [long_ns], LastVisit(good=True), messages=64).warm_ups == 3
    assert warm_up(core, [long_ns], LastVisit(good=True), messages=2).warm_ups > 3


@pytest.mark.parametrize("stalled", range(12))
def test_an_interrupted_call_changes_nothing(core: ctypes.CDLL, stalled: int) -> None:
    quiet = warm_up(core, [CALL_NS])
    noisy = warm_up(core, [CALL_NS] * stalled + [STALL_NS, CALL_NS])
    for name in ("estimate_ns", "window_ns", "tolerance_ns", "lead", "rounds"):
        assert getattr(noisy, name) == getattr(quiet, name), name


@pytest.mark.parametrize("seed", range(20))
def test_the_estimate_holds_with_a_tenth_of_interrupted_calls(core: ctypes.CDLL, seed: int) -> None:
    drawn = random.Random(seed)
    times_ns = [drawn.uniform(0.95, 1.05) * (CALL_NS if drawn.random() < 0.9 else STALL_NS / 10) for _ in range(500)]
    pace = warm_up(core, times_ns)
    assert pace.warm_ups >= 8
    assert pace.estimate_ns == pytest.approx(CALL_NS, rel=0.06)


def test_long_calls_do_not_use_up_the_time_limit(core: ctypes.CDLL) -> None:
    assert warm_up(core, [LIMIT_NS / 20]).warm_ups == 3
    assert warm_up(core, [LIMIT_NS]).warm_ups == 2


def test_a_warm_up_lasts_while_calls_become_faster(core: ctypes.CDLL) -> None:
    pace = warm_up(core, [20e3 * 0.97**call for call in range(120)] + [CALL_NS])
    assert pace.estimate_ns < 1.1 * CALL_NS


def test_a_stage_corrects_the_estimate_of_the_warm_up(core: ctypes.CDLL) -> None:
    pace = warm_up(core, [30e3] * 200)
    assert (pace.window_ns, pace.tolerance_ns) == (45500, 600)
    assert update(core, pace, [CALL_NS] * 8)
    assert pace.tolerance_ns == 100
    assert pace.window_ns <= 4 * CALL_NS + 2000


def test_slow_stages_do_not_widen_the_tolerance(core: ctypes.CDLL) -> None:
    pace = warm_up(core, [CALL_NS])
    assert not update(core, pace, [STALL_NS] * 8)
    assert (pace.estimate_ns, pace.tolerance_ns) == (CALL_NS, 100)


def test_windows_grow_up_to_a_limit_while_many_rounds_are_missed(core: ctypes.CDLL) -> None:
    pace = warm_up(core, [CALL_NS])
    first_ns = pace.window_ns
    for _ in range(30):
        update(core, pace, [CALL_NS] * pace.rounds, skipped=pace.rounds)
    assert first_ns < pace.window_ns == 4 * CALL_NS + 2000
    for _ in range(100):
        update(core, pace, [CALL_NS] * pace.rounds)
    assert pace.window_ns == pytest.approx(1.1 * CALL_NS + 250)


def test_ranks_rest_as_often_as_they_drift_apart(core: ctypes.CDLL) -> None:
    """An interruption in 570 rounds, after which half of a group of 23 is lost: 2% of all rounds."""
    pace = warm_up(core, [CALL_NS])
    assert pace.group == 32
    assert pace.rest * pace.window_ns > 5000
    for _ in range(50):
        update(core, pace, [CALL_NS] * 128)
    assert pace.group == 128
    pace.timed, pace.partings = 570 * 50, 50
    update(core, pace, [CALL_NS] * 8)
    assert pace.group == 23


# --- noise of any kind ------------------------------------------------------------------------------------------------


class Noise(NamedTuple):
    """How often a call is interrupted, for how long at most, and in which part of the visit."""

    share: float
    longest_ns: float
    begins: int
    ends: int

    def draw_times(self, drawn: random.Random, call_ns: float, first: int, count: int) -> list[float]:
        """Return the times of `count` calls from `first` on."""
        return [
            call_ns * drawn.uniform(0.97, 1.05)
            + (drawn.random() < self.share and self.begins <= call < self.ends) * drawn.uniform(0, self.longest_ns)
            for call in range(first, first + count)
        ]


class Visit(NamedTuple):
    """The result of a visit."""

    tolerable: bool
    median_ns: float
    largest_skew_ns: float
    tolerance_ns: float


def run_visit(core: ctypes.CDLL, noise: Noise, seed: int, call_ns: float, stages: int) -> Visit:
    """Return a visit with noise: ranks begin late by any time, and rounds within the tolerance of the moment count.

    As in `judge_starts`, all rounds are judged again by the last tolerance.
    """
    drawn = random.Random(seed)
    pace, rounds, calls, spent_ns = Pace(), 1, 0, 0.0
    while rounds:
        times = noise.draw_times(drawn, call_ns, calls, rounds)
        calls, spent_ns = calls + rounds, spent_ns + sum(times)
        rounds = core.warm_pace(ctypes.byref(pace), make_array(times), rounds, spent_ns, LIMIT_NS)
    core.begin_pace(ctypes.byref(pace), ctypes.byref(WINDOW))
    all_rounds: list[tuple[float, float]] = []
    for _ in range(stages):
        times = noise.draw_times(drawn, call_ns, calls, pace.rounds)
        starts = [(time, drawn.expovariate(1) * 0.1 * time) for time in times]
        calls += len(times)
        all_rounds += starts
        update(core, pace, [time for time, skew in starts if skew <= pace.tolerance_ns])
    valid_rounds = [(time, skew) for time, skew in all_rounds if skew <= pace.tolerance_ns]
    median_ns = statistics.median(time for time, _ in valid_rounds) if valid_rounds else 0.0
    tolerable = core.is_tolerable(ctypes.byref(pace), ctypes.byref(WINDOW), median_ns)
    return Visit(tolerable, median_ns, max((skew for _, skew in valid_rounds), default=0.0), pace.tolerance_ns)


NOISES = {
    "none": Noise(0, 0, 0, 0),
    "throughout": Noise(0.3, STALL_NS, 0, 10**9),
    "nearly always": Noise(0.9, STALL_NS, 0, 10**9),
    "warm-up only": Noise(1, STALL_NS, 0, 200),
    "after the warm-up": Noise(1, STALL_NS, 200, 10**9),
    "the first calls": Noise(1, STALL_NS, 0, 9),
}


@pytest.mark.parametrize("stages", [0, 1, 2, 20])
@pytest.mark.parametrize("noise", NOISES)
def test_no_noise_makes_late_starts_valid(core: ctypes.CDLL, noise: str, stages: int) -> None:
    """Each used round began within 5% of the median time, or twice the least tolerance of 100 ns."""
    for seed in range(30):
        call_ns = 10 ** (2 + seed % 5)
        result = run_visit(core, NOISES[noise], seed, call_ns, stages)
        most_ns = max(0.05 * result.median_ns, 200)
        assert result.tolerable == (result.tolerance_ns <= most_ns)
        assert not result.tolerable or result.largest_skew_ns <= most_ns
        assert result.tolerable or result.median_ns == 0 or noise != "none"


def test_a_tolerance_widened_by_noise_is_not_tolerable(core: ctypes.CDLL) -> None:
    pace = warm_up(core, [STALL_NS])
    assert core.is_tolerable(ctypes.byref(pace), ctypes.byref(WINDOW), STALL_NS)
    assert not core.is_tolerable(ctypes.byref(pace), ctypes.byref(WINDOW), CALL_NS)


def test_short_calls_may_begin_within_the_least_tolerance(core: ctypes.CDLL) -> None:
    """5% of 300 ns are less than a few readings of a clock, or one step of a coarse clock."""
    pace = warm_up(core, [300.0])
    assert core.is_tolerable(ctypes.byref(pace), ctypes.byref(WINDOW), 300.0)
    coarse = Pacing(scheduled=True, lead=2, growth=1.2, bad_share=0.05, cost_ns=30, step_ns=1000)
    core.begin_pace(ctypes.byref(pace), ctypes.byref(coarse))
    assert pace.tolerance_ns == 1090
    assert core.is_tolerable(ctypes.byref(pace), ctypes.byref(coarse), 300.0)


@pytest.mark.parametrize("factor", [1.8, 0.7])
def test_first_rounds_of_a_stage_that_differ_are_not_recorded(core: ctypes.CDLL, factor: float) -> None:
    """Messages between stages leave traces for 18 calls; two of them are not recorded anyway."""
    pace = warm_up(core, [CALL_NS])
    assert pace.lead == 2
    update(core, pace, [factor * CALL_NS] * 16 + [CALL_NS] * 48)
    assert pace.lead == 18
    update(core, pace, [CALL_NS] * 64)
    assert pace.lead == 18
    assert warm_up(core, [CALL_NS], LastVisit(good=True, unsettled=pace.unsettled)).lead == 18


def test_the_warm_up_shows_how_many_first_rounds_differ(core: ctypes.CDLL) -> None:
    """Each of its stages begins after messages, too."""
    stages = [[2 * CALL_NS] * min(rounds, 16) + [CALL_NS] * (rounds - 16) for rounds in (1, 2, 4, 8, 16, 32, 64)]
    pace, spent_ns = Pace(), 0.0
    for stage in stages:
        spent_ns += sum(stage)
        core.warm_pace(ctypes.byref(pace), make_array(stage), len(stage), spent_ns, LIMIT_NS)
    core.begin_pace(ctypes.byref(pace), ctypes.byref(WINDOW))
    assert pace.lead == 16


@pytest.mark.parametrize("seed", range(10))
def test_noise_does_not_prolong_the_begin_of_a_stage(core: ctypes.CDLL, seed: int) -> None:
    drawn = random.Random(seed)
    pace = warm_up(core, [CALL_NS])
    for _ in range(20):
        times_ns = [drawn.gauss(CALL_NS, 0.05 * CALL_NS) for _ in range(64)]
        times_ns[drawn.randrange(8)] = STALL_NS
        update(core, pace, times_ns)
    assert pace.lead <= 18


def test_rounds_that_are_not_recorded_take_little_time(core: ctypes.CDLL) -> None:
    pace = warm_up(core, [50e3])
    for _ in range(9):
        update(core, pace, [2 * 50e3] * 32 + [50e3] * 32)
    assert pace.lead == 3
    short = warm_up(core, [CALL_NS])
    for _ in range(9):
        update(core, short, [2 * CALL_NS] * 32 + [CALL_NS] * 32)
    assert short.lead == 64


def test_ranks_that_part_after_the_first_call_get_longer_windows_and_then_calls(core: ctypes.CDLL) -> None:
    pace = warm_up(core, [CALL_NS])
    states = []
    for _ in range(60):
        update(core, pace, [], late=pace.rounds, skipped=pace.rounds - 1, second_late=1)
        states.append((pace.longer_windows, pace.calls_between))
    assert list(dict.fromkeys(states)) == [(False, False), (True, False), (True, True)]


@pytest.mark.parametrize(("valid", "second_late"), [(0, 0), (8, 1)])
def test_libraries_without_kept_messages_have_no_calls_between_rounds(
    core: ctypes.CDLL, valid: int, second_late: int
) -> None:
    """On a machine too busy for any valid round, or with a rank that was interrupted once a stage."""
    pace = warm_up(core, [CALL_NS])
    for _ in range(60):
        update(core, pace, [CALL_NS] * valid, late=pace.rounds - valid, second_late=second_late)
    assert (pace.longer_windows, pace.calls_between) == (False, False)
