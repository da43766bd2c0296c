"""Whether a campaign has enough blocks: pure functions over what the numbers say. The loop keeps its bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rankbench.plan import looks, notation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rankbench.model import Comparison, Plan, Summary, Verdict


class Decision(NamedTuple):
    """Whether to stop, and why, or what still has to be found out."""

    stop: bool
    reason: str


def decide(plan: Plan, verdict: Callable[[], Verdict], block_s: Sequence[float]) -> Decision:
    """Return whether the plan's rule is met. `block_s` is how long each block so far took.

    `verdict` reads every sample so far: it is called only where the rule rests on figures.
    """
    rule, amount = notation.until(plan.stop.until)
    later = [number for number in looks(plan.stop) if number > len(block_s)]
    if rule in {"decided", "precision"} and len(block_s) not in looks(plan.stop) and later:
        return Decision(stop=False, reason=f"the next look is after block {later[0]}")
    if rule == "decided":
        comparisons = verdict().comparisons
        unsettled = [one for one in comparisons if not settled(one, plan.threshold)]
        return told(len(unsettled), len(comparisons), "comparisons are decided")
    if rule == "precision":
        summaries = [one for one in verdict().summaries if one.launches]
        coarse = [one for one in summaries if precision(one) > amount]
        return told(len(coarse), len(summaries), f"intervals are within ±{amount:.2%}")
    if rule == "time":
        spent_s = sum(block_s)
        over = spent_s + max(block_s, default=0.0) > amount
        return Decision(over, f"{spent_s:.0f} s of the plan's {amount:.0f} s are spent")
    return Decision(stop=False, reason="every block of the plan is wanted")


def told(still_open: int, of: int, what: str) -> Decision:
    """Return the decision to go on while something is open."""
    if still_open:
        return Decision(stop=False, reason=f"{of - still_open} of {of} {what}")
    return Decision(stop=True, reason=f"all {of} {what}")


def settled(comparison: Comparison, threshold: float) -> bool:
    """Return whether two candidates are known to differ, or known not to differ by more than the threshold."""
    alike = comparison.low >= 1 / (1 + threshold) and comparison.high <= 1 + threshold
    return comparison.different or alike


def precision(summary: Summary) -> float:
    """Return half the width of the interval, relative to the typical value."""
    return (summary.high_ns - summary.low_ns) / 2 / summary.typical_ns if summary.typical_ns else 0.0
