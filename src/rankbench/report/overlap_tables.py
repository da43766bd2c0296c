"""Tables of how much of a communication computation hides: what it takes overall, what each of the two takes alone."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rankbench import plots
from rankbench.language import say
from rankbench.quantities import format_time
from rankbench.report.tables import Cell, Table, line_name

if TYPE_CHECKING:
    from rankbench.model import Summary
    from rankbench.plots import Picture

COLUMNS = ["message size", "candidate", "overall", "computation alone", "communication alone", "overlap"]
MEANING = (
    "Overlap is 1 - (overall - computation) / communication: the share of the communication that goes on while ranks "
    "compute. All are medians over launches of the launch's median."
)


def overlap_tables(whole: Picture) -> list[Table]:
    """Return a table of each line whose quantity is overlap: a row for each size and candidate."""
    lines = [part for _, part in whole.parts("line") if part.cases[0].quantity == "overlap"]
    return [overlap_table(part) for part in lines]


def overlap_table(part: Picture) -> Table:
    """Return the table of one line."""
    summaries = {(one.case, one.candidate): one for one in part.verdict.summaries}
    rows = [
        [Cell(part.size(case), case=case.key), Cell(name), *figures(summaries.get((case.key, name)))]
        for case in part.cases
        for name in part.candidates
    ]
    caption = say("{line}: overlap of communication and computation", line=line_name(part))
    return Table(f"{caption}, {plots.circumstances(part)}", [*COLUMNS], rows)


def figures(summary: Summary | None) -> list[Cell]:
    """Return the times of a candidate and what they come to, or why there are none."""
    if summary is None or not math.isfinite(summary.overlap):
        why = ", ".join(summary.failures) if summary else say("not measured")
        return [Cell("–", why), *[Cell("–")] * 3]
    times = (summary.typical_ns, summary.compute_ns, summary.pure_ns)
    return [*(Cell(format_time(time_ns)) for time_ns in times), Cell(f"{summary.overlap:.0%}")]
