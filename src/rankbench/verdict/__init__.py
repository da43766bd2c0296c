"""The verdict: who is fastest where, by how much, what looks wrong, and the conclusion in sentences. Pure.

`evaluation.evaluate` and `over_time.history` alone read stores: they join store, statistics and this room for every
command that needs it.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from rankbench import units
from rankbench.language import say
from rankbench.model import CaseStatus, CaseVerdict, Verdict
from rankbench.verdict import findings
from rankbench.verdict.conclusion import conclude
from rankbench.verdict.evidence import NO_FIGURES, NO_LAST_RANKS, Evidence, Pairs
from rankbench.verdict.groups import groups

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from rankbench.model import Campaign, Case, Comparison, Launch, Summary
    from rankbench.statistics.modes import Repeated

__all__ = ["judge"]

GRAVEST_FIRST = ("failure", "warning", "note")


def judge(
    campaign: Campaign,
    summaries: Sequence[Summary],
    comparisons: Sequence[Comparison],
    control: Sequence[Comparison],
    launches: Sequence[Launch],
    figures: pl.DataFrame = NO_FIGURES,
    modes: Mapping[tuple[str, ...], list[Repeated]] | None = None,
    last_ranks: pl.DataFrame = NO_LAST_RANKS,
) -> Verdict:
    """Return the verdict. The A/A twin takes part in no ranking: it speaks only of the method.

    `figures` are those of every launch that can be judged; without them nothing is found that takes single launches.
    """
    twins = {candidate.name for candidate in campaign.candidates if candidate.control_of}
    by_case: dict[str, list[Summary]] = {}
    for summary in summaries:
        if summary.candidate not in twins:
            by_case.setdefault(summary.case, []).append(summary)
    pairs = Pairs(comparisons)
    cases = [judge_case(case, by_case.get(case.key, []), pairs) for case in campaign.cases]
    evidence = Evidence(
        campaign,
        cases,
        list(summaries),
        list(comparisons),
        list(control),
        list(launches),
        figures,
        modes or {},
        last_ranks,
    )
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
        groups=groups(evidence),
    )


def judge_case(case: Case, summaries: Sequence[Summary], pairs: Pairs) -> CaseVerdict:
    """Rank the candidates of one case. Winners: all that nobody is surely faster than.

    Who is slower is told by the comparisons alone, which are paired; typical values, which are not, order the rest. A
    candidate that once delivered wrong data, or whose starts were all too uncertain, has no place in the ranking.
    """
    sound = (one for one in summaries if one.launches and CaseStatus.WRONG_DATA not in one.failures)
    names = [one.candidate for one in sorted(sound, key=lambda one: one.typical_ns)]
    beaten = {name for name in names if any(pairs.slower(case.key, other, name) for other in names)}
    names.sort(key=lambda name: name in beaten)
    winners = [name for name in names if name not in beaten]
    return CaseVerdict(
        case=case,
        ranking=names,
        winners=winners,
        decided=bool(winners) and all(pairs.alike(case.key, *both) for both in combinations(winners, 2)),
        margin=min(
            (margin for name in beaten if (margin := pairs.ratio(case.key, names[0], name) or 1.0) > 1), default=1.0
        ),
        failures={one.candidate: _reason(one) for one in summaries if one.candidate not in names},
    )


def _reason(summary: Summary) -> str:
    """Return why a candidate has no place in the ranking."""
    why = {CaseStatus.NOT_AS_ASKED: f" ({summary.elsewhere})"}
    statuses = [
        say("{status} in {n}", status=status, n=count) + why.get(CaseStatus(status), "")
        for status, count in sorted(summary.failures.items())
    ]
    return ", ".join([summary.doubt, *statuses] if summary.doubt else statuses)
