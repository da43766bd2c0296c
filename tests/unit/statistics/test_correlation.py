"""The correlation of successive launches: its size, its level, and its effect on the width of intervals."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from scipy.signal import lfilter

from rankbench.analysis import statistics
from rankbench.analysis.statistics.correlation import LagOne, correlate_blocks, correlate_launches


def draw_series(r: float, comparisons: int, blocks: int, seed: int, level: float = 1.0) -> NDArray[np.float64]:
    """Return autoregressive series of first order with the correlation r, each with its own level and scatter."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(comparisons, blocks + 50))
    values = np.asarray(lfilter([1.0], [1.0, -r], noise))[:, 50:]
    return level * rng.normal(size=(comparisons, 1)) + values * rng.uniform(0.5, 5, size=(comparisons, 1))


@pytest.mark.parametrize("r", [0.0, 0.3, 0.6])
def test_the_correlation_is_estimated(r: float) -> None:
    lag = correlate_blocks(draw_series(r, 200, 40, seed=1))
    assert lag is not None
    assert lag.correlation == pytest.approx(r, abs=0.08)
    assert lag.positive == (r > 0)


def test_few_independent_blocks_are_not_correlated() -> None:
    lags = [correlate_blocks(draw_series(0.0, 40, 8, seed)) for seed in range(300)]
    assert sum(lag.positive for lag in lags if lag) <= 17
    assert np.mean([lag.correlation for lag in lags if lag]) == pytest.approx(0, abs=0.02)


def test_comparisons_with_common_noise_count_once() -> None:
    """Equal rows are one comparison: their number makes nothing significant."""
    rng = np.random.default_rng(3)
    lags = [correlate_blocks(np.tile(rng.normal(size=10), (100, 1))) for _ in range(300)]
    assert sum(lag.positive for lag in lags if lag) <= 17


@pytest.mark.parametrize(
    ("lag", "factor"),
    [
        (LagOne(0.6, 0.001, 20), 2.0),
        (LagOne(0.6, 0.2, 20), 1.0),
        (LagOne(-0.6, 0.001, 20), 1.0),
        (LagOne(0.99, 0.001, 20), math.sqrt(19)),
    ],
)
def test_intervals_widen_only_if_the_correlation_is_significant(lag: LagOne, factor: float) -> None:
    assert lag.widening == pytest.approx(factor)


def test_missing_values_are_no_correlation() -> None:
    logs = draw_series(0.6, 200, 40, seed=2)
    logs[np.random.default_rng(1).random(logs.shape) < 0.1] = np.nan
    lag = correlate_blocks(logs)
    assert lag is not None
    assert lag.positive
    assert 0.35 < lag.correlation < 0.65


@pytest.mark.parametrize("logs", [np.zeros((3, 5)), np.full((3, 5), np.nan), np.ones((2, 2))])
def test_without_scatter_the_correlation_is_unknown(logs: NDArray[np.float64]) -> None:
    assert correlate_blocks(logs) is None


def test_blocks_are_taken_in_their_order() -> None:
    logs = draw_series(0.8, 30, 20, seed=5)
    rows = [
        {"case": f"c{case}", "candidate": name, "block": block, "figure_ns": math.exp(log if name == "b" else 0)}
        for case, case_logs in enumerate(logs)
        for block, log in enumerate(case_logs)
        for name in "ab"
    ]
    lag = correlate_launches(pl.DataFrame(rows).sample(fraction=1, shuffle=True, seed=1), [("a", "b")], {})
    direct = correlate_blocks(logs)
    assert lag is not None
    assert direct is not None
    assert lag.correlation == pytest.approx(direct.correlation)
    assert lag.positive


def make_figures(logs: NDArray[np.float64]) -> pl.DataFrame:
    """Return values of two candidates with these log ratios, a case per row and a block per column."""
    cases, blocks = logs.shape
    keys = {"case": np.repeat([f"c{case}" for case in range(cases)], blocks), "block": np.tile(range(blocks), cases)}
    times = {"a": np.ones(logs.size), "b": np.exp(logs.ravel())}
    return pl.concat(
        [pl.DataFrame(keys | {"figure_ns": time}).with_columns(candidate=pl.lit(n)) for n, time in times.items()]
    )


@pytest.mark.parametrize(("r", "least"), [(0.0, 0.93), (0.3, 0.93), (0.6, 0.9)])
def test_intervals_of_correlated_blocks_cover_the_truth(r: float, least: float) -> None:
    """Without the widening 88% of the intervals cover it at r = 0.3, and 73% at 0.6."""
    covered = []
    for seed in range(20):
        comparisons = statistics.compare(
            make_figures(draw_series(r, 24, 24, seed, level=0.0) * 0.02), [("a", "b")], 0.03
        )
        covered += [comparison.low <= 1 <= comparison.high for comparison in comparisons]
    assert np.mean(covered) >= least


def test_without_a_significant_correlation_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    launch_values = make_figures(draw_series(0.0, 24, 10, seed=4) * 0.02)
    comparisons = statistics.compare(launch_values, [("a", "b")], 0.03)
    monkeypatch.setattr(LagOne, "widening", 1.0)
    assert comparisons == statistics.compare(launch_values, [("a", "b")], 0.03)
