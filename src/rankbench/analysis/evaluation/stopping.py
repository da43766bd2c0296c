"""Applies the plan's stop rule to results: whether a campaign has enough blocks, and what it still measures. Pure.

The loop enforces the bounds on blocks. `statistics.deciding` selects the comparisons that still matter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rankbench.analysis.questions import overall
from rankbench.analysis.questions.overall import Answer
from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.statistics import deciding
from rankbench.analysis.statistics.looks import Penalty
from rankbench.language import say
from rankbench.model import Look, Plan, Summary
from rankbench.plan import list_looks, notation, stop_rules
from rankbench.plan.stop_rules import Decision


def decide(plan: Plan, evaluate: Callable[[], CampaignView], block_s: Sequence[float]) -> Decision:
    """Return whether the plan's rule is met. `block_s` is how long each block so far took.

    An evaluation reads every sample so far, so it is made only if the rule depends on results.
    """
    name, amount, limit_s = notation.parse_until(plan.stop.until)
    rule = stop_rules.find_rule(name)
    in_time = stop_rules.decide_time(Progress(plan, evaluate, block_s), limit_s)
    if in_time.stop:
        return in_time
    later = [number for number in list_looks(plan.stop) if number > len(block_s)]
    if rule.looks and len(block_s) not in list_looks(plan.stop) and later:
        return Decision(stop=False, reason=say("results are analysed next after block {n}", n=later[0]))
    return rule.decide(Progress(plan, evaluate, block_s), amount)


@dataclass(frozen=True)
class Progress:
    """A campaign after a block, as `plan.stop_rules.Progress` describes it."""

    plan: Plan
    evaluate: Callable[[], CampaignView]
    block_s: Sequence[float]

    @property
    def blocks_min(self) -> int:
        """How many blocks are measured in any case."""
        return self.plan.stop.blocks_min

    def look(self) -> Look:
        """Return which cases are decided, given up and open, and by whose further launches they may be decided."""
        plan, view = self.plan, self.evaluate()
        design = deciding.SequentialDesign(
            plan.threshold, list_looks(plan.stop), plan.confidence, view.campaign.baseline
        )
        progress = deciding.assess_cases(view.verdict.comparisons, design, drop=plan.stop.drop)
        return Look(
            block=len(self.block_s),
            decided=progress.decided,
            given_up=progress.given_up,
            open=progress.open,
            until=progress.blocks,
            winners={verdict.case.key: verdict.winners for verdict in view.case_verdicts if verdict.winners},
        )

    def answer(self) -> Answer | None:
        """Return who has the lowest time over all cases, and against whom that is certain."""
        return overall.find_answer(self.evaluate(), Penalty(tuple(list_looks(self.plan.stop)), len(self.block_s)))

    def half_widths(self) -> list[float]:
        """Return half the width of each interval, relative to its typical value."""
        return [half_width(summary) for summary in self.evaluate().summaries if summary.launches]


def half_width(summary: Summary) -> float:
    """Return half the width of the interval, relative to the typical value."""
    return (summary.high_ns - summary.low_ns) / 2 / summary.typical_ns if summary.typical_ns else 0.0
