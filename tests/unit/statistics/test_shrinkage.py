"""Ratios estimated together along the sizes: closer to the truth, the largest without bias, no worse at a switch."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pytest
from fakes import mark_thorough
from numpy.typing import NDArray

from rankbench.analysis.statistics.shrinkage import shrink

if TYPE_CHECKING:
    Values = NDArray[np.float64]
    Draw = Callable[[np.random.Generator], Values]

SIZES = 2.0 ** np.arange(3, 21, 2)
SCATTER = 0.05 * math.sqrt(2 / 5)
"""Standard error of a log ratio from five launches that scatter by 5%."""
LINES = 150


def draw_equal(_: np.random.Generator) -> Values:
    return np.zeros(len(SIZES))


def draw_smooth(random: np.random.Generator) -> Values:
    axis = np.log2(SIZES)
    drawn: Values = random.multivariate_normal(np.zeros(len(axis)), 0.15**2 * np.exp(-np.abs(axis[:, None] - axis) / 8))
    return drawn


def draw_sparse(random: np.random.Generator) -> Values:
    return np.where(random.random(len(SIZES)) < 0.25, math.log(1.12), 0.0)


def draw_unlike(random: np.random.Generator) -> Values:
    return random.normal(0, 0.1, len(SIZES))


def draw_switch(_: np.random.Generator) -> Values:
    return np.where(SIZES <= 1024, 0.0, math.log(2))


@functools.cache
def measure_lines(draw: Draw) -> tuple[Values, Values, Values, Values]:
    """Return, by line and size, true and measured log ratios, and estimates with their errors."""
    random = np.random.default_rng(1)
    truths = np.array([draw(random) for _ in range(LINES)])
    errors = SCATTER * np.exp(random.normal(0, 0.4, truths.shape))
    logs = truths + errors * random.normal(size=truths.shape)
    shrunks = [shrink(SIZES, *each) for each in zip(logs, errors, strict=True)]
    return truths, logs, np.array([result.logs for result in shrunks]), np.array([result.errors for result in shrunks])


def compute_rmse(truths: Values, logs: Values) -> float:
    return float(np.sqrt(np.square(logs - truths).mean()))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("draw", "gain"),
    [(draw_equal, 0.6), (draw_smooth, 0.08), (draw_sparse, 0.12), (draw_unlike, 0.02), (draw_switch, 0.0)],
)
def test_estimates_are_closer_to_the_truth(draw: Draw, gain: float) -> None:
    """By two thirds for a level line, by a tenth for a smooth one, hardly for unrelated sizes."""
    truths, logs, estimates, errors = measure_lines(draw)
    assert compute_rmse(truths, estimates) <= (1 - gain) * compute_rmse(truths, logs)
    assert 0.89 <= (np.abs(estimates - truths) <= 1.96 * errors).mean() <= 0.99


@pytest.mark.parametrize("draw", [draw_equal, *map(mark_thorough, [draw_smooth, draw_sparse, draw_unlike])])
def test_the_largest_estimate_is_nearly_unbiased(draw: Draw) -> None:
    """Measured ratios exaggerate by 2% to 5%, estimates by less than 1%."""
    truths, logs, estimates, _ = measure_lines(draw)
    lines = np.arange(LINES)
    bias = [float((each - truths)[lines, each.argmax(axis=1)].mean()) for each in (logs, estimates)]
    assert bias[0] > 0.015
    assert abs(bias[1]) < 0.01


@pytest.mark.parametrize(("draw", "most"), [(draw_equal, 0.75), (draw_smooth, 1.05)])
def test_a_size_between_two_others_is_predicted_from_all(draw: Draw, most: float) -> None:
    """Better than by its neighbours if these are alike, and hardly worse if only the neighbours matter."""
    truths, logs, _, _ = measure_lines(draw)
    chosen = np.arange(len(SIZES)) != 4
    errors = np.full(chosen.sum(), SCATTER)
    shrunks = [shrink(SIZES[chosen], log[chosen], errors, SIZES[[4]]) for log in logs]
    neighbours = logs[:, [3, 5]].mean(axis=1)
    predicted = np.array([result.logs[0] for result in shrunks])
    assert compute_rmse(truths[:, 4], predicted) <= most * compute_rmse(truths[:, 4], neighbours)
    inside = np.abs(predicted - truths[:, 4]) <= 1.96 * np.array([result.errors[0] for result in shrunks])
    assert inside.mean() > 0.87


def test_two_sizes_are_not_shrunk() -> None:
    result = shrink([8, 32, 128], [0.0, 0.2, 0.9], [0.1, 0.1, math.inf], [8, 16, 32])
    assert result.logs == pytest.approx([0.0, 0.1, 0.2])
