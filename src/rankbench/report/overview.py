"""One table with a row per case, for the end of a run: typical values, with signs at the winners."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankbench.language import say
from rankbench.report.tables import Cell, Table, figure, outcome_legend

if TYPE_CHECKING:
    from rankbench.model import CaseVerdict
    from rankbench.plots import Picture

ROWS = 16


def overview(whole: Picture) -> Table:
    """Return the first cases, with what the signs mean and how many more there are as the caption."""
    picked = whole.plain()
    summaries = {(one.case, one.candidate): one for one in picked.verdict.summaries}
    verdicts = list(picked.verdicts())
    rows = []
    for verdict in verdicts[:ROWS]:
        cells = (
            marked(verdict, name, figure(picked, verdict, name, summaries.get((verdict.case.key, name))))
            for name in picked.candidates
        )
        rows.append([Cell(whole.evaluation.evidence.full_title(verdict.case), case=verdict.case.key), *cells])
    caption = say("* fastest, {outcomes}", outcomes=outcome_legend(picked))
    if len(verdicts) > ROWS:
        caption = say(
            "{caption}; {n:count more case|more cases}: rankbench show", caption=caption, n=len(verdicts) - ROWS
        )
    return Table(caption, [say("case"), *picked.candidates], rows)


def marked(verdict: CaseVerdict, name: str, cell: Cell) -> Cell:
    """Return a figure with the sign of its outcome behind it."""
    wins = name in verdict.winners and len(verdict.ranking) > 1
    sign = "*" if len(verdict.winners) == 1 else verdict.sign
    return Cell(f"{cell.text} {sign if wins else ' '}", cell.detail, cell.best, cell.case)
