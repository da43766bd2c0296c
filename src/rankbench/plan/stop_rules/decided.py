"""The rule `decided`: each case ends when its comparisons are decided, or would not be within the plan's blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankbench.language import say
from rankbench.plan.stop_rules import Decision

if TYPE_CHECKING:
    from rankbench.plan.stop_rules import Progress

ORDER, NAME, AMOUNT, HELP = 1, "decided", "", '"decided"'
LOOKS, COSTS_ERROR, BY_CASE = True, True, True


def decide(progress: Progress, amount: float) -> Decision:  # noqa: ARG001 - the contract
    """Stop if no case is open."""
    look = progress.look()
    cases = len(look.decided) + len(look.given_up) + len(look.open)
    parts = [say("{n} of {all} cases are decided", n=len(look.decided), all=cases)]
    if look.given_up:
        parts.append(say("{n} would need more blocks than the plan has", n=len(look.given_up)))
    if look.open:
        parts.append(say("{n} {n:of goes|go} on, probably to block {block}", n=len(look.open), block=look.until))
    return Decision(not look.open, say("{parts:,}", parts=parts), look)
