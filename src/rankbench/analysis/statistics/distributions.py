"""Quantiles and tails of the distributions that statistics here need, by the functions of `scipy.special`. Pure.

`scipy.stats` gives the same values, but takes longer to load than most evaluations take to be made. Arguments are
numbers or arrays, which are broadcast; degrees of freedom need not be whole.
"""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

Values = NDArray[np.float64]


def t_sf(x: ArrayLike, degrees: ArrayLike) -> Any:
    """Return the probability that Student's t exceeds x."""
    return scipy.special.stdtr(degrees, -np.asarray(x))


def t_isf(tail: ArrayLike, degrees: ArrayLike) -> Any:
    """Return what Student's t exceeds with a probability; not a number without degrees of freedom."""
    return -scipy.special.stdtrit(degrees, tail)


def chi2_sf(x: ArrayLike, degrees: ArrayLike) -> Any:
    """Return the probability that chi-squared exceeds x."""
    return scipy.special.chdtrc(degrees, x)


def normal_cdf(x: ArrayLike) -> Any:
    """Return the probability that a standard normal value is at most x."""
    return scipy.special.ndtr(x)


def normal_sf(x: ArrayLike) -> Any:
    """Return the probability that a standard normal value exceeds x."""
    return scipy.special.ndtr(-np.asarray(x))


@functools.lru_cache(maxsize=4096)
def heads_cdf(most: int, throws: int) -> float:
    """Return the probability of so many heads or fewer among throws of a fair coin, exact to the last digit."""
    return float(Fraction(sum(math.comb(throws, heads) for heads in range(most + 1)), 2**throws))


@functools.lru_cache(maxsize=4096)
def heads_ppf(share: float, throws: int) -> int:
    """Return the least number of heads of which, or fewer, the probability is at least `share`."""
    return next(most for most in range(throws + 1) if heads_cdf(most, throws) >= share)


def share_interval(count: int, of: int, confidence: float) -> tuple[float, float]:
    """Return the exact interval of a share, `count` of `of` seen (Clopper and Pearson, Biometrika 26, 1934)."""
    tail = (1 - confidence) / 2
    low = float(scipy.special.betaincinv(count, of - count + 1, tail)) if count else 0.0
    high = float(scipy.special.betaincinv(count + 1, of - count, 1 - tail)) if count < of else 1.0
    return low, high


def false_discovery(p_values: ArrayLike) -> Values:
    """Return p-values adjusted for their number (Benjamini and Hochberg, J. R. Stat. Soc. B 57, 1995)."""
    values = np.asarray(p_values, dtype=np.float64)
    order, count = np.argsort(values), len(values)
    raised = values[order] * (count / np.arange(1, count + 1))
    adjusted = np.empty(count)
    adjusted[order] = np.minimum.accumulate(raised[::-1])[::-1]
    return np.clip(adjusted, 0, 1)


def ranks(values: Values) -> Values:
    """Return each value's rank from 1 on; equal ones have the mean of theirs."""
    order = np.argsort(values)
    ordered = values[order]
    first = np.append(np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])), len(values))
    result = np.empty(len(values))
    result[order] = np.repeat((first[:-1] + first[1:] + 1) / 2, np.diff(first))
    return result
