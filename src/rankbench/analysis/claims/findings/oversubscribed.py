"""Placements with more ranks than cores.

Why: Their times show how a library waits, not how it communicates: one that spins can look a thousand times
slower.

What to do: Compare libraries with at most as many ranks as cores.
"""

from __future__ import annotations

from collections.abc import Iterator

from rankbench.analysis.questions.view import CampaignView
from rankbench.language import say
from rankbench.model import Finding

TITLE = "More ranks than cores"


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield one warning per number of ranks on a machine that is larger than its number of cores."""
    cores = view.campaign.machine.cores
    many: dict[int, list[str]] = {}
    for placement in view.campaign.plan.placements:
        shape = placement.ranks_per_node, placement.nodes
        if view.campaign.oversubscribed(*shape):
            many.setdefault(view.campaign.ranks_per_machine(*shape), []).append(placement.name)
    for ranks, names in many.items():
        yield Finding(
            kind="oversubscribed",
            title=say("{names}: more ranks than cores", names=", ".join(names)),
            text=say(
                "At {names:and}, {ranks} ranks shared {n:count core}. These values show how each library waits: one "
                "that spins may look a thousand times slower than with one core per rank.",
                names=names,
                ranks=ranks,
                n=cores,
            ),
            advice=say("Compare libraries with at most {n:count rank} here, or on a machine with more cores.", n=cores),
            cases=[
                case_verdict.case.key for case_verdict in view.case_verdicts if case_verdict.case.placement in names
            ],
            severity="warning",
        )
