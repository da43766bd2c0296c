"""One table with a row per case, for the end of a run: typical values, with signs at the winners."""

from __future__ import annotations

from collections.abc import Sequence

from rankbench.analysis.questions.view import CampaignView
from rankbench.model import CaseVerdict
from rankbench.model.verdicts import Outcome
from rankbench.quantities import spell_count
from rankbench.report.tables import Cell, Table, make_value_cell, outcome_legend

ROWS = 16


def overview(view: CampaignView, rows_max: int = ROWS, command: str = "rankbench show") -> Table:
    """Return the first cases, with what the signs mean and how many more there are as the caption.

    `command` shows the others.
    """
    picked = view.without_pairs()
    verdicts = list(picked.list_shown_rows())
    rows = []
    for level, verdict in verdicts[:rows_max]:
        cells = (
            mark_outcome(verdict, name, make_value_cell(picked, verdict, name, level)) for name in picked.candidates
        )
        unit = picked.measure(verdict.case).unit
        title = f"{view.full_title(verdict.case)}{level and f' {level}'}{unit and f' ({unit})'}"
        rows.append([Cell(title, case=verdict.case.key), *cells])
    outcomes = outcome_legend(picked)
    caption = f"* fastest, {outcomes}" if outcomes else ""
    if len(verdicts) > rows_max:
        more = f"{spell_count(len(verdicts) - rows_max, 'more row|more rows')}: {command}"
        caption = f"{caption}; {more}" if caption else more
    return Table(caption, ["case", *picked.candidates], rows)


def mark_outcome(verdict: CaseVerdict, name: str, cell: Cell) -> Cell:
    """Return a value with the sign of its outcome behind it."""
    sign = _sign(name, verdict.winners, verdict.outcome) if len(verdict.ranking) > 1 else " "
    return Cell(f"{cell.text} {sign}", cell.detail, cell.best, cell.case)


def _sign(name: str, winners: Sequence[str], outcome: Outcome) -> str:
    """Return the sign of a candidate, a blank where it is no winner."""
    if name not in winners:
        return " "
    return "*" if len(winners) == 1 else "=" if outcome == "equivalent" else "~"
