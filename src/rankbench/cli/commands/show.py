"""The command `show`: a campaign's answer and values in the terminal."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Annotated

import polars as pl
import typer
from rich.table import Table
from rich.text import Text

from rankbench.analysis.evaluation import evaluate
from rankbench.analysis.questions import case_labels
from rankbench.analysis.questions.near_and_far import FAR, NEAR
from rankbench.analysis.questions.networks import list_uses
from rankbench.analysis.questions.origins import describe_origins
from rankbench.analysis.questions.view import CampaignView
from rankbench.cli.cases import choose_cases, describe_missing, format_half_width, format_spread
from rankbench.cli.display import (
    StatusLine,
    answer,
    columns,
    console,
    count_findings,
    fill_table,
    plain_table,
    print_findings,
    split_name,
    split_wide,
    spread_lines,
)
from rankbench.cli.formats import AnyFormat, add_output_option, check_format, print_csv, print_json, print_markdown
from rankbench.cli.shared_options import CampaignFolder, Threshold, Verbose
from rankbench.language import render, say
from rankbench.model import CaseVerdict, RankbenchError, Stop, Summary, Verdict
from rankbench.plan import notation, stop_rules
from rankbench.plots import captions
from rankbench.quantities import format_memory, spell_count
from rankbench.report import tables
from rankbench.report.tables import Table as Content
from rankbench.store import Store, is_running
from rankbench.units import suggestion
from rankbench.workflows.opening import open_current
from rankbench.workflows.option_values import parse_option

ORDER = 40
GROUP = "Read"
EXAMPLES = """
rankbench show
rankbench show results/plan --operations allreduce --sizes 8,64K
rankbench show --table                   # which tables this campaign has
rankbench show --table scaling,rings
rankbench show plan --format csv --output plan.csv
"""


OTHER_LEVEL = {NEAR: FAR, FAR: NEAR}


@add_output_option
def show(
    folder: CampaignFolder = None,
    operations: Annotated[str, typer.Option(help="Only these operations.")] = "",
    forms: Annotated[
        str, typer.Option(metavar="NAME,...", help="Only these call types: blocking, nonblocking, persistent.")
    ] = "",
    estimator: Annotated[
        str,
        typer.Option(help=f"Statistic per launch; default: the plan's. {notation.ESTIMATOR_HELP}."),
    ] = "",
    confidence: Annotated[str, typer.Option(help="Confidence of intervals; default: the plan's.")] = "",
    threshold: Threshold = "",
    sizes: Annotated[str, typer.Option(help="Only these message sizes: 8,64K.")] = "",
    table: Annotated[
        str | None,
        typer.Option(metavar="[NAME,...]", help="Only these tables; without names, list those of the campaign."),
    ] = None,
    verbose: Verbose = False,  # noqa: FBT002
    format_: AnyFormat = "table",
) -> None:
    """Show which candidate is fastest, and all values.

    For each case and candidate: the typical time and the half width of its interval.
    """
    printed = check_format(format_, "table", "json", "csv", "markdown")
    opened = open_current(folder)
    with StatusLine(f"evaluating {opened.folder} …"):
        view = evaluate(
            opened,
            parse_option("estimator", estimator, notation.parse_estimator, notation.ESTIMATOR_HELP) or "",
            parse_option("confidence", confidence, notation.parse_confidence, notation.CONFIDENCE_HELP) or 0.0,
            parse_option("threshold", threshold, notation.parse_share, notation.SHARE_HELP),
        )
    picked = view.showing(choose_cases(view.cases, operations, forms, sizes))
    chosen_kinds = find_kinds(table or "")
    if table == "":
        list_tables(picked, printed)
    elif printed == "json":
        print_json(record(picked))
    elif printed == "markdown":
        from rankbench.report.text import markdown_table

        kinds = chosen_kinds or tables.kinds().values()
        contents = (table for kind in kinds for table in tables.make_tables("text", kind, picked) if table.rows)
        print("\n\n".join(map(markdown_table, contents)))  # noqa: T201 - for other documents
    elif printed == "csv":
        print(frame(picked, chosen_kinds).write_csv(), end="")  # noqa: T201 - for programs, not for a console
    elif chosen_kinds:
        show_kinds(picked, chosen_kinds, verbose=verbose)
    else:
        if line := describe_unfinished(opened, view.verdict):
            spread_lines(line)
        show_answer(view, folder, verbose=verbose)
        if len(picked.cases) < len(view.cases):
            spread_lines(
                f"The answer is over the whole campaign; the tables have {len(picked.cases)} of its "
                f"{spell_count(len(view.cases), 'case')}."
            )
        show_results(picked)
        if verbose:
            show_tables([tables.libraries(view), *tables.usage(view), *tables.devices(view)], details=False)


def record(picked: CampaignView) -> dict[str, object]:
    """Return the verdict on the selected cases for JSON, with the campaign's name."""
    keys = {case.key for case in picked.cases}
    verdict = picked.verdict
    return {
        "campaign": picked.campaign.name,
        "created": picked.campaign.created,
        "question": picked.campaign.plan.question,
        "blocks": verdict.blocks,
        "candidates": picked.candidates,
        "usage": picked.campaign.usage,
        "devices": list_uses(picked.launches),
        "conclusion": verdict.conclusion,
        "findings": verdict.findings,
        "cases": [case_verdict for case_verdict in verdict.cases if case_verdict.case.key in keys],
        "summaries": [summary for summary in verdict.summaries if summary.case in keys],
        "comparisons": [comparison for comparison in verdict.comparisons if comparison.case in keys],
    }


