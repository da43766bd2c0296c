"""Change points of series with one value per campaign: when the time of a case changed.

A campaign is one observation here, however many launches it has: its day is in all of them. Every stretch of a series
is compared with the rest of it, so that a level that came and went is found as well as one that stayed (circular binary
segmentation; Olshen, Venkatraman, Lucito and Wigler, Biostatistics 5, 2004). For a given stretch, the difference of
means over its scatter is Student's if nothing changed; the p-value is multiplied by the number of stretches it was
chosen from, which bounds the rate of false alarms (Bonferroni, as Worsley, JASA 74, 1979, has it for one change).
p-values of all series are then adjusted (Benjamini and Hochberg, 1995). What is found divides its series, and each part
is searched again. What is left as a change is a difference of neighbouring levels that is significantly above the
practical threshold (`decision`), not only above 0.

Machines have odd days, and two of them may follow each other: Student's test takes that for a level. So the same
values, shuffled, must seldom show a stretch that differs as much (a permutation test; Good, 2005): hardly more often
than the only two odd days of a series follow each other. Of a series with more odd days, a longer stretch is needed.

Neighbouring campaigns may be correlated. Of ten series or more the median lag-1 correlation r within their levels is
known: t is divided by sqrt((1 + r) / (1 - r)), and blocks of about (1 + r) / (1 - r) campaigns are shuffled.

The scatter is never taken for less than what the launches within campaigns let expect: few campaigns may agree by luck.
A change counts if two campaigns or more lie on either side of it; of the newest one alone, `statistics.unpaired` shows.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankbench.analysis.statistics import CONFIDENCE, FINEST_SPREAD
from rankbench.analysis.statistics.decision import FALSE_DISCOVERIES, adjust, half_width, p_beyond
from rankbench.analysis.statistics.moderation import FEWEST_MODERATED

Logs = NDArray[np.float64]

SHORTEST = 2
"""Minimum of campaigns of a level: a single one may be an odd day."""
FEWEST = 2 * SHORTEST + 1
"""Minimum of campaigns of a series: with fewer, no shuffle is rare."""
SHUFFLES = 399
SELDOM = 1.5
"""How often shuffles may show as large a difference, over how often two campaigns chosen blindly make up a level."""
MOST_CORRELATED = 0.8
"""Correlation of neighbouring campaigns that is allowed for at most."""
SEED = 20
"""Of the shuffles: the same values always give the same changes."""


class Levels(NamedTuple):
    """One series in order of time."""

    logs: Logs
    """Logarithm of each campaign's typical value."""
    variances: Logs
    """Variance of each that its launches predict; 0 for a single launch."""


class Step(NamedTuple):
    """A change of level."""

    at: int
    """Index of the first value of the new level."""
    ratio: float
    """The new level over the one before, geometric means."""
    low: float
    high: float
    p_adjusted: float
    """That the series does not change at all, adjusted over all series."""


class _Scan(NamedTuple):
    """The stretch of a series that differs most from the rest of it."""

    first: int
    end: int
    p_value: float


def find_steps(series: Sequence[Levels], threshold: float, confidence: float = CONFIDENCE) -> list[list[Step]]:
    """Return the changes of each series that are beyond the practical threshold."""
    correlation = _correlation(series, [[]] * len(series))
    all_steps = _find_steps(series, threshold, confidence, correlation)
    if not correlation:
        return all_steps
    return _find_steps(
        series, threshold, confidence, _correlation(series, [[step.at for step in steps] for steps in all_steps])
    )


def _find_steps(series: Sequence[Levels], threshold: float, confidence: float, correlation: float) -> list[list[Step]]:
    scans = [_scan(levels.logs, _expect_variance(levels), correlation) for levels in series]
    if not scans:
        return []
    p_values = adjust(np.array([scan.p_value for scan in scans]))
    bar = FALSE_DISCOVERIES * float(np.mean(p_values <= FALSE_DISCOVERIES))
    return [
        _make_steps(levels, bar, float(p_adjusted), threshold, confidence, correlation)
        if p_adjusted <= FALSE_DISCOVERIES
        else []
        for levels, p_adjusted in zip(series, p_values, strict=True)
    ]


