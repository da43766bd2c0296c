"""Estimators of a launch's samples, compared with other implementations and with known truth."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from fakes import mark_thorough
from scipy import stats

from rankbench.analysis import statistics
from rankbench.analysis.statistics.launch_values import students_half


def make_launch(
    times_ns: list[float],
    launch: int = 1,
    discarded: int = 0,
    *,
    skew_ns: list[float] | float | None = None,
    bound_ns: float = 0.0,
    error_ns: list[float] | float = 0.0,
) -> pl.LazyFrame:
    """Return the samples of a launch, of which the first few are discarded."""
    columns = {"skew_ns": skew_ns, "bound_ns": bound_ns, "error_ns": error_ns}
    return pl.LazyFrame(
        {
            "case": "c",
            "candidate": "a",
            "block": launch,
            "launch": launch,
            "visit": 0,
            "visit_hop_ns": 0.0,
            "visit_position": -1,
            "visit_after": -1,
            "time_ns": pl.Series(times_ns, dtype=pl.Float64),
            "discarded": pl.Series([index < discarded for index in range(len(times_ns))], dtype=pl.Boolean),
            **{
                name: pl.Series(value if isinstance(value, list) else [value] * len(times_ns), dtype=pl.Float32)
                for name, value in columns.items()
            },
        }
    )


def estimate_time(times_ns: list[float], estimator: str, discarded: int = 0) -> float:
    """Return the estimate of one launch."""
    return float(
        statistics.compute_launch_values(make_launch(times_ns, discarded=discarded), estimator)["figure_ns"].item()
    )


@pytest.mark.parametrize("estimator", ["median", "min", "mean", "trimmed-mean", "p1", "p50", "p99"])
def test_discarded_samples_count_for_no_estimator(estimator: str) -> None:
    counting = [100.0, 210.0, 320.0, 430.0]
    assert estimate_time([1.0, 99999.0, *counting], estimator, discarded=2) == pytest.approx(
        estimate_time(counting, estimator)
    )


@pytest.mark.parametrize("count", [1, 2, 3, 4, 7, 30, 101])
def test_estimators_agree_with_numpy_and_scipy(count: int) -> None:
    times = np.random.default_rng(count).lognormal(7, 0.3, count)
    expected = {
        "median": np.median(times),
        "min": times.min(),
        "mean": times.mean(),
        "trimmed-mean": stats.trim_mean(times, 0.25),
        "p1": np.percentile(times, 1),
        "p90": np.percentile(times, 90),
        "p99": np.percentile(times, 99),
    }
    for estimator, value in expected.items():
        assert estimate_time(list(times), estimator) == pytest.approx(value), estimator


def test_the_trimmed_mean_of_eight_samples_is_that_computed_by_hand() -> None:
    """Of 1 to 8, two are trimmed at each end; 3, 4, 5, 6 remain: mean 4.5, deviation 1.291, t(3) at 95% 3.182."""
    assert estimate_time([8, 1, 7, 2, 6, 3, 5, 4], "trimmed-mean") == 4.5
    assert students_half(float(np.std([3, 4, 5, 6], ddof=1)), 4, 0.95) == pytest.approx(3.182446 * 1.2909944 / 2)


def test_mpiperf_keeps_sixteen_of_thirty_samples() -> None:
    """As CRuns and FRuns in its reports: a quarter of 30 is seven samples."""
    assert estimate_time([0.0] * 7 + [1.0] * 16 + [1000.0] * 7, "trimmed-mean") == 1.0
    assert estimate_time([0.0] * 8 + [1.0] * 15 + [1000.0] * 7, "trimmed-mean") == pytest.approx(15 / 16)


@pytest.mark.parametrize("confidence", [0.90, 0.95, 0.99])
def test_student_s_interval_is_scipy_s(confidence: float) -> None:
    sample = np.random.default_rng(2).normal(100, 5, 16)
    expected = stats.t.interval(confidence, 15, loc=sample.mean(), scale=stats.sem(sample))
    half = students_half(float(sample.std(ddof=1)), len(sample), confidence)
    assert (sample.mean() - half, sample.mean() + half) == pytest.approx(expected)


def test_a_single_sample_has_no_interval() -> None:
    assert np.isnan(students_half(0.0, 1, 0.95))


@pytest.mark.parametrize(("count", "expected"), [(30, 0.73), mark_thorough(100, 0.67), mark_thorough(1000, 0.66)])
def test_mpiperf_s_interval_is_too_narrow_even_for_independent_samples(count: int, expected: float) -> None:
    """The nominal 95% interval holds the true mean of independent normal samples in two of three cases."""
    drawn = np.sort(np.random.default_rng(count).normal(100, 5, (4000, count)), axis=1)[:, count // 4 : -(count // 4)]
    halves = np.array([students_half(spread, drawn.shape[1], 0.95) for spread in drawn.std(axis=1, ddof=1)])
    holds = np.mean(np.abs(drawn.mean(axis=1) - 100) <= halves)
    assert holds == pytest.approx(expected, abs=0.02)


def test_a_start_is_uncertain_if_clocks_likely_differ_by_more_than_5_percent_of_the_time() -> None:
    samples = pl.concat(
        [
            make_launch([100.0] * 4, 1, bound_ns=90.0, error_ns=[4.0, 4.0, 4.0, 90.0]),
            make_launch([100.0] * 4, 2, bound_ns=90.0, error_ns=[6.0, 6.0, 6.0, 0.0]),
            make_launch([200.0] * 4, 3, bound_ns=90.0, error_ns=[6.0, 6.0, 6.0, 6.0]),
        ]
    )
    launch_values = statistics.compute_launch_values(samples)
    assert launch_values["uncertain"].to_list() == [False, True, False]
    assert launch_values["error_ns"].to_list() == [4.0, 6.0, 6.0]
    assert launch_values["bound_ns"].to_list() == [90.0] * 3


def test_a_time_of_zero_is_uncertain_with_any_error() -> None:
    assert statistics.compute_launch_values(make_launch([0.0, 0.0], error_ns=1.0))["uncertain"].to_list() == [True]
    assert statistics.compute_launch_values(make_launch([0.0, 0.0], error_ns=0.0))["uncertain"].to_list() == [False]


def test_skew_is_reported_by_launch_and_unknown_if_not_measured() -> None:
    known = make_launch([100.0] * 11, 1, skew_ns=[float(index) for index in range(11)])
    launch_values = statistics.compute_launch_values(pl.concat([known, make_launch([100.0], 2)]))
    assert launch_values["skew_ns"].to_list() == [5.0, None]
    assert launch_values["skew_p90_ns"].to_list() == [9.0, None]


@pytest.mark.thorough
def test_student_s_interval_over_launches_misses_the_median_of_a_machine_with_slow_states() -> None:
    """One launch in ten is 2 to 4 times slower: order statistics have their level, Student's interval has not."""
    random = np.random.default_rng(4)
    slower = (random.random((4000, 30)) < 0.1) * np.log(random.uniform(2, 4, (4000, 30)))
    drawn = np.exp(random.normal(0, 0.05, (4000, 30)) + slower)
    truth = np.median(drawn)
    half = stats.t.isf(0.025, 29) * drawn.std(axis=1, ddof=1) / np.sqrt(30)
    student = np.mean(np.abs(drawn.mean(axis=1) - truth) <= half)
    order = np.mean([low <= truth <= high for low, high, _ in map(statistics.median_interval, drawn)])
    assert student < 0.85
    assert order >= 0.945


