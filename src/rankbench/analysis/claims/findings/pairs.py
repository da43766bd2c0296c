"""What two ranks share and what it costs, and pairs that differ from others that share the same.

Why: It shows which pairs of cores are expensive, and where the machine is not as uniform as it claims.

What to do: Place ranks that communicate much where they share most. See what else runs on odd CPUs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from rankbench.analysis.questions import case_labels, maps, measures
from rankbench.analysis.questions.maps import Map
from rankbench.analysis.questions.measures import Measure
from rankbench.analysis.questions.view import CampaignView
from rankbench.language import Text, say, sentences
from rankbench.model import Finding
from rankbench.quantities import format_size

TITLE = "Pairs of ranks"


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield, per operation, the time of each level, and per candidate the pairs that do not fit."""
    made_maps = maps.make_maps(view.campaign, view.launches, view.judged_values, view.operations)
    for _, together in groupby(made_maps, key=lambda map_: case_labels.make_line_key(map_.case)):
        same = list(together)
        if levelled := [map_ for map_ in same if len(map_.levels) > 1]:
            yield _make_level_finding(view, levelled)
        for name in view.candidates:
            if odd := [map_ for map_ in same if map_.candidate == name and map_.odd]:
                yield _make_odd_finding(view, name, odd)


def _make_level_finding(view: CampaignView, same: Sequence[Map]) -> Finding:
    texts = [
        say(
            "{name}: {levels}.",
            name=f"{map_.candidate}{_name_size(map_)}",
            levels=maps.describe_levels(map_, _choose_measure(view, map_)),
        )
        for map_ in same
    ]
    return Finding(
        kind="pairs",
        title=say("{title}: times by what two ranks share", title=_name_map(view, same[0])),
        text=sentences([*texts, _describe_agreement(same)]),
        advice=say("Place ranks that communicate a lot where they share most."),
        cases=_list_examples(same[0]),
        severity="note",
    )


def _describe_agreement(same: Sequence[Map]) -> Text:
    """Say whether grouping by time alone gives the same groups."""
    grouped = [map_ for map_ in same if len(map_.groups) > 1]
    if not grouped:
        return say("Times of single pairs form no groups beyond the scatter between launches.")
    agreeing = [map_ for map_ in grouped if not (map_.odd or map_.fit.divided)]
    return say(
        "Grouped by time alone, pairs that share the same are together."
        if len(agreeing) == len(same)
        else "Grouped by time alone, pairs that share the same are together in {n} of {all}.",
        n=len(agreeing),
        all=len(same),
    )


def _make_odd_finding(view: CampaignView, name: str, odd_maps: Sequence[Map]) -> Finding:
    texts = [
        say(
            "{case}: {misfit}.",
            case=case_labels.name_case(map_.case, view.operations[map_.case.operation]),
            misfit=maps.describe_misfit(map_, misfit, _choose_measure(view, map_)),
        )
        for map_ in odd_maps
        for misfit in map_.fit.misfits
    ]
    return Finding(
        kind="pairs",
        title=say("{name}: unusual pairs of ranks in {title}", name=name, title=_name_map(view, odd_maps[0])),
        text=sentences(texts),
        advice=say("Check what else runs on these CPUs, and whether the next campaign finds the same pairs."),
        cases=[map_.cases[pair].key for map_ in odd_maps for pair in map_.odd],
        severity="warning",
    )


def _list_examples(map_: Map) -> list[str]:
    """Return one case of each level."""
    by_level: dict[int, str] = {}
    for pair in sorted(map_.table.pairs):
        by_level.setdefault(map_.level(*pair), map_.cases[pair].key)
    return [by_level[level.level] for level in map_.levels]


def _name_map(view: CampaignView, map_: Map) -> str:
    return view.title(map_.case)


def _name_size(map_: Map) -> str:
    return f", {format_size(map_.case.size_bytes)}" if map_.case.size_bytes else ""


def _choose_measure(view: CampaignView, map_: Map) -> Measure:
    case = next(iter(map_.cases.values()))
    known = view.summary_of.get((case.key, map_.candidate))
    moved = (known.moved_bytes, known.moved_messages) if known else ()
    return measures.choose_measure(case, view.operations[case.operation], *moved)
