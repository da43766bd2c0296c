"""Quantiles, tails and groups agree with scipy. Only these tests import the large parts of scipy, which load slowly."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

import rankbench
from rankbench.analysis.statistics import distributions
from rankbench.analysis.statistics.resemblance import group_lines

X = np.array([-7.0, -1.3, 0.0, 0.4, 2.0, 9.5])
TAILS = np.array([1e-6, 1e-3, 0.025, 0.3, 0.5, 0.9])
DEGREES = np.array([0.5, 1, 2.7, 9, 100, np.nan])


def test_tails_and_quantiles_are_scipy_s() -> None:
    for degrees in DEGREES:
        np.testing.assert_array_equal(distributions.t_sf(X, degrees), stats.t.sf(X, degrees))
        np.testing.assert_array_equal(distributions.t_isf(TAILS, degrees), stats.t.isf(TAILS, degrees))
        np.testing.assert_array_equal(distributions.chi2_sf(abs(X), degrees), stats.chi2.sf(abs(X), degrees))
    np.testing.assert_array_equal(distributions.normal_cdf(X), stats.norm.cdf(X))
    np.testing.assert_array_equal(distributions.normal_sf(X), stats.norm.sf(X))


def test_zero_degrees_of_freedom_give_nan() -> None:
    assert np.isnan(distributions.t_isf(0.025, 0))
    assert np.isnan(distributions.t_sf(2.0, np.array([0.0, -1.0]))).all()


@pytest.mark.parametrize("throws", [1, 2, 7, 30, 400])
def test_the_binomial_distribution_is_scipy_s(throws: int) -> None:
    heads = range(throws + 1)
    np.testing.assert_allclose(
        [distributions.heads_cdf(most, throws) for most in heads], stats.binom.cdf(heads, throws, 0.5)
    )
    for share in (0.005, 0.025, 0.05, 0.3):
        assert distributions.heads_ppf(share, throws) == stats.binom.ppf(share, throws, 0.5)


@pytest.mark.parametrize(("count", "of"), [(0, 5), (1, 5), (5, 5), (3, 180)])
def test_the_interval_of_a_share_is_scipy_s(count: int, of: int) -> None:
    theirs = stats.binomtest(count, of).proportion_ci(0.95)
    assert distributions.share_interval(count, of, 0.95) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


def test_adjusted_p_values_and_ranks_are_scipy_s() -> None:
    random = np.random.default_rng(1)
    for count in (0, 1, 2, 500):
        p_values = random.random(count) ** 4
        np.testing.assert_array_equal(
            distributions.false_discovery(p_values), stats.false_discovery_control(p_values) if count else p_values
        )
        values = random.integers(0, 40, count).astype(float)
        np.testing.assert_array_equal(distributions.ranks(values), stats.rankdata(values))


def test_no_module_loads_scipy_s_distributions() -> None:
    files = Path(rankbench.__file__).parent.rglob("*.py")
    wrong = [path.name for path in files if re.search(r"scipy\.stats\.|from scipy import stats", path.read_text())]
    assert not wrong, (
        f"{wrong}: take it from rankbench.analysis.statistics.distributions; scipy.stats takes long to load"
    )


@pytest.mark.parametrize("seed", range(20))
def test_groups_are_those_of_scipy_s_complete_linkage(seed: int) -> None:
    random = np.random.default_rng(seed)
    lines = int(random.integers(2, 40))
    half = random.random((lines, lines)) * 3 if seed % 2 else random.integers(0, 4, (lines, lines)).astype(float)
    far = np.triu(half, 1) + np.triu(half, 1).T
    labels = hierarchy.fcluster(hierarchy.complete(squareform(far)), 1.0, "distance")
    theirs = {frozenset(np.flatnonzero(labels == label).tolist()) for label in labels}
    assert {frozenset(group) for group in group_lines(far)} == theirs
