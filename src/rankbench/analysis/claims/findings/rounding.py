"""Candidates that are not distinguishable because a tool printed too few digits.

Why: A printed value is up to half a unit of its last digit from the truth, whatever the number of launches.

What to do: Have the tool print more digits, compare longer calls, or let rankbench measure.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from rankbench.analysis.questions.printed_digits import find_rounded, find_unit_share
from rankbench.analysis.questions.view import CampaignView
from rankbench.language import say
from rankbench.model import Finding

TITLE = "Too few printed digits"


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield one finding on all cases whose comparisons are open because values are rounded."""
    rounded = {verdict.case.key: pairs for verdict in view.case_verdicts if (pairs := find_rounded(view, verdict))}
    if not rounded:
        return
    worst, pairs = max(rounded.items(), key=lambda item: max(pair.rounding for pair in item[1]))
    pair = max(pairs, key=lambda pair: pair.rounding)
    yield Finding(
        kind="rounding",
        title=say("Too few printed digits to distinguish candidates"),
        text=say(
            "In {n} of {all:count case} candidates are not distinguishable because {tool:and} printed so few digits. "
            "In {case} a unit of the last digit is {share:.1%} of the value, and the ratio of {other} to {base} may be "
            "off by {off:.1%} for that reason alone.",
            n=len(rounded),
            all=len(view.case_verdicts),
            tool=sorted({view.case_of[key].suite for key in rounded}),
            case=view.full_title(view.case_of[worst]),
            share=find_unit_share(view, [worst]),
            other=pair.other,
            base=pair.base,
            off=math.expm1(pair.rounding),
        ),
        advice=say(
            "More launches do not help. Have the tool print more digits, compare longer calls, or measure with "
            "rankbench's own operations."
        ),
        cases=list(rounded),
        severity="warning",
    )
