"""The command `compare`: two candidates or two campaigns, case by case."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from rankbench.across.two_campaigns import CampaignPair
from rankbench.analysis.questions.view import CampaignView
from rankbench.cli.cases import describe_missing, format_half_width
from rankbench.cli.display import TerminalProgress, console, drop_wide, find_words, plain_table, spread_lines
from rankbench.cli.formats import (
    AnyFormat,
    add_output_option,
    check_format,
    print_csv,
    print_json,
    print_markdown,
    strip_style,
)
from rankbench.language import render, say
from rankbench.model import CaseVerdict, Comparison, Level, Summary
from rankbench.quantities import format_ratio, spell_count
from rankbench.report import tables
from rankbench.report import then_and_now as change_report
from rankbench.workflows import comparison
from rankbench.workflows.comparison import CandidatePair, CompareRequest, describe_control

ORDER = 50
GROUP = "Read"
EXAMPLES = """
rankbench compare mpich openmpi                  # in the newest campaign
rankbench compare results/small mpich openmpi
rankbench compare results/march results/april    # then and now
rankbench compare results/march results/april --format markdown
"""
SAME = "~"
SMALLEST_P = 0.001


@add_output_option
def compare(
    first: Annotated[
        str,
        typer.Argument(
            metavar="[CAMPAIGN|BASE]", help="A campaign; or a candidate of the newest campaign, by default its first."
        ),
    ] = "",
    second: Annotated[
        str,
        typer.Argument(metavar="[CAMPAIGN|CANDIDATE]", help="A newer campaign; or a candidate, else the next one."),
    ] = "",
    third: Annotated[
        str, typer.Argument(metavar="[CANDIDATE]", help="After a campaign and a candidate: the other candidate.")
    ] = "",
    match: Annotated[
        list[str] | None,
        typer.Option(metavar="OLD=NEW", help="With two campaigns: the candidates to compare with each other."),
    ] = None,
    format_: AnyFormat = "table",
) -> None:
    """Compare two candidates, or two campaigns, case by case.

    Two candidates of one campaign are paired within blocks. Two campaigns are unpaired. For each case: the ratio of
    times and its interval; `~` where no difference can be shown.
    """
    form = check_format(format_, "table", "json", "csv", "markdown")
    result = comparison.compare(CompareRequest((first, second, third), match or ()), TerminalProgress())
    if isinstance(result, CandidatePair):
        print_candidates(result, form)
    else:
        print_campaigns(result, form)


# --- two campaigns ----------------------------------------------------------------------------------------------------


def print_campaigns(campaign_pair: CampaignPair, form: str) -> None:
    """Print the comparison of a campaign with an older one in a format."""
    if form == "json":
        print_json(campaign_pair.comparison)
    elif form == "markdown":
        print(change_report.markdown(campaign_pair), end="")  # noqa: T201 - for other documents
    elif form == "csv":
        content = change_report.make_table(campaign_pair)
        print_csv([content.columns, *([cell.text for cell in row] for row in content.rows)])
    else:
        console.print(Text(change_report.heading(campaign_pair.comparison), "bold"))
        console.print(Text(change_report.explain_table(campaign_pair.comparison)))
        console.print()
        console.print(drop_wide(colour_table(campaign_pair), "p"), markup=False)
        console.print()
        for line in change_report.list_lines(campaign_pair.comparison):
            console.print(Text(line))


def colour_table(campaign_pair: CampaignPair) -> Table:
    """Return the table, with slower times in red and faster ones in green."""
    content = change_report.make_table(campaign_pair)
    rows = plain_table(*content.columns, words=find_words(content))
    for change, row in zip(campaign_pair.comparison.changes, content.rows, strict=True):
        colour = "red" if change.ratio > 1 else "green"
        texts = [
            Text(cell.text, colour if place == change_report.RATIO and change.different else "")
            for place, cell in enumerate(row)
        ]
        rows.add_row(*texts)
    return rows


# --- two candidates ---------------------------------------------------------------------------------------------------


def print_candidates(compared: CandidatePair, form: str) -> None:
    """Print the comparison of two candidates in a format."""
    view, base, other, by_case = compared
    if form == "json":
        print_json({"base": base, "other": other, "blocks": view.verdict.blocks, "comparisons": by_case})
        return
    if form in {"csv", "markdown"}:
        shown = table(view, base, other, by_case)
        cells = [[strip_style(cell) for cell in column.cells] for column in shown.columns]
        listed = [[strip_style(column.header) for column in shown.columns], *map(list, zip(*cells, strict=True))]
        (print_csv if form == "csv" else print_markdown)(listed)
        return
    heading = f"{other} over {base}: times paired within {spell_count(view.verdict.blocks, 'block')}"
    console.print(Text(heading, "bold"))
    shown = drop_wide(full := table(view, base, other, by_case), "p")
    spread_lines(explanation(view, other, p_values=shown is full))
    if any(comparison.shown_levels for comparison in by_case.values()):
        spread_lines("near, far: by the distance of cores; a case differs if it does so at both.")
    console.print()
    console.print(shown, markup=False)
    console.print()
    for line in (*counts(view, other, by_case), describe_control(view.verdict.control)):
        console.print(Text(line))


def explanation(view: CampaignView, other: str, *, p_values: bool) -> str:
    """Return the legend of the table."""
    memory = any(case.quantity == "memory" for case in view.cases)
    return render(
        say(
            "A ratio above 1: {name} {what}. It is a mean over blocks, not the quotient of the values; interval: "
            "{confidence:.0%}; p: of a difference above {threshold:g}%, adjusted over all cases and pairs; ~: no such "
            "difference is shown."
            if p_values
            else "A ratio above 1: {name} {what}. It is a mean over blocks, not the quotient of the values; interval: "
            "{confidence:.0%}; ~: no difference above {threshold:g}% is shown, over all cases and pairs.",
            name=other,
            what="is slower, or needs more memory" if memory else "is slower",
            confidence=view.campaign.plan.confidence,
            threshold=100 * view.campaign.plan.threshold,
        )
    )


def table(view: CampaignView, base: str, other: str, by_case: dict[str, Comparison]) -> Table:
    """Return one row per case, and the geometric mean of all ratios at the end."""
    names, summaries = tables.case_names(view), view.summary_of
    rows = plain_table("case", base, other, "ratio", "interval", "p")
    for verdict in view.verdict.cases:
        compared = [summaries.get((verdict.case.key, name)) for name in (base, other)]
        values = (format_value(view, verdict, summary) for summary in compared)
        comparison = by_case.get(verdict.case.key)
        rows.add_row(Text(names[verdict.case.key]), *values, *format_comparison(comparison))
        for level in comparison.shown_levels if comparison else ():
            at = [summary.at(level.name) if summary else None for summary in compared]
            rows.add_row(
                Text(f"{names[verdict.case.key]}, {level.name}"),
                *(format_value(view, verdict, summary) if summary else Text("–") for summary in at),
                *format_ratio_cells(level),
                "",
            )
    for title, ratios in (
        ("geometric mean of all cases", _of_times(view, by_case)),
        ("the same, of memory", _of_memory(view, by_case)),
    ):
        if ratios:
            mean = math.exp(sum(math.log(comparison.ratio) for comparison in ratios) / len(ratios))
            rows.add_section()
            rows.add_row(title, "", "", format_ratio(mean), "", "")
    return rows


def _of_times(view: CampaignView, by_case: dict[str, Comparison]) -> list[Comparison]:
    return [by_case[case.key] for case in view.cases if case.key in by_case and case.quantity != "memory"]


def _of_memory(view: CampaignView, by_case: dict[str, Comparison]) -> list[Comparison]:
    return [by_case[case.key] for case in view.cases if case.key in by_case and case.quantity == "memory"]


def format_value(view: CampaignView, verdict: CaseVerdict, summary: Summary | None) -> Text:
    """Return the typical value of one candidate, or why there is none."""
    if summary is None or not summary.launches:
        return describe_missing(view, verdict, summary)
    measure = view.measure(verdict.case)
    interval = format_half_width(summary, view.campaign.plan.estimator, per_second=measure.per_second)
    return Text(measure.format(summary.typical_ns) + interval)


def format_comparison(comparison: Comparison | None) -> tuple[Text, str, str]:
    """Return ratio, interval and adjusted p-value; a single block gives no interval, and levels have their own."""
    if comparison is None:
        return Text(""), "", ""
    ratio, interval = format_ratio_cells(comparison)
    if math.isinf(comparison.high):
        return ratio, "", ""
    p = f"{comparison.p_adjusted:.3f}" if comparison.p_adjusted >= SMALLEST_P else f"<{SMALLEST_P:g}"
    return ratio, "" if comparison.shown_levels and not comparison.different else interval, p


def format_ratio_cells(comparison: Comparison | Level) -> tuple[Text, str]:
    """Return the ratio, if the two differ, and its interval, if there is one."""
    colour = "green" if comparison.ratio < 1 else "red"
    ratio = Text(format_ratio(comparison.ratio), colour) if comparison.different else Text(SAME)
    known = math.isfinite(comparison.high)
    return ratio, f"{format_ratio(comparison.low)[:-1]}–{format_ratio(comparison.high)}" if known else ""


def counts(view: CampaignView, other: str, by_case: dict[str, Comparison]) -> Iterator[str]:
    """Yield in how many cases the second candidate is slower, faster or neither; the same for memory."""
    times, memory = _of_times(view, by_case), _of_memory(view, by_case)
    if times:
        yield render(
            say(
                "{other} is slower in {more}, faster in {less}, equivalent in {alike}, not "
                "distinguishable in {neither} of "
                "{all:count case}.",
                other=other,
                **count_outcomes(times),
            )
        )
    if memory:
        yield render(
            say(
                "{other} needs more memory in {more}, less in {less}, as much in {alike}, not "
                "distinguishable in {neither} "
                "of {all:count case}.",
                other=other,
                **count_outcomes(memory),
            )
        )


def count_outcomes(ratios: list[Comparison]) -> dict[str, int]:
    """Return how many ratios are above 1, below it, equivalent to it, and neither."""
    more = sum(comparison.different and comparison.ratio > 1 for comparison in ratios)
    less = sum(comparison.different and comparison.ratio < 1 for comparison in ratios)
    alike = sum(comparison.alike for comparison in ratios)
    return {
        "more": more,
        "less": less,
        "alike": alike,
        "neither": len(ratios) - more - less - alike,
        "all": len(ratios),
    }
