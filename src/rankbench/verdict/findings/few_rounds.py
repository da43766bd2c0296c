"""Launches of which too few rounds count for their figures to be judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankbench.language import say
from rankbench.model import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankbench.verdict.evidence import Evidence

TITLE = "Too few rounds"


def find(evidence: Evidence) -> Iterator[Finding]:
    """Yield one finding on all of them."""
    found = [one for one in evidence.summaries if one.few]
    if not found:
        return
    worst = max(found, key=lambda one: one.few)
    yield Finding(
        kind="few_rounds",
        title=say("Launches with too few rounds"),
        text=say(
            "Of {n:count launch} so few rounds of a case count that its figure is kept and not compared, most often of "
            "{name} in {case}: {most} of {all}.",
            n=sum(one.few for one in found),
            name=worst.candidate,
            case=evidence.full_title(evidence.case[worst.case]),
            most=worst.few,
            all=worst.launches + worst.left_out,
        ),
        advice=say("Something else took the processors: use a quieter hour, or more time for each case (case_limit)."),
        cases=list(dict.fromkeys(one.case for one in found)),
        severity="note",
    )
