"""What the A/A control says of the method on this machine: two names for one candidate should not differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankbench.model import Finding
from rankbench.quantities import format_ratio
from rankbench.verdict.evidence import Evidence, counted

if TYPE_CHECKING:
    from collections.abc import Iterator

TITLE = "A/A control"
TOLERATED = 0.05


def find(evidence: Evidence) -> Iterator[Finding]:
    """Yield a warning if more than 5 % of the cases call the two different."""
    wrong = [one for one in evidence.control if one.different]
    if len(wrong) <= TOLERATED * len(evidence.control):
        return
    largest = max(max(one.ratio, 1 / one.ratio) for one in wrong)
    yield Finding(
        kind="control",
        title="One library seems to differ from itself",
        text=(
            f"{wrong[0].base} was measured twice under two names, and {len(wrong)} of "
            f"{counted(len(evidence.control), 'case')} called the two different, by up to {format_ratio(largest)}. "
            "Differences of that size between libraries may be as empty."
        ),
        advice="Run more blocks (stop.blocks in the plan), on a machine that does nothing else.",
        cases=[one.case for one in wrong],
        severity="warning",
    )
