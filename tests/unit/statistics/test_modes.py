"""Modes: planted ones are found, and no others, in samples of known truth."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pytest
from fakes import mark_thorough
from wording import WORDING

from rankbench.analysis.statistics import modes
from rankbench.language import render

if TYPE_CHECKING:
    Random = np.random.Generator
    Values = np.ndarray[tuple[int], np.dtype[np.float64]]

TRIES = 100
SIZES = (300, 3000, 100_000)


def draw_two_modes(random: Random, count: int, share: float = 0.03, ratio: float = 2.0, spread: float = 0.03) -> Values:
    """Return samples of which exactly this share, at random positions, takes `ratio` times the time; 2% are a tail."""
    times = 500 * random.lognormal(0, spread, count)
    tail = random.random(count) < 0.02
    times[tail] *= 1 + 0.1 * random.pareto(2.5, int(tail.sum()))
    times[random.permutation(count)[: round(share * count)]] *= ratio
    return times


def draw_autoregressive(random: Random, count: int, memory: float) -> Values:
    """Return standard normal values, each correlated with the one before it."""
    new = random.normal(0, np.sqrt(1 - memory**2), count)
    values = np.empty(count)
    values[0] = random.normal()
    for at in range(1, count):
        values[at] = memory * values[at - 1] + new[at]
    return values


UNIMODAL: dict[str, Callable[[Random, int], Values]] = {
    "normal": lambda random, count: random.normal(500, 50, count),
    "lognormal": lambda random, count: 500 * random.lognormal(0, 0.5, count),
    "gamma": lambda random, count: 100 + 100 * random.gamma(2, 1, count),
    "pareto": lambda random, count: 500 * (1 + random.pareto(1.5, count)),
    "student": lambda random, count: np.abs(1000 + 20 * random.standard_t(2, count)),
    "peak-on-plateau": lambda random, count: np.where(
        random.random(count) < 0.7, random.normal(500, 5, count), random.uniform(500, 3000, count)
    ),
    "steps-of-10": lambda random, count: np.floor(13 * random.lognormal(0, 0.15, count)) * 10,
    "steps-of-30": lambda random, count: np.floor(13 * random.lognormal(0, 0.15, count)) * 30,
    "rounded-steps": lambda random, count: np.round(np.floor(8.5 * random.lognormal(0, 0.15, count)) * 15.4),
    "heavy-with-steps": lambda random, count: np.floor(13 * (1 + 0.1 * random.pareto(2, count))) * 10,
    "remembers": lambda random, count: 500 * np.exp(0.1 * draw_autoregressive(random, count, 0.9)),
    "remembers-with-steps": lambda random, count: (
        np.floor(25 * np.exp(0.1 * draw_autoregressive(random, count, 0.7))) * 20
    ),
}


@pytest.mark.costly
@pytest.mark.parametrize("count", [300, mark_thorough(3000)])
@pytest.mark.parametrize("shape", UNIMODAL)
def test_one_mode_is_called_two_in_at_most_5_of_100_tries(shape: str, count: int) -> None:
    random = np.random.default_rng([2008, count])
    assert sum(len(modes.find_modes(UNIMODAL[shape](random, count))) > 1 for _ in range(TRIES)) <= 5


@pytest.mark.parametrize("shape", UNIMODAL)
@pytest.mark.thorough
def test_a_hundred_thousand_samples_of_one_mode_have_one_mode(shape: str) -> None:
    random = np.random.default_rng(2008)
    assert sum(len(modes.find_modes(UNIMODAL[shape](random, 100_000))) > 1 for _ in range(20)) <= 1


@pytest.mark.parametrize(
    ("count", "tries", "least"), [(300, 100, 95), mark_thorough(3000, 100, 100), mark_thorough(100_000, 20, 20)]
)
def test_a_second_mode_of_3_percent_at_twice_the_time_is_found(count: int, tries: int, least: int) -> None:
    random = np.random.default_rng([2010, count])
    results = [modes.find_modes(draw_two_modes(random, count)) for _ in range(tries)]
    right = [two for two in results if len(two) == 2]
    assert len(right) >= least
    for main, second in right:
        assert render(main.name) == "main"
        assert main.location_ns == pytest.approx(500, rel=0.02)
        assert second.ratio == pytest.approx(2, rel=0.06)
        assert second.share == pytest.approx(0.03, abs=0.02)
        assert main.location_ns < second.low_ns < second.location_ns
        assert second.depth <= modes.DEEPEST


def test_a_mode_is_named_in_words() -> None:
    random = np.random.default_rng(1)
    names = [render(mode.name) for mode in modes.find_modes(draw_two_modes(random, 10_000, 0.2))]
    assert names == WORDING


def test_a_faster_mode_and_three_modes_are_found() -> None:
    random = np.random.default_rng(2)
    times = draw_two_modes(random, 5000, 0.1)
    times[:500] *= 0.5
    result = modes.find_modes(random.permutation(times))
    assert [round(mode.ratio, 1) for mode in sorted(result, key=lambda mode: mode.ratio)] == [0.5, 1.0, 2.0]


def test_two_modes_are_found_despite_the_steps_of_a_clock() -> None:
    random = np.random.default_rng(3)
    result = modes.find_modes(np.floor(draw_two_modes(random, 3000) / 30) * 30)
    assert [mode.ratio for mode in result] == pytest.approx([1.0, 2.0], abs=0.1)


@pytest.mark.parametrize(("share", "ratio"), [(0.002, 2.0), (0.3, 1.03)])
def test_small_or_close_modes_are_ignored(share: float, ratio: float) -> None:
    times = draw_two_modes(np.random.default_rng(4), 50_000, share, ratio, spread=0.004)
    assert len(modes.find_modes(times)) == 1


@pytest.mark.parametrize("times", [[], [5.0], [5.0] * 200, [0.0] * 200])
def test_few_or_equal_samples_have_at_most_one_mode(times: list[float]) -> None:
    assert len(modes.find_modes(np.array(times))) == min(len(times), 1)
    assert len(modes.find_launch_modes([np.array(times)])) == (1 if times and times[0] else 0)


def test_the_critical_values_are_those_of_uniform_samples() -> None:
    random = np.random.default_rng(5)
    drawn = np.array([modes.least_log_p(np.sort(random.random(200))) for _ in range(1000)])
    limits = modes.critical_log_p(200)
    below = [float(np.mean(drawn[:, family] <= limits[family])) for family in (0, 1)]
    assert below == pytest.approx([0.02, 0.03], abs=0.012)


def test_the_effective_number_of_samples_is_estimated() -> None:
    random = np.random.default_rng(6)
    assert modes.estimate_dependence(random.random(3000)) == 1
    assert modes.estimate_dependence(draw_autoregressive(random, 30_000, 0.9)) == pytest.approx(19, rel=0.25)


# --- over launches ----------------------------------------------------------------------------------------------------


def test_a_mode_in_every_launch_repeats_and_is_scattered() -> None:
    random = np.random.default_rng(7)
    launches = [level * draw_two_modes(random, 1000) for level in (1.0, 1.02, 0.99, 1.01, 1.0)]
    main, second = modes.find_launch_modes(launches)
    assert (render(main.mode.name), second.launches, second.appearances, render(second.pattern.text)) == (
        "main",
        5,
        5,
        "scattered",
    )
    assert second.repeats
    assert render(second.text) == WORDING


def test_a_mode_in_two_of_six_launches_does_not_repeat() -> None:
    random = np.random.default_rng(8)
    launches = [draw_two_modes(random, 1000, 0.1 if number < 2 else 0.0) for number in range(6)]
    second = modes.find_launch_modes(launches)[1]
    assert (second.appearances, second.repeats) == (2, False)


def test_launches_in_two_states_have_modes_of_entire_launches() -> None:
    random = np.random.default_rng(9)
    second = modes.find_launch_modes([level * random.lognormal(0, 0.03, 1000) for level in (500, 900, 500, 900, 500)])[
        1
    ]
    assert (render(second.pattern.text), second.repeats) == ("as whole launches", False)


def test_different_levels_of_launches_are_removed_before_the_search() -> None:
    random = np.random.default_rng(10)
    levels = np.linspace(1, 1.6, 12)
    results = modes.find_launch_modes([level * draw_two_modes(random, 2000, 0.15, 1.3, 0.02) for level in levels])
    assert [round(result.mode.ratio, 1) for result in results] == [1.0, 1.3]
    assert results[1].appearances == 12


def test_a_single_change_between_two_states_is_reported_as_stays() -> None:
    random = np.random.default_rng(11)
    level = np.repeat([500.0, 900.0, 500.0], 3000)
    second = modes.find_launch_modes([level * random.lognormal(0, 0.03, len(level))])[1]
    assert (render(second.pattern.text), second.repeats) == ("in long stretches", False)


@pytest.mark.parametrize(
    "slow", [lambda at: at % 64 == 0, lambda at: at % 2 == 1, lambda at: at % 500 < 20, lambda at: at < 2]
)
def test_the_order_of_the_samples_of_a_mode_is_described(slow: Callable[[Values], Values]) -> None:
    assert render(modes.classify_pattern([np.asarray(slow(np.arange(10_000.0)), dtype=np.bool_)]).text) == WORDING
