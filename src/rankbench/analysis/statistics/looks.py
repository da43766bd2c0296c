"""Correction for interim analyses (group-sequential tests). Pure: numbers of blocks in, levels and p-values out.

A campaign that may end at several looks has several chances of a false result. An alpha-spending function gives the
share of the 5% that may be spent until each look: it grows with the 1.5th power of the blocks (Kim and DeMets,
Biometrika 74, 1987), so that early looks spend little. The nominal level of each look follows from it: results at
successive looks are correlated, so the correction is smaller than Bonferroni's (the recursion of Armitage, McPherson
and Rowe, Journal of the Royal Statistical Society A 132, 1969).

The correction depends on the level. The p-value of a look becomes that of the whole campaign: the level at which it is
just significant (the repeated p-value; Jennison and Turnbull, Group Sequential Methods, 2000, chapter 9).
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

Values = NDArray[np.float64]

ALPHA = 0.05
POWER = 1.5
MOST_STEPS, PRECISION, LEAST_CHANCE = 100, 1e-13, 1e-300
"""Of the search for a bound."""
POINTS = 401
"""Of the grid on which densities are carried from look to look."""
GRID = np.array([1e-12, 1e-9, 1e-7, 1e-5, 1e-4, 1e-3, 0.01, ALPHA, 0.2, 0.5])
"""Levels for which the correction is computed; it is interpolated between them, on logarithmic axes."""


class Penalty(NamedTuple):
    """The correction for the looks of a campaign, at its current number of blocks."""

    looks: tuple[int, ...] = ()
    """Numbers of blocks, ascending; with fewer than two there is no correction."""
    blocks: Any = 0
    """A number, or an array of one for each value that is to be adjusted.

    Blocks beyond the last look but one count as those of the last.
    """

    def nominal(self, level: Any) -> Values:
        """Return the nominal two-sided level now, for an overall level of all looks."""
        wanted = np.log(np.asarray(level, dtype=np.float64))
        return np.asarray(np.exp(wanted - self._interpolate(wanted, np.log(GRID))), dtype=np.float64)

    def p_value(self, value: ArrayLike) -> Values:
        """Return the overall p-value for a nominal one: the inverse of `nominal`."""
        with np.errstate(divide="ignore"):
            values = np.log(np.asarray(value, dtype=np.float64))
        return np.asarray(np.minimum(np.exp(values + self._interpolate(values, None)), 1.0), dtype=np.float64)

    def _interpolate(self, at: Values, nodes: Values | None) -> Values:
        """Return the logarithm of the factor between both; `nodes` are those of the level, else of the p-value."""
        if len(self.looks) < 2:
            return np.zeros_like(at)
        at, look = np.broadcast_arrays(at, np.searchsorted(self.looks[:-1], self.blocks, side="left"))
        result = np.zeros(at.shape)
        for number in np.unique(look):
            factors = _factors(self.looks)[number]
            values = np.log(GRID) - factors if nodes is None else nodes
            result = np.where(look == number, np.interp(at, values, factors), result)
        return result


ONE_LOOK = Penalty()


@cache
def _factors(looks: tuple[int, ...]) -> Values:
    """Return, by look and level of the grid, the logarithm of the level over the p-value that is small enough."""
    return np.asarray(
        np.log(GRID) - np.log([compute_levels(looks, float(level)) for level in GRID]).T, dtype=np.float64
    )


@cache
def compute_levels(looks: tuple[int, ...], level: float = ALPHA) -> Values:
    """Return the two-sided p-value that is small enough at each look, if looks together err in this level.

    The sum over blocks is a random walk, with variance 1 at the last look. Its density is followed from look to look,
    less what has passed beyond the bound; each bound is where what is still to be spent passes.
    """
    times = np.array(looks) / looks[-1]
    spent = level * times**POWER
    values: list[float] = []
    points, density = np.zeros(1), np.ones(1)
    before = 0.0
    for number, time in enumerate(times):
        step = np.sqrt(time - (times[number - 1] if number else 0.0))
        due = (spent[number] - before) / 2
        bound = _find_bound(10.0 * np.sqrt(time), points, density, step, due)
        values.append(2 * float(scipy.special.ndtr(-bound / np.sqrt(time))))
        grid = np.linspace(-bound, bound, POINTS)
        weights = np.full(POINTS, grid[1] - grid[0])
        weights[[0, -1]] /= 2
        steps = np.exp(-(((grid[:, None] - points) / step) ** 2) / 2) / (step * np.sqrt(2 * np.pi))
        density = weights * (steps @ density)
        points, before = grid, spent[number]
    return np.array(values)


def _find_bound(high: float, points: Values, density: Values, step: float, due: float) -> float:
    """Return where what is due passes, between 0 and `high`: the Illinois rule (Dowell and Jarratt, BIT 11, 1971)."""
    low, at_low, at_high = 0.0, *(_missing(end, points, density, step, due) for end in (0.0, high))
    for _ in range(MOST_STEPS):
        at = high - at_high * (high - low) / (at_high - at_low)
        missing = _missing(at, points, density, step, due)
        if missing * at_high < 0:
            low, at_low = high, at_high
        else:
            at_low /= 2
        near = abs(at - high) <= PRECISION * at
        high, at_high = at, missing
        if near or missing == 0:
            break
    return high


def _missing(bound: float, points: Values, density: Values, step: float, due: float) -> float:
    """Return the logarithm of the chance to pass a bound on one side, after one more step, over what is due."""
    chance = float(density @ scipy.special.ndtr((points - bound) / step))
    return math.log(max(chance, LEAST_CHANCE)) - math.log(due)
