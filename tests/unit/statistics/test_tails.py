"""Tails: exponents of known Pareto tails lie in their intervals, and other tails are not called Pareto."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
import scipy
from fakes import mark_thorough

from rankbench.language import render, say
from rankbench.statistics import tails

if TYPE_CHECKING:
    from collections.abc import Callable

TRIES = 100


def draw_pareto(random: np.random.Generator, count: int, alpha: float) -> np.ndarray:
    """Return samples from 500 ns on."""
    return np.asarray(500 * random.random(count) ** (-1 / alpha))


def draw_with_body(random: np.random.Generator, count: int, alpha: float) -> np.ndarray:
    """Return samples of which a fifth are a tail."""
    body = random.uniform(400, 500, count)
    return np.where(random.random(count) < 0.2, draw_pareto(random, count, alpha), body)


OTHER_TAILS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "normal": lambda random, count: random.normal(500, 50, count),
    "exponential": lambda random, count: 500 + random.exponential(100, count),
    "gamma": lambda random, count: 500 * random.gamma(2, 1, count),
    "lognormal": lambda random, count: 500 * random.lognormal(0, 0.3, count),
    "wide lognormal": lambda random, count: 500 * random.lognormal(0, 1, count),
}


@pytest.mark.parametrize("alpha", [1.2, 1.8, 3.0])
@pytest.mark.thorough
def test_the_exponent_of_a_pareto_tail_lies_in_its_interval(alpha: float) -> None:
    random = np.random.default_rng(2009)
    results = [tails.fit_tail(draw_pareto(random, 2000, alpha), draws=1) for _ in range(TRIES)]
    assert sum(tail is not None and tail.low <= alpha <= tail.high for tail in results) >= 93


def test_the_interval_is_exact_with_a_known_beginning() -> None:
    random = np.random.default_rng(1)
    within = 0
    for _ in range(TRIES):
        _, alpha = tails.fit_from(np.sort(draw_pareto(random, 400, 1.5)))
        low, high = tails.compute_interval(alpha, 400)
        within += low <= 1.5 <= high
    assert 91 <= within <= 99


@pytest.mark.parametrize("alpha", [1.2, mark_thorough(1.8)])
def test_a_pareto_tail_above_a_body_fits(alpha: float) -> None:
    random = np.random.default_rng(2)
    results = [tails.fit_tail(draw_with_body(random, 4000, alpha), draws=40) for _ in range(20)]
    assert sum(tail is not None and tail.fits for tail in results) >= 15
    assert all(tail is not None and tail.share == pytest.approx(0.2, abs=0.19) for tail in results)


@pytest.mark.parametrize(
    ("shape", "most"),
    [
        ("normal", 0),
        mark_thorough("exponential", 2),
        mark_thorough("gamma", 2),
        mark_thorough("lognormal", 2),
        mark_thorough("wide lognormal", 35),
    ],
)
def test_other_tails_are_not_called_pareto(shape: str, most: int) -> None:
    random = np.random.default_rng(3)
    results = [tails.fit_tail(OTHER_TAILS[shape](random, 3000), draws=20) for _ in range(TRIES)]
    assert sum(tail is not None and tail.fits for tail in results) <= most


def test_a_fitting_tail_is_described() -> None:
    tail = tails.fit_tail(draw_pareto(np.random.default_rng(5), 3000, 1.5))
    assert tail is not None
    assert render(tail.text) == (
        f"Pareto tail, alpha {tail.alpha:.2f} ({tail.low:.2f} to {tail.high:.2f}), "
        f"{100 * tail.share:.2g}% of samples, p {tail.p_value:.2f}"
    )
    assert tail.over_exponential > tails.BETTER


def test_a_tail_that_does_not_fit_is_described() -> None:
    tail = tails.fit_tail(np.random.default_rng(6).normal(500, 20, 3000))
    assert tail is not None
    assert render(tail.text) == "no Pareto tail: it reaches only 1.1 times as far as where it begins"
    assert math.isnan(tail.p_value)


def test_equal_seeds_give_equal_tails() -> None:
    times = draw_with_body(np.random.default_rng(7), 3000, 1.5)
    assert tails.fit_tail(times, seed=3) == tails.fit_tail(times, seed=3)


@pytest.mark.parametrize("times", [[], [1.0] * 99, [0.0] * 500])
def test_too_few_samples_have_no_tail(times: list[float]) -> None:
    assert tails.fit_tail(np.array(times)) is None


def test_equal_samples_have_no_tail() -> None:
    tail = tails.fit_tail(np.full(500, 7.0))
    assert tail is not None
    assert not tail.fits


# --- standard deviations ----------------------------------------------------------------------------------------------


def make_tail(alpha: float, low: float, reason: str = "") -> tails.Tail:
    return tails.Tail(500, alpha, low, alpha + 1, 100, 0.1, 0.5, 3.0, -0.1, say(reason))


TIMES = np.array([1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("tail", "spread"),
    [
        (None, tails.Spread(1.0)),
        (make_tail(3.0, 2.5), tails.Spread(1.0)),
        (make_tail(1.5, 1.2, "a lognormal tail does better"), tails.Spread(1.0)),
        (
            make_tail(1.5, 1.2),
            tails.Spread(None, say("none: with a Pareto tail of alpha 1.50 the variance does not exist")),
        ),
        (
            make_tail(2.4, 1.9),
            tails.Spread(None, say("none: alpha may be as little as 1.90, and below 2 the variance does not exist")),
        ),
    ],
)
def test_the_standard_deviation_is_undefined_without_a_variance(tail: tails.Tail | None, spread: tails.Spread) -> None:
    deviation = tails.standard_deviation(TIMES, tail)
    assert (deviation.value_ns, render(deviation.reason)) == (spread.value_ns, render(spread.reason))


def test_a_single_sample_has_no_standard_deviation() -> None:
    assert tails.standard_deviation(np.array([1.0]), None) == tails.Spread(None, say("none: it takes two samples"))


def test_numbers_are_written_exactly() -> None:
    assert scipy.stats.norm.isf(0.1) == tails.BETTER
    assert scipy.stats.chi2.isf(0.1, 1) == tails.CURVED
