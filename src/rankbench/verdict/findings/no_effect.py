"""Candidates that differ in settings only are equivalent in all cases.

Why: The setting changed nothing that was measured. Libraries ignore misspelt settings silently.

What to do: Check the name of the setting, and the transport or algorithm that it belongs to; or leave it out.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from rankbench.language import listed, say
from rankbench.model import Finding
from rankbench.statistics import FEWEST_BLOCKS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankbench.model import Candidate, Comparison
    from rankbench.verdict.view import CampaignView

TITLE = "Settings without effect"


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield a note per two candidates of one library whose every interval lies within the threshold."""
    own = [candidate for candidate in view.campaign.candidates if not candidate.control_of]
    for one, two in combinations(own, 2):
        if one.library == two.library and one.settings != two.settings:
            compared = _compared(view, one, two)
            if compared and all(_within(comparison, view.campaign.plan.threshold) for comparison in compared):
                yield _finding(view, one, two, compared)


def _compared(view: CampaignView, candidate: Candidate, two: Candidate) -> list[Comparison]:
    found = (view.comparisons.of(verdict.case.key, candidate.name, two.name) for verdict in view.main_verdicts)
    return [comparison for comparison in found if comparison]


def _within(comparison: Comparison, threshold: float) -> bool:
    """Return whether the two are known to be alike: not merely whether no difference was found."""
    return (
        comparison.blocks >= FEWEST_BLOCKS
        and 1 / (1 + threshold) <= comparison.low
        and comparison.high <= 1 + threshold
    )


def _finding(view: CampaignView, candidate: Candidate, two: Candidate, compared: list[Comparison]) -> Finding:
    widest = max(compared, key=lambda comparison: max(comparison.high, 1 / comparison.low))
    names = sorted(candidate.settings.items() ^ two.settings.items())
    settings = listed(dict.fromkeys(name for name, _ in names))
    return Finding(
        kind="no_effect",
        title=say("{settings}: changed nothing", settings=settings),
        text=say(
            "{one} and {two} differ in {settings} only, which changed nothing in {n:count case}: every interval of "
            "their ratio lies within {threshold:.0%}, the widest from {low:ratio} to {high:ratio} ({case}).",
            one=candidate.name,
            two=two.name,
            settings=settings,
            n=len(compared),
            threshold=view.campaign.plan.threshold,
            low=widest.low,
            high=widest.high,
            case=view.full_title(view.case_of[widest.case]),
        ),
        advice=say(
            "Leave it out, or see whether the library takes it at all: its name, and the transport or the algorithm "
            "that it belongs to."
        ),
        cases=[comparison.case for comparison in compared],
        severity="note",
        plot="ratios",
    )
