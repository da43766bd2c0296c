"""The largest of many ratios: in which order they are, and how far the largest is known. Pure.

The largest of many estimates is more often too large than too small. So cases are ordered by ratios that are drawn
towards those of neighbouring sizes (`statistics.shrinkage`), and the interval of a ratio that was selected is that of
so many tests at once as there were ratios to select from (Bonferroni): it covers the truth of whichever was selected.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cached_property

from numpy.typing import ArrayLike

from rankbench.analysis.questions.interim import find_penalty
from rankbench.analysis.questions.view import CampaignView, make_sort_key
from rankbench.analysis.statistics.decision import Decision, Estimate, Family, decide
from rankbench.analysis.statistics.shrinkage import Shrunk, shrink
from rankbench.language import Text, say
from rankbench.model import Case, Comparison


def make_estimate(comparison: Comparison) -> Estimate:
    """Return the estimate that a comparison rests on; without an error where it has no interval."""
    degrees = comparison.degrees if math.isfinite(comparison.high) else 0.0
    return Estimate(math.log(comparison.ratio), comparison.error, degrees, comparison.rounding)


def decide_selected(view: CampaignView, comparison: Comparison, among: int) -> Decision:
    """Return a ratio with an interval that accounts for its selection among so many."""
    plan, penalty = view.campaign.plan, find_penalty(view, comparison.blocks)
    (decision,) = decide(
        [make_estimate(comparison)],
        plan.threshold,
        plan.confidence,
        penalty=penalty,
        family=Family("bonferroni", tests=max(among, 1)),
    )
    return decision


def format_decision(decision: Decision) -> Text:
    """Return a ratio with its interval: `1.31× (1.25× to 1.38×)`; one that contains 1 says nothing of the ratio."""
    return say(
        "{ratio:ratio} ({low:ratio} to {high:ratio})"
        if math.isfinite(decision.high) and not decision.low <= 1 <= decision.high
        else "{ratio:ratio} (too few launches for an interval)",
        ratio=decision.ratio,
        low=decision.low,
        high=decision.high,
    )


def shrink_along_sizes(
    view: CampaignView, cases: Sequence[Case], base: str, other: str, wanted: ArrayLike | None = None
) -> Shrunk:
    """Return the log ratios of a line of cases, drawn towards each other; at the wanted sizes, if any are given."""
    pairs = [view.comparisons.find(case.key, base, other) for case in cases]
    logs = [math.log(view.ratio(case.key, base, other)) for case in cases]
    errors = [pair.error if pair and math.isfinite(pair.high) else math.inf for pair in pairs]
    return shrink([case.size_bytes for case in cases], logs, errors, wanted)


class Extremes:
    """Ratios of a campaign in an order that hardly depends on chance."""

    def __init__(self, view: CampaignView) -> None:
        """Compute nothing: lines are computed when needed."""
        self._view = view
        self._known: dict[tuple[str, str, str], float] = {}

    @cached_property
    def _lines(self) -> dict[str, list[Case]]:
        """Return by the key of each case the cases of its line that differ in size only."""
        lines: dict[tuple[str, str], list[Case]] = {}
        for case_verdict in self._view.case_verdicts:
            lines.setdefault(make_sort_key(case_verdict.case), []).append(case_verdict.case)
        return {case.key: cases for cases in lines.values() for case in cases}

    def log(self, case: str, base: str, other: str) -> float:
        """Return the log ratio of `other` to `base`, drawn towards those of the other sizes."""
        if (case, base, other) not in self._known:
            both = {base, other}
            ranked = {
                case_verdict.case.key for case_verdict in self._view.case_verdicts if both <= set(case_verdict.ranking)
            }
            cases = [line for line in self._lines[case] if line.key in ranked]
            logs = shrink_along_sizes(self._view, cases, base, other).logs.tolist()
            self._known |= {(case.key, base, other): log for case, log in zip(cases, logs, strict=True)}
        return self._known[case, base, other]

    def rank(self, case: str, base: str, other: str, among: int) -> tuple[bool, float]:
        """Return a key that sorts ratios: whether the interval of a ratio selected among so many is above 1; its log.

        A noisy ratio can be the largest although its interval, wide enough for the selection, includes 1. Reported as
        the largest, it would hide a smaller one that is certain.
        """
        comparison = self._view.comparisons.find(case, base, other)
        sure = comparison is not None and decide_selected(self._view, comparison, among).low > 1
        return sure, self.log(case, base, other)

    def find_largest(self, cases: Iterable[str], base: str, other: str, among: int) -> str:
        """Return the case in which `other` is slowest against `base`; where that is certain, if it is anywhere."""
        return max(cases, key=lambda case: self.rank(case, base, other, among))
