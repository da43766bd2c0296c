"""Comparisons that change between near and far cores, where both states were met.

Why: The host of a virtual machine moves its CPUs, and libraries react differently. One ratio over both states
depends on how often each was met.

What to do: Find out which state is usual where your programs run, and use the answer for that state.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from rankbench.analysis.questions.near_and_far import list_level_modes
from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.statistics.references import Levels
from rankbench.language import Text, say, sentences
from rankbench.model import CaseVerdict, Comparison, Finding, Level

TITLE = "Near and far cores"
CHANGED = 1.1
"""Ratio of a comparison far over near above which it counts as changed, if significant."""
SURE = 2.6
"""Standard errors that it must be away from 1, for a level of 1%."""
MANY = 0.2
"""Share of the comparisons that change, from which on the finding is a warning."""


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield one finding on all placements: who wins at each level, which pairs change places, and second modes."""
    keys = {timed_verdict.case.key for timed_verdict in view.timed_verdicts} & set(view.levels)
    leveled = [comparison for comparison in view.comparisons if comparison.case in keys and comparison.levels]
    if not leveled:
        return
    placement = {key: case.placement for key, case in view.case_of.items()}
    groups = [
        list(group)
        for _, group in groupby(
            sorted(leveled, key=lambda comparison: placement[comparison.case]),
            lambda comparison: placement[comparison.case],
        )
    ]
    changed = [comparison for group in groups for comparison in _list_changed(group)]
    reversed_ = [comparison for comparison in leveled if comparison.reverses]
    modes = list_level_modes(view)
    many = any(len(_list_changed(group)) >= MANY * max(len(_list_both(group)), 1) for group in groups)
    cases = [comparison.case for comparison in (*reversed_, *changed)]
    texts = [text for group in groups for text in _describe_placement(view, group, several=len(groups) > 1)]
    yield Finding(
        kind="reference",
        title=say("Two states of this machine: cores near and far"),
        text=sentences([*texts, *([_describe_modes(modes)] if modes else [])]),
        advice=ADVICE_ON_VIRTUAL if view.campaign.machine.virtual else ADVICE,
        cases=list(dict.fromkeys([*cases, *modes])),
        severity="warning" if many or reversed_ else "note",
        cells=_tabulate(view, groups),
    )


