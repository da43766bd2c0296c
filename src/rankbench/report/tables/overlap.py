"""Tables of how much of a communication computation hides: what it takes overall, what each of the two takes alone."""

from __future__ import annotations

import math

import polars as pl

from rankbench.analysis.questions.view import CampaignView
from rankbench.model import Summary
from rankbench.plots import captions
from rankbench.quantities import format_time
from rankbench.report.tables import Cell, Table, line_name

TITLE = "How much of a communication computation hides"
SHORT = "Overlap"
HELP = "What share of a communication's time is hidden behind computation."
FLAG = "overlap"
ORDER = 20
UNASKED = "line"
ABSENT = "none of these cases measures overlap; the preset overlap has some"
COLUMNS = ["message size", "candidate", "overall", "computation alone", "communication alone", "overlap"]
MEANING = (
    "Overlap is 1 - (overall - computation) / communication: the share of the communication that goes on while ranks "
    "compute. All are medians over launches of the launch's median."
)


def tables(view: CampaignView) -> list[Table]:
    """Return a table of each line whose quantity is overlap: a row for each size and candidate."""
    return [_overlap_table(part) for part in lines(view)]


def lines(view: CampaignView) -> list[CampaignView]:
    """Return the lines whose quantity is overlap."""
    return [part for _, part in view.parts("line") if part.cases[0].quantity == "overlap"]


def frame(view: CampaignView) -> pl.DataFrame:
    """Return one row per case and candidate; times in nanoseconds, the overlap as a share."""
    summaries = {(summary.case, summary.candidate): summary for summary in view.verdict.summaries}
    keys = [(case.key, name) for part in lines(view) for case in part.cases for name in part.candidates]
    rows = [frame_row(summaries[key]) for key in keys if key in summaries]
    return pl.DataFrame(rows, infer_schema_length=None)


def frame_row(summary: Summary) -> dict[str, object]:
    """Return a row of the CSV."""
    return {
        "case": summary.case,
        "candidate": summary.candidate,
        "overall_ns": summary.typical_ns,
        "compute_ns": summary.compute_ns,
        "pure_ns": summary.pure_ns,
        "overlap": summary.overlap,
    }


def _overlap_table(part: CampaignView) -> Table:
    summaries = {(summary.case, summary.candidate): summary for summary in part.verdict.summaries}
    rows = [
        [Cell(part.size_text(case), case=case.key), Cell(name), *make_cells(summaries.get((case.key, name)))]
        for case in part.cases
        for name in part.candidates
    ]
    caption = f"{line_name(part)}: overlap of communication and computation"
    return Table(f"{caption}, {captions.describe_conditions(part)}", [*COLUMNS], rows)


def make_cells(summary: Summary | None) -> list[Cell]:
    """Return the times of a candidate and what they come to, or why there are none."""
    if summary is None or not math.isfinite(summary.overlap):
        why = ", ".join(summary.failures) if summary else "not measured"
        return [Cell("–", why), *[Cell("–")] * 3]
    times = (summary.typical_ns, summary.compute_ns, summary.pure_ns)
    return [*(Cell(format_time(time_ns)) for time_ns in times), Cell(f"{summary.overlap:.0%}")]
