"""The test against a practical threshold has its level at the edge of the threshold, and its inverse agrees."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from rankbench.statistics.threshold import log_beyond, p_beyond

MARGIN = math.log1p(0.03)


def test_without_a_threshold_it_is_the_two_sided_p_value() -> None:
    log, error = np.array([0.1, -0.2, 0.0]), np.array([0.05, 0.1, 0.1])
    assert p_beyond(log, error, 4.0, 0.0) == pytest.approx(2 * stats.t.sf(np.abs(log) / error, 4.0))


@pytest.mark.parametrize("blocks", [3, 5, 20])
@pytest.mark.parametrize("scatter", [0.005, 0.03, 0.2])
def test_the_level_holds_at_the_edge_of_the_threshold(blocks: int, scatter: float) -> None:
    """Of 40 000 samples with the true ratio at the edge, 5 % are rejected: not half of it, and hardly more."""
    logs = MARGIN + scatter * np.random.default_rng(1).normal(size=(40_000, blocks))
    error = logs.std(axis=1, ddof=1) / math.sqrt(blocks)
    share = float(np.mean(p_beyond(logs.mean(axis=1), error, blocks - 1, MARGIN) <= 0.05))
    assert 0.04 < share < 0.055


@pytest.mark.parametrize("margin", [0.0, MARGIN, 0.4])
def test_the_smallest_log_ratio_that_is_rejected_has_the_p_value_asked_for(margin: float) -> None:
    level, error, degrees = np.array([0.05, 0.01, 1e-4]), np.array([0.001, 0.05, 0.3]), np.array([2.0, 9.0, 40.0])
    found = log_beyond(level, error, degrees, margin)
    assert p_beyond(found, error, degrees, margin) == pytest.approx(level, rel=1e-9)
