"""Unpaired comparisons: Welch's test on logarithms, and cases that are never called different."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from scipy import stats

from rankbench.analysis.statistics.unpaired import compare_unpaired


def make_values(times_ns: dict[tuple[str, str], list[float]]) -> pl.DataFrame:
    """Return the values of launches by case and candidate."""
    rows = [(case, name, value) for (case, name), values in times_ns.items() for value in values]
    return pl.DataFrame(rows, schema=["case", "candidate", "figure_ns"], orient="row")


OLD_FIGURES = [100.0, 104.0, 97.0, 101.0, 103.0]
NEW_FIGURES = [131.0, 129.0, 140.0, 135.0]


def test_the_test_is_welch_s_on_logarithms() -> None:
    (comparison,) = compare_unpaired(
        make_values({("x", "a"): OLD_FIGURES}), make_values({("x", "b"): NEW_FIGURES}), [("a", "b")], 0.0, 0.95
    )
    expected = stats.ttest_ind(np.log(NEW_FIGURES), np.log(OLD_FIGURES), equal_var=False)
    interval = expected.confidence_interval(0.95)
    assert (comparison.case, comparison.base, comparison.other, comparison.launches) == ("x", "a", "b", (5, 4))
    assert comparison.typical_ns == (101.0, 133.0)
    assert comparison.ratio == pytest.approx(stats.gmean(NEW_FIGURES) / stats.gmean(OLD_FIGURES))
    assert comparison.p_value == pytest.approx(expected.pvalue)
    assert (comparison.low, comparison.high) == pytest.approx((math.exp(interval.low), math.exp(interval.high)))
    assert comparison.different


def test_p_values_are_adjusted_over_all_cases_and_candidates() -> None:
    then = make_values({(case, name): OLD_FIGURES for case in "xyz" for name in "ab"})
    now = make_values(
        {(case, name): NEW_FIGURES if (case, name) == ("x", "a") else OLD_FIGURES for case in "xyz" for name in "ab"}
    )
    comparisons = compare_unpaired(then, now, [("a", "a"), ("b", "b")], 0.03)
    assert [(comparison.case, comparison.base) for comparison in comparisons if comparison.different] == [("x", "a")]
    assert len(comparisons) == 6
    assert comparisons[0].p_adjusted == pytest.approx(6 * comparisons[0].p_value)


@pytest.mark.parametrize(("then", "now"), [(OLD_FIGURES[:2], NEW_FIGURES), (OLD_FIGURES, NEW_FIGURES[:2])])
def test_two_launches_on_either_side_never_decide(then: list[float], now: list[float]) -> None:
    (comparison,) = compare_unpaired(
        make_values({("x", "a"): then}), make_values({("x", "a"): now}), [("a", "a")], 0.03
    )
    assert not comparison.different
    assert math.isfinite(comparison.high)


def test_a_single_launch_has_no_interval() -> None:
    (comparison,) = compare_unpaired(
        make_values({("x", "a"): [100.0]}), make_values({("x", "a"): NEW_FIGURES}), [("a", "a")], 0.03
    )
    assert (comparison.p_value, comparison.low, comparison.high, comparison.different) == (1.0, 0.0, math.inf, False)
    assert comparison.ratio == pytest.approx(stats.gmean(NEW_FIGURES) / 100)


def test_equal_values_of_a_coarse_clock_are_not_certain() -> None:
    (comparison,) = compare_unpaired(
        make_values({("x", "a"): [100.0] * 5}), make_values({("x", "a"): [110.0] * 5}), [("a", "a")], 0.2
    )
    assert comparison.low < comparison.ratio < comparison.high
    assert comparison.p_value > 0.99, "10% are below the threshold"
    assert not comparison.different


@pytest.mark.parametrize(("threshold", "different"), [(0.03, True), (0.3, False), (0.5, False)])
def test_the_threshold_is_tested_instead_of_the_estimate(threshold: float, different: bool) -> None:
    """The ratio is 1.32, and certainly above 1, but not certainly above 1.30."""
    (comparison,) = compare_unpaired(
        make_values({("x", "a"): OLD_FIGURES}), make_values({("x", "b"): NEW_FIGURES}), [("a", "b")], threshold
    )
    assert comparison.ratio > 1.3
    assert comparison.low < 1.3
    assert comparison.different == different
    assert (comparison.p_value <= 0.05) == different


def test_values_below_the_clock_s_step_and_other_candidates_are_left_out() -> None:
    then = make_values({("x", "a"): [0.0, *OLD_FIGURES], ("x", "c"): OLD_FIGURES, ("y", "a"): OLD_FIGURES})
    (comparison,) = compare_unpaired(
        then, make_values({("x", "a"): NEW_FIGURES, ("z", "a"): NEW_FIGURES}), [("a", "a")], 0.03
    )
    assert comparison.launches == (5, 4)
    assert compare_unpaired(then, make_values({("x", "b"): NEW_FIGURES}), [("a", "a")], 0.03) == []


def test_equal_campaigns_are_rarely_called_different() -> None:
    """500 comparisons of five launches with seven, skewed ones: 5%, plus chance."""
    random = np.random.default_rng(4)
    draws = [(random.exponential(0.05, 5), random.exponential(0.05, 7)) for _ in range(500)]
    then, now = (
        make_values({(str(n), "a"): np.exp(pair[side]).tolist() for n, pair in enumerate(draws)}) for side in (0, 1)
    )
    comparisons = compare_unpaired(then, now, [("a", "a")], 0.0)
    assert sum(comparison.p_value <= 0.05 for comparison in comparisons) <= 37
    assert not any(comparison.different for comparison in comparisons)
