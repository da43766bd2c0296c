"""The command `show`: a campaign's answer and figures in the terminal."""

from __future__ import annotations

import dataclasses
from pathlib import Path  # noqa: TC003 - typer resolves the annotations at run time
from typing import TYPE_CHECKING, Annotated, TypeVar

import msgspec
import polars as pl
import rich.box
import typer
from rich.table import Table
from rich.text import Text

from rankbench import plots
from rankbench.cli import Verbose, answer, console, spread_lines
from rankbench.cli.status import current
from rankbench.language import say
from rankbench.model import RankbenchError
from rankbench.plan import notation
from rankbench.quantities import format_memory, format_size
from rankbench.report import derived, tables
from rankbench.report.first_call_tables import first_call_frame, first_call_sentences, first_call_tables
from rankbench.report.matrix_tables import matrix_frame, matrix_sentences, matrix_tables
from rankbench.report.mpiperf_tables import mpiperf_frame, mpiperf_tables
from rankbench.report.overlap_tables import overlap_tables
from rankbench.report.placement_tables import placement_tables
from rankbench.report.rank_tables import rank_tables
from rankbench.report.ring_tables import ring_frame, ring_tables
from rankbench.report.scaling_tables import scaling_frame, scaling_tables
from rankbench.units import suggestion
from rankbench.verdict import naming
from rankbench.verdict.evaluation import evaluate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from rankbench.model import Case, CaseVerdict, Summary
    from rankbench.plots import Picture
    from rankbench.report.tables import Table as Content

ORDER = 40
Kind = TypeVar("Kind")
WIDE = 0.5
"""Beyond this an interval has both its ends."""
WIDEST = 999
Threshold = Annotated[str, typer.Option(help="From what difference on it matters, if not the plan's: 1%, 3%.")]
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
    threshold: Threshold = "",
    ranks: Annotated[  # noqa: FBT002
        bool,
        typer.Option("--ranks", help="Show single ranks: which was the last to end, and when each began and ended."),
    ] = False,
    matrix: Annotated[bool, typer.Option("--matrix", help="Show figures from rank to rank.")] = False,  # noqa: FBT002
    size: Annotated[list[str] | None, typer.Option(help="Only this message size; may be given again.")] = None,
    scaling: Annotated[  # noqa: FBT002
        bool,
        typer.Option("--scaling", help="Show figures by nodes and ranks on each, of the middle size or of --size."),
    ] = False,
    rings: Annotated[bool, typer.Option("--rings", help="Show each ring of a grid, and what a hop costs.")] = False,  # noqa: FBT002
    first_calls: Annotated[  # noqa: FBT002
        bool, typer.Option("--first-calls", help="Show the first call of each operation, and the second.")
    ] = False,
    mpiperf: Annotated[  # noqa: FBT002
        bool, typer.Option("--mpiperf", help="Show figures in the columns of MPIPerf's report.")
    ] = False,
    details: Annotated[  # noqa: FBT002
        bool, typer.Option("--details", help="Below each figure its interval, and the fastest and slowest launch.")
    ] = False,
    verbose: Verbose = False,  # noqa: FBT002
    csv: Annotated[bool, typer.Option("--csv", help="Print every figure as CSV.")] = False,  # noqa: FBT002
) -> None:
    """Show who is fastest, and the figures: typical time and half its interval for every case and candidate."""
    chosen = evaluate(
        current(folder),
        asked("estimator", estimator, notation.estimator, notation.ESTIMATOR_HELP) or "",
        asked("confidence", confidence, notation.confidence, notation.CONFIDENCE_HELP) or 0.0,
        asked("threshold", threshold, notation.share, notation.SHARE_HELP),
    )
    whole = plots.picture(chosen)
    picked = dataclasses.replace(whole, cases=chosen_cases(whole.cases, operation or [], form or [], size or []))
    if csv:
        frame = chosen_frame(
            picked,
            ranks=ranks,
            matrix=matrix,
            rings=rings,
            scaling=scaling,
            mpiperf=mpiperf,
            first_calls=first_calls,
        )
        print(frame.write_csv(), end="")  # noqa: T201 - for programs, not for a console
    elif ranks:
        show_tables(
            rank_tables(picked),
            "--ranks: no launch has ended yet"
            if not whole.evaluation.verdict.summaries
            else "--ranks: none of these cases is timed over all ranks; choose a collective by --operation",
        )
    elif scaling:
        show_tables(
            scaling_tables(picked, every_size=bool(size)),
            "--scaling: none of these cases was made with several numbers of ranks; a plan names them by "
            "{ nodes = [1, 2, 4], ranks_per_node = [1, 2] }",
        )
    elif details:
        show_tables(
            tables.results(picked.plain(), launches=True),
            "--details: all these cases are measured between several pairs of ranks; see --matrix",
            details=True,
        )
    elif mpiperf:
        show_tables(mpiperf_tables(picked), "--mpiperf: none of these cases has times")
    elif rings:
        show_tables(
            ring_tables(picked), "--rings: none of these cases goes round a grid; the preset torus measures some"
        )
    elif first_calls:
        show_tables(
            first_call_tables(picked),
            "--first-calls: not known of these cases; campaigns of rankbench's own core have them since format 10",
        )
        show_sentences(first_call_sentences(picked))
    elif matrix:
        show_tables(
            matrix_tables(picked),
            '--matrix: none of these cases was made between several pairs of ranks; a plan makes them by pairs = "all"',
        )
        show_sentences(matrix_sentences(picked))
    else:
        show_answer(whole, verbose=verbose)
        show_figures(picked)


