"""Results of a candidate vary a lot from launch to launch.

Why: Only large differences can be found. Pairing within blocks removes slow drift that all candidates share, not this.

What to do: Run more blocks, stop other work, bind ranks to cores; on virtual machines measure at another time.
"""

from __future__ import annotations

from collections.abc import Iterator

from rankbench.analysis.questions.view import CampaignView
from rankbench.language import say
from rankbench.model import Finding, Summary

TITLE = "Noise between launches"
WIDE = 1.25
"""Upper over lower end of the interval of the typical value."""
SHARE = 0.2


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield a warning if the intervals of many cases are wide."""
    shown = [summary for summary in view.summaries if summary.candidate in view.candidates]
    known = [at for summary in shown for at in summary.list_levels() if at.launches > 1]
    wide = [summary for summary in known if _measure_width(summary) > WIDE]
    if not wide or len(wide) < SHARE * len(known):
        return
    worst = max(wide, key=_measure_width)
    yield Finding(
        kind="noise",
        title=say("Results vary a lot between launches"),
        text=say(
            "{n} of {all:count interval} {n:of is|are} wider than {wide:ratio}, at most {worst:ratio} ({name}, "
            "{case}). Pairing within blocks removes slow drift that all candidates share, but not this.",
            n=len(wide),
            all=len(known),
            wide=WIDE,
            worst=_measure_width(worst),
            name=worst.candidate,
            case=view.full_title(view.case_of[worst.case]),
        ),
        advice=say(
            "Run more blocks, stop other work and bind ranks to cores. On virtual machines, measure at another time."
        ),
        cases=list(dict.fromkeys(summary.case for summary in wide)),
        severity="warning",
    )


def _measure_width(summary: Summary) -> float:
    return summary.high_ns / summary.low_ns
