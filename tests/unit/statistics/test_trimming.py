"""Comparisons have their level, and find differences despite a few disturbed launches."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from scipy import stats

from rankbench.analysis import statistics
from rankbench.analysis.statistics import trimming

CAMPAIGNS = 2000
SCATTER = 0.05


def find_p_values(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the p-values of log ratios, a case in each row and a block in each column."""
    cases, blocks = logs.shape
    both = np.stack([np.zeros_like(logs), logs], axis=-1)
    launch_values = pl.DataFrame(
        {
            "case": np.repeat(np.arange(cases), 2 * blocks),
            "block": np.tile(np.repeat(np.arange(blocks), 2), cases),
            "candidate": ["a", "b"] * (cases * blocks),
            "figure_ns": np.exp(both).ravel(),
        }
    ).with_columns(pl.col("case").cast(pl.String), launch=pl.col("block"))
    values = {
        comparison.case: comparison.p_value for comparison in statistics.compare(launch_values, [("a", "b")], 0.0)
    }
    return np.array([values[str(case)] for case in range(cases)])


def draw_disturbed(random: np.random.Generator, shape: tuple[int, int], most: float) -> NDArray[np.float64]:
    """Return log values of launches, of which one in ten takes 2 to `most` times as long."""
    slow = (random.random(shape) < 0.1) * random.uniform(np.log(2), np.log(most), shape)
    values: NDArray[np.float64] = random.normal(0, SCATTER, shape) + slow
    return values


@pytest.mark.parametrize("blocks", [3, 5, 8, 20])
def test_equal_candidates_are_called_different_no_more_often_than_stated(blocks: int) -> None:
    values = find_p_values(np.random.default_rng(blocks).normal(0, SCATTER, (CAMPAIGNS, blocks)))
    assert 0.02 < (values < 0.05).mean() < 0.062
    assert (values < 0.005).mean() < 0.01


@pytest.mark.parametrize("most", [4, 30_000])
@pytest.mark.parametrize("blocks", [5, 20])
def test_the_level_holds_with_disturbed_launches(blocks: int, most: float) -> None:
    random = np.random.default_rng(blocks)
    shape = (CAMPAIGNS, blocks)
    values = find_p_values(draw_disturbed(random, shape, most) - draw_disturbed(random, shape, most))
    assert (values < 0.05).mean() < 0.062
    assert (values < 0.005).mean() < 0.01


@pytest.mark.parametrize(("blocks", "least"), [(6, 0.2), (10, 0.5), (20, 0.75)])
def test_a_few_disturbed_launches_hide_little(blocks: int, least: float) -> None:
    """The other candidate is slower by 10% throughout: Student's t without trimming finds it in 25% at most."""
    random = np.random.default_rng(3)
    shape = (CAMPAIGNS, blocks)
    logs = draw_disturbed(random, shape, 4) - draw_disturbed(random, shape, 4) + np.log(1.1)
    assert (find_p_values(logs) < 0.05).mean() > least
    assert (stats.ttest_1samp(logs, 0, axis=1).pvalue < 0.05).mean() < 0.25


def test_a_single_outlier_launch_moves_the_ratio_little() -> None:
    wild = trimming.centre([[0.2, 0.19, 0.21, 0.2, 9.0, 0.22, 0.18, 0.2]], fewest=5)
    assert wild.mean[0] == pytest.approx(0.2, abs=0.01)


@pytest.mark.parametrize(
    ("blocks", "fewest", "remaining"), [(1, 5, 1), (4, 5, 4), (5, 5, 3), (7, 8, 7), (10, 8, 6), (30, 8, 18)]
)
def test_a_fifth_is_trimmed_at_each_end(blocks: int, fewest: int, remaining: int) -> None:
    values = np.arange(float(blocks))
    centre = trimming.centre([list(values)], fewest)
    assert (centre.remaining[0], centre.mean[0]) == (remaining, pytest.approx(values.mean()))
    assert centre.degrees[0] == max(remaining - 1, 1)