def _make_steps(
    values: Levels, bar: float, p_adjusted: float, threshold: float, confidence: float, correlation: float
) -> list[Step]:
    cuts = sorted(_divide(values.logs, _expect_variance(values), bar, correlation))
    while cuts:
        cuts = _move_cuts(values.logs, cuts)
        levels = _Parts.of(values, cuts, correlation, threshold)
        weakest = int(np.argmax(levels.p_values))
        places = len(values.logs) - 2 * SHORTEST + 1
        if places * levels.p_values[weakest] <= bar:
            half = half_width(levels.errors, levels.degrees, 1 - confidence)
            ends = np.exp([levels.differences, levels.differences - half, levels.differences + half]).T.tolist()
            return [Step(at, ratio, low, high, p_adjusted) for at, (ratio, low, high) in zip(cuts, ends, strict=True)]
        cuts.pop(weakest)
    return []


def _expect_variance(levels: Levels) -> float:
    """Return the lower limit of the variance of a value."""
    return max(float(np.mean(levels.variances)) if len(levels.variances) else 0.0, FINEST_SPREAD**2)


def _divide(logs: Logs, expected: float, bar: float, correlation: float) -> set[int]:
    """Return where new levels begin, by repeated division of what is not one level."""
    scan = _scan(logs, expected, correlation)
    if scan.p_value > bar or not _is_rare(logs, expected, correlation):
        return set()
    cuts = sorted({scan.first, scan.end} - {0, len(logs)})
    ends = zip([0, *cuts], [*cuts, len(logs)], strict=True)
    return {
        *cuts,
        *(start + cut for start, end in ends for cut in _divide(logs[start:end], expected, bar, correlation)),
    }


def _move_cuts(logs: Logs, cuts: list[int]) -> list[int]:
    """Return the cuts, each moved to where it divides best what lies between its neighbours."""
    moved = list(cuts)
    for place in range(len(moved)):
        start, end = [0, *moved][place], [*moved, len(logs)][place + 1]
        part = logs[start:end] - logs[start:end].mean()
        sums = np.cumsum(part)[SHORTEST - 1 : len(part) - SHORTEST]
        before = np.arange(SHORTEST, len(part) - SHORTEST + 1)
        moved[place] = start + SHORTEST + int(np.argmax(sums**2 * (1 / before + 1 / (len(part) - before))))
    return moved


def _scan(logs: Logs, expected: float, correlation: float) -> _Scan:
    """Return the stretch that differs most from the rest, and the chance of it if nothing changed."""
    if len(logs) < FEWEST:
        return _Scan(0, len(logs), 1.0)
    first, end = _stretches(len(logs))
    sizes = _sizes(logs, expected)
    most = int(np.argmax(sizes))
    size = sizes[most] / math.sqrt(_inflation(correlation))
    p_value = min(1.0, len(first) * float(p_beyond(np.asarray(size), 1.0, len(logs) - 2, 0.0)))
    return _Scan(int(first[most]), int(end[most]), p_value)


def _is_rare(logs: Logs, expected: float, correlation: float) -> bool:
    """Return whether the same values in another order seldom have a stretch that differs as much."""
    centred = logs - logs.mean()
    if float((centred**2).sum()) <= expected * 1e-12:
        return False
    shuffled = centred[_orders(len(logs), max(1, round(_inflation(correlation))))]
    reached = _largest(shuffled) >= _largest(centred[None, :]) * (1 - 1e-9)
    first, end = _stretches(len(logs))
    inside = end - first
    lone = np.count_nonzero(np.minimum(inside, len(logs) - inside) == SHORTEST) / math.comb(len(logs), SHORTEST)
    return bool(reached.mean() <= SELDOM * lone)


