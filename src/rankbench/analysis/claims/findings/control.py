"""The A/A control: one library, measured twice under two names, should not differ from itself.

Why: It shows how often this method and this machine report a difference that does not exist.

What to do: Run more blocks (`stop.blocks` in the plan), on a machine that does nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator

from rankbench.analysis.questions.placements import invert
from rankbench.analysis.questions.view import CampaignView
from rankbench.language import say
from rankbench.model import Finding

TITLE = "Noise check"
TOLERATED = 0.05


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield a warning if more than 5% of the cases call the two different."""
    wrong = [comparison for comparison in view.control if comparison.different]
    if len(wrong) <= TOLERATED * len(view.control):
        return
    largest = max(
        (comparison if comparison.ratio > 1 else invert(comparison) for comparison in wrong),
        key=lambda comparison: comparison.ratio,
    )
    yield Finding(
        kind="control",
        title=say("One library seems to differ from itself"),
        text=say(
            "{name} was measured twice under two names, and {n} of {all:count case} called the two different, by up to "
            "{largest:ratio} ({low:ratio} to {high:ratio}). Differences of that size between libraries may be noise.",
            name=wrong[0].base,
            n=len(wrong),
            all=len(view.control),
            largest=largest.ratio,
            low=largest.low,
            high=largest.high,
        ),
        advice=say("Run more blocks (stop.blocks in the plan), on a machine that does nothing else."),
        cases=[comparison.case for comparison in wrong],
        severity="warning",
    )
