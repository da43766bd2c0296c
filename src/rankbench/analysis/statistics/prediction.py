"""Whether one new value is larger than earlier ones let expect. Pure: logarithms in, ratios and p-values out.

A new value of a normal series differs from the mean of n earlier ones by Student's t times s * sqrt(1 + 1/n): the
prediction interval of one further observation (Hahn and Meeker, Statistical Intervals, 1991, section 4.2). A campaign
is one observation, so the variation from day to day is in s. The scatter s is moderated over all series
(`statistics.moderation`), and p-values are adjusted over all of them (Benjamini and Hochberg, 1995).

Values are taken as independent. Where days are correlated, s is too small for a long drift; the mean of few and recent
values keeps the error small.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankbench.analysis.statistics import CONFIDENCE, FINEST_SPREAD
from rankbench.analysis.statistics.decision import FDR, Estimate, decide
from rankbench.analysis.statistics.moderation import moderate_spread

Logs = NDArray[np.float64]

FEWEST_PAST = 8
"""Earlier values that a prediction needs."""
LAST = 14
"""Earlier values that are used unless another number is given."""


class Prediction(NamedTuple):
    """A new value over the geometric mean of earlier ones."""

    past: int
    ratio: float
    low: float
    """Ends of the interval of the ratio, with the scatter of one value in it."""
    high: float
    p_adjusted: float
    """That the new value's level is above the mean by no more than the threshold."""


def predict(
    past: Sequence[Logs],
    new: Logs,
    threshold: float,
    confidence: float = CONFIDENCE,
    offsets: Sequence[float] | None = None,
) -> list[Prediction]:
    """Return a prediction for each series; `past` holds two values or more of each, `new` one.

    `offsets` is how far the difference of each may be from the truth apart from chance (`rounding`); None: not at all.
    """
    if not past:
        return []
    counts = np.array([len(logs) for logs in past])
    spread = np.maximum([logs.std(ddof=1) for logs in past], FINEST_SPREAD)
    scatter, degrees = moderate_spread(spread, counts - 1, np.ones(len(past), dtype=np.bool_))
    error = scatter * np.sqrt(1 + 1 / counts)
    log = new - np.array([logs.mean() for logs in past])
    estimates = list(map(Estimate, log, error, degrees, offsets or [0.0] * len(past)))
    decisions = decide(estimates, threshold, confidence, family=FDR, one_sided=True)
    return [
        Prediction(int(count), decision.ratio, decision.low, decision.high, decision.p_adjusted)
        for count, decision in zip(counts, decisions, strict=True)
    ]