def test_differing_clocks_do_not_matter_if_each_rank_uses_its_own_clock() -> None:
    apart = make_launch([100.0] * 4, error_ns=600.0)
    assert statistics.compute_launch_values(apart)["uncertain"].to_list() == [True]
    assert statistics.compute_launch_values(apart, by_ranks=["c"])["uncertain"].to_list() == [False]


@pytest.mark.parametrize(
    ("rounds", "discarded", "few"),
    [
        (500, 0, False),
        (500, 449, False),
        (500, 451, True),
        (30, 20, False),
        (30, 21, True),
        (5, 2, False),
        (5, 3, True),
    ],
)
def test_a_launch_of_few_valid_rounds_is_reported(rounds: int, discarded: int, few: bool) -> None:
    launch_values = statistics.compute_launch_values(
        make_launch([float(at) for at in range(1, rounds + 1)], discarded=discarded)
    )
    assert launch_values["few"].to_list() == [few]


def test_visits_of_few_samples_are_dropped_and_high_percentiles_have_no_visits() -> None:
    samples = make_launch([1.0] * 20 + [2.0] * 20 + [9.0] * 3).with_columns(
        visit=pl.Series([0] * 20 + [1] * 20 + [2] * 3, dtype=pl.Int16)
    )
    assert statistics.compute_launch_values(samples)["visit_ns"].to_list() == [[1.0, 2.0]]
    assert "visit_ns" not in statistics.compute_launch_values(samples, "p90").columns
