"""The decision on a ratio: from an estimate, a threshold and what is tested beside it to an outcome. Pure.

An estimate is a mean log ratio, its standard error and the degrees of freedom of that error. With m the mean, e the
error, d the logarithm of 1 + threshold and T the upper tail of Student's t:

* The hypothesis of the test is that the true ratio lies within the threshold on either side. Its p-value is that of a
  ratio at the edge of the threshold, which is the most likely of these to give a large estimate: T((|m| - d) / e) +
  T((|m| + d) / e) (Hodges and Lehmann, Journal of the Royal Statistical Society B 16, 1954). With a threshold of 0 it
  is Student's two-sided one. Where the direction is named before values are seen, it is T((m - d) / e).
* The interval is Student's, m - t e to m + t e. Two are equivalent if it lies within the threshold on both sides: two
  one-sided tests (Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15, 1987).
* Interim looks are accounted for in the p-value and in the interval (`looks.Penalty`).
* Of a family of tests, p-values are adjusted for the share of false ones among those called different (Benjamini and
  Hochberg, Journal of the Royal Statistical Society B 57, 1995), which leaves each interval at its own confidence, or
  for the chance of any (Bonferroni), for which intervals are wider, too.

So what is different at 5% has an interval of 95% that leaves out 1, and is never equivalent. That interval may reach
below the threshold, which the test puts all of its 5% on: where the interval itself is given as the reason, as in a
gate, `beyond` needs both the test and the whole interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankbench.analysis.statistics import distributions
from rankbench.analysis.statistics.looks import ONE_LOOK, Penalty

Values = NDArray[np.float64]

FALSE_DISCOVERIES = 0.05
"""Largest adjusted p-value of candidates that are called different."""
STEPS = 50
"""Of a bisection: more make no difference to a double."""
Outcome = Literal["slower", "faster", "equivalent", "open"]


class Family(NamedTuple):
    """How p-values of several tests are adjusted to each other, and what of them is called different."""

    kind: Literal["fdr", "bonferroni", "none"] = "none"
    """By the share of false discoveries, Bonferroni, or not at all."""
    level: float = FALSE_DISCOVERIES
    """Largest adjusted p-value of what is called different."""
    tests: int = 0
    """Of Bonferroni's family; 0: as many as there are estimates."""


NO_FAMILY = Family()
FDR = Family("fdr")


class Estimate(NamedTuple):
    """A mean log ratio and its error."""

    mean: float
    error: float
    """Standard error of the mean."""
    degrees: float
    """Degrees of freedom of the error; 0 where values are too few for one."""
    offset: float = 0.0
    """How far the mean may be from the truth apart from chance, as where a size is interpolated."""


class Decision(NamedTuple):
    """The decision on a ratio; without an error the interval is 0 to infinity and the p-values are 1."""

    ratio: float
    low: float
    high: float
    p_value: float
    """Corrected for interim analyses."""
    p_adjusted: float
    different: bool
    """The ratio is beyond the threshold, by the test."""
    equivalent: bool
    """The ratio is within the threshold on both sides."""
    beyond: bool
    """The ratio is beyond the threshold, by the test and by the whole interval."""

    @property
    def outcome(self) -> Outcome:
        """Return the outcome for the second candidate against the first."""
        if self.different:
            return "slower" if self.ratio > 1 else "faster"
        return "equivalent" if self.equivalent else "open"


