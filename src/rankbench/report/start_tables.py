"""Tables of what each start does to the same cases. Nothing is computed here but shares of counts."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

from rankbench.language import say
from rankbench.quantities import format_ratio
from rankbench.report.tables import Cell, Table, line_name
from rankbench.verdict.starts import discarded

if TYPE_CHECKING:
    from rankbench.model import Case, Comparison, Summary
    from rankbench.plots import Picture


def smallest_cases(whole: Picture) -> list[str]:
    """Return, for each line that has several starts, the key of its case of the smallest size with the usual one."""
    several = [case for case in whole.cases if whole.own_start(case) and len(whole.evaluation.alike(case)) > 1]
    lines = dataclasses.replace(whole, cases=several).parts("line")
    return [min(part.cases, key=lambda case: case.size_bytes).key for _, part in lines]


def start_tables(whole: Picture) -> list[Table]:
    """Return a table for each line that has several starts: cases and candidates downwards, starts to the right."""
    summaries = {(one.case, one.candidate): one for one in whole.verdict.summaries}
    lines = [part for _, part in whole.parts("line") if whole.own_start(part.cases[0])]
    return [start_table(part, summaries) for part in lines if len(whole.evaluation.alike(part.cases[0])) > 1]


def start_table(part: Picture, summaries: dict[tuple[str, str], Summary]) -> Table:
    """Return the table of one line with the usual start."""
    starts = list(dict.fromkeys(one.start for case in part.cases for one in part.evaluation.alike(case)))
    columns = [say("message size"), say("candidate"), *starts]
    rows = []
    for case in part.cases:
        alike = {one.start: one for one in part.evaluation.alike(case)}
        size = Cell(part.size(case), case=case.key)
        for name in part.candidates:
            found = (cell(part, alike.get(start), name, summaries) for start in starts)
            rows.append([size, Cell(name), *found])
    caption = say("{line}: time by start, as a ratio to that with start {usual}", line=line_name(part), usual=starts[0])
    return Table(caption, columns, rows)


def cell(part: Picture, case: Case | None, candidate: str, summaries: dict[tuple[str, str], Summary]) -> Cell:
    """Return the time with one start and its ratio to that with the usual one, and how ranks began."""
    summary = summaries.get((case.key, candidate)) if case else None
    if case is None or summary is None or not (summary.launches or summary.doubt):
        return Cell("–", ", ".join(summary.failures) if summary else say("not measured"))
    time = part.measure(case).text(summary.typical_ns)
    if summary.doubt:
        return Cell(f"{time} ?", summary.doubt)
    ratio = part.once("effects", lambda: effects(part)).get((case.key, candidate))
    if ratio is None:
        return Cell(time, began(summary))
    told = format_ratio(ratio.ratio) + ("" if ratio.different else " ~")
    return Cell(told, f"{time}; {began(summary)}", best=ratio.different)


def effects(part: Picture) -> dict[tuple[str, str], Comparison]:
    """Return what starts do by case and candidate; the first of several."""
    return {(one.case, one.candidate): one.ratio for one in reversed(part.evaluation.starts)}


def began(summary: Summary) -> str:
    """Return how far apart ranks began, and what was discarded."""
    dropped = say("{share:.1%} discarded", share=discarded([summary]))
    if not math.isfinite(summary.skew_ns):
        return dropped
    apart = say("ranks {skew:time} apart (p90 {p90:time})", skew=summary.skew_ns, p90=summary.skew_p90_ns)
    return f"{apart}; {dropped}"
