"""What looking at figures more than once costs. Pure: numbers of blocks in, factors out.

A campaign that may end at several looks has several chances to be misled. It may spend, until each look, a share of the
5 % that it may err which grows with the 1.5th power of the blocks (Kim and DeMets, Biometrika 74, 1987): little while
launches are few, and only for looks that are made. How small a p-value must be at each look follows from that: looks
share their launches, so that being misled at one makes it likely at the next, and less is paid than by adding chances
up (the recursion of Armitage, McPherson and Rowe, Journal of the Royal Statistical Society A 132, 1969).
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

LEVEL = 0.05
POWER = 1.5
POINTS = 401
"""Of the grid on which densities are carried from look to look."""


def price(looks: Sequence[int], blocks: NDArray[Any]) -> NDArray[np.float64]:
    """Return by what factor p-values are multiplied after so many blocks; 1 where a campaign looks once.

    What ended before the last look pays what was asked there: blocks beyond the last look but one count as the last's.
    """
    if len(looks) < 2:
        return np.ones(len(blocks))
    at = np.searchsorted(looks[:-1], blocks, side="left")
    return LEVEL / levels(tuple(looks))[at]


@cache
def levels(looks: tuple[int, ...]) -> NDArray[np.float64]:
    """Return the two-sided p-value that is small enough at each look, if looks together err in 5 %.

    The sum over blocks is a random walk, with variance 1 at the last look. Its density is followed from look to look,
    less what has passed beyond the bound; each bound is where what is still to be spent passes.
    """
    times = np.array(looks) / looks[-1]
    spent = LEVEL * times**POWER
    found: list[float] = []
    points, density = np.zeros(1), np.ones(1)
    before = 0.0
    for number, time in enumerate(times):
        step = np.sqrt(time - (times[number - 1] if number else 0.0))
        due = (spent[number] - before) / 2
        bound = scipy.optimize.brentq(_missing, 0.0, 10.0 * np.sqrt(time), args=(points, density, step, due))
        found.append(2 * float(scipy.stats.norm.sf(bound / np.sqrt(time))))
        grid = np.linspace(-bound, bound, POINTS)
        weights = np.full(POINTS, grid[1] - grid[0])
        weights[[0, -1]] /= 2
        density = weights * (scipy.stats.norm.pdf((grid[:, None] - points) / step) / step @ density)
        points, before = grid, spent[number]
    return np.array(found)


def _missing(bound: float, points: NDArray[np.float64], density: NDArray[np.float64], step: float, due: float) -> float:
    """Return by how much the chance to pass a bound on one side, after one more step, is more than is due."""
    return float(density @ scipy.stats.norm.sf((bound - points) / step)) - due