def chosen_frame(
    picked: Picture, *, ranks: bool, matrix: bool, rings: bool, scaling: bool, mpiperf: bool, first_calls: bool
) -> pl.DataFrame:
    """Return what is printed as CSV."""
    if first_calls:
        return first_call_frame(picked)
    if scaling:
        return scaling_frame(picked)
    if mpiperf:
        return mpiperf_frame(picked).fill_nan(None)
    if ranks:
        return single_ranks(picked)
    return ring_frame(picked) if rings else matrix_frame(picked) if matrix else figures(picked)


def asked(option: str, text: str, parse: Callable[[object], Kind], allowed: str) -> Kind | None:
    """Return what an option says, nothing where it is not given. Raises RankbenchError for what it cannot mean."""
    try:
        return parse(text) if text else None
    except ValueError:
        raise RankbenchError(f"--{option} {text}: expected {allowed.replace(chr(34), '')}") from None


def chosen_cases(cases: list[Case], operations: list[str], forms: list[str], sizes: Iterable[str] = ()) -> list[Case]:
    """Return the cases asked for. Raises RankbenchError for what the campaign does not have."""
    named = [
        format_size(number)
        for text in sizes
        for number in asked("size", text, notation.sizes, notation.SIZES_HELP) or ()
    ]
    for what, wanted, has in (
        ("operation", operations, [case.operation for case in cases]),
        ("form", forms, [case.form for case in cases]),
        ("size", named, [format_size(case.size_bytes) for case in cases]),
    ):
        for name in set(wanted) - set(has):
            raise RankbenchError(f"--{what} {name}: not in this campaign; {suggestion(name, dict.fromkeys(has))}")
    kept = [case for case in cases if case.operation in (operations or [case.operation])]
    kept = [case for case in kept if case.form in (forms or [case.form])]
    if cases and not kept:
        raise RankbenchError(f"{', '.join(operations)} was not measured in the form {', '.join(forms)}")
    kept = [case for case in kept if not named or format_size(case.size_bytes) in named]
    if cases and not kept:
        raise RankbenchError(f"{', '.join([*operations, *forms])} was not measured in the size {', '.join(named)}")
    return kept


def show_answer(whole: Picture, *, verbose: bool = False) -> None:
    """Print the question and its answer, in short or with all that restricts it."""
    if whole.campaign.plan.question:
        console.print(Text(whole.campaign.plan.question, "bold"))
    for line in answer(whole.verdict, verbose=verbose):
        spread_lines(line)


def show_figures(picked: Picture) -> None:
    """Print a block per line, then what went wrong."""
    summaries = {(summary.case, summary.candidate): summary for summary in picked.verdict.summaries}
    for _, part in picked.plain().parts("line"):
        console.print()
        heading = part.measure(part.cases[0]).heading
        if part.cases[0].quantity == "memory":
            heading = say("{what} (+: what the first use added)", what=heading)
        console.print(Text.assemble((tables.line_name(part), "bold"), f": {heading}, {plots.circumstances(part)}"))
        console.print(block(part, summaries))
        console.print(Text(legend(picked), "dim"))
        for content in overlap_tables(part):
            console.print()
            console.print(filled(content))
    for content in placement_tables(picked):
        console.print()
        console.print(Text(content.caption, "bold"))
        console.print(filled(content, details=True))
    console.print()
    for line in beyond(picked):
        console.print(Text(line))


