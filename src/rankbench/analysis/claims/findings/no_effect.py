"""Candidates that differ in settings only are equivalent in all cases.

Why: The setting changed nothing that was measured. Libraries ignore misspelt settings silently.

What to do: Check the name of the setting, and the transport or algorithm that it belongs to; or leave it out.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.statistics import FEWEST_BLOCKS
from rankbench.language import list_parts, say
from rankbench.model import Candidate, Comparison, Finding

TITLE = "Settings without effect"


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield a note per two candidates of one library whose every interval lies within the threshold."""
    candidates = [candidate for candidate in view.campaign.candidates if not candidate.control_of]
    for first, second in combinations(candidates, 2):
        if first.library == second.library and first.settings != second.settings:
            compared = _list_comparisons(view, first, second)
            if compared and all(_is_equivalent(comparison, view.campaign.plan.threshold) for comparison in compared):
                yield _make_finding(view, first, second, compared)


def _list_comparisons(view: CampaignView, first: Candidate, second: Candidate) -> list[Comparison]:
    comparisons = (view.comparisons.find(verdict.case.key, first.name, second.name) for verdict in view.main_verdicts)
    return [comparison for comparison in comparisons if comparison]


def _is_equivalent(comparison: Comparison, threshold: float) -> bool:
    """Return whether the two are equivalent, not merely whether no difference was found."""
    return (
        comparison.blocks >= FEWEST_BLOCKS
        and 1 / (1 + threshold) <= comparison.low
        and comparison.high <= 1 + threshold
    )


def _make_finding(view: CampaignView, first: Candidate, second: Candidate, compared: list[Comparison]) -> Finding:
    widest = max(compared, key=lambda comparison: max(comparison.high, 1 / comparison.low))
    names = sorted(first.settings.items() ^ second.settings.items())
    settings = list_parts(dict.fromkeys(name for name, _ in names))
    return Finding(
        kind="no_effect",
        title=say("{settings} changed nothing", settings=settings),
        text=say(
            "{first} and {second} differ only in {settings}, which changed nothing in {n:count case}: every interval "
            "of their ratio is within {threshold:.0%}, the widest from {low:ratio} to {high:ratio} ({case}).",
            first=first.name,
            second=second.name,
            settings=settings,
            n=len(compared),
            threshold=view.campaign.plan.threshold,
            low=widest.low,
            high=widest.high,
            case=view.full_title(view.case_of[widest.case]),
        ),
        advice=say(
            "Leave it out, or check whether the library uses it at all: its name, and the transport or algorithm "
            "that it belongs to."
        ),
        cases=[comparison.case for comparison in compared],
        severity="note",
        plot="ratios",
    )
