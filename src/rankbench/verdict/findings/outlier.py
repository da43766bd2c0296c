"""A library several times slower than all the others in one call: more often a wrong default than the hardware."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankbench.language import say
from rankbench.model import CaseVerdict, Finding
from rankbench.verdict.evidence import Evidence, sized

if TYPE_CHECKING:
    from collections.abc import Iterator

TITLE = "Far behind"
FAR = 3.0


def find(evidence: Evidence) -> Iterator[Finding]:
    """Yield, per operation and candidate, the sizes at which it takes three times as long as any other."""
    for title, verdicts in evidence.lines():
        for name in evidence.names:
            behind = [one for one in verdicts if _gap(evidence, one, name) >= FAR]
            if behind:
                yield _finding(evidence, title, name, behind)


def _gap(evidence: Evidence, verdict: CaseVerdict, name: str) -> float:
    """Return the time of the slowest candidate over that of the second slowest, if it is this one and no winner."""
    if len(verdict.ranking) < 2 or verdict.ranking[-1] != name or name in verdict.winners:
        return 0.0
    return evidence.ratio(verdict.case.key, verdict.ranking[-2], name)


def _finding(evidence: Evidence, title: str, name: str, behind: list[CaseVerdict]) -> Finding:
    worst = max(_gap(evidence, one, name) for one in behind)
    return Finding(
        kind="outlier",
        title=say("{name} is far behind in {title}", name=name, title=title),
        text=say(
            "In {where}, {name} takes up to {worst:ratio} as long as the slowest other candidate.",
            where=sized(title, [one.case for one in behind]),
            name=name,
            worst=worst,
        ),
        advice=say("Try other algorithms or transports of this library for these sizes before giving it up."),
        cases=[one.case.key for one in behind],
        severity="warning",
    )
