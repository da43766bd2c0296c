"""Calls take longer when MPI is initialised with MPI_THREAD_MULTIPLE, although only one thread calls.

Why: The library then takes locks, and some choose other ways to send. Every program in Python that does not ask for
less has this level.

What to do: Ask for MPI_THREAD_SERIALIZED or less where only one thread of a rank calls at a time.
"""

from __future__ import annotations

from collections.abc import Iterator

from rankbench.analysis.questions.thread_levels import SERIALIZED, LevelCost, find_costs
from rankbench.analysis.questions.view import CampaignView
from rankbench.language import say
from rankbench.model import Finding

TITLE = "MPI_THREAD_MULTIPLE"


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield a warning for each candidate whose calls are slower with it."""
    by_candidate: dict[str, list[LevelCost]] = {}
    for cost in find_costs(view):
        by_candidate.setdefault(cost.candidate, []).append(cost)
    for candidate, costs in by_candidate.items():
        slower = [cost for cost in costs if cost.ratio.sure]
        if slower:
            yield _make_finding(view, candidate, slower, len(costs))


def _make_finding(view: CampaignView, candidate: str, slower: list[LevelCost], compared: int) -> Finding:
    worst = max(slower, key=lambda cost: cost.ratio.ratio)
    return Finding(
        kind="thread_level",
        title=say(
            "Calls are slower with MPI_THREAD_MULTIPLE: {name}",
            name=say("{name} (up to {worst:ratio})", name=candidate, worst=worst.ratio.ratio),
        ),
        text=say(
            "In {n} of {all:count case}, a call of {name} takes longer if MPI is initialised with MPI_THREAD_MULTIPLE, "
            "by up to {ratio:ratio} ({low:ratio} to {high:ratio}; {case}).",
            n=len(slower),
            all=compared,
            name=candidate,
            ratio=worst.ratio.ratio,
            low=worst.ratio.low,
            high=worst.ratio.high,
            case=view.full_title(worst.usual),
        ),
        advice=say(SERIALIZED),
        cases=list(dict.fromkeys(key for cost in slower for key in (cost.case.key, cost.usual.key))),
        severity="warning",
    )