def find_kinds(names: str) -> list[ModuleType]:
    """Return the kinds of tables with these names, separated by commas, in their order.

    Raises RankbenchError for an unknown name.
    """
    kinds = {str(kind.FLAG): kind for kind in tables.kinds().values()}
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    for name in wanted:
        if name not in kinds:
            raise RankbenchError(f"--table {name}: no such table{suggestion(name, kinds, 'rankbench show --table')}")
    return [kind for name, kind in kinds.items() if name in wanted]


def list_tables(picked: CampaignView, form: str) -> None:
    """Print the names of the tables that the campaign has."""
    rows = [(str(kind.FLAG), str(kind.HELP)) for kind in tables.kinds().values() if kind.tables(picked)]
    if form == "json":
        print_json([{"table": name, "help": text} for name, text in rows])
        return
    if form == "csv":
        print_csv([["table", "help"], *map(list, rows)])
        return
    if form == "markdown":
        print_markdown([["table", "help"], *map(list, rows)])
        return
    listed = columns("table", "shows", text_columns=2)
    for name, text in rows:
        listed.add_row(Text(name), Text(text))
    console.print(listed)
    spread_lines(f"next: rankbench show --table {rows[0][0] if rows else 'NAME'}")


def frame(picked: CampaignView, kinds: Sequence[ModuleType]) -> pl.DataFrame:
    """Return the frame of one kind of table for CSV; without a kind, that of the first.

    Those of several kinds are joined below each other: a column `table` says of which kind a row is, and columns that
    it lacks are empty. Raises RankbenchError where a kind has none.
    """
    frames: dict[str, pl.DataFrame] = {
        kind.FLAG: kind.frame(picked) for kind in kinds or [*tables.kinds().values()][:1]
    }
    for flag, part in frames.items():
        if part is None:
            raise RankbenchError(f"--table {flag}: these tables cannot be printed as CSV")
    if len(frames) == 1:
        return next(iter(frames.values()))
    named = [part.select(pl.lit(flag).alias("table"), pl.all()) for flag, part in frames.items() if not part.is_empty()]
    return pl.concat(named, how="diagonal_relaxed") if named else pl.DataFrame()


