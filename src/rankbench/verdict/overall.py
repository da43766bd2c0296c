"""How long candidates take over many cases against each other, with intervals. Pure.

Launches are what is repeated, and the cases of one launch err together: the error of a weighted mean over cases comes
from how far each block as a whole is off (the sandwich estimator of clustered data). A block in which cases had ended
already counts by those that it has.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy

from rankbench.plan import looks
from rankbench.statistics import FEWEST_BLOCKS, FINEST_SPREAD
from rankbench.statistics.looks import price
from rankbench.statistics.pairing import paired_logs
from rankbench.verdict import mix

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import polars as pl
    from numpy.typing import NDArray

    from rankbench.model import Plan
    from rankbench.verdict.evidence import Evidence

    Numbers = NDArray[np.float64]


class Estimate(NamedTuple):
    """The mean logarithm of a ratio over cases."""

    mean: float
    error: float
    degrees: float
    """Degrees of freedom of the error; 0 where blocks are too few for one."""

    def ratio(self, tail: float) -> Overall:
        """Return the ratio with an interval that errs with this probability at each end."""
        if not self.degrees:
            return Overall(math.exp(self.mean), 0.0, math.inf)
        half = float(scipy.stats.t.isf(tail, self.degrees)) * self.error
        return Overall(math.exp(self.mean), math.exp(self.mean - half), math.exp(self.mean + half))


class Overall(NamedTuple):
    """A geometric mean of ratios over cases; where launches are too few for an interval it is 0 to infinity."""

    mean: float
    low: float
    high: float


class Answer(NamedTuple):
    """Who has the lowest time over all cases, and against whom that is certain."""

    best: str
    cases: list[str]
    """Those of which all have figures that have them in more than half as many cases as the one with most."""
    slower: list[str]
    """These take longer than the best by more than the threshold: their whole interval is beyond it."""
    equivalent: list[str]
    """These differ from the best by no more than the threshold: their whole interval is within it."""
    open: list[str]
    ratios: dict[str, Overall]
    """Of each rival to the best."""

    @property
    def settled(self) -> list[str]:
        """Return the rivals that are compared with certainty."""
        return [*self.slower, *self.equivalent]

    @property
    def names(self) -> set[str]:
        """Return the candidates that are compared."""
        return {self.best, *self.ratios}


def interim_looks(plan: Plan) -> Sequence[int]:
    """Return the numbers of blocks after which the figures may end a campaign: empty where they do not end it."""
    return looks(plan.stop) if plan.stop.until in {"decided", "answered"} or plan.stop.past else ()


def penalty(evidence: Evidence) -> float:
    """Return by what factor a p-value counts more because of the looks at the figures so far."""
    blocks = evidence.figures["block"].n_unique()
    return float(price(interim_looks(evidence.campaign.plan), np.array([blocks]))[0])


def tail(evidence: Evidence, priced: float) -> float:
    """Return with what probability an interval errs at each end, if it errs `priced` times less than the plan's."""
    return (1 - evidence.campaign.plan.confidence) / priced / 2


def weights(evidence: Evidence, cases: Collection[str]) -> dict[str, float]:
    """Return the weight of each case: its share of the time of the plan's calls, where there are any and these are of
    them; else equal among operations, and within an operation among its cases. They sum to 1.
    """
    called = _of_calls(evidence)
    weighed = {key: called[key] for key in cases if called.get(key)}
    if not weighed:
        operations = {key: evidence.case[key].operation for key in cases}
        number = Counter(operations.values())
        weighed = {key: 1 / number[operation] for key, operation in operations.items()}
    total = sum(weighed.values())
    return {key: weight / total for key, weight in weighed.items()}


def _of_calls(evidence: Evidence) -> dict[str, float]:
    """Return the time of the plan's calls by case, in ns, as the geometric mean of the candidates that have figures."""
    times: dict[str, float] = {}
    for one in mix.mixes(evidence, evidence.campaign.plan.calls):
        for part in one.parts:
            own = [time for name in evidence.names if (time := mix.time_ns(evidence, part, name))]
            mean = math.exp(float(np.log(own).mean())) if own else 0.0
            for case, share in part.cases:
                times[case.key] = times.get(case.key, 0.0) + mean * share
    return times