def _list_both(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Return the comparisons with enough blocks at both levels."""
    return [comparison for comparison in comparisons if sum(level.enough for level in comparison.levels) > 1]


def _list_changed(comparisons: Sequence[Comparison]) -> list[Comparison]:
    return [comparison for comparison in _list_both(comparisons) if _is_changed(*comparison.levels)]


# --- what holds at each level -----------------------------------------------------------------------------------------


def _describe_placement(view: CampaignView, comparisons: Sequence[Comparison], *, several: bool) -> Iterator[Text]:
    """Yield what holds at one placement."""
    keys = dict.fromkeys(comparison.case for comparison in comparisons)
    verdicts = [timed_verdict for timed_verdict in view.timed_verdicts if timed_verdict.case.key in keys]
    both = _list_both(comparisons)
    if several:
        yield say("At {placement}:", placement=view.case_of[comparisons[0].case].placement)
    yield _describe_levels(view.levels[comparisons[0].case])
    for name in ("near", "far"):
        if text := _describe_level(name, comparisons, verdicts):
            yield text
    if both:
        yield say(
            "Between near and far, the ratio of two candidates changes significantly by more than {least:ratio} in "
            "{n} of {all:count comparison}.",
            least=CHANGED,
            n=len(_list_changed(comparisons)),
            all=len(both),
        )
    yield from _describe_reversals(view, comparisons)


def _describe_modes(cases: Sequence[str]) -> Text:
    return say(
        "In {n:count case} times have more than one mode, of which the slower one occurs while cores are far.",
        n=len(cases),
    )


def _tabulate(view: CampaignView, groups: Sequence[Sequence[Comparison]]) -> list[list[Text]]:
    """Return a row for each level at each placement: the time of a cache line, blocks, and who wins how often."""
    heads = ("placement", "cores", "a cache line takes", "blocks", "fastest in single cases")
    rows = [[say(head) for head in heads]]
    for group, name in itertools.product(groups, ("near", "far")):
        keys = dict.fromkeys(comparison.case for comparison in group)
        verdicts = [timed_verdict for timed_verdict in view.timed_verdicts if timed_verdict.case.key in keys]
        at, (blocks, of) = view.levels[group[0].case], _count_blocks(name, group)
        wins = _count_winners(name, verdicts)
        rows.append(
            [
                say("{placement}", placement=view.case_of[group[0].case].placement),
                say(name),
                say("{time:time}", time=at.near_ns if name == "near" else at.far_ns),
                say("{n} of {all}", n=blocks, all=of),
                say("{wins:,}", wins=wins) if wins else say("too little was measured to compare"),
            ]
        )
    return rows


ADVICE = say(
    "Find out which state is usual where your programs run, and use its values; bind ranks to cores that share a "
    "cache, or to cores that do not."
)
ADVICE_ON_VIRTUAL = say(
    "Find out which state is usual where your programs run, and use its values. The host of this virtual machine moves "
    "its CPUs, which binding cannot prevent: ask for pinned CPUs, or measure on the machine that the programs will use."
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


def _count_blocks(name: str, comparisons: Sequence[Comparison]) -> tuple[int, int]:
    """Return the number of blocks at a level, and of all."""
    known = [level for comparison in comparisons for level in comparison.levels if level.name == name]
    return max((level.blocks for level in known), default=0), max(comparison.blocks for comparison in comparisons)


def _count_winners(name: str, verdicts: Sequence[CaseVerdict]) -> list[Text]:
    """Return how many cases each candidate wins alone at a level, and how many have no single winner."""
    fronts = [verdict.winners_by_level[name] for verdict in verdicts if name in verdict.winners_by_level]
    alone = Counter(front[0] for front in fronts if len(front) == 1)
    parts = [say("{name} {n}", name=winner, n=count) for winner, count in alone.most_common()]
    rest = len(fronts) - alone.total()
    return [*parts, *([say("no single winner {n}", n=rest)] if rest else [])]


def _describe_level(name: str, comparisons: Sequence[Comparison], verdicts: Sequence[CaseVerdict]) -> Text:
    """Return who is fastest in how many cases at a level, or that it was too rare."""
    blocks, of = _count_blocks(name, comparisons)
    where = say("While cores were {name} ({n} of {all:count block})", name=name, n=blocks, all=of)
    cases = sum(name in verdict.winners_by_level for verdict in verdicts)
    if not cases:
        return say("{where}, too little was measured to compare.", where=where)
    parts = _count_winners(name, verdicts)
    return say("{where}, fastest in single cases: {parts:,} (of {n:count case}).", where=where, n=cases, parts=parts)


# --- reversals --------------------------------------------------------------------------------------------------------


def _describe_reversals(view: CampaignView, comparisons: Sequence[Comparison]) -> Iterator[Text]:
    """Yield a sentence for every two candidates of which one leads near and the other far."""
    by_leads: dict[tuple[str, str], list[Comparison]] = {}
    for comparison in comparisons:
        if comparison.reverses:
            near = comparison.levels[0]
            leads = (comparison.base, comparison.other) if near.ratio > 1 else (comparison.other, comparison.base)
            by_leads.setdefault(leads, []).append(comparison)
    for (near_name, far_name), pairs in by_leads.items():
        yield _describe_reversal(view, near_name, far_name, pairs)


def _describe_reversal(view: CampaignView, near: str, far: str, comparisons: Sequence[Comparison]) -> Text:
    cases = [
        say(
            "{case} ({near:ratio} near, {far:ratio} far)",
            case=view.full_title(view.case_of[comparison.case]),
            near=_find_margin(comparison.levels[0]),
            far=_find_margin(comparison.levels[1]),
        )
        for comparison in comparisons
    ]
    return say(
        "{near} is faster than {far} while cores are near, and slower while they are far: {cases:;}. Each ratio is "
        "that of the slower to the faster one.",
        near=near,
        far=far,
        cases=cases,
    )


def _find_margin(level: Level) -> float:
    return max(level.ratio, 1 / level.ratio)
