"""Successive launches resemble each other significantly more than independent ones would.

Why: Correlated launches say less than as many independent ones. Intervals are widened for it.

What to do: Run more blocks, or run the campaign again at another time.
"""

from __future__ import annotations

from collections.abc import Iterator

from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.questions.wording import describe_p_value
from rankbench.language import say
from rankbench.model import Finding

TITLE = "Correlated launches"


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield a warning where ratios of successive blocks are positively correlated."""
    correlation = view.correlation
    if correlation is None or not correlation.positive:
        return
    yield Finding(
        kind="correlated",
        title=say("Successive launches are correlated"),
        text=say(
            "Ratios of successive blocks have a lag-1 correlation of {r:.2f} ({p}, {n:count block}); for "
            "independent launches it is 0. To account for it, intervals of ratios are {wider:.2f} times wider.",
            r=correlation.correlation,
            p=describe_p_value(correlation.p_value),
            n=correlation.blocks,
            wider=correlation.widening,
        ),
        advice=say(
            "Something changed slowly: the machine, or a library that was replaced meanwhile. Run more blocks, or run "
            "the campaign again at another time."
        ),
        cases=[],
        severity="warning",
    )