def show_kinds(picked: CampaignView, kinds: Sequence[ModuleType], *, verbose: bool) -> None:
    """Print the tables of these kinds, in order, wide ones only with `verbose`. Raises RankbenchError if there is
    none.
    """
    by_kind = [(kind, kind.tables(picked)) for kind in kinds]
    if not any(contents for _, contents in by_kind):
        raise RankbenchError("; ".join(absent(kind, picked) for kind, _ in by_kind))
    for kind, contents in by_kind:
        shown = [content for content in contents if verbose or not content.wide]
        show_tables(shown, details=getattr(kind, "DETAILS", False))
        if len(shown) < len(contents):
            show_sentences(["All values and shapes of distributions: add -v, or --format csv."])
        show_sentences(kind.sentences(picked) if contents and hasattr(kind, "sentences") else [])
        show_sentences([] if contents else [absent(kind, picked)])


def absent(kind: ModuleType, picked: CampaignView) -> str:
    """Return why there is no table of a kind."""
    usual = getattr(kind, "ABSENT", "none of these cases has such values")
    why = kind.absent(picked) if hasattr(kind, "absent") else usual
    return f"--table {kind.FLAG}: {why}"


def describe_unfinished(opened: Store, verdict: Verdict) -> str:
    """Return a warning that a campaign is seen before its end, which its error rates do not account for.

    If results end a campaign, its looks are accounted for from the first one on.
    """
    stop = opened.campaign.plan.stop
    early = verdict.blocks < stop.blocks_min
    if not verdict.comparisons or opened.campaign.imported or verdict.blocks >= stop.blocks_max:
        return ""
    if not early and stop_rules.find_rule(notation.parse_until(stop.until).rule).looks:
        return ""
    timed = not math.isinf(notation.find_time_limit_s(stop.until))
    if (timed or not early) and not is_running(opened.folder):
        from rankbench.workflows.decisions import stopping  # Slow to load, and finished campaigns do not need it.

        if stopping(opened)(opened).stop:
            return describe_short(verdict.blocks, stop) if early else ""
    return (
        f"Not finished: {spell_count(verdict.blocks, 'block')} so far. Differences before the end are more "
        "often due to chance."
    )


def describe_short(blocks: int, stop: Stop) -> str:
    """Return that the plan's time ended a campaign before the least number of its blocks."""
    return (
        f"{spell_count(blocks, 'block')} of at least {stop.blocks_min} fitted into the time of "
        f"{notation.name_time_limit(stop.until)}: only large differences are shown."
    )


def show_answer(view: CampaignView, folder: Path | None, *, verbose: bool = False) -> None:
    """Print the question and its answer, in short or with all restrictions; `folder` as it was given."""
    if view.campaign.plan.question:
        console.print(Text(view.campaign.plan.question, "bold"))
    for line in answer(view.verdict, verbose=verbose):
        spread_lines(line)
    if origins := describe_origins(view.campaign):
        spread_lines(render(origins))
    if verbose:
        print_findings(view.verdict)
    elif counted := count_findings(view.verdict, folder):
        spread_lines(f"Findings: {counted}")


def show_results(picked: CampaignView) -> None:
    """Print a table per line, then the failures."""
    blocks = [(part, block(part)) for _, part in picked.without_pairs().parts("line")]
    legends = [legend(part, results) for part, results in blocks]
    for (part, results), text, following in zip(blocks, legends, [*legends[1:], ""], strict=True):
        console.print()
        heading = part.measure(part.cases[0]).heading
        if part.cases[0].quantity == "memory":
            heading = f"{heading} (+: what the first use added)"
        console.print(
            Text.assemble((tables.line_name(part), "bold"), f": {heading}, {captions.describe_conditions(part)}")
        )
        for table in split_wide(results, console.width):
            console.print(table)
        if text != following:
            console.print(Text(text, "dim"))
        for content in (table for kind in list_default_kinds("line") for table in kind.tables(part)):
            console.print()
            console.print(fill_table(content))
    for kind in list_default_kinds("campaign"):
        show_tables(kind.tables(picked), details=getattr(kind, "DETAILS", False))
    console.print()
    for line in beyond(picked):
        console.print(Text(line))


