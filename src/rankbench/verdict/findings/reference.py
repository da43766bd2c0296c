"""Comparisons that change between near and far cores, where both states were met.

Why: The host of a virtual machine moves its CPUs, and libraries react differently. One ratio over both states
depends on how often each was met.

What to do: Find out which state is usual where your programs run, and use the answer for that state.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING

from rankbench.language import Text, say, sentences
from rankbench.model import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankbench.model import CaseVerdict, Comparison, Level
    from rankbench.statistics.references import Levels
    from rankbench.verdict.view import CampaignView

TITLE = "Near and far cores"
CHANGED = 1.1
"""Ratio of a comparison far over near above which it counts as changed, if significant."""
SURE = 2.6
"""Standard errors that it must be away from 1, for a level of 1%."""
MANY = 0.2
"""Share of the comparisons that change, from which on the finding is a warning."""


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield the winners at each level per placement, and a warning for two candidates that lead at one level each."""
    keys = {timed_verdict.case.key for timed_verdict in view.timed_verdicts} & set(view.levels)
    leveled = [comparison for comparison in view.comparisons if comparison.case in keys and comparison.levels]
    placement = {key: case.placement for key, case in view.case_of.items()}
    for _, group in groupby(
        sorted(leveled, key=lambda comparison: placement[comparison.case]),
        lambda comparison: placement[comparison.case],
    ):
        at_placement = list(group)
        yield _make_finding(view, at_placement)
        yield from _find_reversals(view, at_placement)


# --- what holds at each level -----------------------------------------------------------------------------------------


def _make_finding(view: CampaignView, comparisons: Sequence[Comparison]) -> Finding:
    keys = dict.fromkeys(comparison.case for comparison in comparisons)
    verdicts = [timed_verdict for timed_verdict in view.timed_verdicts if timed_verdict.case.key in keys]
    both = [comparison for comparison in comparisons if sum(level.enough for level in comparison.levels) > 1]
    changed = [comparison for comparison in both if _is_changed(*comparison.levels)]
    share = len(changed) / max(len(both), 1)
    levels = [_describe_level(name, comparisons, verdicts) for name in ("near", "far")]
    text = [_describe_levels(view.levels[comparisons[0].case]), *(level for level in levels if level)]
    if both:
        text.append(
            say(
                "Between near and far, the ratio of two candidates changes by more than {least:ratio} in {n} of "
                "{all:count comparison}.",
                least=CHANGED,
                n=len(changed),
                all=len(both),
            )
        )
    return Finding(
        kind="reference",
        title=say("Cores were sometimes near and sometimes far"),
        text=sentences(text),
        advice=ADVICE,
        cases=list(dict.fromkeys(comparison.case for comparison in changed)),
        severity="warning" if share >= MANY else "note",
    )


ADVICE = say(
    "Find out which state is usual where your programs run. On virtual machines the host moves the CPUs; elsewhere, "
    "bind ranks to cores that share a cache, or to cores that do not."
)


def _describe_levels(at: Levels) -> Text:
    return say(
        "Without MPI, handing over a cache line from one rank to the next sometimes took {near:time} (near) and "
        "sometimes {far:time} (far). Candidates are compared separately near and far.",
        near=at.near_ns,
        far=at.far_ns,
    )


def _is_changed(near: Level, far: Level) -> bool:
    """Return whether a ratio differs significantly between levels, by more than a tenth."""
    apart = abs(math.log(far.ratio / near.ratio))
    return apart > math.log(CHANGED) and apart > SURE * math.hypot(near.error, far.error)


def _describe_level(name: str, comparisons: Sequence[Comparison], verdicts: Sequence[CaseVerdict]) -> Text:
    """Return who is fastest in how many cases at a level, or that it was too rare."""
    known = [level for comparison in comparisons for level in comparison.levels if level.name == name]
    blocks, of = max((level.blocks for level in known), default=0), max(comparison.blocks for comparison in comparisons)
    fronts = [verdict.winners_by_level[name] for verdict in verdicts if name in verdict.winners_by_level]
    where = say("While cores were {name} ({n} of {all:count block})", name=name, n=blocks, all=of)
    if not fronts:
        return say("{where}, too little was measured to compare.", where=where)
    alone = Counter(front[0] for front in fronts if len(front) == 1)
    parts = [say("{name} {n}", name=winner, n=count) for winner, count in alone.most_common()]
    if rest := len(fronts) - alone.total():
        parts.append(say("no single winner {n}", n=rest))
    return say(
        "{where}, fastest in single cases: {parts:,} (of {n:count case}).", where=where, n=len(fronts), parts=parts
    )


# --- reversals --------------------------------------------------------------------------------------------------------


def _find_reversals(view: CampaignView, comparisons: Sequence[Comparison]) -> Iterator[Finding]:
    by_leads: dict[tuple[str, str], list[Comparison]] = {}
    for comparison in comparisons:
        if comparison.reverses:
            near = comparison.levels[0]
            leads = (comparison.base, comparison.other) if near.ratio > 1 else (comparison.other, comparison.base)
            by_leads.setdefault(leads, []).append(comparison)
    for (near_name, far_name), reversed_ in by_leads.items():
        yield _make_reversal(view, near_name, far_name, reversed_)


def _make_reversal(view: CampaignView, near: str, far: str, comparisons: Sequence[Comparison]) -> Finding:
    cases = [
        say(
            "{case} ({near:ratio} near, {far:ratio} far)",
            case=view.full_title(view.case_of[comparison.case]),
            near=_find_margin(comparison.levels[0]),
            far=_find_margin(comparison.levels[1]),
        )
        for comparison in comparisons
    ]
    pair = say("{near} near, {far} far ({n:count case})", near=near, far=far, n=len(comparisons))
    return Finding(
        kind="reference",
        title=say("The faster of two candidates changes with the cores: {pair}", pair=pair),
        text=say(
            "{near} is faster than {far} while cores are near, and slower while they are far: {cases:;}. Each ratio "
            "is that of the slower to the faster one.",
            near=near,
            far=far,
            cases=cases,
        ),
        advice=ADVICE,
        cases=[comparison.case for comparison in comparisons],
        severity="warning",
    )


def _find_margin(level: Level) -> float:
    return max(level.ratio, 1 / level.ratio)
