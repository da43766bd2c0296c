"""Log ratios along the sizes of a line, each drawn towards what its neighbours are. Pure.

A ratio measured with few launches is the truth and an error. The largest of many is more often one whose error is
large, too, so that sorted estimates exaggerate. Neighbouring sizes say how much: the true log ratios of a line are
taken as a common level and a deviation from it, normal, whose correlation falls exponentially with the distance on the
logarithmic axis of sizes. Then the best estimate is a weighted mean (Robinson, That BLUP is a good thing, Statistical
Science 6, 1991; along an axis it is kriging). Variance and reach of the deviations are those of maximum restricted
likelihood, on a grid (Harville, JASA 72, 1977).

That model is wrong where a library changes its protocol: there the estimate is drawn over the change. So it is for what
is sorted or interpolated, and no verdict rests on it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Values = NDArray[np.float64]

FEWEST = 3
"""Sizes of a line of which something can be said about its other sizes."""
DEVIATIONS = np.concatenate([[0.0], np.geomspace(0.003, 3.0, 16)])
"""Standard deviations of true log ratios from their level."""
REACHES = np.array([0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0])
"""Distances, in doublings of the size, over which the correlation falls to 1/e."""


class Shrunk(NamedTuple):
    """Estimates of log ratios and their standard errors."""

    logs: Values
    errors: Values


class _Fit(NamedTuple):
    """How true log ratios differ from size to size."""

    variance: float
    reach: float


def shrink(sizes: ArrayLike, logs: ArrayLike, errors: ArrayLike, wanted: ArrayLike | None = None) -> Shrunk:
    """Return the estimates of log ratios at the wanted sizes, by default at those that were measured.

    Args:
        sizes: bytes, at least one, each once.
        logs: the measured log ratio of each.
        errors: its standard error; infinite where it is not known.
        wanted: bytes of any number of sizes.

    With fewer than three known sizes measured values stay as they are; between them they are interpolated.
    """
    at, values = _axis(sizes), np.asarray(logs, dtype=np.float64)
    variances = np.square(np.asarray(errors, dtype=np.float64))
    aims = at if wanted is None else _axis(wanted)
    known = np.isfinite(variances) & (variances > 0)
    if known.sum() < FEWEST:
        order = np.argsort(at)
        return Shrunk(*(np.interp(aims, at[order], each[order]) for each in (values, np.sqrt(variances))))
    at, values, variances = at[known], values[known], variances[known]
    return _predict(at, values, variances, _find_fit(at, values, variances), aims)


def _axis(sizes: ArrayLike) -> Values:
    return np.log2(np.maximum(np.asarray(sizes, dtype=np.float64), 1.0))


def _covariance(values: Values, two: Values, variance: Values | float, reach: Values | float) -> Values:
    return np.asarray(variance * np.exp(-np.abs(np.subtract.outer(values, two)) / reach))


def _find_fit(at: Values, values: Values, variances: Values) -> _Fit:
    """Return the most likely variance and reach, by the likelihood whose level is that of generalised squares."""
    variance, reach = (each.ravel() for each in np.meshgrid(DEVIATIONS**2, REACHES, indexing="ij"))
    total = _covariance(at, at, variance[:, None, None], reach[:, None, None]) + np.diag(variances)
    inverse = np.linalg.inv(total)
    weights = inverse.sum(axis=1)
    sums = weights.sum(axis=1)
    rest = values - (weights @ values / sums)[:, None]
    squares = np.einsum("ki,kij,kj->k", rest, inverse, rest)
    best = int(np.argmin(np.linalg.slogdet(total)[1] + np.log(sums) + squares))
    return _Fit(float(variance[best]), float(reach[best]))


def _predict(at: Values, values: Values, variances: Values, fit: _Fit, aims: Values) -> Shrunk:
    """Return the best linear unbiased predictions, with the uncertainty of the level in their errors."""
    inverse = np.linalg.inv(_covariance(at, at, fit.variance, fit.reach) + np.diag(variances))
    weights = inverse.sum(axis=0)
    level = float(weights @ values) / float(weights.sum())
    shared = _covariance(aims, at, fit.variance, fit.reach) @ inverse
    remainder = fit.variance - np.einsum("ij,ij->i", shared, _covariance(aims, at, fit.variance, fit.reach))
    of_level = np.square(1 - shared.sum(axis=1)) / float(weights.sum())
    return Shrunk(level + shared @ (values - level), np.sqrt(np.maximum(remainder, 0.0) + of_level))
