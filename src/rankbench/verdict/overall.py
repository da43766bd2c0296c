"""How candidates compare over many cases, with intervals. Pure.

Launches are what is repeated, and the cases of one launch err together: the error of a weighted mean over cases comes
from how far each block as a whole is off (the sandwich estimator of clustered data). A block in which cases had ended
already counts by those that it has.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankbench.statistics import FEWEST_BLOCKS, FINEST_SPREAD, trimming
from rankbench.statistics.decision import Estimate, decide
from rankbench.statistics.looks import ONE_LOOK
from rankbench.statistics.pairing import pair_logs
from rankbench.verdict import mix

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import polars as pl
    from numpy.typing import NDArray

    from rankbench.model import CaseVerdict
    from rankbench.statistics.decision import Decision
    from rankbench.statistics.looks import Penalty
    from rankbench.verdict.view import CampaignView

    Numbers = NDArray[np.float64]


OUTLIER_RANGES, OUTLIER_RATIO = 3.0, 1.5
"""A log ratio of a block is an outlier if it is farther from the middle three fifths of its case's than three times
their range and this ratio together."""


class Overall(NamedTuple):
    """A geometric mean of ratios over cases; where launches are too few for an interval it is 0 to infinity."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, decision: Decision) -> Overall:
        """Return the ratio of a decision."""
        return cls(decision.ratio, decision.low, decision.high)


class Answer(NamedTuple):
    """Who has the lowest time over all cases, and against whom that is certain."""

    best: str
    cases: list[str]
    """Cases with values of all compared candidates: those with more than half as many values as the one with most."""
    slower: list[str]
    """Slower than the best by more than the threshold: the whole interval is beyond it."""
    equivalent: list[str]
    """Equivalent to the best: the whole interval is within the threshold."""
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


def decide_overall(view: CampaignView, estimates: Sequence[Estimate], penalty: Penalty, tests: int) -> list[Decision]:
    """Return decisions by the plan's threshold and confidence, of so many tests at once (Bonferroni).

    Errors are larger where successive blocks are correlated.
    """
    plan, repeated = view.campaign.plan, view.correlation
    widening = repeated.widening if repeated else 1.0
    widened = [estimate._replace(error=estimate.error * widening) for estimate in estimates]
    return decide(widened, plan.threshold, plan.confidence, penalty=penalty, family="bonferroni", tests=tests)


def weigh_cases(view: CampaignView, cases: Collection[str]) -> dict[str, float]:
    """Return the weight of each case: its share of the time of the plan's calls, where there are any and these are of
    them; else equal among operations, and within an operation among its cases. They sum to 1.
    """
    called = _time_calls(view)
    weighed = {key: called[key] for key in cases if called.get(key)}
    if not weighed:
        operations = {key: view.case_of[key].operation for key in cases}
        number = Counter(operations.values())
        weighed = {key: 1 / number[operation] for key, operation in operations.items()}
    total = sum(weighed.values())
    return {key: weight / total for key, weight in weighed.items()}


def _time_calls(view: CampaignView) -> dict[str, float]:
    """Return the time of the plan's calls by case, in ns, as the geometric mean of the candidates that have values."""
    times: dict[str, float] = {}
    for placed in mix.sum_mixes(view, view.campaign.plan.calls):
        for part in placed.parts:
            values = [time for name in view.candidates if (time := mix.find_time_ns(view, part, name))]
            mean = math.exp(float(np.log(values).mean())) if values else 0.0
            for case, share in part.cases:
                times[case.key] = times.get(case.key, 0.0) + mean * share
    return times


def select_compared(view: CampaignView, verdicts: Sequence[CaseVerdict]) -> Sequence[CaseVerdict]:
    """Return the verdicts of repeated calls of ranks with a core each; others count only where there are no such."""
    ample = [verdict for verdict in verdicts if not view.short_of_cores(verdict.case)] or verdicts
    return [verdict for verdict in ample if verdict.case.operation not in view.campaign.once_operations] or ample


def find_answer(view: CampaignView, penalty: Penalty) -> Answer | None:
    """Return who has the lowest time over all cases, as far as that is known; None with fewer than two to compare.

    Every look and every rival can mislead: the interval accounts for all of them.
    """
    compared = select_compared(view, view.timed_verdicts)
    most = max((sum(name in verdict.ranking for verdict in compared) for name in view.candidates), default=0)
    names = [name for name in view.candidates if 2 * sum(name in verdict.ranking for verdict in compared) > most]
    cases = [verdict.case.key for verdict in compared if set(names) <= set(verdict.ranking)]
    if not cases or len(names) < 2:
        return None
    weighed = weigh_cases(view, cases)
    best = min(names, key=lambda name: estimate_log(view, names[0], name, weighed).mean)
    rivals = [name for name in names if name != best]
    estimates = [estimate_log(view, best, name, weighed) for name in rivals]
    answer = Answer(best, cases, [], [], [], {})
    for name, decision in zip(rivals, decide_overall(view, estimates, penalty, len(rivals)), strict=True):
        slower = decision.beyond and decision.outcome == "slower"
        group = answer.slower if slower else answer.equivalent if decision.equivalent else answer.open
        group.append(name)
        answer.ratios[name] = Overall.of(decision)
    return answer


def compare_overall(
    view: CampaignView, base: str, other: str, cases: Collection[str], penalty: Penalty = ONE_LOOK, tests: int = 1
) -> Overall:
    """Return the time of `other` over that of `base` over these cases, for which both have values.

    The interval is of the plan's confidence for so many tests at once.
    """
    (decision,) = decide_overall(view, [estimate_log(view, base, other, weigh_cases(view, cases))], penalty, tests)
    return Overall.of(decision)


def estimate_log(view: CampaignView, base: str, other: str, weighed: Mapping[str, float]) -> Estimate:
    """Return the mean logarithm of `other` over `base`, with these weights of cases."""
    return average_logs(tabulate_logs(view, base, other, list(weighed)), np.array([*weighed.values()]))


def tabulate_logs(view: CampaignView, base: str, other: str, cases: Sequence[str]) -> Numbers:
    """Return the log ratios by block and case, not a number where a block has none.

    A case without any pair has the ratio of the typical values in every block.
    """
    if base == other:
        return np.zeros((max(1, view.judged_values["block"].n_unique()), len(cases)))
    table = tabulate_pairs(
        pair_logs(view.judged_values, base, other), cases, view.judged_values["block"].unique().sort()
    )
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
    known = ~np.isnan(table)
    enough = known.sum(axis=0) >= trimming.FEWEST
    drawn = table.copy()
    if enough.any():
        low, high = np.nanquantile(table[:, enough], [trimming.SHARE, 1 - trimming.SHARE], axis=0)
        reach = OUTLIER_RANGES * (high - low) + math.log(OUTLIER_RATIO)
        drawn[:, enough] = np.clip(table[:, enough], low - reach, high + reach)
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
