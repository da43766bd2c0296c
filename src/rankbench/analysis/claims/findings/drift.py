"""Calls take longer, or less, at the end of a launch than at its beginning.

Why: A library may fragment its memory, fill tables, or adapt to its calls. An application that runs for longer than a
launch meets other times. Where all candidates show it, it is the machine.

What to do: Measure longer launches (`samples`, `passes`).
"""

from __future__ import annotations

from collections.abc import Iterator

from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.statistics.drift import find_drifts
from rankbench.language import say
from rankbench.model import Finding

TITLE = "Drift within launches"


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield one finding for each candidate whose calls drift."""
    plan = view.campaign.plan
    drifts = find_drifts(view.judged_values, plan.threshold, plan.confidence)
    for name in view.candidates:
        changes = [drift for drift in drifts if drift.candidate == name]
        if not changes:
            continue
        worst = max(changes, key=lambda drift: max(drift.ratio, 1 / drift.ratio))
        others = {drift.candidate for drift in drifts} >= set(view.candidates) and len(view.candidates) > 1
        yield Finding(
            kind="drift",
            title=say("Calls of {name} change within a launch", name=name),
            text=say(
                "From the first visit of a launch to its last, calls of {name} come to take {ratio:ratio} "
                "({low:bare}–{high:ratio}) the time in {case}, and change in {n:count case} in all. So do those of all "
                "other candidates: this is the machine."
                if others
                else "From the first visit of a launch to its last, calls of {name} come to take {ratio:ratio} "
                "({low:bare}–{high:ratio}) the time in {case}, and change in {n:count case} in all.",
                name=name,
                ratio=worst.ratio,
                low=worst.low,
                high=worst.high,
                case=view.full_title(view.case_of[worst.case]),
                n=len(changes),
            ),
            advice=say("Measure longer launches (samples, passes): an application may run for much longer."),
            cases=[drift.case for drift in changes],
            severity="note" if others else "warning",
        )
