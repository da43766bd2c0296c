"""What many comparisons of a campaign tell of the scatter of each, of which few launches alone say little. Pure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

FEWEST_MODERATED = 10
"""Comparisons whose scatter tells what is usual."""
MOST_DEGREES = 100.0
"""Degrees of freedom that what is usual is worth at most."""


def moderated(spread: Numbers, degrees: NDArray[Any], known: NDArray[np.bool_]) -> tuple[Numbers, Numbers]:
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
    return np.where(known, drawn, spread), np.where(known, both, degrees)


def _inverse_trigamma(value: float) -> float:
    """Return where the trigamma function has a value, by Newton's method; it falls all the way."""
    at = 0.5 + 1 / value
    for _ in range(50):
        slope = float(scipy.special.polygamma(1, at))
        at += slope * (1 - slope / value) / float(scipy.special.polygamma(2, at))
    return at
