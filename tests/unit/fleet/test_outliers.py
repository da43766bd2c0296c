"""The probability of places."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pytest

from rankbench.fleet import outliers


@pytest.mark.parametrize("of", [[4, 4, 4], [2, 3, 5, 2], [6]])
def test_the_chance_of_places_is_that_of_all_outcomes(of: list[int]) -> None:
    every = np.array([sum(places) for places in product(*(range(1, count + 1) for count in of))])
    for total in range(len(of), sum(of) + 1):
        place = np.full(len(of), total / len(of))
        assert outliers.find_chance(place, np.array(of)) == pytest.approx(np.mean(every >= total))


@pytest.mark.parametrize("total", [1.0, 4.5, 5.9, 7.2])
def test_the_tail_of_uniform_numbers_is_that_of_draws(total: float) -> None:
    draws = np.random.default_rng(1).random((200_000, 8)).sum(axis=1)
    assert outliers.find_tail_of_uniforms(8, total) == pytest.approx(np.mean(draws >= total), abs=0.004)


def test_many_places_are_as_rare_as_their_exact_sum() -> None:
    """Places are taken at their lower edge, so that the chance is never understated."""
    of = np.full(8, outliers.FEW + 1)
    place = np.full(8, outliers.FEW * 0.9)
    distribution = np.ones(1)
    for count in of:
        distribution = np.convolve(distribution, np.full(int(count), 1 / count))
    exact = distribution[int(place.sum()) - len(of) :].sum()
    assert exact <= outliers.find_chance(place, of) <= 1.5 * exact


@pytest.mark.parametrize(("count", "skipped"), [(5, 0), (6, 0), (9, 1), (12, 2), (20, 5)])
def test_the_interval_of_the_median_is_that_of_the_binomial_distribution(count: int, skipped: int) -> None:
    """Of n values the k-th from each side: tables of the sign test."""
    low, high = outliers.find_interval(np.arange(count, dtype=float))
    assert (low, high) == (skipped, count - 1 - skipped)
    outside = 2 * sum(comb(count, below) for below in range(skipped + 1)) / 2**count
    assert outside <= 0.05 or skipped == 0


def test_equal_values_share_their_places() -> None:
    assert outliers.rank_among(3.0, np.array([1.0, 3.0, 2.0, np.nan])) == (3.0, 3.5, 4)
