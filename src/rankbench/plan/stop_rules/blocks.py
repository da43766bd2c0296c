"""The rule `blocks`: every block of the plan is measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankbench.language import say
from rankbench.plan.stop_rules import Decision

if TYPE_CHECKING:
    from rankbench.plan.stop_rules import Progress

ORDER, NAME, AMOUNT, HELP = 3, "blocks", "", '"blocks"'
LOOKS, COSTS_ERROR = False, False


def decide(progress: Progress, amount: float) -> Decision:  # noqa: ARG001 - the contract
    """Continue."""
    return Decision(stop=False, reason=say("every block of the plan is measured"))
