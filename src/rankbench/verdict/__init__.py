"""The verdict: who is fastest where, by how much, what looks wrong, and the conclusion in sentences. Pure.

`evaluation.evaluate` alone reads a store: it joins store, statistics and this room for every command that needs it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankbench import units
from rankbench.model import CaseVerdict, Verdict
from rankbench.verdict import findings
from rankbench.verdict.conclusion import conclude
from rankbench.verdict.evidence import Evidence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankbench.model import Campaign, Case, Comparison, Launch, Summary

__all__ = ["judge"]

GRAVEST_FIRST = ("failure", "warning", "note")


def judge(
    campaign: Campaign,
    summaries: Sequence[Summary],
    comparisons: Sequence[Comparison],
    control: Sequence[Comparison],
    launches: Sequence[Launch],
) -> Verdict:
    """Return the verdict. The A/A twin takes part in no ranking: it speaks only of the method."""
    twins = {candidate.name for candidate in campaign.candidates if candidate.control_of}
    by_case: dict[str, list[Summary]] = {}
    for summary in summaries:
        if summary.candidate not in twins:
            by_case.setdefault(summary.case, []).append(summary)
    pairs = {(one.case, frozenset((one.base, one.other))): one for one in comparisons}
    cases = [judge_case(case, by_case.get(case.key, []), pairs) for case in campaign.cases]
    evidence = Evidence(campaign, cases, list(summaries), list(comparisons), list(control), list(launches))
    return Verdict(
        conclusion=conclude(evidence),
        cases=cases,
        summaries=list(summaries),
        comparisons=list(comparisons),
        control=list(control),
        findings=sorted(
            (found for unit in units.modules(findings).values() for found in unit.find(evidence)),
            key=lambda found: GRAVEST_FIRST.index(found.severity),
        ),
        blocks=len({launch.block for launch in launches}),
    )


def judge_case(
    case: Case, summaries: Sequence[Summary], pairs: dict[tuple[str, frozenset[str]], Comparison]
) -> CaseVerdict:
    """Rank the candidates of one case. Winners: the fastest, and all that cannot be told apart from it."""
    ranked = sorted((one for one in summaries if one.launches), key=lambda one: one.typical_ns)
    names = [one.candidate for one in ranked]
    behind = [
        one
        for one in ranked[1:]
        if (pair := pairs.get((case.key, frozenset((names[0], one.candidate))))) and pair.different
    ]
    slower = {one.candidate for one in behind}
    return CaseVerdict(
        case=case,
        ranking=names,
        winners=[name for name in names if name not in slower],
        margin=behind[0].typical_ns / ranked[0].typical_ns if behind else 1.0,
        failures={
            one.candidate: ", ".join(f"{status} in {count}" for status, count in sorted(one.failures.items()))
            for one in summaries
            if not one.launches
        },
    )
