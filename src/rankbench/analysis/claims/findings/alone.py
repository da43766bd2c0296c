"""Candidates compare differently when each runs alone than in turns, while the others wait.

Why: An application runs alone. A library may be slower while ranks of another launch are on the host, since both need
shared memory or contexts of a network device.

What to do: Measure with `together = false`. The case is not part of the overall time, and where another candidate is
slower alone, or none, it is not decided.
"""

from __future__ import annotations

from collections.abc import Iterator

from rankbench.analysis.questions.view import CampaignView
from rankbench.language import Text, say
from rankbench.model import AloneComparison, Finding

TITLE = "Alone and in turns"


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield a warning for each case in which candidates do."""
    by_case: dict[str, list[AloneComparison]] = {}
    for comparison in view.verdict.alone:
        by_case.setdefault(comparison.case, []).append(comparison)
    for key, pairs in by_case.items():
        name = view.full_title(view.case_of[key])
        agreed = all(pair.agrees(view.campaign.plan.threshold) for pair in pairs)
        yield Finding(
            kind="alone",
            title=say("Candidates compare differently alone in {case}", case=name),
            text=say("{case}: {pairs:;}.", case=name, pairs=list(map(_describe_pair, pairs))),
            advice=say(
                "An application runs alone: measure again with together = false in the plan. {decided}",
                decided="The same candidate is slower both ways." if agreed else "The case is not decided.",
            ),
            cases=[key],
            severity="warning",
        )


def _describe_pair(pair: AloneComparison) -> Text:
    return say(
        "{other} takes {alone:ratio} the time of {base} when each is launched alone, and {in_turns:ratio} while the "
        "other candidates' processes wait, which differ by {change:ratio} ({low:bare} to {high:ratio})",
        base=pair.base,
        other=pair.other,
        alone=pair.alone,
        in_turns=pair.in_turns,
        change=pair.change,
        low=pair.low,
        high=pair.high,
    )
