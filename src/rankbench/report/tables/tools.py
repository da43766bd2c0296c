"""Values of several tools for one call side by side, each with its meaning; there is no verdict between tools."""

from __future__ import annotations

import polars as pl

from rankbench import units
from rankbench.analysis.questions.same_calls import Series, list_meanings, list_series
from rankbench.analysis.questions.view import CampaignView
from rankbench.foreign import tools as foreign_tools
from rankbench.foreign.comparing import find_counterpart
from rankbench.model import Case, Operation, Summary
from rankbench.quantities import spell_count
from rankbench.report.tables import Block, Cell, Charts, Hint, Table

TITLE = "Tools side by side"
SHORT = "tools"
HELP = "The values of several tools for one call side by side, each with its meaning."
FLAG = "tools"
ORDER = 105
ABSENT = "no two tools have values for one call on as many ranks"
CORE = "rankbench"
HINT = (
    "Tools measure one call in different ways, so there is no verdict between them. Times are as each tool defines "
    "them, see the table of their meanings; a bandwidth is as the tool counts it."
)
SCHEMA = {
    "call": pl.String,
    "tool": pl.String,
    "operation": pl.String,
    "candidate": pl.String,
    "case": pl.String,
    "placement": pl.String,
    "ranks": pl.Int64,
    "size_bytes": pl.Int64,
    "typical_ns": pl.Float64,
    "low_ns": pl.Float64,
    "high_ns": pl.Float64,
    "launches": pl.Int64,
    "samples": pl.Int64,
}

USER_PROGRAM = "program"


def tables(view: CampaignView) -> list[Table]:
    """Return two tables for each call of several tools: the values by size, and what they mean."""
    return [
        table
        for _, part in view.without_pairs().parts("call")
        if (series := list_series(part))
        for table in (make_values(part, series), make_meanings(part, series))
    ]


def body(view: CampaignView) -> list[Block]:
    """Return what the page shows above the tables."""
    keys = [key for key, part in view.without_pairs().parts("call") if list_series(part)]
    return [Hint(HINT), Charts("tools", keys)] if keys else []


def frame(view: CampaignView) -> pl.DataFrame:
    """Return a row for each size, benchmark and candidate of the calls that several tools measured."""
    rows = [
        make_row(view, case, summary)
        for _, part in view.without_pairs().parts("call")
        for line in list_series(part)
        for case, summary in line.values
    ]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def make_row(view: CampaignView, case: Case, summary: Summary) -> tuple[object, ...]:
    """Return a value with what it is of."""
    operation = view.operation(case)
    return (
        *(find_counterpart(operation), case.suite or CORE, operation.name, summary.candidate, case.key),
        *(case.placement, case.ranks, case.size_bytes),
        *(summary.typical_ns, summary.low_ns, summary.high_ns, summary.launches, summary.samples),
    )


def make_values(part: CampaignView, series: list[Series]) -> Table:
    """Return the values of a call, a row for each size."""
    sizes = sorted({case.size_bytes for line in series for case, _ in line.values})
    by_size = [{case.size_bytes: (case, summary) for case, summary in line.values} for line in series]
    texts = {case.size_bytes: part.size_text(case) for line in series for case, _ in line.values}
    rows = [
        [Cell(texts[size]), *(make_cell(part, *values[size]) if size in values else Cell("–") for values in by_size)]
        for size in sizes
    ]
    caption = f"{name_call(part, series)} by {spell_count(_count_tools(series), 'tool')}, not compared"
    return Table(caption, ["message size", *(line.name for line in series)], rows)


def make_cell(part: CampaignView, case: Case, summary: Summary) -> Cell:
    """Return the value of a case with its unit and its number of launches."""
    launches = spell_count(summary.launches, "launch")
    return Cell(part.measure(case).format(summary.typical_ns), launches, case=case.key)


def make_meanings(part: CampaignView, series: list[Series]) -> Table:
    """Return what the number of each benchmark is."""
    rows = [
        [Cell(operation.name), Cell(name_tool(operation)), Cell(meaning.text)]
        for operation, meaning in list_meanings(series, part.campaign.plan.estimator)
    ]
    caption = f"What the values of {name_call(part, series)} are"
    columns = ["benchmark", "measured by", "what its number is"]
    return Table(caption, columns, rows)


def name_call(part: CampaignView, series: list[Series]) -> str:
    """Return the call of a part with its form and ranks."""
    case = series[0].values[0][0]
    ranks = 2 if part.operation(case).between_two else case.ranks
    form = "" if case.form == "blocking" else f" {case.form}"
    name = f"{find_counterpart(part.operation(case))}{form}"
    return f"{name} on {spell_count(ranks, 'rank')}" if ranks else name


def name_tool(operation: Operation) -> str:
    """Return the title of the tool that measures an operation."""
    if not operation.foreign:
        return CORE
    if operation.kind == USER_PROGRAM:
        return "program"
    return str(units.module(foreign_tools, operation.foreign.suite).TITLE)


def _count_tools(series: list[Series]) -> int:
    return len({name_tool(line.operation) for line in series})