def _orders(count: int, block: int) -> NDArray[np.int64]:
    """Return shuffled orders in which neighbours within a block stay together; blocks begin anywhere."""
    random = np.random.default_rng(SEED)
    if block == 1:
        return random.permuted(np.tile(np.arange(count), (SHUFFLES, 1)), axis=1)
    blocks = -(-count // block)
    orders = random.permuted(np.tile(np.arange(blocks), (SHUFFLES, 1)), axis=1)
    places = (orders[:, :, None] * block + np.arange(block)).reshape(SHUFFLES, -1)
    values = places[places < count].reshape(SHUFFLES, count)
    return (values + random.integers(count, size=(SHUFFLES, 1))) % count


def _largest(centred: Logs) -> Logs:
    """Return, for each row, the largest sum of squares between a stretch and the rest.

    The total is the same for all orders, so Student's t grows with it. By length, so that memory is that of the rows.
    """
    count = centred.shape[-1]
    sums = np.concatenate([np.zeros((len(centred), 1)), np.cumsum(centred, axis=-1)], axis=-1)
    most: Logs = np.zeros(len(centred))
    for length in range(SHORTEST, count - SHORTEST + 1):
        inner = np.abs(sums[:, length : count - SHORTEST + 1] - sums[:, : count - SHORTEST + 1 - length])
        inner[:, 1:SHORTEST] = 0  # Nothing or a whole level is left before a stretch.
        np.maximum(most, inner.max(axis=-1) ** 2 * (1 / length + 1 / (count - length)), out=most)
    return most


def _inflation(correlation: float) -> float:
    """Return how much more the mean of correlated values varies: the variance of a long mean of an AR(1) series."""
    return (1 + correlation) / (1 - correlation)


def _correlation(series: Sequence[Levels], cuts: Sequence[Sequence[int]]) -> float:
    """Return the median lag-1 correlation of series within their levels, 0 unless it is certainly above that."""
    known = [(levels.logs, at) for levels, at in zip(series, cuts, strict=True) if len(levels.logs) >= FEWEST]
    if len(known) < FEWEST_MODERATED:
        return 0.0
    values = float(np.median([_lag(logs, at) for logs, at in known]))
    error = 1 / math.sqrt(sum(len(logs) for logs, _ in known))
    return min(values, MOST_CORRELATED) if values > 2 * error else 0.0


def _lag(logs: Logs, cuts: Sequence[int]) -> float:
    """Return the lag-1 correlation of a series less its levels, without the bias of the means taken out."""
    rest = np.concatenate([part - part.mean() for part in np.split(logs, list(cuts))])
    total = float((rest**2).sum())
    plain = float((rest[1:] * rest[:-1]).sum()) / total if total else 0.0
    return plain + (1 + 3 * plain) * (len(cuts) + 1) / len(rest)


def _sizes(logs: Logs, expected: float) -> Logs:
    """Return, of the last axis, how much each stretch differs from the rest: Student's t with its pooled variance."""
    count = logs.shape[-1]
    first, end = _stretches(count)
    centred = logs - logs.mean(axis=-1, keepdims=True)
    sums = np.concatenate([np.zeros((*logs.shape[:-1], 1)), np.cumsum(centred, axis=-1)], axis=-1)
    shares = 1 / (end - first) + 1 / (count - end + first)
    differences = (sums[..., end] - sums[..., first]) * shares  # Deviations sum to 0, so the rest is known.
    total = (centred**2).sum(axis=-1, keepdims=True)
    variances = np.maximum((total - differences**2 / shares) / (count - 2), expected)
    sizes: Logs = np.abs(differences) / np.sqrt(variances * shares)
    return sizes


def _stretches(count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return first and end of every stretch before and after which nothing or a whole level is left."""
    first, end = np.triu_indices(count + 1, SHORTEST)
    before = (first == 0) | (first >= SHORTEST)
    after = count - end >= SHORTEST  # One that reaches the end is the rest of another that begins at the beginning.
    return first[before & after], end[before & after]


class _Parts(NamedTuple):
    """Neighbouring levels of a series, compared by the scatter within all of them."""

    differences: Logs
    errors: Logs
    degrees: int
    p_values: Logs
    """That a difference is within the practical threshold (`decision.p_beyond`)."""

    @classmethod
    def of(cls, levels: Levels, cuts: Sequence[int], correlation: float, threshold: float) -> _Parts:
        """Return what each cut divides."""
        parts = np.split(levels.logs, cuts)
        within = sum(float(((part - part.mean()) ** 2).sum()) for part in parts)
        degrees = len(levels.logs) - len(parts)
        variance = max(within / degrees, _expect_variance(levels))
        differences = np.diff([part.mean() for part in parts])
        shares = [1 / len(before) + 1 / len(after) for before, after in itertools.pairwise(parts)]
        errors = np.sqrt(variance * np.array(shares) * _inflation(correlation))
        return cls(differences, errors, degrees, p_beyond(differences, errors, degrees, math.log1p(threshold)))
