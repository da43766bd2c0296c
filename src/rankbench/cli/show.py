"""The command `show`: a campaign's answer and figures in the terminal."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import msgspec
import polars as pl
import rich.box
import typer
from rich.table import Table
from rich.text import Text

from rankbench import plots, store
from rankbench.cli import console
from rankbench.model import RankbenchError
from rankbench.plan import notation
from rankbench.report import derived, tables
from rankbench.report.rank_tables import rank_tables
from rankbench.units import suggestion
from rankbench.verdict.evaluation import evaluate

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankbench.model import Case, CaseVerdict, Summary
    from rankbench.plots import Picture

ORDER = 40
Kind = TypeVar("Kind")
SENTENCES_SHOWN = 3
WIDEST = 999
LEAST_COVERAGE = 0.75
"""Intervals that are less sure than this, which are those of two launches, are not shown."""


def show(
    folder: Annotated[
        Path | None, typer.Argument(metavar="FOLDER", help="The campaign; without it the newest below results.")
    ] = None,
    operation: Annotated[list[str] | None, typer.Option(help="Only this operation; may be given again.")] = None,
    form: Annotated[list[str] | None, typer.Option(help="Only this form: blocking, nonblocking, persistent.")] = None,
    estimator: Annotated[
        str,
        typer.Option(help="What is made of a launch, if not the plan's: median, min, mean, trimmed-mean, p1 to p99."),
    ] = "",
    confidence: Annotated[str, typer.Option(help="Of intervals, if not the plan's: 90%, 95% or 99%.")] = "",
    ranks: Annotated[  # noqa: FBT002
        bool,
        typer.Option("--ranks", help="Show single ranks: which was the last to end, and when each began and ended."),
    ] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print every figure as CSV.")] = False,  # noqa: FBT002
) -> None:
    """Show who is fastest, and the figures: typical time and half its interval for every case and candidate."""
    chosen = evaluate(
        store.open(folder or store.newest(Path("results"))),
        asked("estimator", estimator, notation.estimator, notation.ESTIMATOR_HELP) or "",
        asked("confidence", confidence, notation.confidence, notation.CONFIDENCE_HELP) or 0.0,
    )
    whole = plots.picture(chosen)
    picked = dataclasses.replace(whole, cases=chosen_cases(whole.cases, operation or [], form or []))
    if csv:
        frame = single_ranks(picked) if ranks else figures(picked)
        print(frame.write_csv(), end="")  # noqa: T201 - for programs, not for a console
    elif ranks:
        show_ranks(picked)
    else:
        show_answer(whole)
        show_figures(picked)


def asked(option: str, text: str, parse: Callable[[object], Kind], allowed: str) -> Kind | None:
    """Return what an option says, nothing where it is not given. Raises RankbenchError for what it cannot mean."""
    try:
        return parse(text) if text else None
    except ValueError:
        raise RankbenchError(f"--{option} {text}: expected {allowed.replace(chr(34), '')}") from None


def chosen_cases(cases: list[Case], operations: list[str], forms: list[str]) -> list[Case]:
    """Return the cases asked for. Raises RankbenchError for what the campaign does not have."""
    for what, wanted, has in (
        ("operation", operations, [case.operation for case in cases]),
        ("form", forms, [case.form for case in cases]),
    ):
        for name in set(wanted) - set(has):
            raise RankbenchError(f"--{what} {name}: not in this campaign; {suggestion(name, dict.fromkeys(has))}")
    kept = [case for case in cases if case.operation in (operations or [case.operation])]
    kept = [case for case in kept if case.form in (forms or [case.form])]
    if cases and not kept:
        raise RankbenchError(f"{', '.join(operations)} was not measured in the form {', '.join(forms)}")
    return kept


def show_answer(whole: Picture) -> None:
    """Print the question and the first sentences of its answer."""
    if whole.campaign.plan.question:
        console.print(Text(whole.campaign.plan.question, "bold"))
    for sentence in whole.verdict.conclusion[:SENTENCES_SHOWN]:
        console.print(Text(sentence.text))


def show_figures(picked: Picture) -> None:
    """Print a block per operation, form and placement, then what went wrong."""
    summaries = {(summary.case, summary.candidate): summary for summary in picked.verdict.summaries}
    for _, part in picked.parts("line"):
        console.print()
        console.print(
            Text.assemble((tables.line_name(part), "bold"), f": {measured(part)}, {plots.circumstances(part)}")
        )
        console.print(block(part, summaries))
    console.print()
    for row in tables.failures(picked).rows:
        candidate, what, cases = (cell.text for cell in row)
        console.print(Text(f"{candidate}: {what} ({cases})"))


def measured(part: Picture) -> str:
    """Return what the figures of a line are."""
    metric = part.operation(part.cases[0]).metric
    return "bandwidth in MB/s (1 MB = 10^6 B)" if metric == "bandwidth" else metric


def block(part: Picture, summaries: dict[tuple[str, str], Summary]) -> Table:
    """Return the table of one line: sizes downwards, candidates to the right."""
    table = plain_table("size", *part.candidates)
    table.add_column("fastest")
    for verdict in part.verdicts():
        size = plots.size_name(verdict.case, part.operation(verdict.case))
        found = (figure(part, verdict, name, summaries.get((verdict.case.key, name))) for name in part.candidates)
        table.add_row(Text(size), *found, Text(tables.winner(verdict)))
    return table


def plain_table(*titles: str) -> Table:
    """Return a table with a line under its head, the first column on the left and the others on the right."""
    table = Table(box=rich.box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for title in titles:
        table.add_column(Text(title), justify="right" if table.columns else "left", overflow="fold")
    return table


def figure(part: Picture, verdict: CaseVerdict, name: str, summary: Summary | None) -> Text:
    """Return a candidate's figure, in bold green if nobody is told to be faster, or why there is none."""
    if summary is None or not summary.launches:
        return missing(part, verdict, summary)
    told = len(verdict.winners) < len(verdict.ranking)
    text = typical(part, verdict, summary)
    return Text(text, "bold green" if told and name in verdict.winners else "")


