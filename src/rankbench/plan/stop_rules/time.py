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
    """Stop if a block as long as the longest one so far would end too late."""
    block_s = progress.block_s
    fields = {"spent": sum(block_s), "amount": amount, "blocks": len(block_s)}
    if not _is_spent(block_s, amount):
        return Decision(stop=False, reason=say("{spent:clock} of the plan's {amount:clock} have passed", **fields))
    if 1 < len(block_s) <= progress.blocks_min and _is_spent(block_s[:-1], amount):
        reason = say("{blocks} blocks, the minimum, take longer than {amount:clock}", **fields)
        return Decision(stop=True, reason=reason)
    return Decision(stop=True, reason=say("another block would not fit into the plan's {amount:clock}", **fields))


def _is_spent(block_s: Sequence[float], amount: float) -> bool:
    """Return whether another block would end too late."""
    return sum(block_s) + max(block_s, default=0.0) > amount
