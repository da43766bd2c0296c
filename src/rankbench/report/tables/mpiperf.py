"""Tables as MPIPerf reports a benchmark: how many runs were tried, valid and left, and mean, errors and interval.

Of a campaign's own cases a quarter of all samples is dropped at each end. Of cases that MPIPerf itself measured the
tables have what it printed, and nothing where it printed none.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import msgspec
import polars as pl

from rankbench import units
from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.statistics.launch_values import TRIMMED
from rankbench.foreign import tools
from rankbench.language import render, say
from rankbench.model import Case, Summary
from rankbench.quantities import format_time
from rankbench.report.tables import Cell, Table, line_name

Values = dict[str, float]

TITLE = "As MPIPerf reports it"
SHORT = "MPIPerf"
HELP = "Values in the columns of MPIPerf's report."
FLAG = "mpiperf"
ORDER = 100
ABSENT = "none of these cases has times"
COUNTS = ("tried", "valid", "left")
TIMES = ("mean_ns", "standard_error_ns", "min_ns", "max_ns", "absolute_error_ns", "low_ns", "high_ns")
COLUMNS = (*COUNTS, *TIMES, "relative_standard_error", "relative_error")
HEADINGS = [
    *("message size", "candidate", "tried", "valid", "left", "mean", "relative standard error", "standard error"),
    *("minimum", "maximum", "absolute error", "interval", "relative error"),
]
POOLED = (
    "minimum, maximum, mean, errors and interval are of what is left without the fastest and the slowest quarter; "
    "samples of all launches count together and as independent, so that the interval says nothing about a next launch"
)


def find_headings(case: Case) -> dict[str, str]:
    """Return the headings by column of a case whose tool prints such a report itself; nothing for other cases."""
    return getattr(units.module(tools, case.suite), "REPORTED", {}) if case.suite in units.modules(tools) else {}


def wanted(view: CampaignView) -> bool:
    """Return whether a report has these tables: with MPIPerf's estimator, and of what MPIPerf measured."""
    return view.campaign.plan.estimator == TRIMMED or any(map(find_headings, view.cases))


def tables(view: CampaignView) -> list[Table]:
    """Return a table of each line whose values are times."""
    rows = frame(view).rows(named=True)
    return [
        table
        for _, part in view.without_pairs().parts("line")
        if (table := line_table(part, [row for row in rows if row["case"] in {case.key for case in part.cases}])).rows
    ]


def page(view: CampaignView) -> list[Table]:
    """Return the tables that a report has unasked."""
    return tables(view) if wanted(view) else []


text = page


def line_table(part: CampaignView, valueses: Sequence[Values]) -> Table:
    """Return the table of one line."""
    sizes = {case.key: part.size_text(case) for case in part.cases}
    rows = [[Cell(sizes[str(row["case"])], case=str(row["case"])), *cells(row)] for row in valueses]
    theirs = find_headings(part.cases[0])
    caption = render(
        say(
            "{line}: as MPIPerf reports it, confidence {share:.0%}",
            line=line_name(part),
            share=part.campaign.plan.confidence,
        )
    )
    caption = f"{line_name(part)}: as MPIPerf printed it" if theirs else f"{caption}; {POOLED}"
    return Table(caption, [*HEADINGS], rows)


def cells(row: Values) -> Iterator[Cell]:
    """Yield the cells of a row, after its size."""
    yield Cell(str(row["candidate"]))
    yield from (Cell(f"{row[name]:.0f}" if known(row[name]) else "–") for name in COUNTS)
    yield Cell(time(row["mean_ns"]))
    yield Cell(share(row["relative_standard_error"]))
    yield from (Cell(time(row[name])) for name in ("standard_error_ns", "min_ns", "max_ns", "absolute_error_ns"))
    ends = [time(row[name]) for name in ("low_ns", "high_ns")]
    yield Cell("–" if "–" in ends else f"{ends[0]} to {ends[1]}")
    yield Cell(share(row["relative_error"]))


def known(value: float | None) -> bool:
    """Return whether there is a number."""
    return value is not None and math.isfinite(value)


def time(value: float) -> str:
    """Return a time as people read it, a dash where there is none."""
    return format_time(value) if known(value) else "–"


def share(value: float) -> str:
    """Return a share in percent, a dash where there is none."""
    return f"{value:.1%}" if known(value) else "–"


def frame(view: CampaignView) -> pl.DataFrame:
    """Return a row for each case and candidate, of what MPIPerf measured for each launch; times are in nanoseconds."""
    times = [case for case in view.cases if view.measure(case).kind == "time"]
    schema = {"case": pl.String, "candidate": pl.String, "launch": pl.Int64, **dict.fromkeys(COLUMNS, pl.Float64)}
    rows = [
        row
        for case in times
        for row in (list_printed(view, case) if find_headings(case) else list_measured(view, case))
    ]
    return pl.DataFrame(rows, schema=schema).fill_nan(None)


def list_measured(view: CampaignView, case: Case) -> Iterator[dict[str, object]]:
    """Yield the rows of a case that was measured here."""
    for _, summary in view.summaries_of.get(case.key, ()):
        if summary.candidate in view.candidates and summary.trimmed_samples:
            yield {"case": case.key, "candidate": summary.candidate, **make_row(summary)}


def make_row(summary: Summary) -> Values:
    """Return the columns of a summary."""
    mean, error, half = summary.trimmed_mean_ns, summary.trimmed_error_ns, summary.trimmed_half_ns
    return {
        "tried": float(summary.samples + summary.discarded),
        "valid": float(summary.samples),
        "left": float(summary.trimmed_samples),
        "mean_ns": mean,
        "relative_standard_error": error / mean if mean else math.nan,
        "standard_error_ns": error,
        "min_ns": summary.trimmed_min_ns,
        "max_ns": summary.trimmed_max_ns,
        "absolute_error_ns": half,
        "low_ns": mean - half,
        "high_ns": mean + half,
        "relative_error": half / mean if mean else math.nan,
    }


def list_printed(view: CampaignView, case: Case) -> Iterator[dict[str, object]]:
    """Yield a row for each launch of a case that MPIPerf measured, with the columns that it printed."""
    rows = view.case_rows.filter(
        pl.col("case") == case.key, pl.col("printed") != "", pl.col("candidate").is_in(list(view.candidates))
    ).join(view.launch_values.select("case", "candidate", "launch", "figure_ns"), on=["case", "candidate", "launch"])
    for row in rows.sort("candidate", "launch").iter_rows(named=True):
        values = msgspec.json.decode(row["printed"], type=dict[str, float | None])
        mean = values.get("Mean") or values.get("Total") or 0.0
        scale = row["figure_ns"] / mean if mean else math.nan
        columns = {
            name: (scale if name in TIMES else 1.0) * value
            for name, heading in find_headings(case).items()
            if (value := values.get(heading)) is not None
        }
        yield {"case": case.key, "candidate": row["candidate"], "launch": row["launch"], **columns}