def typical(whole: Picture, verdict: CaseVerdict, summary: Summary) -> str:
    """Return the typical value and half its interval."""
    value = tables.quantity(verdict.case, whole.operation(verdict.case), summary.typical_ns)
    return value + spread(summary, whole.campaign.plan.estimator)


def missing(whole: Picture, verdict: CaseVerdict, summary: Summary | None) -> Text:
    """Return in words how a case without figures ended; where it is not judged, its figure with a question mark."""
    if summary and summary.doubt:
        return Text(f"{tables.quantity(verdict.case, whole.operation(verdict.case), summary.typical_ns)} ?", "yellow")
    statuses = summary.failures if summary else ()
    return Text(", ".join(status.replace("-", " ") for status in statuses) or "not run", "red")


def spread(summary: Summary, estimator: str) -> str:
    """Return half the interval relative to the typical value, ` ±1.2%`; nothing where too few launches give one."""
    low, high = tables.interval(summary, estimator)
    if not summary.typical_ns or (
        summary.coverage < LEAST_COVERAGE and (low, high) == (summary.low_ns, summary.high_ns)
    ):
        return ""
    percent = 50 * (high - low) / summary.typical_ns
    return f" ±{percent:.1f}%" if percent < 9.95 else f" ±{percent:3.0f}%" if percent < WIDEST else f" ±>{WIDEST}%"


def show_ranks(picked: Picture) -> None:
    """Print a block per operation, form and placement with what is known of single ranks."""
    found = rank_tables(picked)
    if not found:
        raise RankbenchError("--ranks: none of these cases is timed over all ranks; choose a collective by --operation")
    for content in found:
        console.print()
        console.print(Text(content.caption, "bold"))
        table = plain_table(*content.columns)
        for row in content.rows:
            table.add_row(*(Text(cell.text) for cell in row))
        console.print(table)


def single_ranks(picked: Picture) -> pl.DataFrame:
    """Return one row per case, candidate and rank with all that is known of it."""
    return picked.evaluation.ranks.filter(
        pl.col("case").is_in([case.key for case in picked.cases]), pl.col("candidate").is_in(list(picked.candidates))
    )


def figures(picked: Picture) -> pl.DataFrame:
    """Return one row per case and candidate with all that is known of it."""
    summaries = by_case_and_candidate(picked)
    keys = [(verdict, (verdict.case.key, name)) for verdict in picked.verdicts() for name in picked.candidates]
    return pl.DataFrame([row(verdict, summaries[key]) for verdict, key in keys if key in summaries])


def row(verdict: CaseVerdict, summary: Summary) -> dict[str, object]:
    """Return a row of the CSV."""
    case: dict[str, object] = msgspec.structs.asdict(verdict.case)
    memory = msgspec.structs.asdict(verdict.case.memory)
    return {
        **case,
        **memory,
        "memory": verdict.case.memory.label,
        **derived.summary_row(summary),
        "fastest": summary.candidate in verdict.winners,
    }


def by_case_and_candidate(whole: Picture) -> dict[tuple[str, str], Summary]:
    """Return the summaries by what they are of."""
    return {(summary.case, summary.candidate): summary for summary in whole.verdict.summaries}