def beyond(picked: Picture) -> Iterator[str]:
    """Yield what is shown elsewhere, and what went wrong."""
    pairs = [part for _, part in picked.parts("matrix") if part.cases[0].key in picked.evaluation.pairs]
    for part in pairs:
        name = naming.full(naming.endless(part.cases[0]), part.operation(part.cases[0]))
        yield say("{name}: measured between {n} pairs of ranks, which --matrix shows", name=name, n=len(part.cases))
    for row in tables.failures(picked).rows:
        candidate, what, cases = (cell.text for cell in row)
        yield f"{candidate}: {what} ({cases})"


def block(part: Picture, summaries: dict[tuple[str, str], Summary]) -> Table:
    """Return the table of one line: sizes downwards, candidates to the right."""
    table = plain_table(say("size"), *part.candidates)
    table.add_column(tables.fastest_heading(part))
    for verdict in part.verdicts():
        found = (figure(part, verdict, name, summaries.get((verdict.case.key, name))) for name in part.candidates)
        table.add_row(Text(part.size(verdict.case)), *found, Text(tables.winner(verdict)))
    return table


def legend(picked: Picture) -> str:
    """Return what the signs of a table mean."""
    return say("{outcomes}, ± half width of the interval", outcomes=tables.outcome_legend(picked))


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
    """Return the typical value and half its interval; of memory, what the first use added to it."""
    measure = whole.measure(verdict.case)
    growth = f" +{format_memory(summary.growth_bytes)}" if verdict.case.quantity == "memory" else ""
    interval = spread(summary, whole.campaign.plan.estimator, per_second=measure.per_second)
    return measure.text(summary.typical_ns) + interval + growth


def missing(whole: Picture, verdict: CaseVerdict, summary: Summary | None) -> Text:
    """Return in words how a case without figures ended; where it is not judged, its figure with a question mark."""
    if summary and summary.doubt:
        return Text(f"{whole.measure(verdict.case).text(summary.typical_ns)} ?", "yellow")
    return Text((tables.ended(summary) if summary else "") or say("not run"), "red")


def spread(summary: Summary, estimator: str, *, per_second: bool = False) -> str:
    """Return the interval relative to the typical value, ` ±1.2%`; nothing where too few launches give one.

    One that reaches beyond 50 % on either side has both ends, ` -40/+230%`: half of its width could exceed the value.
    """
    low, high = tables.interval(summary, estimator)
    typical_ns = summary.typical_ns
    if not typical_ns or (summary.coverage < LEAST_COVERAGE and (low, high) == (summary.low_ns, summary.high_ns)):
        return ""
    ends = (high, low) if per_second and low > 0 else (low, high)
    below, above = (typical_ns / end if per_second and low > 0 else end / typical_ns for end in ends)
    if max(1 - below, above - 1) > WIDE:
        more = f"{100 * (above - 1):.0f}" if above < 1 + WIDEST / 100 else f">{WIDEST}"
        return f" -{max(0.0, 100 * (1 - below)):.0f}/+{more}%"
    percent = 50 * (high - low) / typical_ns
    return f" ±{percent:.1f}%" if percent < 9.95 else f" ±{percent:3.0f}%"


def show_tables(found: Sequence[Content], without: str, *, details: bool = False) -> None:
    """Print tables of a report; where there are none, say why in one line."""
    if not found:
        raise RankbenchError(without)
    for content in found:
        console.print()
        console.print(Text(content.caption, "bold"))
        console.print(filled(content, details=details))


def show_sentences(sentences: Iterable[str]) -> None:
    """Print sentences below tables, with an empty line before each."""
    for sentence in sentences:
        console.print()
        console.print(Text(sentence))


def filled(content: Content, *, details: bool = False) -> Table:
    """Return a table of a report as the terminal shows it, with details below the texts or without them."""
    table = plain_table(*content.columns)
    for row in content.rows:
        below = [f"\n{cell.detail}" if details and cell.detail else "" for cell in row]
        table.add_row(*(Text.assemble(cell.text, (more, "dim")) for cell, more in zip(row, below, strict=True)))
    return table


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
        "options": " ".join(f"{name}={value}" for name, value in verdict.case.options.items()),
        **derived.summary_row(summary),
        "fastest": summary.candidate in verdict.winners,
    }


def by_case_and_candidate(whole: Picture) -> dict[tuple[str, str], Summary]:
    """Return the summaries by what they are of."""
    return {(summary.case, summary.candidate): summary for summary in whole.verdict.summaries}
