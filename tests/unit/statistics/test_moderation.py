"""Moderated scatter with a few comparisons that are much noisier than the others."""

from __future__ import annotations

import math

import numpy as np
import pytest
from fakes import mark_thorough
from scipy import stats

from rankbench.analysis.statistics import decision, trimming
from rankbench.analysis.statistics.moderation import moderate_spread

QUIET, NOISY = 0.01, 0.2
COMPARISONS = 129
CAMPAIGNS = 300


def draw_campaign(random: np.random.Generator, blocks: int) -> tuple[trimming.Centre, np.ndarray]:
    """Return estimates of equal candidates, and the noisy comparisons: one of ten."""
    noisy = random.random(COMPARISONS) < 0.1
    logs = random.standard_normal((COMPARISONS, blocks)) * np.where(noisy, NOISY, QUIET)[:, None]
    return trimming.centre(list(logs), trimming.FEWEST), noisy


@pytest.mark.thorough
@pytest.mark.parametrize("blocks", [3, mark_thorough(5)])
def test_a_few_noisy_comparisons_are_not_called_different(blocks: int) -> None:
    """A noisy comparison whose launches agree by chance must not pass for a quiet one."""
    random = np.random.default_rng(1)
    wrong = 0
    for _ in range(CAMPAIGNS):
        centre, _ = draw_campaign(random, blocks)
        drawn, degrees = moderate_spread(centre.scatter, centre.degrees, np.full(COMPARISONS, fill_value=True))
        p_values = decision.p_beyond(centre.mean, drawn / np.sqrt(centre.remaining), degrees, math.log1p(0.03))
        wrong += bool((stats.false_discovery_control(np.minimum(p_values, 1)) <= 0.05).any())
    assert wrong <= 0.05 * CAMPAIGNS


def test_quiet_comparisons_share_their_scatter_beside_noisy_ones() -> None:
    centre, noisy = draw_campaign(np.random.default_rng(6), 5)
    drawn, _ = moderate_spread(centre.scatter, centre.degrees, np.full(COMPARISONS, fill_value=True))
    assert np.log(drawn / QUIET)[~noisy].std() < np.log(centre.scatter / QUIET)[~noisy].std()
    assert (drawn[noisy] > 5 * QUIET).mean() > 0.7
