"""What is common to all series of several candidates over campaigns: the machine. Pure: logarithms in and out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Logs = NDArray[np.float64]


def estimate_common_part(candidates: Sequence[Logs]) -> Logs:
    """Return the logarithm of what all candidates have in common in each campaign.

    It is the smallest of the candidates' medians over their cases where all have the same sign, and 0 where not: a
    library that changes alone is in no common part.

    Args:
        candidates: of each, log times by case and campaign; NaN where a case has none.
    """
    medians = np.array([_medians(logs) for logs in candidates])
    smallest = np.abs(medians).min(axis=0)
    same_sign = np.abs(np.sign(medians).sum(axis=0)) == len(medians)
    common: Logs = np.where(same_sign, np.sign(medians[0]) * smallest, 0.0)
    return common


def _medians(logs: Logs) -> Logs:
    """Return the median over cases of each campaign's log time less the case's own median; 0 where none has any."""
    measured = logs[~np.isnan(logs).all(axis=1)]
    rest = measured - np.nanmedian(measured, axis=1, keepdims=True)
    known = ~np.isnan(rest).all(axis=0)
    medians = np.zeros(logs.shape[1])
    medians[known] = np.nanmedian(rest[:, known], axis=0)
    return medians
