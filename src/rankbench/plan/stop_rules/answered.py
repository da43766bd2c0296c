"""The rule `answered`: the campaign ends when it is known who has the lowest time over all cases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankbench.language import say
from rankbench.plan.stop_rules import Decision

if TYPE_CHECKING:
    from rankbench.plan.stop_rules import Progress

ORDER, NAME, AMOUNT, HELP = 2, "answered", "", '"answered"'
LOOKS, COSTS_ERROR, BASELINE = True, True, False


def decide(progress: Progress, amount: float) -> Decision:  # noqa: ARG001 - the contract
    """Stop if the best candidate is certainly better than all others."""
    answer = progress.answer()
    if not answer:
        return Decision(stop=True, reason=say("no two candidates have values for the same cases"))
    reason = say(
        "over {n:count case} {best} is fastest; against {settled} of {all:count other candidate} that is decided",
        n=len(answer.cases),
        best=answer.best,
        settled=len(answer.settled),
        all=len(answer.settled) + len(answer.open),
    )
    return Decision(stop=not answer.open, reason=reason)
