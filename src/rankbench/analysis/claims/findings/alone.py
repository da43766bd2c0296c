"""Candidates compare differently when each runs alone than in turns, while the others wait.

Why: An application runs alone. A library may be slower while ranks of another launch are on the host, since both need
shared memory or contexts of a network device.

What to do: Measure with `together = false`. The case is not part of the overall time, and where another candidate is
slower alone, or none, it is not decided.
"""

from __future__ import annotations

from collections.abc import Iterator

from rankbench.analysis.questions.view import CampaignView
from rankbench.language import say
from rankbench.model import Finding

TITLE = "Alone and in turns"


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield a warning for each pair of candidates and case."""
    for comparison in view.verdict.alone:
        yield Finding(
            kind="alone",
            title=say("{base} and {other} compare differently alone", base=comparison.base, other=comparison.other),
            text=say(
                "{case}: {other} takes {alone:ratio} the time of {base} when each is launched alone, and "
                "{in_turns:ratio} while the other candidates' processes wait. The two ratios differ by {change:ratio} "
                "({low:bare} to {high:ratio}).",
                case=view.full_title(view.case_of[comparison.case]),
                base=comparison.base,
                other=comparison.other,
                alone=comparison.alone,
                in_turns=comparison.in_turns,
                change=comparison.change,
                low=comparison.low,
                high=comparison.high,
            ),
            advice=say(
                "An application runs alone: measure again with together = false in the plan. {decided}",
                decided="The same candidate is slower both ways."
                if comparison.agrees(view.campaign.plan.threshold)
                else "The case is not decided.",
            ),
            cases=[comparison.case],
            severity="warning",
        )
