"""Log ratios of two candidates by block and case, and their mean over cases. Pure.

Launches are what is repeated, and the cases of one launch err together: the error of a weighted mean over cases comes
from how far each block as a whole is off (the sandwich estimator of clustered data). A block in which cases had ended
already counts by those that it has.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.statistics import FEWEST_BLOCKS, FINEST_SPREAD, trimming
from rankbench.analysis.statistics.decision import Decision, Estimate, Family, decide
from rankbench.analysis.statistics.looks import Penalty
from rankbench.language import Text, say
from rankbench.model.verdicts import is_informative

Numbers = NDArray[np.float64]
Group = Literal["slower", "equivalent", "behind", "open"]
"""Of a rival: slower by more than the threshold; within it; slower in every block, by how much is not known; none of
these."""


OUTLIER_RANGES, OUTLIER_RATIO = 3.0, 1.5
"""A log ratio of a block is an outlier if it is farther from the middle three fifths of its case's than three times
their range and this ratio together."""
OUTLIER_SPREADS, SPREAD_OF_FEW = 5.0, 0.4
"""Of three to five blocks it is one if it is farther from their median than so many standard deviations and this ratio
together. The deviation is that of all such cases: the median of their absolute deviations, of which normal values have
0.36 in three blocks, 0.45 in four and 0.50 in five."""
FEWEST_OF_RANGE = 6
"""Of fewer values the range of the middle three fifths depends on the outermost ones."""


class Overall(NamedTuple):
    """A mean ratio over cases, or one of total times; where launches are too few, 0 to infinity."""

    mean: float
    low: float
    high: float
    slower: int = 0
    """Blocks in which the second candidate was slower."""
    blocks: int = 0
    """All blocks; 0: not counted."""

    @classmethod
    def of(cls, decision: Decision, slower: int = 0, blocks: int = 0) -> Overall:
        """Return the ratio of a decision."""
        return cls(decision.ratio, decision.low, decision.high, slower, blocks)

    @property
    def always_slower(self) -> bool:
        """The second candidate was slower in every block, and these are enough to say so."""
        return FEWEST_BLOCKS <= self.blocks == self.slower

    @property
    def is_wide(self) -> bool:
        """The interval says nothing of the ratio."""
        return self.low > 0 and not is_informative(self.low, self.high)


def judge_rival(decision: Decision, ratio: Overall) -> Group:
    """Return how a rival compares with the candidate that has the lowest time."""
    if decision.beyond and decision.outcome == "slower":
        return "slower"
    if decision.equivalent:
        return "equivalent"
    return "behind" if ratio.always_slower else "open"


def estimate_logs(view: CampaignView, base: str, other: str, weighed: Mapping[str, float]) -> Estimate:
    """Return the mean logarithm of `other` over `base`, with these weights of cases."""
    estimate = average_logs(tabulate_logs(view, base, other, list(weighed)), np.array([*weighed.values()]))
    names = {base, other} if base != other else ()
    rounded = (weight * view.summary_of[case, name].rounding for case, weight in weighed.items() for name in names)
    return estimate._replace(offset=sum(rounded))


def count_slower(
    view: CampaignView, base: str, other: str, weighed: Mapping[str, float], rounding: float
) -> tuple[int, int]:
    """Return in how many blocks a candidate was slower than another over these cases, and how many there are.

    A block counts whose mean log ratio is larger than `rounding`.
    """
    table = tabulate_logs(view, base, other, list(weighed))
    known = ~np.isnan(table)
    means = np.where(known, table, 0.0) @ np.array([*weighed.values()])
    means = means[known.any(axis=1)]
    return int((means > rounding).sum()), len(means)


def tabulate_logs(view: CampaignView, base: str, other: str, cases: Sequence[str]) -> Numbers:
    """Return the log ratios by block and case, not a number where a block has none.

    A case without any pair has the ratio of the typical values in every block.
    """
    if base == other:
        return np.zeros((max(1, view.judged_values["block"].n_unique()), len(cases)))
    table = tabulate_pairs(view.pair_logs(base, other), cases, view.judged_blocks)
    for place in np.flatnonzero(np.isnan(table).all(axis=0)).tolist():
        table[:, place] = math.log(view.ratio(cases[place], base, other))
    return table


def tabulate_pairs(pairs: pl.DataFrame, cases: Sequence[str], blocks: pl.Series) -> Numbers:
    """Return a frame of case, block and log as an array by block and case, outliers drawn in."""
    row = {block: place for place, block in enumerate(blocks.to_list())}
    column = {case: place for place, case in enumerate(cases)}
    table = np.full((max(1, len(row)), len(column)), np.nan)
    for case, block, log in pairs.select("case", "block", "log").iter_rows():
        if case in column:
            table[row[block], column[case]] = log
    return draw_in_outliers(table)


def draw_in_outliers(table: Numbers) -> Numbers:
    """Return the log ratios by block and case with outliers of a case at the limit beyond which they are ones.

    A few launches that the machine disturbed can be thousands of times slower, and would decide a mean over all cases.
    States of the machine change ratios by less than the limit, and many launches, so that these stay as they are.
    """
    counts = (~np.isnan(table)).sum(axis=0)
    enough, few = counts >= FEWEST_OF_RANGE, (counts >= FEWEST_BLOCKS) & (counts < FEWEST_OF_RANGE)
    drawn = table.copy()
    if enough.any():
        low, high = np.nanquantile(table[:, enough], [trimming.SHARE, 1 - trimming.SHARE], axis=0)
        reach = OUTLIER_RANGES * (high - low) + math.log(OUTLIER_RATIO)
        drawn[:, enough] = np.clip(table[:, enough], low - reach, high + reach)
    if few.any():
        middle = np.nanmedian(table[:, few], axis=0)
        deviation = np.median(np.nanmedian(np.abs(table[:, few] - middle), axis=0)) / SPREAD_OF_FEW
        reach = OUTLIER_SPREADS * deviation + math.log(OUTLIER_RATIO)
        drawn[:, few] = np.clip(table[:, few], middle - reach, middle + reach)
    return drawn


def average_logs(table: Numbers, weighed: Numbers) -> Estimate:
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


def decide_overall(view: CampaignView, estimates: Sequence[Estimate], penalty: Penalty, tests: int) -> list[Decision]:
    """Return decisions by the plan's threshold and confidence, of so many tests at once (Bonferroni).

    Errors are larger where successive blocks are correlated.
    """
    plan, repeated = view.campaign.plan, view.correlation
    widening = repeated.widening if repeated else 1.0
    widened = [estimate._replace(error=estimate.error * widening) for estimate in estimates]
    return decide(widened, plan.threshold, plan.confidence, penalty=penalty, family=Family("bonferroni", tests=tests))


def describe_distance(name: str, ratio: Overall, within: float) -> Text:
    """Return the time of a candidate over that of the one just named, and what a ratio near 1 means."""
    if ratio.is_wide and not ratio.blocks:
        text = "{name} {mean:ratio} (too few launches for an interval)"
    elif ratio.is_wide:
        text = (
            "{name} slower in {slower} of {blocks} blocks, by how much is not known"
            if 2 * ratio.slower > ratio.blocks
            else "{name} not distinguishable (slower in {slower} of {blocks} blocks)"
        )
    elif not ratio.low:
        text = "{name} {mean:ratio} (too few launches for an interval)"
    elif ratio.low >= 1 / (1 + within) and ratio.high <= 1 + within:
        text = "{name} {mean:ratio} ({low:ratio} to {high:ratio}, equivalent within {within:.0%})"
    elif ratio.low > 1 + within or ratio.high < 1 / (1 + within):
        text = "{name} {mean:ratio} ({low:ratio} to {high:ratio})"
    elif ratio.low > 1 or ratio.high < 1:
        text = "{name} {mean:ratio} ({low:ratio} to {high:ratio}, more than {within:.0%} not shown)"
    elif ratio.always_slower:
        text = "{name} {mean:ratio} (at most {high:ratio}, slower in {slower} of {blocks} blocks)"
    else:
        text = "{name} {mean:ratio} ({low:ratio} to {high:ratio}, not distinguishable)"
    return say(
        text,
        name=name,
        within=within,
        mean=ratio.mean,
        low=ratio.low,
        high=ratio.high,
        slower=ratio.slower,
        blocks=ratio.blocks,
    )
