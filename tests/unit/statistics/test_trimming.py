"""Comparisons from many blocks hold their level, and find differences through the noise of a few disturbed launches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

from rankbench import statistics
from rankbench.statistics import trimming

if TYPE_CHECKING:
    from numpy.typing import NDArray

CAMPAIGNS = 4000
SCATTER = 0.05


def p_values(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what `compare` says of log ratios, a case in each row and a block in each column."""
    cases, blocks = logs.shape
    both = np.stack([np.zeros_like(logs), logs], axis=-1)
    figures = pl.DataFrame(
        {
            "case": np.repeat(np.arange(cases), 2 * blocks),
            "block": np.tile(np.repeat(np.arange(blocks), 2), cases),
            "candidate": ["a", "b"] * (cases * blocks),
            "figure_ns": np.exp(both).ravel(),
        }
    ).with_columns(pl.col("case").cast(pl.String), launch=pl.col("block"))
    found = {one.case: one.p_value for one in statistics.compare(figures, [("a", "b")], 0.03)}
    return np.array([found[str(case)] for case in range(cases)])


@pytest.mark.parametrize("blocks", [5, 10, 15, 19, 30])
def test_equal_candidates_are_called_different_as_seldom_as_is_said(blocks: int) -> None:
    found = p_values(np.random.default_rng(blocks).normal(0, SCATTER, (CAMPAIGNS, blocks)))
    assert (found < 0.05).mean() == pytest.approx(0.05, abs=0.012)
    assert (found < 0.005).mean() == pytest.approx(0.005, abs=0.004)


def test_a_few_disturbed_launches_hide_little() -> None:
    """One launch in ten is two to four times slower; the other candidate is slower by 10 % throughout."""
    random = np.random.default_rng(3)

    def launches() -> NDArray[np.float64]:
        slow = random.random((CAMPAIGNS, 20)) < 0.1
        own: NDArray[np.float64] = random.normal(0, SCATTER, slow.shape) + slow * np.log(
            random.uniform(2, 4, slow.shape)
        )
        return own

    logs = launches() - launches()
    assert (p_values(logs) < 0.01).mean() <= 0.012
    assert (p_values(logs + np.log(1.1)) < 0.01).mean() > 0.7
    mean, spread = logs.mean(axis=1) + np.log(1.1), logs.std(axis=1, ddof=1)
    assert (mean / spread * np.sqrt(20) > 2.86).mean() < 0.15  # So Student's t without trimming: 19 degrees, 1 %.


@pytest.mark.parametrize(("blocks", "degrees"), [(1, 1), (2, 1), (14, 13), (15, 7), (30, 16)])
def test_degrees_of_freedom_are_fewer_where_launches_are_dropped(blocks: int, degrees: int) -> None:
    assert trimming.degrees(np.array([float(blocks)])) == [degrees]
