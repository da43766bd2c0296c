"""How candidates compare over many cases, with intervals. Pure.

Launches are what is repeated, and the cases of one launch err together: the error of a weighted mean over cases comes
from how far each block as a whole is off (the sandwich estimator of clustered data). A block in which cases had ended
already counts by those that it has.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankbench.model import CaseVerdict
from rankbench.model.verdicts import is_informative
from rankbench.statistics import FEWEST_BLOCKS, FINEST_SPREAD, trimming
from rankbench.statistics.decision import Decision, Estimate, Family, decide
from rankbench.statistics.looks import ONE_LOOK, Penalty
from rankbench.verdict import mix
from rankbench.verdict.standing import choose_compared
from rankbench.verdict.view import CampaignView

Numbers = NDArray[np.float64]


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
    """A geometric mean of ratios over cases; where launches are too few for an interval it is 0 to infinity."""

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
    behind: list[str]
    """Slower than the best in every block, by an amount that is not known."""
    variants: dict[str, Overall]
    """The same of other settings of the best one's library."""
    lacking: dict[str, str]
    """Candidates without a value for one of the plan's calls, and the key of that case."""
    undecided: float = 0.0
    """Share of the time of the plan's calls that is spent in cases that are not compared."""

    @property
    def settled(self) -> list[str]:
        """Return the rivals that are compared with certainty."""
        return [*self.slower, *self.equivalent]

    @property
    def is_certain(self) -> bool:
        """Every rival is slower, in calls that take nearly all of the time."""
        return (
            self.is_representative and bool(self.slower) and not self.open and not self.equivalent and not self.behind
        )

    @property
    def is_representative(self) -> bool:
        """Hardly any of the time of the plan's calls is spent in cases that are not compared."""
        return self.undecided <= mix.MOST_GUESSED

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
    return decide(widened, plan.threshold, plan.confidence, penalty=penalty, family=Family("bonferroni", tests=tests))


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
    """Return the verdicts of repeated calls of ranks with a core each; others count only where there are no such.

    Cases that compare differently alone never count.
    """
    apart = {comparison.case for comparison in view.verdict.alone}
    verdicts = [verdict for verdict in verdicts if verdict.case.key not in apart]
    ample = [verdict for verdict in verdicts if not view.short_of_cores(verdict.case)] or verdicts
    return [verdict for verdict in ample if verdict.case.operation not in view.campaign.once_operations] or ample


def find_answer(
    view: CampaignView, penalty: Penalty, verdicts: Sequence[CaseVerdict] | None = None, among: int = 1
) -> Answer | None:
    """Return who has the lowest time over all cases, as far as that is known; None with fewer than two to compare.

    Every look and every rival can mislead: the interval accounts for all of them.

    Args:
        view: the campaign.
        penalty: for interim looks.
        verdicts: of the cases to compare; None: of all that count.
        among: how many such answers are given together.
    """
    compared = list(select_compared(view, view.timed_verdicts) if verdicts is None else verdicts)
    called = _time_calls(view)
    keys = {verdict.case.key for verdict in compared if called.get(verdict.case.key)}
    if keys:
        compared = sorted(
            (verdict for verdict in compared if verdict.case.key in keys), key=lambda verdict: -called[verdict.case.key]
        )
    lacking = _find_lacking(view, compared) if keys else {}
    counts = {name: sum(name in verdict.ranking for verdict in compared) for name in view.candidates}
    names = [name for name in choose_compared(counts) if name not in lacking]
    cases = [verdict.case.key for verdict in compared if set(names) <= set(verdict.ranking)]
    if not cases or not names or len(names) + len(lacking) < 2:
        return None
    answer = _compare_names(view, names, weigh_cases(view, cases), penalty, among)
    return answer._replace(lacking=lacking, undecided=_find_undecided(view, called, cases))


