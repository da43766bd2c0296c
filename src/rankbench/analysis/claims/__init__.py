"""The verdict: who is fastest where, by how much, what looks wrong, and the conclusion in sentences. Pure.

One campaign; `across` compares several. `evaluation` reads the store and joins it with statistics and this room.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations

import msgspec

from rankbench import units
from rankbench.analysis.claims import findings
from rankbench.analysis.claims.conclusion import conclude
from rankbench.analysis.claims.groups import find_groups
from rankbench.analysis.questions.comparisons import Comparisons
from rankbench.analysis.questions.view import CampaignView
from rankbench.language import Text, say
from rankbench.model import Campaign, Case, CaseStatus, CaseVerdict, Comparison, Launch, Summary, Verdict
from rankbench.model.verdicts import GRAVEST_FIRST, Outcome

__all__ = ["judge", "make_draft"]

Margin = tuple[float, float, float]
NO_MARGIN: Margin = (1.0, 0.0, 0.0)


def make_draft(
    campaign: Campaign,
    launches: Sequence[Launch],
    summaries: Sequence[Summary],
    comparisons: Sequence[Comparison],
    control: Sequence[Comparison] = (),
) -> Verdict:
    """Return a verdict with every case ranked, and without conclusion, findings and groups.

    The A/A twin takes part in no ranking: it speaks only of the method.
    """
    twins = {candidate.name for candidate in campaign.candidates if candidate.control_of}
    by_case: dict[str, list[Summary]] = {}
    for summary in summaries:
        if summary.candidate not in twins:
            by_case.setdefault(summary.case, []).append(summary)
    pairs = Comparisons(comparisons)
    return Verdict(
        conclusion=[],
        cases=[judge_case(case, by_case.get(case.key, []), pairs) for case in campaign.cases],
        summaries=list(summaries),
        comparisons=list(comparisons),
        control=list(control),
        findings=[],
        blocks=len({launch.block for launch in launches}),
    )


def judge(view: CampaignView) -> Verdict:
    """Return the view's verdict with its conclusion, its findings and its groups."""
    return msgspec.structs.replace(
        view.verdict,
        conclusion=conclude(view),
        findings=sorted(
            (finding for unit in units.modules(findings).values() for finding in unit.find(view)),
            key=lambda finding: GRAVEST_FIRST.index(finding.severity),
        ),
        groups=find_groups(view),
    )


def judge_case(case: Case, summaries: Sequence[Summary], pairs: Comparisons) -> CaseVerdict:
    """Rank the candidates of one case. Winners: all that no other is significantly faster than, at one level at least.

    Paired comparisons alone decide who is slower; typical values, which are not paired, order the rest. A candidate
    that delivered wrong data once, or whose starts were all too uncertain, is not ranked.
    """
    names = _order_by_time(summaries)
    levels = pairs.levels(case.key)
    fronts = {level: _find_front(case.key, names, at) for level, at in levels.items()}
    first = {name for front in fronts.values() or [_find_front(case.key, names, pairs)] for name in front}
    names.sort(key=lambda name: name not in first)
    winners = [name for name in names if name in first]
    margin, low, high = _find_margin(pairs, case.key, names, winners)
    outcomes = {level: _judge_outcome(case.key, front, levels[level]) for level, front in fronts.items()}
    excluded = (summary for summary in summaries if summary.candidate not in names)
    return CaseVerdict(
        case=case,
        ranking=names,
        winners=winners,
        outcome=_judge_case(case.key, names, winners, pairs) if not fronts else _join_outcomes(fronts, outcomes),
        winners_by_level={level: [name for name in names if name in front] for level, front in fronts.items()},
        outcome_by_level=outcomes,
        margins_by_level={
            level: _find_margin(levels[level], case.key, names, front) for level, front in fronts.items() if front
        },
        margin=margin,
        margin_low=low or None,
        margin_high=high or None,
        failures={summary.candidate: _explain_exclusion(summary) for summary in excluded},
    )


def _order_by_time(summaries: Sequence[Summary]) -> list[str]:
    """Return the candidates with values and without wrong data, the one with the lowest typical time first."""
    sound = (summary for summary in summaries if summary.launches and CaseStatus.WRONG_DATA not in summary.failures)
    return [summary.candidate for summary in sorted(sound, key=lambda summary: summary.typical_ns)]


def _find_margin(pairs: Comparisons, case: str, names: Sequence[str], winners: Sequence[str]) -> Margin:
    """Return the smallest ratio above 1 of others to the first winner, or without one to the first name.

    The interval is that of the smallest true ratio, whichever that is.

    No ratio is below the least of all low ends, and the smallest true one is at most the least of all high ends.
    """
    first = next(iter([*winners, *names]), "")
    ratios = (pairs.interval(case, first, name) for name in names if name not in winners)
    slower = [ratio for ratio in ratios if ratio and ratio[0] > 1]
    if not slower:
        return NO_MARGIN
    nearest, *_ = min(slower)
    low, high = (min(ratio[end] for ratio in slower) for end in (1, 2))
    return (nearest, low, high) if math.isfinite(high) else (nearest, 0.0, 0.0)


def _find_front(case: str, names: Sequence[str], pairs: Comparisons) -> list[str]:
    """Return the candidates that no other is significantly faster than."""
    return [name for name in names if not any(pairs.slower(case, other, name) for other in names)]


def _judge_case(case: str, names: Sequence[str], winners: Sequence[str], pairs: Comparisons) -> Outcome:
    """Return the outcome of a case without levels."""
    return "only" if len(names) == 1 else _judge_outcome(case, winners, pairs)


def _judge_outcome(case: str, winners: Sequence[str], pairs: Comparisons) -> Outcome:
    """Return the outcome of winners at one level of the reference."""
    if len(winners) == 1:
        return "faster"
    equivalent = winners and all(pairs.equivalent(case, *both) for both in combinations(winners, 2))
    return "equivalent" if equivalent else "undecided"


def _join_outcomes(fronts: Mapping[str, Sequence[str]], outcomes: Mapping[str, Outcome]) -> Outcome:
    """Return the outcome over all levels: that of each where winners are the same; `depends` where they differ."""
    sets = [set(front) for front in fronts.values()]
    if all(sets) and not set.intersection(*sets):
        return "depends"
    if "undecided" in outcomes.values():
        return "undecided"
    return next(iter(outcomes.values())) if all(winners == sets[0] for winners in sets) else "depends"


def _explain_exclusion(summary: Summary) -> Text:
    """Return why a candidate is not ranked."""
    statuses = [
        say(
            "{status} in {n:count launch} ({why})" if status in summary.reasons else "{status} in {n:count launch}",
            status=status,
            n=count,
            why=summary.reasons.get(status, ""),
        )
        for status, count in sorted(summary.failures.items())
    ]
    return say("{reasons:,}", reasons=[summary.doubt, *statuses] if summary.doubt else statuses)
