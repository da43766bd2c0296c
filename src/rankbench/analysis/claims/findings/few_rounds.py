"""Launches of which too few rounds count for their values to be compared, or none at all.

Why: Ranks could not begin together, or waited for a CPU twice as long as usual: the machine was busy, or has fewer
cores than ranks.

What to do: Measure when the machine is idle, raise `case_limit`, use fewer ranks per node, or set `start =
"barrier"`.
"""

from __future__ import annotations

from collections.abc import Iterator

from rankbench.analysis.questions.view import CampaignView
from rankbench.language import say
from rankbench.model import Finding

TITLE = "Too few rounds"


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield one finding on launches with too few rounds, and one on those without any."""
    yield from _find_all_late(view)
    poor = [summary for summary in view.summaries if summary.few]
    if not poor:
        return
    worst = max(poor, key=lambda summary: summary.few)
    yield Finding(
        kind="few_rounds",
        title=say("Launches with too few rounds"),
        text=say(
            "In {n:count launch} too few rounds of a case are valid, or its ranks waited for a CPU: its value is shown "
            "and not compared. Most often this is {name} in {case} ({most} of {all:count launch}).",
            n=sum(summary.few for summary in poor),
            name=worst.candidate,
            case=view.full_title(view.case_of[worst.case]),
            most=worst.few,
            all=worst.launches + worst.left_out,
        ),
        advice=say(
            "Something else used the CPUs. Measure when the machine is idle, or allow more time for each "
            "case (case_limit)."
        ),
        cases=list(dict.fromkeys(summary.case for summary in poor)),
        severity="note",
    )


def _find_all_late(view: CampaignView) -> Iterator[Finding]:
    late = {name: [key for key in view.case_of if _is_late(view, key, name)] for name in view.candidates}
    if not any(late.values()):
        return
    yield Finding(
        kind="few_rounds",
        title=say("Cases in which no round began in time"),
        text=say(
            "No round began in time on all ranks in at least one launch: {candidates:and}. The machine was busy, or "
            "has fewer cores than ranks; this is not a failure of the library.",
            candidates=[say("{name} in {n:count case}", name=name, n=len(keys)) for name, keys in late.items() if keys],
        ),
        advice=say(
            'Measure when the machine is idle, use fewer ranks per node, or set start = "barrier", which '
            "needs no common start time."
        ),
        cases=[key for key in view.case_of if any(key in keys for keys in late.values())],
        severity="note",
    )


def _is_late(view: CampaignView, key: str, name: str) -> bool:
    summary = view.summary_of.get((key, name))
    return bool(summary and summary.all_late)
