"""What two ranks share and what it costs, and pairs that differ from others that share the same.

Why: It shows which pairs of cores are expensive, and where the machine is not as uniform as it claims.

What to do: Place ranks that communicate much where they share most. See what else runs on odd CPUs.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from rankbench.language import Text, say, sentences
from rankbench.model import Finding
from rankbench.quantities import format_size
from rankbench.verdict import case_labels, maps, measures

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankbench.verdict.maps import Map
    from rankbench.verdict.measures import Measure
    from rankbench.verdict.view import CampaignView

TITLE = "Pairs of ranks"


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield, per operation, what each level takes, and per candidate the pairs that do not fit."""
    made = maps.make_maps(view.campaign, view.launches, view.judged_figures, view.operations)
    for _, together in groupby(made, key=lambda one: case_labels.make_line_key(one.case)):
        same = list(together)
        if levelled := [one for one in same if len(one.levels) > 1]:
            yield _levels(view, levelled)
        for name in view.candidates:
            if odd := [one for one in same if one.candidate == name and one.odd]:
                yield _odd(view, name, odd)


def _levels(view: CampaignView, same: Sequence[Map]) -> Finding:
    texts = [
        say(
            "{name}: {levels}.",
            name=f"{one.candidate}{_size(one)}",
            levels=maps.describe_levels(one, _measure(view, one)),
        )
        for one in same
    ]
    return Finding(
        kind="pairs",
        title=say("{title}: what it takes by what two ranks share", title=_title(view, same[0])),
        text=sentences([*texts, _agreement(same)]),
        advice=say("Place ranks that talk much with each other where they share most."),
        cases=_examples(same[0]),
        severity="note",
    )


def _agreement(same: Sequence[Map]) -> Text:
    """Say whether the times alone show the same."""
    grouped = [one for one in same if len(one.groups) > 1]
    if not grouped:
        return say("The times of single pairs fall into no groups beyond their scatter over launches.")
    agreeing = [one for one in grouped if not (one.odd or one.fit.divided)]
    return say(
        "Grouped by their times alone, pairs that share the same are together."
        if len(agreeing) == len(same)
        else "Grouped by their times alone, pairs that share the same are together in {n} of {all}.",
        n=len(agreeing),
        all=len(same),
    )


def _odd(view: CampaignView, name: str, found: Sequence[Map]) -> Finding:
    texts = [
        say(
            "{case}: {misfit}.",
            case=case_labels.name_case(one.case, view.operations[one.case.operation]),
            misfit=maps.describe_misfit(one, misfit, _measure(view, one)),
        )
        for one in found
        for misfit in one.fit.misfits
    ]
    return Finding(
        kind="pairs",
        title=say(
            "{name}, {title}: pairs of ranks that are not like the others", name=name, title=_title(view, found[0])
        ),
        text=sentences(texts),
        advice=say("See what else runs on these CPUs, and whether the next campaign finds the same pairs."),
        cases=[one.cases[pair].key for one in found for pair in one.odd],
        severity="warning",
    )


def _examples(one: Map) -> list[str]:
    """Return one case of each level."""
    found: dict[int, str] = {}
    for pair in sorted(one.table.pairs):
        found.setdefault(one.level(*pair), one.cases[pair].key)
    return [found[level.level] for level in one.levels]


def _title(view: CampaignView, one: Map) -> str:
    return view.title(one.case)


def _size(one: Map) -> str:
    return f", {format_size(one.case.size_bytes)}" if one.case.size_bytes else ""


def _measure(view: CampaignView, one: Map) -> Measure:
    case = next(iter(one.cases.values()))
    known = view.summary_of.get((case.key, one.candidate))
    moved = (known.moved_bytes, known.moved_messages) if known else ()
    return measures.choose_measure(case, view.operations[case.operation], *moved)
