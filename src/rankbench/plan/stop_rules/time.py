"""The rule `time T`: blocks are measured as long as another one fits into the time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankbench.language import say
from rankbench.plan.stop_rules import Decision

if TYPE_CHECKING:
    from rankbench.plan.stop_rules import Progress

ORDER, NAME, AMOUNT, HELP = 5, "time", "seconds", '"time 30m"'
LOOKS, COSTS_ERROR, MOST_BLOCKS = False, False, 1000


def decide(progress: Progress, amount: float) -> Decision:
    """Stop where a block as long as the longest one so far would end too late."""
    spent_s = sum(progress.block_s)
    spent = say("{spent:.0f} s of the plan's {amount:.0f} s are spent", spent=spent_s, amount=float(amount))
    return Decision(spent_s + max(progress.block_s, default=0.0) > amount, spent)
