"""The rule `time T`: blocks are measured as long as another one fits into the time.

The time comes before the least number of blocks: a campaign ends with fewer if they do not fit.
"""

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
    fields = {"spent": sum(block_s), "amount": amount, "blocks": len(block_s), "least": progress.blocks_min}
    if not _is_spent(block_s, amount):
        return Decision(stop=False, reason=say("{spent:clock} of the plan's {amount:clock} have passed", **fields))
    if len(block_s) < progress.blocks_min:
        reason = say("{blocks} of at least {least} blocks fit into the plan's {amount:clock}", **fields)
        return Decision(stop=True, reason=reason)
    return Decision(stop=True, reason=say("another block would not fit into the plan's {amount:clock}", **fields))


def _is_spent(block_s: Sequence[float], amount: float) -> bool:
    """Return whether another block would end too late."""
    return sum(block_s) + max(block_s, default=0.0) > amount