def answer(evidence: Evidence, priced: float) -> Answer | None:
    """Return how far it is known who takes least over all cases; nothing where there are not two to compare.

    With every look and every rival there is a chance to be misled: intervals are as wide as that many need, `priced`
    times as improbable as one alone.
    """
    ample = [one for one in evidence.times if not evidence.short_of_cores(one.case)] or evidence.times
    most = max((sum(name in one.ranking for one in ample) for name in evidence.names), default=0)
    names = [name for name in evidence.names if 2 * sum(name in one.ranking for one in ample) > most]
    cases = [one.case.key for one in ample if set(names) <= set(one.ranking)]
    if not cases or len(names) < 2:
        return None
    level = tail(evidence, priced * (len(names) - 1))
    best = min(names, key=lambda name: estimate(evidence, names[0], name, weights(evidence, cases)).mean)
    within = 1 + evidence.campaign.plan.threshold
    found = Answer(best, cases, [], [], [], {})
    for name in names:
        if name != best:
            ratio = estimate(evidence, best, name, weights(evidence, cases)).ratio(level)
            equivalent = ratio.low >= 1 / within and ratio.high <= within
            group = found.slower if ratio.low > within else found.equivalent if equivalent else found.open
            group.append(name)
            found.ratios[name] = ratio
    return found


def overall(evidence: Evidence, base: str, other: str, cases: Collection[str], priced: float = 1.0) -> Overall:
    """Return how long `other` takes over these cases, of which both have figures, against `base`.

    The interval is of the plan's confidence, or of one that errs in `priced` times fewer cases.
    """
    return estimate(evidence, base, other, weights(evidence, cases)).ratio(tail(evidence, priced))


def estimate(evidence: Evidence, base: str, other: str, weighed: Mapping[str, float]) -> Estimate:
    """Return the mean logarithm of `other` over `base`, with these weights of cases."""
    return mean_log(logs(evidence, base, other, list(weighed)), np.array([*weighed.values()]))


def logs(evidence: Evidence, base: str, other: str, cases: Sequence[str]) -> Numbers:
    """Return the log ratios by block and case, not a number where a block has none.

    A case without any pair has the ratio of the typical values in every block.
    """
    if base == other:
        return np.zeros((max(1, evidence.figures["block"].n_unique()), len(cases)))
    table = spread_out(paired_logs(evidence.figures, base, other), cases, evidence.figures["block"].unique().sort())
    for place in np.flatnonzero(np.isnan(table).all(axis=0)).tolist():
        table[:, place] = math.log(evidence.ratio(cases[place], base, other))
    return table


def spread_out(pairs: pl.DataFrame, cases: Sequence[str], blocks: pl.Series) -> Numbers:
    """Return a frame of case, block and log as an array by block and case."""
    row = {block: place for place, block in enumerate(blocks.to_list())}
    column = {case: place for place, case in enumerate(cases)}
    table = np.full((max(1, len(row)), len(column)), np.nan)
    for case, block, log in pairs.select("case", "block", "log").iter_rows():
        if case in column:
            table[row[block], column[case]] = log
    return table


def mean_log(table: Numbers, weighed: Numbers) -> Estimate:
    """Return the weighted mean over cases of the plain means over blocks, with the error that blocks give it."""
    known = ~np.isnan(table)
    counts = known.sum(axis=0)
    means = np.nansum(table, axis=0) / np.maximum(counts, 1)
    per_pair = weighed / np.maximum(counts, 1)
    off = np.where(known, table - means, 0.0) @ per_pair
    shares = known @ per_pair
    mean = float(means @ weighed)
    blocks = float(shares.sum() ** 2 / (shares**2).sum()) if shares.any() else 0.0
    if round(blocks, 6) < FEWEST_BLOCKS:
        return Estimate(mean, 0.0, 0.0)
    error = math.sqrt(float(off @ off) * blocks / (blocks - 1))
    return Estimate(mean, max(error, FINEST_SPREAD / math.sqrt(blocks)), blocks - 1)
