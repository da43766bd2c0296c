"""What many comparisons of a campaign report the scatter of each, of which few launches alone say little. Pure."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from rankbench.analysis.statistics import distributions

Numbers = NDArray[np.float64]

FEWEST_MODERATED = 10
"""Comparisons whose scatter shows what is usual."""
MOST_DEGREES = 100.0
"""Most degrees of freedom of the typical variance."""


GRID = 40
"""Variances of which the scatter of comparisons may be a mixture."""
ROUNDS = 100
ORDINARY, STRICT = 0.05, 1e-3
"""Two-sided levels at which the heavier tail of a mixture is matched."""


def moderate_spread(spread: Numbers, degrees: NDArray[Any], known: NDArray[np.bool_]) -> tuple[Numbers, Numbers]:
    """Return standard deviations drawn towards what is usual among all of them, and the degrees of freedom they have.

    The variances are taken as drawn around a common one, the more closely the less they differ beyond what so few
    launches explain; where they differ much, each stands for itself (Smyth, Statistical Applications in Genetics and
    Molecular Biology 3(1), 2004).
    """
    if known.sum() < FEWEST_MODERATED:
        return spread, degrees.astype(np.float64)
    half = degrees[known] / 2
    logs = 2 * np.log(spread[known]) - scipy.special.digamma(half) + np.log(half)
    beyond = float(logs.var(ddof=1) - scipy.special.polygamma(1, half).mean())
    prior = min(2 * _inverse_trigamma(beyond), MOST_DEGREES) if beyond > 0 else MOST_DEGREES
    usual = math.exp(float(logs.mean()) + float(scipy.special.digamma(prior / 2)) - math.log(prior / 2))
    both = degrees + prior
    drawn = np.sqrt((prior * usual + degrees * spread**2) / both)
    drawn, both = np.where(known, drawn, spread), np.where(known, both, degrees)
    drawn[known], both[known] = _heavier(spread[known], degrees[known].astype(np.float64), drawn[known], both[known])
    return drawn, both


def _heavier(spread: Numbers, numbers: Numbers, drawn: Numbers, degrees: Numbers) -> tuple[Numbers, Numbers]:
    """Return deviations and degrees of freedom, replaced where a mixture of variances has a heavier tail.

    Where most comparisons are quiet and a few noisy, no single prior fits: a noisy one whose few launches agree by
    chance would pass for a quiet one. The prior is then estimated without a form (by maximum likelihood on a grid, as
    Ignatiadis and Sen, Empirical partially Bayes multiple testing and compound chi-square decisions, Annals of
    Statistics 53, 2025). The tail of each comparison is that of the normal distributions that its scatter allows. Ours,
    and not in that article: it is expressed as Student's t by two of its quantiles, and the heavier tail counts.
    """
    variances, weights = _mixture(spread, numbers)
    ordinary, strict = (_quantile(variances, weights, level) for level in (ORDINARY, STRICT))
    table = np.geomspace(0.5, 2 * MOST_DEGREES, 200)
    ratios = distributions.t_isf(STRICT / 2, table) / distributions.t_isf(ORDINARY / 2, table)
    mixed = np.interp(-strict / ordinary, -ratios, table)
    heavier = strict > drawn * distributions.t_isf(STRICT / 2, degrees)
    scatter = ordinary / distributions.t_isf(ORDINARY / 2, mixed)
    return np.where(heavier, scatter, drawn), np.where(heavier, mixed, degrees)


def _mixture(spread: Numbers, degrees: Numbers) -> tuple[Numbers, Numbers]:
    """Return the variances of the grid and, for each comparison, the probability of each."""
    variances = np.geomspace(spread.min(), spread.max() * 1.001, GRID) ** 2
    ratios = spread[:, None] ** 2 / variances
    logs = degrees[:, None] / 2 * (np.log(ratios) - ratios)
    likelihood = np.exp(logs - logs.max(axis=1, keepdims=True))
    prior = np.full(GRID, 1 / GRID)
    for _ in range(ROUNDS):
        posterior = likelihood * prior
        posterior /= posterior.sum(axis=1, keepdims=True)
        prior = posterior.mean(axis=0)
    return variances, posterior


def _quantile(variances: Numbers, weights: Numbers, level: float) -> Numbers:
    """Return where the two-sided tail of mixtures of normal distributions has a level, by bisection of logarithms."""
    deviations = np.sqrt(variances)
    low = np.full(len(weights), math.log(deviations[0]) - 1)
    high = np.full(len(weights), math.log(deviations[-1]) + 3)
    for _ in range(40):
        middle = (low + high) / 2
        tail = (weights * scipy.special.erfc(np.exp(middle)[:, None] / deviations / math.sqrt(2))).sum(axis=1)
        low, high = np.where(tail > level, middle, low), np.where(tail > level, high, middle)
    return np.asarray(np.exp(high))


def _inverse_trigamma(value: float) -> float:
    """Return where the trigamma function has a value, by Newton's method; it falls all the way."""
    at = 0.5 + 1 / value
    for _ in range(50):
        slope = float(scipy.special.polygamma(1, at))
        at += slope * (1 - slope / value) / float(scipy.special.polygamma(2, at))
    return at
