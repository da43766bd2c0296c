"""One table with a row per case, for the end of a run: typical values, with signs at the winners."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankbench.language import format_text
from rankbench.report.tables import Cell, Table, make_value_cell, outcome_legend

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankbench.model import CaseVerdict
    from rankbench.model.verdicts import Outcome
    from rankbench.verdict.view import CampaignView

ROWS = 16


def overview(view: CampaignView, rows_max: int = ROWS, command: str = "rankbench show") -> Table:
    """Return the first cases, with what the signs mean and how many more there are as the caption.

    `command` shows the others.
    """
    picked = view.without_pairs()
    summaries = {(summary.case, summary.candidate): summary for summary in picked.verdict.summaries}
    verdicts = list(picked.list_shown_verdicts())
    rows = []
    for verdict in verdicts[:rows_max]:
        cells = (
            mark_outcome(verdict, name, make_value_cell(picked, verdict, name, summaries.get((verdict.case.key, name))))
            for name in picked.candidates
        )
        unit = picked.measure(verdict.case).unit
        title = f"{view.full_title(verdict.case)}{unit and f' ({unit})'}"
        rows.append([Cell(title, case=verdict.case.key), *cells])
    outcomes = outcome_legend(picked)
    caption = format_text("* fastest, {outcomes}", outcomes=outcomes) if outcomes else ""
    if any(verdict.differs for verdict in verdicts[:rows_max]):
        caption = format_text("{caption}; two signs: cores near/far", caption=caption)
    if len(verdicts) > rows_max:
        more = format_text("{n:count more case|more cases}: {command}", n=len(verdicts) - rows_max, command=command)
        caption = f"{caption}; {more}" if caption else more
    return Table(caption, [format_text("case"), *picked.candidates], rows)


def mark_outcome(verdict: CaseVerdict, name: str, cell: Cell) -> Cell:
    """Return a value with the sign of its outcome behind it: of near and of far cores where these differ."""
    sign = " "
    if len(verdict.ranking) > 1 and name in verdict.winners:
        if verdict.differs:
            outcomes, fronts = verdict.outcome_by_level, verdict.winners_by_level
            sign = "/".join(_sign(name, fronts[level], outcomes[level]) for level in fronts)
        else:
            sign = _sign(name, verdict.winners, verdict.outcome)
    return Cell(f"{cell.text} {sign}", cell.detail, cell.best, cell.case)


def _sign(name: str, winners: Sequence[str], outcome: Outcome) -> str:
    """Return the sign of a candidate, a dash where it is no winner."""
    if name not in winners:
        return "–"
    return "*" if len(winners) == 1 else "=" if outcome == "equivalent" else "~"
