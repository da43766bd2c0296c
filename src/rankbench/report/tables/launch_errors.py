"""Tables of errors over launches: the relative standard error of each mean, by message size and number of ranks."""

from __future__ import annotations

import math

import polars as pl

from rankbench.analysis.questions import case_labels
from rankbench.analysis.questions.placements import remove_placement
from rankbench.analysis.questions.view import CampaignView
from rankbench.language import render, say
from rankbench.model import Case, Summary
from rankbench.report.tables import Cell, Table, name_start

TITLE = "Errors over launches"
HELP = "The relative standard error of each mean over launches, by number of ranks."
FLAG = "launch-errors"
ORDER = 45
FOLDED = True
ABSENT = "none of these cases has several launches of a candidate"


def tables(view: CampaignView) -> list[Table]:
    """Return a table for each operation: sizes and numbers of ranks downwards, candidates to the right."""
    by_line: dict[str, list[Case]] = {}
    for case in view.without_pairs().cases:
        if any(math.isfinite(error) for error in list_errors(view, case).values()):
            by_line.setdefault(case_labels.make_line_key(remove_placement(case)), []).append(case)
    return [make_table(view, cases) for cases in by_line.values()]


def page(view: CampaignView) -> list[Table]:
    """Return the tables where ranks differ between placements; elsewhere those of values have the range of launches."""
    return tables(view) if len({case.ranks for cases in view.scaled.values() for case in cases.values()}) > 1 else []


def text(view: CampaignView) -> list[Table]:
    """Return the tables of the page."""
    return page(view)


def list_errors(view: CampaignView, case: Case) -> dict[str, float]:
    """Return the relative standard error of each candidate that has one or more launches."""
    return {summary.candidate: summary.launches_rse for summary in list_summaries(view, case)}


def list_summaries(view: CampaignView, case: Case) -> list[Summary]:
    """Return what was measured of a case, of the candidates to show."""
    by_name = {summary.candidate: summary for _, summary in view.summaries_of.get(case.key, ())}
    return [by_name[name] for name in view.candidates if name in by_name]


def make_table(view: CampaignView, cases: list[Case]) -> Table:
    """Return the table of one operation."""
    first = cases[0]
    name = case_labels.name_line(first, view.operation(first)) + name_start(view, first)
    rows = []
    for case in sorted(cases, key=lambda case: (case.size_bytes, case.ranks, case.placement)):
        errors = list_errors(view, case)
        cells = [Cell(render(say("{error:.2%}", error=errors.get(name, math.nan)))) for name in view.candidates]
        rows.append(
            [Cell(view.size_text(case), case=case.key), Cell(str(case.ranks)), Cell(case.placement), *cells],
        )
    columns = ["message size", "ranks", "placement", *view.candidates]
    return Table(f"{name}: relative standard error of the mean over launches", columns, rows)


def frame(view: CampaignView) -> pl.DataFrame:
    """Return one row per case and candidate, for programs."""
    rows = [
        {
            "operation": case.operation,
            "form": case.form,
            "size_bytes": case.size_bytes,
            "placement": case.placement,
            "ranks": case.ranks,
            "candidate": summary.candidate,
            "launches": summary.launches,
            "launches_mean_ns": summary.launches_mean_ns,
            "launches_rse": summary.launches_rse,
            "case": case.key,
        }
        for case in view.cases
        for summary in list_summaries(view, case)
        if summary.launches
    ]
    return pl.DataFrame(rows)
