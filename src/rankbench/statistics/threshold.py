"""The test whether a log ratio is beyond a practical threshold. Pure: numbers in, p-values out.

The hypothesis is that the true ratio lies within the threshold on either side. Its p-value is that of the ratio at the
edge of the threshold, which is the most likely of these to give a large estimate (Hodges and Lehmann, Journal of the
Royal Statistical Society B 16, 1954). With a threshold of 0 it is Student's two-sided p-value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

STEPS = 50
"""Of a bisection: more make no difference to a double."""


def p_beyond(log: Values, error: Values, degrees: Any, margin: float) -> Values:
    """Return the p-value of the hypothesis that the true log ratio is at most `margin` on either side of 0."""
    far = np.abs(log)
    tails = scipy.stats.t.sf((far - margin) / error, degrees) + scipy.stats.t.sf((far + margin) / error, degrees)
    return np.asarray(np.minimum(tails, 1.0), dtype=np.float64)


def log_beyond(level: Values, error: Values, degrees: Any, margin: float) -> Values:
    """Return the absolute log ratio from which on the p-value is at most `level`."""
    low = margin + scipy.stats.t.isf(level, degrees) * error
    high = margin + scipy.stats.t.isf(level / 2, degrees) * error
    for _ in range(STEPS):
        middle = (low + high) / 2
        small = p_beyond(middle, error, degrees, margin) <= level
        low, high = np.where(small, low, middle), np.where(small, middle, high)
    return np.asarray(high, dtype=np.float64)