def _find_undecided(view: CampaignView, called: Mapping[str, float], cases: Collection[str]) -> float:
    """Return the share of the time of calls that is not spent in these cases, at their placements."""
    places = {view.case_of[key].placement for key in cases}
    here = {key: time for key, time in called.items() if view.case_of[key].placement in places}
    return 1 - sum(here.get(key, 0.0) for key in cases) / sum(here.values()) if here else 0.0


def _find_lacking(view: CampaignView, compared: Sequence[CaseVerdict]) -> dict[str, str]:
    """Return the first case without a value of each candidate that lacks one."""
    lacking = {}
    for name in view.candidates:
        if missing := next((verdict.case.key for verdict in compared if name not in verdict.ranking), ""):
            lacking[name] = missing
    return lacking


def _compare_names(
    view: CampaignView, names: Sequence[str], weighed: Mapping[str, float], penalty: Penalty, among: int
) -> Answer:
    """Return the answer over cases for which all these candidates have values."""
    leader = _lead_libraries(view, names, weighed, penalty)
    leaders = list(dict.fromkeys(leader[name] for name in names))
    best = min(leaders, key=lambda name: estimate_log(view, names[0], name, weighed).mean)
    answer = Answer(best, list(weighed), [], [], [], {}, [], {}, {})
    siblings = [name for name in names if leader[name] == best != name]
    rivals = [name for name in leaders if name != best]
    estimates = [estimate_log(view, best, name, weighed) for name in (*rivals, *siblings)]
    decisions = decide_overall(view, estimates, penalty, among * len(estimates))
    for name, estimate, decision in zip((*rivals, *siblings), estimates, decisions, strict=True):
        ratio = Overall.of(decision, *_count_slower(view, best, name, weighed, estimate.offset))
        if name in siblings:
            answer.variants[name] = ratio
            continue
        answer.ratios[name] = ratio
        _choose_group(answer, decision, ratio).append(name)
    return answer


def _choose_group(answer: Answer, decision: Decision, ratio: Overall) -> list[str]:
    """Return the list of an answer that a rival belongs to."""
    if decision.beyond and decision.outcome == "slower":
        return answer.slower
    if decision.equivalent:
        return answer.equivalent
    return answer.behind if ratio.always_slower else answer.open


def group_libraries(view: CampaignView) -> dict[str, str]:
    """Return by candidate the first candidate of its library, the one without settings if there is one.

    Where the campaign has one library only its settings are what is compared, and each candidate stands for itself.
    """
    candidates = [candidate for candidate in view.campaign.candidates if candidate.name in view.candidates]
    if len({candidate.library for candidate in candidates}) < 2:
        return {candidate.name: candidate.name for candidate in candidates}
    first: dict[str, str] = {}
    for candidate in sorted(candidates, key=lambda candidate: bool(candidate.settings)):
        first.setdefault(candidate.library, candidate.name)
    return {candidate.name: first[candidate.library] for candidate in candidates}


def _lead_libraries(
    view: CampaignView, names: Sequence[str], weighed: Mapping[str, float], penalty: Penalty
) -> dict[str, str]:
    """Return by candidate the one that stands for its library: without settings, unless others are shown faster."""
    first = group_libraries(view)
    leader: dict[str, str] = {}
    for library in dict.fromkeys(first[name] for name in names):
        members = [name for name in names if first[name] == library]
        plain = library if library in members else members[0]
        others = [name for name in members if name != plain]
        estimates = [estimate_log(view, plain, name, weighed) for name in others]
        decisions = decide_overall(view, estimates, penalty, len(others))
        faster = {
            name: decision.ratio
            for name, decision in zip(others, decisions, strict=True)
            if decision.beyond and decision.outcome == "faster"
        }
        leader |= dict.fromkeys(members, min(faster, key=lambda name: faster[name], default=plain))
    return leader


def _count_slower(
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
    estimate = average_logs(tabulate_logs(view, base, other, list(weighed)), np.array([*weighed.values()]))
    names = {base, other} if base != other else ()
    rounded = (weight * view.summary_of[case, name].rounding for case, weight in weighed.items() for name in names)
    return estimate._replace(offset=sum(rounded))


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
