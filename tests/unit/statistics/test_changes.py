"""Change points: found at their place with their size, and rarely in series without change, whatever the scatter."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from rankbench.analysis.statistics.change_points import FEWEST, Levels, find_steps

THRESHOLD = 0.03
LAUNCHES = 0.01
"""Standard error expected from a campaign's launches."""
HISTORIES = 200


def make_series(logs: NDArray[np.float64]) -> Levels:
    return Levels(logs, np.full(len(logs), LAUNCHES**2))


def draw_normal(random: np.random.Generator, count: int) -> NDArray[np.float64]:
    """Days scatter by 5%, far more than expected from launches."""
    return random.normal(0, 0.05, count)


def draw_skewed(random: np.random.Generator, count: int) -> NDArray[np.float64]:
    return random.exponential(0.05, count)


def draw_odd_days(random: np.random.Generator, count: int) -> NDArray[np.float64]:
    """One campaign in ten meets a machine 2 or 3 times slower."""
    factors = random.choice([1.0, 2.0, 3.0], count, p=[0.9, 0.05, 0.05])
    logs: NDArray[np.float64] = random.normal(0, 0.03, count) + np.log(factors)
    return logs


@pytest.mark.parametrize("draw", [draw_normal, draw_skewed, draw_odd_days])
@pytest.mark.parametrize("count", [5, 10, 20])
def test_a_series_without_change_rarely_has_one(draw: Callable[..., NDArray[np.float64]], count: int) -> None:
    """At most 5% if campaigns scatter normally, 8% otherwise, plus chance in 200 histories."""
    random = np.random.default_rng(5)
    alarms = sum(bool(find_steps([make_series(draw(random, count))], THRESHOLD)[0]) for _ in range(HISTORIES))
    rate = 0.05 if draw is draw_normal else 0.08
    assert alarms <= HISTORIES * rate + 2.6 * math.sqrt(HISTORIES * rate * (1 - rate))


def test_many_series_without_change_rarely_have_one_among_them() -> None:
    random = np.random.default_rng(6)
    alarms = [any(find_steps([make_series(draw_normal(random, 12)) for _ in range(20)], THRESHOLD)) for _ in range(60)]
    assert sum(alarms) <= 7


@pytest.mark.parametrize(("count", "last"), [(6, 3), (10, 2), (15, 3), (30, 10)])
def test_a_change_among_many_unchanged_series_is_found_at_its_place(count: int, last: int) -> None:
    random = np.random.default_rng(7)
    right = 0
    for _ in range(20):
        logs = random.normal(0, 0.02, count)
        logs[count - last :] += math.log(1.31)
        (first, *others) = find_steps(
            [make_series(logs), *(make_series(random.normal(0, 0.02, count)) for _ in range(9))], THRESHOLD
        )
        right += [step.at for step in first] == [count - last] and not any(others)
    assert right >= 17


def test_size_and_interval_of_a_change_are_reported() -> None:
    logs = np.array([0.0, 0.01, -0.01, 0.0, 0.3, 0.31, 0.29, 0.3])
    (step,) = find_steps([make_series(logs)], THRESHOLD)[0]
    assert step.at == 4
    assert step.ratio == pytest.approx(math.exp(0.3))
    assert step.low * step.high == pytest.approx(step.ratio**2)
    assert 1.3 < step.low < step.ratio < step.high < 1.4
    assert step.p_adjusted < 1e-4


def test_a_temporary_level_is_two_changes() -> None:
    logs = np.random.default_rng(8).normal(0, 0.02, 20)
    logs[8:12] += 0.25
    assert [step.at for step in find_steps([make_series(logs)], THRESHOLD)[0]] == [8, 12]


def test_a_staircase_is_a_change_at_every_step() -> None:
    logs = np.random.default_rng(9).normal(0, 0.02, 30)
    logs[10:] += 0.15
    logs[20:] += 0.15
    assert [step.at for step in find_steps([make_series(logs)], THRESHOLD)[0]] == [10, 20]


def test_a_change_below_the_threshold_is_not_reported() -> None:
    logs = np.array([0.0] * 10 + [0.02] * 10) + np.tile([0.0005, -0.0005], 10)
    still = Levels(logs, np.zeros(20))
    assert [len(series_steps) for series_steps in (*find_steps([still], 0.03), *find_steps([still], 0.01))] == [0, 1]


def test_a_change_as_large_as_the_threshold_is_rarely_reported() -> None:
    """Half of them are measured above the threshold; in all but 5% of the histories this remains undecided."""
    random = np.random.default_rng(15)
    rise = math.log1p(THRESHOLD) * (np.arange(20) >= 10)
    reports = sum(
        bool(find_steps([Levels(random.normal(0, 0.01, 20) + rise, np.zeros(20))], THRESHOLD)[0]) for _ in range(100)
    )
    assert reports <= 5


def test_campaigns_that_agree_by_chance_do_not_reduce_the_error_of_their_launches() -> None:
    logs = np.array([0.0, 0.0, 0.0, 0.1, 0.1, 0.1])
    assert find_steps([Levels(logs, np.full(6, 0.1**2))], THRESHOLD) == [[]]
    assert [step.at for step in find_steps([Levels(logs, np.full(6, 0.01**2))], THRESHOLD)[0]] == [3]


def test_a_single_odd_campaign_is_no_change() -> None:
    for place in range(10):
        logs = np.tile([0.01, -0.01], 5)
        logs[place] += 0.5
        assert find_steps([make_series(logs)], THRESHOLD) == [[]]


def test_too_few_campaigns_report_no_change() -> None:
    logs = np.array([0.0, 0.0, 0.5, 0.5])
    assert len(logs) == FEWEST - 1
    assert find_steps([make_series(logs)], THRESHOLD) == [[]]
    assert find_steps([], THRESHOLD) == []


def draw_correlated(random: np.random.Generator, count: int, lag: float) -> NDArray[np.float64]:
    """Days that scatter by 5%, each correlated with the day before."""
    values = random.normal(0, 0.05, count)
    for at in range(1, count):
        values[at] = lag * values[at - 1] + math.sqrt(1 - lag**2) * values[at]
    return values


def test_correlated_days_rarely_have_a_change() -> None:
    random = np.random.default_rng(12)
    many = [make_series(draw_correlated(random, 60, 0.5)) for _ in range(40)]
    assert sum(bool(step) for step in find_steps(many, THRESHOLD)) <= 4


def test_a_large_change_among_correlated_days_is_found() -> None:
    random = np.random.default_rng(13)
    many = [make_series(draw_correlated(random, 60, 0.5)) for _ in range(20)]
    many[0].logs[30:] += math.log(1.5)
    (series_steps, *_) = find_steps(many, THRESHOLD)
    assert [abs(step.at - 30) <= 1 for step in series_steps] == [True]


def test_memory_does_not_grow_with_the_square_of_the_campaigns() -> None:
    logs = np.random.default_rng(14).normal(0, 0.02, 365)
    logs[180:] += 0.1
    tracemalloc.start()
    try:
        assert len(find_steps([make_series(logs)], THRESHOLD)[0]) == 1
        assert tracemalloc.get_traced_memory()[1] < 64e6
    finally:
        tracemalloc.stop()
