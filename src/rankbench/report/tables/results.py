"""The main tables: typical values of all cases, a table for each line of cases that differ in size only."""

from __future__ import annotations

import dataclasses

import msgspec
import polars as pl

from rankbench.analysis.questions.view import CampaignView
from rankbench.model import CaseVerdict, Summary
from rankbench.plots import captions
from rankbench.quantities import spell_count
from rankbench.report.flat_frames import summary_row
from rankbench.report.tables import (
    TOO_FEW_LAUNCHES,
    Block,
    Cell,
    Hint,
    Table,
    fastest_heading,
    line_name,
    make_value_cell,
    margin_interval,
    outcome_legend,
    row_text,
    winner,
)  # fmt: skip

TITLE = "Tables"
HELP = "Below each value its interval, and the fastest and slowest launch."
FLAG = "details"
ORDER = 10
ANCHOR = "tables"
DETAILS = True
ABSENT = "all these cases are measured between several pairs of ranks; see --table matrix"


def tables(view: CampaignView) -> list[Table]:
    """Return one table per line: sizes downwards, candidates to the right, and below values the range of launches."""
    return line_tables(view, launches=True)


def latex(view: CampaignView) -> list[Table]:
    """Return the tables without the range of launches, for which papers are too narrow."""
    return line_tables(view, launches=False)


def line_tables(view: CampaignView, *, launches: bool) -> list[Table]:
    """Return one table per line, with the range of launches or without it."""
    return [line_table(part, launches=launches) for _, part in view.without_pairs().parts("line")]


def line_table(part: CampaignView, *, launches: bool) -> Table:
    """Return the table of one line, with a row for each case and level."""
    measure = part.measure(part.cases[0])
    caption = f"{line_name(part)}: {measure.heading}, {captions.describe_conditions(part)}"
    compared = len(part.candidates) > 1
    rows = [
        [
            Cell(row_text(part, verdict, level), case=part.key(verdict.case)),
            *(make_value_cell(part, verdict, name, level, launches=launches) for name in part.candidates),
            *([Cell(winner(verdict), margin_interval(verdict))] if compared else []),
        ]
        for level, verdict in part.list_shown_rows()
    ]
    best = [fastest_heading(part)] if compared else []
    if caption.endswith(captions.TOO_FEW):
        rows = [[omit_reason(cell) for cell in row] for row in rows]
    return Table(caption, ["message size", *part.candidates, *best], rows)


def omit_reason(cell: Cell) -> Cell:
    """Return a value without the reason for a missing interval that the caption of its table has."""
    return dataclasses.replace(cell, detail=cell.detail.removeprefix(TOO_FEW_LAUNCHES).removeprefix("; "))


def body(view: CampaignView) -> list[Block]:
    """Return what the page shows above the tables."""
    text = "Typical value; below it its interval and the range of launches."
    if legend := outcome_legend(view):
        bold = "Bold: fastest, or not distinguishable from it."
        text = f"{text} {bold} {legend}."
    return [Hint(text)]


def note(table: Table) -> str:
    """Return how many cases a table has."""
    return spell_count(len(table.rows), "case")


def frame(view: CampaignView) -> pl.DataFrame:
    """Return one row per case, level and candidate with all that is known of it."""
    rows = [
        row(verdict, summary, level)
        for level, verdict in view.list_shown_rows()
        for name in view.candidates
        if (summary := view.find_value(verdict.case.key, name, level))
    ]
    return pl.DataFrame(rows)


def row(verdict: CaseVerdict, summary: Summary, level: str) -> dict[str, object]:
    """Return a row of the CSV."""
    case: dict[str, object] = msgspec.structs.asdict(verdict.case)
    memory = msgspec.structs.asdict(verdict.case.memory)
    return {
        **case,
        **memory,
        "memory": verdict.case.memory.label,
        "options": " ".join(f"{name}={value}" for name, value in verdict.case.options.items()),
        "state": level,
        **summary_row(summary),
        "fastest": summary.candidate in verdict.winners,
    }
