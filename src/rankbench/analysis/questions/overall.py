"""Who has the lowest time over many cases, and how the others compare. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from rankbench.analysis.questions import mix
from rankbench.analysis.questions.block_ratios import Overall, count_slower, decide_overall, estimate_logs, judge_rival
from rankbench.analysis.questions.standing import choose_compared
from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.statistics.decision import Estimate
from rankbench.analysis.statistics.looks import ONE_LOOK, Penalty
from rankbench.model import CaseVerdict


class Weighing(NamedTuple):
    """How cases count together: as the plan's calls need time, or by equal weights of operations."""

    cases: list[str]
    weights: dict[str, float]
    """Equal among operations, and within an operation among its cases; they sum to 1."""
    totals: mix.Totals | None
    """Of the plan's calls, where any of the cases is of them."""

    def weigh(self, base: str, other: str) -> dict[str, float]:
        """Return the weight of each case where two candidates are compared."""
        return self.totals.weigh(base, other) if self.totals else self.weights

    def estimate(self, view: CampaignView, base: str, other: str) -> Estimate:
        """Return the mean logarithm of `other` over `base`, or that of their totals of the plan's calls."""
        if self.totals and base != other:
            return mix.estimate_total(view, self.totals, base, other)
        return estimate_logs(view, base, other, self.weights)


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


def make_weighing(view: CampaignView, cases: Collection[str], names: Sequence[str]) -> Weighing:
    """Return how cases count, of which these candidates have values."""
    every = [part for placed in mix.sum_mixes(view, view.campaign.plan.calls) for part in placed.parts]
    parts = [part for part in every if all(case.key in cases for case, _ in part.cases)]
    totals = mix.fit_totals(view, parts)
    if parts and set(names) <= set(totals.times):
        called = dict.fromkeys(case.key for part in parts for case, _ in part.cases)
        return Weighing([key for key in cases if key in called], _weigh_equally(view, called), totals)
    return Weighing(list(cases), _weigh_equally(view, cases), None)


def _weigh_equally(view: CampaignView, cases: Collection[str]) -> dict[str, float]:
    """Return equal weights of operations, and within an operation of its cases, which sum to 1."""
    operations = {key: view.case_of[key].operation for key in cases}
    number = Counter(operations.values())
    return {key: 1 / number[operation] / len(number) for key, operation in operations.items()}


def weigh_cases(view: CampaignView, cases: Collection[str]) -> dict[str, float]:
    """Return the weight of each case: its share of the time of the plan's calls as the mean of candidates has it, where
    there are any and these are of them; else equal among operations. They sum to 1.
    """
    called = _time_calls(view)
    weighed = {key: called[key] for key in cases if called.get(key)}
    total = sum(weighed.values())
    return {key: weight / total for key, weight in weighed.items()} or _weigh_equally(view, cases)


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
    weighing = make_weighing(view, cases, names)
    answer = _compare_names(view, names, weighing, penalty, among)
    return answer._replace(lacking=lacking, undecided=_find_undecided(view, called, weighing.cases))


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
    view: CampaignView, names: Sequence[str], weighing: Weighing, penalty: Penalty, among: int
) -> Answer:
    """Return the answer over cases for which all these candidates have values."""
    leader = _lead_libraries(view, names, weighing, penalty)
    leaders = list(dict.fromkeys(leader[name] for name in names))
    best = min(leaders, key=lambda name: weighing.estimate(view, names[0], name).mean)
    answer = Answer(best, weighing.cases, [], [], [], {}, [], {}, {})
    groups = {"slower": answer.slower, "equivalent": answer.equivalent, "behind": answer.behind, "open": answer.open}
    siblings = [name for name in names if leader[name] == best != name]
    rivals = [name for name in leaders if name != best]
    estimates = [weighing.estimate(view, best, name) for name in (*rivals, *siblings)]
    decisions = decide_overall(view, estimates, penalty, among * len(estimates))
    for name, estimate, decision in zip((*rivals, *siblings), estimates, decisions, strict=True):
        weighed = weighing.weigh(best, name)
        ratio = Overall.of(decision, *count_slower(view, best, name, weighed, estimate.offset))
        if name in siblings:
            answer.variants[name] = ratio
            continue
        answer.ratios[name] = ratio
        groups[judge_rival(decision, ratio)].append(name)
    return answer


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


def _lead_libraries(view: CampaignView, names: Sequence[str], weighing: Weighing, penalty: Penalty) -> dict[str, str]:
    """Return by candidate the one that stands for its library: without settings, unless others are shown faster."""
    first = group_libraries(view)
    leader: dict[str, str] = {}
    for library in dict.fromkeys(first[name] for name in names):
        members = [name for name in names if first[name] == library]
        plain = library if library in members else members[0]
        others = [name for name in members if name != plain]
        estimates = [weighing.estimate(view, plain, name) for name in others]
        decisions = decide_overall(view, estimates, penalty, len(others))
        faster = {
            name: decision.ratio
            for name, decision in zip(others, decisions, strict=True)
            if decision.beyond and decision.outcome == "faster"
        }
        leader |= dict.fromkeys(members, min(faster, key=lambda name: faster[name], default=plain))
    return leader


def compare_overall(
    view: CampaignView, base: str, other: str, cases: Collection[str], penalty: Penalty = ONE_LOOK, tests: int = 1
) -> Overall:
    """Return the time of `other` over that of `base` over these cases, for which both have values.

    The interval is of the plan's confidence for so many tests at once.
    """
    weighing = make_weighing(view, cases, (base, other))
    (decision,) = decide_overall(view, [weighing.estimate(view, base, other)], penalty, tests)
    return Overall.of(decision)
