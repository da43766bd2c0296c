"""The trimmed mean of launches' log ratios and its error, robust against a few disturbed launches.

A fifth of the values is dropped at each end (Tukey and McLaughlin, Sankhya A 25, 1963): the mean is that of what is
left, its error that of the values with those at the ends replaced by the outermost that stay. Where launches are few
that error hangs on few values, and is made larger than the formula's, so that the level of normal values holds.
`docs/evidence/comparisons.md` has the simulation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

SHARE = 0.2
FEWEST, FEWEST_ALONE = 5, 8
"""Values of which some are dropped: in a campaign of many comparisons, from which the usual scatter is known, and where
the few that are left show the scatter alone."""


class Centre(NamedTuple):
    """Trimmed means of several series, as arrays."""

    mean: Numbers
    scatter: Numbers
    """Standard deviation that, over the root of `remaining`, is the error of the mean."""
    remaining: Numbers
    """Number of values after trimming."""

    @property
    def degrees(self) -> Numbers:
        """Degrees of freedom of the scatter, at least one."""
        return np.maximum(self.remaining - 1, 1)


def centre(series: Sequence[Sequence[float]], fewest: int) -> Centre:
    """Return the trimmed means of series of any lengths; of shorter ones than `fewest` nothing is dropped."""
    lengths = np.array([len(values) for values in series])
    mean, scatter, remaining = (np.zeros(len(series)) for _ in range(3))
    for length in np.unique(lengths):
        rows = np.flatnonzero(lengths == length)
        if length:
            values = np.array([series[row] for row in rows.tolist()], dtype=np.float64)
            mean[rows], scatter[rows], remaining[rows] = _trim(values, int(length * SHARE) if length >= fewest else 0)
    return Centre(mean, scatter, remaining)


def _trim(values: Numbers, off: int) -> tuple[Numbers, Numbers, int]:
    """Return mean, scatter and how many stay of each row when so many are dropped at each end."""
    count = values.shape[1]
    ordered, remaining = np.sort(values, axis=1), count - 2 * off
    clipped = ordered.clip(ordered[:, [off]], ordered[:, [count - 1 - off]])
    spread = clipped.std(axis=1, ddof=1) if count > 1 else np.zeros(len(values))
    return (
        ordered[:, off : count - off].mean(axis=1),
        spread * np.sqrt(count / remaining) * inflate(count, off),
        remaining,
    )


def inflate(count: int, off: int) -> float:
    """Return by what factor the error is larger than the formula's: 1.18 of 5 values, 1.06 of 10, 1.02 of very many."""
    return 1.02 + 4 / count**2 if off else 1.0
