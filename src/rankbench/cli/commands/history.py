"""The command `history`: campaigns by date, and since when a case is slower or faster."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.text import Text

from rankbench import extras
from rankbench.across import trend
from rankbench.across.trend import History
from rankbench.analysis.statistics.change_points import FEWEST
from rankbench.cli.cases import choose_cases
from rankbench.cli.display import console, fill_table
from rankbench.cli.formats import check_format, print_json, redirect_output
from rankbench.cli.output_files import is_stream
from rankbench.model import RankbenchError
from rankbench.quantities import spell_count
from rankbench.report import history_table as history_report
from rankbench.report.pictures import ALL_FORMATS
from rankbench.store.folders import list_campaigns
from rankbench.workflows.locations import find_campaign, results_folder
from rankbench.workflows.opening import open_current

ORDER = 54
GROUP = "Read"
EXAMPLES = """
rankbench history results
rankbench history results --operations allreduce --format json
rankbench history results --figures png,html --output figures
"""
SHOWN = 20
"""Changes that are printed without --all."""


def history(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[FOLDER]...", help="Campaigns, or folders that hold some; without any the results."),
    ] = None,
    operations: Annotated[str, typer.Option(help="Only these operations.")] = "",
    sizes: Annotated[str, typer.Option(help="Only these message sizes: 8,64K.")] = "",
    figures: Annotated[
        str,
        typer.Option(metavar="FORMATS", help=f"Draw what changed, else everything, as {','.join(ALL_FORMATS)}."),
    ] = "",
    output: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="With --figures the folder they go to, else history; or a file to write."),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help=f"Show all changes, not only {SHOWN}.")] = False,  # noqa: FBT002
    format_: Annotated[
        str,
        typer.Option("--format", metavar="table|json|csv", help="Output format; csv prints the changes."),
    ] = "table",
) -> None:
    """Show since when times have changed, over many campaigns.

    A change is reported if it exceeds the variation between campaigns and lasts for at least two of them. Regressions
    come first, then improvements, sorted by the time that they cost or save: weighted by the plan's [calls], or each
    case once.
    """
    form = check_format(format_, "table", "json", "csv")
    if figures:
        extras.require("report", "--figures")
        from rankbench.report import history_charts

        history_charts.check_formats(figures.split(","))
        if output and is_stream(output):
            raise RankbenchError(f"--output {output}: --figures writes several files; name a folder instead")
    named = [find_campaign(folder) for folder in folders or [results_folder()]]
    timeline = narrow(trend.make_history([open_current(folder) for folder in list_campaigns(named)]), operations, sizes)
    with redirect_output(None if figures else output):
        if form == "json":
            print_json(record(timeline))
        elif form == "csv":
            print(history_report.csv(timeline), end="")  # noqa: T201 - for programs
        else:
            show(timeline, every=every)
    if figures:
        draw(timeline, output or Path("history"), figures.split(","))


def narrow(timeline: History, operations: str, sizes: str) -> History:
    """Return the history of the selected cases."""
    keys = {case.key for case in choose_cases(list(timeline.cases.values()), operations, "", sizes)}
    return timeline._replace(series=[column for column in timeline.series if column.case in keys])


def record(timeline: History) -> dict[str, object]:
    """Return the history for JSON."""
    campaigns = [
        {"name": past.name, "created": past.campaign.created, "rankbench": past.campaign.rankbench}
        for past in timeline.pasts
    ]
    changes = [
        {"case": column.case, "candidate": column.candidate, **msgspec.to_builtins(turn)}
        for column, turn in timeline.changes
    ]
    machine = [
        {
            "campaign": step.at,
            "since": timeline.pasts[step.at].date,
            "name": timeline.pasts[step.at].name,
            "ratio": step.ratio,
            "low": step.low,
            "high": step.high,
            "p_adjusted": step.p_adjusted,
        }
        for step in timeline.machine
    ]
    return {
        "campaigns": campaigns,
        "estimator": timeline.estimator,
        "threshold": timeline.threshold,
        "changes": changes,
        "machine": machine,
        "series": timeline.series,
    }


def show(timeline: History, *, every: bool) -> None:
    """Print the table, and the changes below it."""
    console.print(Text(history_report.heading(timeline), "bold"))
    console.print(Text("One bar per campaign: higher is slower. Ratios are of times."))
    console.print()
    console.print(fill_table(history_report.make_table(timeline)), markup=False)
    console.print()
    for line in beyond(timeline, every=every):
        console.print(Text(line))


def beyond(timeline: History, *, every: bool) -> Iterator[str]:
    """Yield the changes, and how far that can be trusted."""
    lines = history_report.list_changes(timeline)
    shown = lines if every else lines[:SHOWN]
    yield from shown
    if len(lines) > len(shown):
        yield f"{len(lines) - len(shown)} more changes; --all shows them"
    if len(timeline.pasts) < FEWEST:
        yield f"Changes need {FEWEST} campaigns or more; for two, use `rankbench compare` or `rankbench gate`."
        return
    yield from history_report.machine(timeline)
    if not lines:
        yield f"No change above {timeline.threshold * 100:g}% can be shown."
    if any(turn.explained for column in timeline.series for turn in column.turns):
        yield f"{history_report.MARK}: the machine changed as much without MPI."
    yield (
        f"False alarms are limited to 5% over {timeline.compared} series: a change must exceed the variation between "
        "campaigns and last for two of them. To check the newest campaign alone, use `rankbench gate`."
    )


def draw(timeline: History, folder: Path, formats: list[str]) -> None:
    """Write the charts. Raises RankbenchError if they cannot be written."""
    from rankbench.report import history_charts

    try:
        written = history_charts.write(folder, timeline, formats)
    except OSError as error:
        raise RankbenchError(f"{folder}: cannot be written ({error.strerror}); name another --output") from None
    example = f", such as {written[0].name}" if written else ""
    console.print(f"wrote {spell_count(len(written), 'file')} to {folder}{example}", markup=False, soft_wrap=True)