def decide(
    estimates: Sequence[Estimate],
    threshold: ArrayLike,
    confidence: float,
    *,
    penalty: Penalty = ONE_LOOK,
    family: Family = NO_FAMILY,
    one_sided: bool = False,
    members: ArrayLike | None = None,
    enough: ArrayLike | None = None,
) -> list[Decision]:
    """Return a decision on each estimate.

    Args:
        estimates: any number, judged together.
        threshold: relative difference that matters in practice, 0.03 for 3%; one for all, or one for each.
        confidence: of the intervals.
        penalty: for interim looks; of one number of blocks, or of one for each estimate.
        family: how p-values are adjusted to each other.
        one_sided: whether the question is only if ratios are above the threshold.
        members: of the family of `fdr`. Others are judged by the largest p-value that passed in it. None: all are.
        enough: which estimates have enough values to be called different or equivalent. None: all.
    """
    if not estimates:
        return []
    mean, error, degrees, offset = np.array([(*estimate,) for estimate in estimates], dtype=np.float64).T
    known = degrees > 0
    error, degrees = np.where(known, error, 1.0), np.where(known, degrees, 1.0)
    margin = np.log1p(np.asarray(threshold, dtype=np.float64))
    tail = _tail_above if one_sided else p_beyond
    p_value = np.where(known, penalty.p_value(tail(mean, error, degrees, margin + offset)), 1.0)
    count = (family.tests or len(mean)) if family.kind == "bonferroni" else 1
    half = np.where(known, half_width(error, degrees, penalty.nominal((1 - confidence) / count)) + offset, np.inf)
    p_adjusted = adjust(p_value, family.level, members) if family.kind == "fdr" else np.minimum(p_value * count, 1.0)
    with np.errstate(over="ignore"):
        ratio, low, high = np.exp(mean), np.exp(mean - half), np.exp(mean + half)
    apt = np.ones(len(mean), dtype=np.bool_) if enough is None else np.asarray(enough, dtype=np.bool_)
    most = 1 + np.asarray(threshold, dtype=np.float64)
    different = apt & (p_adjusted <= family.level)
    equivalent = apt & (low >= 1 / most) & (high <= most)
    beyond = different & ((low > most) | (high < 1 / most))
    columns = (ratio, low, high, p_value, p_adjusted, different, equivalent, beyond)
    # Of two infinities min takes the first: the default of records, which JSON leaves out.
    rows = (Decision(*row) for row in zip(*(column.tolist() for column in columns), strict=True))
    return [row._replace(high=min(math.inf, row.high)) for row in rows]


def above(p_adjusted: float, low: float, threshold: float, level: float = FALSE_DISCOVERIES) -> bool:
    """Return whether a ratio is above this threshold by the test, of it or a larger one, and by its interval."""
    return p_adjusted <= level and low > 1 + threshold


# --- parts of it, for what is planned or searched ---------------------------------------------------------------------


def p_beyond(log: Values, error: ArrayLike, degrees: Any, margin: Any) -> Values:
    """Return the p-value of the hypothesis that the true log ratio is at most `margin` on either side of 0."""
    far = np.abs(log)
    tails = distributions.t_sf((far - margin) / error, degrees) + distributions.t_sf((far + margin) / error, degrees)
    return np.asarray(np.minimum(tails, 1.0), dtype=np.float64)


def _tail_above(log: Values, error: Values, degrees: Values, margin: Any) -> Values:
    """Return the p-value of the hypothesis that the true log ratio is at most `margin`."""
    return np.asarray(distributions.t_sf((log - margin) / error, degrees), dtype=np.float64)


def log_beyond(level: Values, error: Values, degrees: Any, margin: ArrayLike) -> Values:
    """Return the absolute log ratio from which on the p-value is at most `level`."""
    low = margin + distributions.t_isf(level, degrees) * error
    high = margin + distributions.t_isf(level / 2, degrees) * error
    for _ in range(STEPS):
        middle = (low + high) / 2
        small = p_beyond(middle, error, degrees, margin) <= level
        low, high = np.where(small, low, middle), np.where(small, middle, high)
    return np.asarray(high, dtype=np.float64)


def half_width(error: ArrayLike, degrees: ArrayLike, errs: ArrayLike) -> Values:
    """Return half the width of Student's interval that misses the truth with the probability `errs`."""
    return np.asarray(distributions.t_isf(np.asarray(errs) / 2, degrees) * np.asarray(error), dtype=np.float64)


def adjust(p_values: Values, level: float = FALSE_DISCOVERIES, members: ArrayLike | None = None) -> Values:
    """Return p-values adjusted over those of the members (Benjamini and Hochberg, 1995).

    Those of the others are scaled so that they are at most `level` where they are at most the largest that passed.
    """
    inside = np.ones(len(p_values), dtype=np.bool_) if members is None else np.asarray(members, dtype=np.bool_)
    values = p_values[inside]
    q_values = distributions.false_discovery(values) if len(values) else values
    passed = values[q_values <= level]
    cutoff = passed.max() if len(passed) else level / max(len(values), 1)
    scaled = np.minimum(p_values * (level / max(float(cutoff), np.finfo(np.float64).tiny)), 1.0)
    scaled[inside] = q_values
    return np.asarray(scaled, dtype=np.float64)
