"""Launches of which too few rounds count for their values to be compared, or none at all.

Why: Ranks could not begin together: the machine was busy, or has fewer cores than ranks.

What to do: Measure when the machine is idle, raise `case_limit`, use fewer ranks per node, or set `start =
"barrier"`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankbench.language import say
from rankbench.model import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankbench.verdict.evidence import Evidence

TITLE = "Too few rounds"


def find(evidence: Evidence) -> Iterator[Finding]:
    """Yield one finding on launches with too few rounds, and one on those without any."""
    yield from _all_late(evidence)
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


def _all_late(evidence: Evidence) -> Iterator[Finding]:
    late = {name: [key for key in evidence.case if _is_late(evidence, key, name)] for name in evidence.names}
    if not any(late.values()):
        return
    yield Finding(
        kind="few_rounds",
        title=say("Cases in which no round began in time"),
        text=say(
            "No round began in time on all ranks in at least one launch: {candidates:and}. The machine was busy, or "
            "has fewer cores than ranks; this is no failure of a library.",
            candidates=[say("{name} in {n:count case}", name=name, n=len(keys)) for name, keys in late.items() if keys],
        ),
        advice=say('Use a quieter hour or fewer ranks per node, or start = "barrier", which needs no common time.'),
        cases=[key for key in evidence.case if any(key in keys for keys in late.values())],
        severity="note",
    )


def _is_late(evidence: Evidence, key: str, name: str) -> bool:
    summary = evidence.summary.get((key, name))
    return bool(summary and summary.all_late)
