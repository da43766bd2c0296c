"""The rule `time T`: blocks are measured as long as another one fits into the time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankbench.language import say
from rankbench.plan.stop_rules import Decision

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankbench.plan.stop_rules import Progress

ORDER, NAME, AMOUNT, HELP = 5, "time", "seconds", '"time 30m"'
LOOKS, COSTS_ERROR, MOST_BLOCKS = False, False, 1000


def decide(progress: Progress, amount: float) -> Decision:
    """Stop where a block as long as the longest one so far would end too late."""
    block_s = progress.block_s
    fields = {"spent": sum(block_s), "amount": float(amount), "blocks": len(block_s)}
    reason = say("{spent:.0f} s of the plan's {amount:.0f} s are spent", **fields)
    if 1 < len(block_s) <= progress.blocks_min and _is_spent(block_s[:-1], amount):
        reason = say(
            "{spent:.0f} s, not the plan's {amount:.0f} s, since at least {blocks} blocks are measured", **fields
        )
    return Decision(_is_spent(block_s, amount), reason)


def _is_spent(block_s: Sequence[float], amount: float) -> bool:
    """Return whether another block would end too late."""
    return sum(block_s) + max(block_s, default=0.0) > amount
