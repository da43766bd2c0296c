"""Cases whose fastest candidate depends on how near each other the cores in use are at the moment."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from rankbench.language import say
from rankbench.model import Finding
from rankbench.statistics.references import levels, turned

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankbench.statistics.references import Levels, Turned
    from rankbench.verdict.evidence import Evidence

TITLE = "Winner depends on how near the cores are"


def find(evidence: Evidence) -> Iterator[Finding]:
    """Yield a warning for every two candidates, one of which leads near and the other one far."""
    if "visit_hop_ns" not in evidence.figures.columns:
        return
    for placement in evidence.campaign.plan.placements:
        keys = [one.case.key for one in evidence.times if one.case.placement == placement.name]
        figures = evidence.figures.filter(evidence.figures["case"].is_in(keys))
        at = levels(figures["visit_hop_ns"].explode().drop_nulls().to_list())
        if not at:
            continue
        for base, other in combinations(evidence.names, 2):
            found = turned(figures, [(base, other)], at, evidence.campaign.plan.threshold)
            for leads_near in (base, other):
                if own := [one for one in found if (one.near.ratio > 1) == (leads_near == base)]:
                    yield _finding(evidence, leads_near, other if leads_near == base else base, at, own)


def _finding(evidence: Evidence, near: str, far: str, at: Levels, found: list[Turned]) -> Finding:
    keys = [one.near.case.partition(" ")[2] for one in found]
    told = [
        say(
            "{case} ({near:ratio} near, {far:ratio} far)",
            case=evidence.full_title(evidence.case[key]),
            near=max(one.near.ratio, 1 / one.near.ratio),
            far=max(one.far.ratio, 1 / one.far.ratio),
        )
        for key, one in zip(keys, found, strict=True)
    ]
    return Finding(
        kind="reference",
        title=say("{near} leads while cores are near, {far} while they are far", near=near, far=far),
        text=say(
            "Without MPI, handing a cache line from one rank to the next took {near_time:time} at times and "
            "{far_time:time} at others. {near} is faster in the former, {far} in the latter: {cases:and}. Ratios are "
            "of the slower to the faster one.",
            near=near,
            far=far,
            near_time=at.near_ns,
            far_time=at.far_ns,
            cases=told,
        ),
        advice=say(
            "Find out which is usual where your programs run: on virtual machines other guests move the CPUs, "
            "elsewhere bind ranks to cores that share a cache, or that do not."
        ),
        cases=keys,
        severity="warning",
    )
