"""More ranks than cores: then the way a library waits is measured, not the way it communicates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankbench.model import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankbench.verdict.evidence import Evidence

TITLE = "More ranks than cores"


def find(evidence: Evidence) -> Iterator[Finding]:
    """Yield one warning per placement that has more ranks on a node than the node has cores."""
    cores = evidence.campaign.machine.cores
    for placement in evidence.campaign.plan.placements:
        if placement.ranks_per_node > cores:
            yield Finding(
                kind="oversubscribed",
                title=f"{placement.name}: more ranks than cores",
                text=(
                    f"At {placement.name}, {placement.ranks_per_node} ranks shared {cores} cores. These figures tell "
                    "how each library waits; one that spins may look a thousand times slower than with a core per rank."
                ),
                advice=f"Compare libraries with at most {cores} ranks here, or on a machine with more cores.",
                cases=[one.case.key for one in evidence.cases if one.case.placement == placement.name],
                severity="warning",
            )
