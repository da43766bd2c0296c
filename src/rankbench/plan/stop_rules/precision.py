"""The rule `precision P%`: the campaign ends when every interval is narrow enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankbench.language import say
from rankbench.plan.stop_rules import Decision

if TYPE_CHECKING:
    from rankbench.plan.stop_rules import Progress

ORDER, NAME, AMOUNT, HELP = 4, "precision", "share", '"precision 2%"'
LOOKS, COSTS_ERROR = True, False


def decide(progress: Progress, amount: float) -> Decision:
    """Continue while intervals are too wide."""
    widths = progress.half_widths()
    wide = sum(width > amount for width in widths)
    reason = say(
        "{n} of {all} intervals are within ±{amount:.2%}" if wide else "all {all} intervals are within ±{amount:.2%}",
        n=len(widths) - wide,
        all=len(widths),
        amount=float(amount),
    )
    return Decision(stop=not wide, reason=reason)
