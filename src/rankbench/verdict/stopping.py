"""Whether a campaign has enough blocks, and what it still measures: pure functions over what the numbers say.

The loop keeps its bounds. Which comparisons still matter is told by `statistics.deciding`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankbench.campaign import Decision
from rankbench.language import say
from rankbench.model import Look
from rankbench.plan import looks, notation
from rankbench.statistics import deciding
from rankbench.statistics.looks import Penalty
from rankbench.verdict.overall import answer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rankbench.model import Plan, Summary
    from rankbench.verdict.view import CampaignView


def decide(plan: Plan, evaluate: Callable[[], CampaignView], block_s: Sequence[float]) -> Decision:
    """Return whether the plan's rule is met. `block_s` is how long each block so far took.

    To evaluate is to read every sample so far: that is done only where the rule rests on figures.
    """
    rule, amount = notation.until(plan.stop.until)
    later = [number for number in looks(plan.stop) if number > len(block_s)]
    if rule in {"decided", "answered", "precision"} and len(block_s) not in looks(plan.stop) and later:
        return Decision(stop=False, reason=say("the next look is after block {n}", n=later[0]))
    if rule == "decided":
        return looked(plan, evaluate(), len(block_s))
    if rule == "answered":
        return answered(evaluate(), looks(plan.stop), len(block_s))
    if rule == "precision":
        summaries = [one for one in evaluate().verdict.summaries if one.launches]
        coarse = [one for one in summaries if precision(one) > amount]
        return _counted(len(coarse), len(summaries), amount)
    if rule == "time":
        spent_s = sum(block_s)
        over = spent_s + max(block_s, default=0.0) > amount
        spent = say("{spent:.0f} s of the plan's {amount:.0f} s are spent", spent=spent_s, amount=float(amount))
        return Decision(over, spent)
    return Decision(stop=False, reason=say("every block of the plan is wanted"))


def _counted(still_open: int, of: int, amount: float) -> Decision:
    """Return the decision to go on while intervals are too wide."""
    told = say(
        "{n} of {all} intervals are within ±{amount:.2%}"
        if still_open
        else "all {all} intervals are within ±{amount:.2%}",
        n=of - still_open,
        all=of,
        amount=float(amount),
    )
    return Decision(stop=not still_open, reason=told)


def answered(view: CampaignView, at: Sequence[int], block: int) -> Decision:
    """Return whether it is known who takes least over all cases, against everybody."""
    found = answer(view, Penalty(tuple(at), block))
    if not found:
        return Decision(stop=True, reason=say("no two candidates have figures for the same cases"))
    told = say(
        "over {n:count case} {best} takes least; against {settled} of {all:count other candidate} that is decided",
        n=len(found.cases),
        best=found.best,
        settled=len(found.settled),
        all=len(found.settled) + len(found.open),
    )
    return Decision(stop=not found.open, reason=told)


def looked(plan: Plan, view: CampaignView, block: int) -> Decision:
    """Return what is decided after a block, and what is measured further."""
    outlook = deciding.Outlook(plan.threshold, looks(plan.stop), plan.confidence, view.campaign.baseline)
    verdict = view.verdict
    found = deciding.standing(verdict.comparisons, outlook, drop=plan.stop.drop)
    winners = {one.case.key: one.winners for one in verdict.cases if one.winners}
    look = Look(
        block=block,
        decided=found.decided,
        given_up=found.given_up,
        open=found.open,
        until=found.blocks,
        winners=winners,
    )
    asked = len(found.decided) + len(found.given_up) + len(found.open)
    parts = [say("{n} of {all} cases are decided", n=len(found.decided), all=asked)]
    if found.given_up:
        parts.append(say("{n} would need more blocks than the plan has", n=len(found.given_up)))
    if found.open:
        parts.append(say("{n} {n:of goes|go} on, to block {block} as it looks", n=len(found.open), block=found.blocks))
    return Decision(not found.open, say("{parts:,}", parts=parts), look)


def precision(summary: Summary) -> float:
    """Return half the width of the interval, relative to the typical value."""
    return (summary.high_ns - summary.low_ns) / 2 / summary.typical_ns if summary.typical_ns else 0.0
