"""The median of a launch, also where the clock is coarser than the time it measures.

A reading that advances in steps of 10 ns makes most samples of a 130 ns exchange equal, and two launches that differ by
1 ns come out equal or 5 ns apart. The mass on either side of the median's step shows where within the step it lies.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

TIED = 0.05
"""Share of equal samples at the median from which on the clock's step matters."""
SAME_STEP_NS = 2.0
"""Readings closer than this to the first of a step belong to it: they differ by rounding to whole nanoseconds."""
LARGEST_STEP = 0.1
"""Steps are looked for within this share of the median on either side."""


def find_grouped_median(times_ns: NDArray[np.float64]) -> float:
    """Return the median of readings from a clock with steps, interpolated within the step on which it falls."""
    median = float(np.median(times_ns))
    reach = LARGEST_STEP * median
    below = np.count_nonzero(times_ns < median - reach)
    values, counts = _steps(times_ns[np.abs(times_ns - median) <= reach])
    reached = below + np.cumsum(counts)
    at = min(int(np.searchsorted(reached, len(times_ns) / 2)), len(values) - 1)
    gaps = np.diff(values)[max(at - 1, 0) : at + 1]
    if not len(gaps):
        return median
    inside = (len(times_ns) / 2 - (reached[at] - counts[at])) / counts[at]
    return float(values[at] + gaps.min() * (inside - 0.5))


def _steps(times_ns: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the mean and the number of the readings on each step of the clock, in ascending order."""
    values, counts = np.unique(times_ns, return_counts=True)
    starts: list[int] = []
    for place, value in enumerate(values):
        if not starts or value - values[starts[-1]] >= SAME_STEP_NS:
            starts.append(place)
    together = np.add.reduceat(counts, starts)
    return np.add.reduceat(values * counts, starts) / together, together
