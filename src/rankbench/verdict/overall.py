"""How long one candidate takes against another over all cases, with its interval. Pure.

Launches are what is repeated, and the cases of one launch err together: so there is one figure for each block, the mean
log ratio of its cases, and of these figures the trimmed mean over blocks with Student's interval.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl
import scipy

from rankbench.plan import looks
from rankbench.statistics import FEWEST_BLOCKS, FINEST_SPREAD, trimming
from rankbench.statistics.looks import price
from rankbench.statistics.pairing import paired_logs

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from rankbench.model import Plan
    from rankbench.verdict.evidence import Evidence


class Overall(NamedTuple):
    """A geometric mean of ratios over cases; where launches are too few for an interval it is 0 to infinity."""

    mean: float
    low: float
    high: float


class Answer(NamedTuple):
    """Who takes least over all cases, and against whom that is known."""

    best: str
    cases: list[str]
    """Those of which all have figures that have them in more than half as many cases as the one with most."""
    slower: list[str]
    """These take longer than the best by more than the threshold: their whole interval is beyond it."""
    equivalent: list[str]
    """These differ from the best by no more than the threshold: their whole interval is within it."""
    open: list[str]

    @property
    def settled(self) -> list[str]:
        """Return the rivals that are compared with certainty."""
        return [*self.slower, *self.equivalent]


def interim_looks(plan: Plan) -> Sequence[int]:
    """Return the numbers of blocks after which the figures may end a campaign: empty where they do not end it."""
    return looks(plan.stop) if plan.stop.until in {"decided", "answered"} or plan.stop.past else ()


def penalty(evidence: Evidence) -> float:
    """Return by what factor a p-value counts more because of the looks at the figures so far."""
    blocks = evidence.figures["block"].n_unique()
    return float(price(interim_looks(evidence.campaign.plan), np.array([blocks]))[0])


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
    total = {name: sum(math.log(evidence.ratio(key, names[0], name)) for key in cases) for name in names}
    best = min(names, key=lambda name: total[name])
    within = 1 + evidence.campaign.plan.threshold
    found = Answer(best, cases, [], [], [])
    for name in names:
        if name != best:
            ratio = overall(evidence, best, name, cases, priced * (len(names) - 1))
            equivalent = ratio.low >= 1 / within and ratio.high <= within
            group = found.slower if ratio.low > within else found.equivalent if equivalent else found.open
            group.append(name)
    return found


def overall(evidence: Evidence, base: str, other: str, cases: Collection[str], priced: float = 1.0) -> Overall:
    """Return how long `other` takes over these cases, of which both have figures, against `base`.

    The interval is of the plan's confidence, or of one that errs in `priced` times fewer cases.

    A block that lacks some of the cases, as where deciding has ended them, tells how far its own are off what they
    take usually. One with less than half as many cases as the fullest tells nothing.
    """
    typical = {key: math.log(evidence.ratio(key, base, other)) for key in cases}
    middle = sum(typical.values()) / len(typical)
    logs = paired_logs(evidence.figures.filter(pl.col("case").is_in(list(cases))), base, other)
    off = pl.col("log") - pl.col("case").replace_strict(typical, return_dtype=pl.Float64)
    per_block = logs.group_by("block").agg(off.mean().alias("off"), pl.len())
    blocks = per_block.filter(2 * pl.col("len") >= pl.col("len").max())["off"].to_list()
    if len(blocks) < FEWEST_BLOCKS:
        return Overall(math.exp(middle), 0.0, math.inf)
    centre = trimming.centre([blocks], trimming.FEWEST_ALONE)
    mean = middle + float(centre.mean[0])
    error = max(float(centre.scatter[0]), FINEST_SPREAD) / math.sqrt(centre.left[0])
    tail = (1 - evidence.campaign.plan.confidence) / priced / 2
    half = float(scipy.stats.t.isf(tail, centre.degrees[0])) * error
    return Overall(math.exp(mean), math.exp(mean - half), math.exp(mean + half))