def list_default_kinds(scope: str) -> list[ModuleType]:
    """Return the kinds of tables that are printed by default, below each line or below all."""
    return [kind for kind in tables.kinds().values() if getattr(kind, "UNASKED", "") == scope]


def beyond(picked: CampaignView) -> Iterator[str]:
    """Yield hints to other tables, and failures."""
    pairs = [part for _, part in picked.parts("matrix") if part.cases[0].key in picked.pair_cases]
    for part in pairs:
        name = case_labels.name_case(case_labels.drop_ends(part.cases[0]), part.operation(part.cases[0]))
        yield f"{name}: measured between {len(part.cases)} pairs of ranks, which --table matrix shows"
    for row in tables.failures(picked).rows:
        candidate, what, cases = (cell.text for cell in row)
        yield f"{candidate}: {what} ({cases})"


def block(part: CampaignView) -> Table:
    """Return the table of one line: sizes and levels downwards, candidates to the right."""
    table = plain_table("size", *map(split_name, part.candidates))
    compared = len(part.candidates) > 1
    if compared:
        table.add_column(tables.fastest_heading(part), overflow="fold")
    for level, verdict in part.list_shown_rows():
        texts = (format_value(part, verdict, name, level) for name in part.candidates)
        fastest = [Text(tables.winner(verdict, margin_spread(verdict)))] if compared else []
        table.add_row(Text(tables.row_text(part, verdict, level)), *texts, *fastest)
    return table


def legend(part: CampaignView, results: Table) -> str:
    """Return the legend of the table of a part."""
    single = {
        next(iter(each.winners_by_level)) for each in part.list_shown_verdicts() if len(each.winners_by_level) == 1
    }
    only = "".join(f", {level} only: too few blocks while cores were {OTHER_LEVEL[level]}" for level in sorted(single))
    wide = any("/+" in str(cell) for column in results.columns for cell in column.cells)
    widths = "± half the interval, -/+ its ends" if wide else "± half the interval"
    if len(part.candidates) > 1:
        widths += render(say(", × mean over blocks ({level:.0%})", level=part.campaign.plan.confidence))
    return f"{', '.join(filter(None, [tables.outcome_legend(part), widths]))}{only}"


def format_value(part: CampaignView, verdict: CaseVerdict, name: str, level: str) -> Text:
    """Return a candidate's value, in bold green if no candidate is significantly faster; or why there is none."""
    summary = part.find_value(verdict.case.key, name, level)
    if level and summary is None and name in verdict.ranking:
        return Text("–")
    if summary is None or not summary.launches:
        return describe_missing(part, verdict, summary)
    known = len(verdict.winners) < len(verdict.ranking)
    text = typical(part, verdict, summary)
    return Text(text, "bold green" if known and name in verdict.winners else "")


def typical(view: CampaignView, verdict: CaseVerdict, summary: Summary) -> str:
    """Return the typical value and half its interval; for memory, the growth by the first use."""
    measure = view.measure(verdict.case)
    growth = f" +{format_memory(summary.growth_bytes)}" if verdict.case.quantity == "memory" else ""
    interval = format_half_width(summary, view.campaign.plan.estimator, per_second=measure.per_second)
    return measure.text(summary.typical_ns) + interval + growth


def margin_spread(verdict: CaseVerdict) -> str:
    """Return the relative interval of the ratio to the next slower candidate, ` ±1.2%`; empty: there is none."""
    if not (verdict.margin_low and verdict.margin_high):
        return ""
    below, above = verdict.margin_low / verdict.margin, verdict.margin_high / verdict.margin
    return format_spread(below, above, 50 * (above - below))


def show_tables(contents: Iterable[Content], *, details: bool) -> None:
    """Print tables of a report."""
    for content in contents:
        console.print()
        console.print(Text(content.caption, "bold"))
        console.print(fill_table(content, details=details))


def show_sentences(sentences: Iterable[str]) -> None:
    """Print sentences below tables, each after an empty line."""
    for sentence in sentences:
        console.print()
        console.print(Text(sentence))
