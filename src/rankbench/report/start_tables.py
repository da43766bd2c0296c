"""Tables of what each start does to the same cases. Nothing is computed here but shares of counts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rankbench import plots
from rankbench.plots import Picture
from rankbench.quantities import format_ratio, format_time
from rankbench.report.tables import Cell, Table, line_name, quantity
from rankbench.verdict.starts import discarded

if TYPE_CHECKING:
    from rankbench.model import Case, Summary

CAPTION = "time by start, as a ratio to that with start"


def smallest_cases(whole: Picture) -> list[str]:
    """Return, for each line that has several starts, the key of its case of the smallest size with the usual one."""
    several = [case for case in whole.cases if whole.own_start(case) and len(whole.evaluation.alike(case)) > 1]
    lines = Picture(whole.evaluation, several).parts("line")
    return [min(part.cases, key=lambda case: case.size_bytes).key for _, part in lines]


def start_tables(whole: Picture) -> list[Table]:
    """Return a table for each line that has several starts: cases and candidates downwards, starts to the right."""
    summaries = {(one.case, one.candidate): one for one in whole.verdict.summaries}
    lines = [part for _, part in whole.parts("line") if whole.own_start(part.cases[0])]
    return [start_table(part, summaries) for part in lines if len(whole.evaluation.alike(part.cases[0])) > 1]


def start_table(part: Picture, summaries: dict[tuple[str, str], Summary]) -> Table:
    """Return the table of one line with the usual start."""
    starts = list(dict.fromkeys(one.start for case in part.cases for one in part.evaluation.alike(case)))
    columns = ["message size", "candidate", *starts]
    rows = []
    for case in part.cases:
        alike = {one.start: one for one in part.evaluation.alike(case)}
        size = Cell(plots.size_name(case, part.operation(case)), case=case.key)
        for name in part.candidates:
            found = (cell(part, alike.get(start), name, summaries) for start in starts)
            rows.append([size, Cell(name), *found])
    return Table(f"{line_name(part)}: {CAPTION} {starts[0]}", columns, rows)


def cell(part: Picture, case: Case | None, candidate: str, summaries: dict[tuple[str, str], Summary]) -> Cell:
    """Return the time with one start and its ratio to that with the usual one, and how ranks began."""
    summary = summaries.get((case.key, candidate)) if case else None
    if case is None or summary is None or not (summary.launches or summary.doubt):
        return Cell("–", ", ".join(summary.failures) if summary else "not measured")
    time = quantity(case, part.operation(case), summary.typical_ns)
    if summary.doubt:
        return Cell(f"{time} ?", summary.doubt)
    effects = (one.ratio for one in part.evaluation.starts if (one.case, one.candidate) == (case.key, candidate))
    ratio = next(effects, None)
    if ratio is None:
        return Cell(time, began(summary))
    told = format_ratio(ratio.ratio) + ("" if ratio.different else " ~")
    return Cell(told, f"{time}; {began(summary)}", best=ratio.different)


def began(summary: Summary) -> str:
    """Return how far apart ranks began, and what was discarded."""
    known = math.isfinite(summary.skew_ns)
    apart = f"ranks {format_time(summary.skew_ns)} apart (p90 {format_time(summary.skew_p90_ns)}); " if known else ""
    return f"{apart}{discarded([summary]):.1%} discarded"
