"""Tables of scaling: nodes x ranks per node downwards, candidates to the right. Nothing is computed here."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import polars as pl
from markupsafe import Markup

from rankbench.analysis.evaluation import scales
from rankbench.analysis.evaluation.scales import SiteResult
from rankbench.analysis.questions import case_labels, measures
from rankbench.analysis.questions.placements import remove_placement
from rankbench.analysis.questions.scaling import Site, oversubscribed
from rankbench.analysis.questions.view import SCOPES, CampaignView
from rankbench.language import render, say
from rankbench.model import Case
from rankbench.report.flat_frames import summary_row
from rankbench.report.tables import (
    Block,
    Cell,
    Hint,
    Paragraph,
    Sizes,
    Table,
    make_value_cell,
    margin_interval,
    name_start,
    winner,
)

TITLE = "How it scales with nodes and ranks"
SHORT = "Scaling"
HELP = "Values by nodes and ranks on each, of the middle size or of --sizes."
FLAG = "scaling"
ORDER = 40
ABSENT = (
    "none of these cases was made with several numbers of ranks; a plan names them by "
    "{ nodes = [1, 2, 4], ranks_per_node = [1, 2] }"
)
PLOTS = ("scaling", "node_bandwidth", "scaling_ranks")
OTHER_SIZES = (
    "Of several sizes the middle one is shown; <code>rankbench show --table scaling --sizes</code> shows others."
)
MEANING = (
    "Nodes x ranks on each. Typical value, its interval below; bold: fastest, or not distinguishable from the "
    "fastest, at this place. With more ranks than cores, waiting is measured, and values say nothing of the others."
)


def tables(view: CampaignView) -> list[Table]:
    """Return a table for each operation, of its middle size; of every one where only some sizes were chosen."""
    sizes_of = {case_labels.make_line_key(case): set[int]() for case in view.campaign.cases}
    for case in view.campaign.cases:
        sizes_of[case_labels.make_line_key(case)].add(case.size_bytes)
    return [
        _scaling_table(view, cases)
        for sizes in operations(view)
        for cases in (sizes if len(sizes) < len(sizes_of[line_of(sizes)]) else [middle(sizes)])
    ]


def line_of(sizes: list[dict[Site, Case]]) -> str:
    """Return the key of the line of the first case."""
    return case_labels.make_line_key(next(iter(sizes[0].values())))


def sentences(view: CampaignView) -> list[str]:
    """Return which placements are in no table: with more ranks than cores calls usually start by another method."""
    scaled = [case for cases in view.scaled.values() for case in cases.values()]
    shown, names = {case.placement for case in scaled}, {case.operation for case in scaled}
    others = dict.fromkeys(
        case.placement for case in view.cases if case.operation in names and case.placement not in shown
    )
    text = "Not in these tables, because calls start by another method there: {others:and}."
    return [render(say(text, others=others))] if others else []


def body(view: CampaignView) -> list[Block]:
    """Return what the page shows above the tables."""
    return [
        *map(Paragraph, sentences(view)),
        *(Hint(plot=name) for name in PLOTS if name == "scaling_ranks" or view.over_nodes),
        *(sizes_of_charts(view, sizes) for sizes in operations(view)),
        Hint(Markup(f"{MEANING} {OTHER_SIZES}")),  # noqa: S704 - constants above
    ]


def sizes_of_charts(view: CampaignView, sizes: list[dict[Site, Case]]) -> Sizes:
    """Return the charts of an operation by size, and which of them is shown first."""
    cases = [next(iter(size.values())) for size in sizes]
    keys = {view.size_text(case): SCOPES["scale"](case) for case in cases}
    shown = SCOPES["scale"](next(iter(middle(sizes).values())))
    return Sizes(case_labels.name_line(cases[0], view.operation(cases[0])), keys, shown, PLOTS)


def operations(view: CampaignView) -> list[list[dict[Site, Case]]]:
    """Return the chosen cases that scale, by what they have in common but size and placement, by size."""
    chosen = {case.key for case in view.cases}
    by_line: dict[str, list[dict[Site, Case]]] = {}
    for cases in view.scaled.values():
        if all(case.key in chosen for case in cases.values()):
            by_line.setdefault(case_labels.make_line_key(remove_placement(next(iter(cases.values())))), []).append(
                cases
            )
    return [sorted(sizes, key=lambda size: next(iter(size.values())).size_bytes) for sizes in by_line.values()]


def middle(sizes: list[dict[Site, Case]]) -> dict[Site, Case]:
    """Return the cases of the middle size, the smaller one of two."""
    return sizes[(len(sizes) - 1) // 2]


def _scaling_table(view: CampaignView, cases: dict[Site, Case]) -> Table:
    first = next(iter(cases.values()))
    name, what = view.case_name(first) + name_start(view, first), view.measure(first).heading
    caption = f"{name}: {what} by nodes and ranks on each"
    ordered = sorted(cases, key=lambda place: (place.ranks_per_node, place.nodes))
    fared = {
        (standing.site, standing.candidate): standing for standing in scales.list_results(view, cases, view.candidates)
    }
    rows = [row(view, place, cases[place], fared) for place in ordered]
    return Table(
        caption,
        [
            "nodes x ranks",
            "ranks",
            *view.candidates,
            "fastest (×: next slower)",
        ],
        rows,
    )


def row(view: CampaignView, place: Site, case: Case, fared: dict[tuple[Site, str], SiteResult]) -> list[Cell]:
    """Return how all candidates fared at one place."""
    verdict = view.verdict_of[case.key]
    cells = []
    for name in view.candidates:
        standing = fared.get((place, name))
        cell = make_value_cell(view, verdict, name)
        if standing and not standing.counts:
            cell = Cell(render(standing.word), render(standing.fate))
        elif standing and standing.fate:
            cell = dataclasses.replace(cell, text=f"{cell.text}, {render(standing.fate)}")
        cells.append(cell)
    name = scales.place_name(place, view.campaign)
    return [Cell(name, case=case.key), Cell(str(place.ranks)), *cells, Cell(winner(verdict), margin_interval(verdict))]


def frame(view: CampaignView) -> pl.DataFrame:
    """Return one row per chosen case that scales and candidate with all that is known, for programs."""
    return pl.DataFrame(list(_frame_rows(view)), infer_schema_length=None)


def _frame_rows(view: CampaignView) -> Iterable[dict[str, object]]:
    for cases in (cases for sizes in operations(view) for cases in sizes):
        for standing in scales.list_results(view, cases, view.candidates):
            moved = view.moved.get(standing.case.key, ())
            per_node = measures.measure_per_node(standing.case, standing.site.nodes, *moved)
            yield {
                "operation": standing.case.operation,
                "form": standing.case.form,
                "size_bytes": standing.case.size_bytes,
                "nodes": standing.site.nodes,
                "ranks_per_node": standing.site.ranks_per_node,
                "ranks": standing.site.ranks,
                "oversubscribed": oversubscribed(standing.site, view.campaign),
                **summary_row(standing.summary),
                "bandwidth_per_node_MB_per_s": per_node.value(standing.summary.typical_ns)
                if per_node and standing.counts
                else None,
                "what_happened": render(standing.fate),
                "fastest": standing.candidate in view.verdict_of[standing.case.key].winners,
            }
