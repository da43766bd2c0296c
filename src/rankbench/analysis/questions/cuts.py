"""The size below which one candidate, and from which on another, is the better choice. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import NamedTuple

import numpy as np

from rankbench.analysis.questions.block_ratios import Numbers, Overall, average_logs, decide_overall, tabulate_logs
from rankbench.analysis.questions.overall import Answer, make_weighing, weigh_cases
from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.statistics.decision import Family, decide
from rankbench.analysis.statistics.looks import Penalty


class Part(NamedTuple):
    """The cases on one side of a cut."""

    size_bytes: int
    """The largest below the cut, or the smallest above it."""
    fastest: str
    ratios: dict[str, Overall]
    """Of candidates that are significantly slower over its cases; intervals account for the choice of the cut."""
    cases: list[str]


class Choice(NamedTuple):
    """Two candidates on the two sides of a cut."""

    below: str
    above: str
    place: int


def find_cut(view: CampaignView, answer: Answer, penalty: Penalty) -> tuple[Part, Part] | None:
    """Return the best cut, if it is significantly better than every single candidate by more than the threshold.

    The best of many choices is tested, so the level is divided by their number (Bonferroni). On either side the one
    that is named must be significantly faster than the other, and win most cases.
    """
    cases = weigh_cases(view, answer.cases)
    sizes = sorted({size for key in cases if (size := view.case_of[key].size_bytes)})
    names = [name for name in view.candidates if name in answer.names]
    choices = [Choice(*pair, place) for pair in permutations(names, 2) for place in range(1, len(sizes))]
    if not choices:
        return None
    keys, weighed = list(cases), np.array([*cases.values()])
    of_size = np.array([view.case_of[key].size_bytes for key in keys])
    logs = [tabulate_logs(view, answer.best, name, keys) for name in names]
    means = {name: np.nanmean(table, axis=0) * weighed for name, table in zip(names, logs, strict=True)}
    best = min(choices, key=lambda choice: _sum_logs(means, choice, of_size, sizes))
    sides = (of_size > 0) & (of_size < sizes[best.place]), of_size >= sizes[best.place]

    def is_faster_than(name: str) -> bool:
        pairs = {chosen: tabulate_logs(view, name, chosen, keys) for chosen in (best.below, best.above)}
        policy = np.where(sides[0], pairs[best.below], np.where(sides[1], pairs[best.above], 0.0))
        (decision,) = decide_overall(view, [average_logs(policy, weighed)], penalty, len(choices))
        return decision.beyond and decision.outcome == "faster"

    if not all(map(is_faster_than, names)):
        return None
    below, above = ([keys[place] for place in np.flatnonzero(side).tolist()] for side in sides)
    low = _judge_side(view, best.below, names, below, sizes[best.place - 1], penalty, len(choices))
    high = _judge_side(view, best.above, names, above, sizes[best.place], penalty, len(choices))
    if low is None or high is None or best.above not in low.ratios or best.below not in high.ratios:
        return None
    return low, high


def _sum_logs(means: dict[str, Numbers], choice: Choice, of_size: Numbers, sizes: Sequence[int]) -> float:
    """Return the mean log ratio of a choice to the fastest single candidate, over the cases that have a size."""
    above = of_size >= sizes[choice.place]
    below = (of_size > 0) & ~above
    return float(means[choice.below][below].sum() + means[choice.above][above].sum())


def _judge_side(
    view: CampaignView, fastest: str, names: Sequence[str], keys: list[str], size: int, penalty: Penalty, tests: int
) -> Part | None:
    """Return one side; nothing where another candidate wins more single cases of it or may be faster over all."""
    alone = [
        main_verdict.winners[0]
        for main_verdict in view.main_verdicts
        if main_verdict.case.key in keys and len(main_verdict.winners) == 1
    ]
    if not alone.count(fastest) or any(alone.count(name) > alone.count(fastest) for name in names):
        return None
    others = [name for name in names if name != fastest]
    weighing = make_weighing(view, keys, names)
    estimates = [weighing.estimate(view, fastest, name) for name in others]
    confidence = view.campaign.plan.confidence
    decisions = decide(estimates, 0.0, confidence, penalty=penalty, family=Family("bonferroni", tests=tests))
    slower = {
        name: Overall.of(decision)
        for name, decision in zip(others, decisions, strict=True)
        if decision.beyond and decision.ratio > 1
    }
    return Part(size, fastest, slower, keys) if len(slower) == len(others) else None
