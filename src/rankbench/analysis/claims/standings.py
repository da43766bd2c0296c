"""How all candidates stand against the fastest one, overall or at each place where the answer differs. Pure."""

from __future__ import annotations

from typing import NamedTuple

from rankbench.analysis.claims.short_answer import answer_places
from rankbench.analysis.questions.block_ratios import Overall
from rankbench.analysis.questions.interim import find_penalty
from rankbench.analysis.questions.near_and_far import compare_states
from rankbench.analysis.questions.overall import Answer, find_answer, select_compared
from rankbench.analysis.questions.view import CampaignView
from rankbench.language import NOTHING, Text, say

BEST = Overall(1.0, 1.0, 1.0)


class Standing(NamedTuple):
    """A candidate against the one with the lowest overall time."""

    name: str
    overall: Overall | None
    """Of its time to the lowest; 1 for the lowest itself, None where it is not compared."""
    levels: dict[str, Overall]
    """The same while cores are near and while they are far, where that makes a difference."""
    reason: Text
    """Why it is not compared."""


class Standings(NamedTuple):
    """All candidates over the same cases, the lowest overall time first."""

    place: Text
    """Where, if the answer depends on it; else empty."""
    cases: list[str]
    rows: list[Standing]


def list_standings(view: CampaignView) -> list[Standings]:
    """Return the standings over all cases, or at each place where the answer depends on it; nothing without one."""
    verdicts = [verdict for verdict in view.main_verdicts if len(verdict.ranking) > 1]
    judged = [verdict for verdict in select_compared(view, verdicts) if verdict.case.quantity != "memory"]
    penalty = find_penalty(view)
    answer = find_answer(view, penalty) if judged else None
    if not answer or not answer.is_representative:
        return []
    if places := answer_places(view, answer, judged, penalty):
        return [_make_standings(view, place, of_place, {}) for place, of_place in places]
    levels = {state.level: state.ratios for state in compare_states(view, answer, penalty)}
    return [_make_standings(view, NOTHING, answer, levels)]


def _make_standings(
    view: CampaignView, place: Text, answer: Answer, levels: dict[str, dict[str, Overall]]
) -> Standings:
    ratios = {answer.best: BEST, **answer.ratios, **answer.variants}
    rows = [
        Standing(
            name,
            ratios.get(name),
            {level: of_level[name] for level, of_level in levels.items() if name in of_level},
            NOTHING if name in ratios else _explain_absence(view, answer, name),
        )
        for name in sorted(view.candidates, key=lambda name: (name not in ratios, name in ratios and ratios[name].mean))
    ]
    return Standings(place, answer.cases, rows)


def _explain_absence(view: CampaignView, answer: Answer, name: str) -> Text:
    """Return why a candidate is not compared."""
    if name in answer.lacking:
        key = answer.lacking[name]
        reason = view.verdict_of[key].failures.get(name, say("no value"))
        return say("{reason} in {case}", reason=reason, case=view.full_title(view.case_of[key]))
    values = sum(name in verdict.ranking for verdict in view.main_verdicts)
    if values:
        return say("too few values: of {n} of {all:count case}", n=values, all=len(view.main_verdicts))
    failures = (verdict.failures[name] for verdict in view.main_verdicts if name in verdict.failures)
    return next(failures, say("no values"))
