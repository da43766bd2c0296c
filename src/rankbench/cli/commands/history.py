"""The command `history`: campaigns in the order of their making, and since when a case is slower or faster."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer
from rich.text import Text

from rankbench.across import trend
from rankbench.cli.display import console, filled
from rankbench.cli.figures import chosen_cases
from rankbench.cli.folders import named_campaign
from rankbench.cli.formats import HiddenFlag, chosen_format, destination, print_json
from rankbench.cli.stored import current
from rankbench.model import RankbenchError
from rankbench.report import history as told_as
from rankbench.statistics.changes import FEWEST
from rankbench.store.folders import campaigns_in
from rankbench.verdict.wording import format_count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankbench.across.trend import History

ORDER = 54
GROUP = "Read"
EXAMPLES = """
rankbench history results
rankbench history results --operation allreduce --format json
rankbench history results --figures png,html --output figures
"""
SHOWN = 20
"""Changes that are reported unless all are asked for."""


def history(
    folders: Annotated[list[Path], typer.Argument(metavar="FOLDER...", help="Campaigns, or folders that hold some.")],
    operation: Annotated[list[str] | None, typer.Option(help="Only this operation.")] = None,
    size: Annotated[list[str] | None, typer.Option(help="Only this message size.")] = None,
    figures: Annotated[
        str,
        typer.Option(
            metavar="FORMATS", help=f"Draw what changed, else everything, as {','.join(told_as.ALL_FORMATS)}."
        ),
    ] = "",
    output: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="With --figures the folder they go to, else history; or a file to write."),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help=f"Report all changes, not {SHOWN} only.")] = False,  # noqa: FBT002
    format_: Annotated[
        str,
        typer.Option("--format", metavar="table|json|csv", help="The form of what is printed; csv: changes."),
    ] = "table",
    json: HiddenFlag = False,  # noqa: FBT002
    csv: HiddenFlag = False,  # noqa: FBT002
) -> None:
    """Show since when times have changed, over many campaigns.

    A change is reported where it is more than campaigns scatter, and lasts for two of them at least. Regressions come
    first, then improvements, each by the time that it costs or saves: the plan's [calls] count, else each case once.
    """
    form = chosen_format(format_, "table", "json", "csv", json=json, csv=csv)
    named = [named_campaign(folder) for folder in folders]
    told = narrowed(trend.history([current(folder) for folder in campaigns_in(named)]), operation or [], size or [])
    with destination(None if figures else output):
        if form == "json":
            print_json(record(told))
        elif form == "csv":
            print(told_as.csv(told), end="")  # noqa: T201 - for programs
        else:
            show(told, every=every)
    if figures:
        draw(told, output or Path("history"), figures.split(","))


def narrowed(told: History, operations: list[str], sizes: list[str]) -> History:
    """Return the history of the cases asked for."""
    kept = {case.key for case in chosen_cases(list(told.cases.values()), operations, [], sizes)}
    return told._replace(series=[column for column in told.series if column.case in kept])


def record(told: History) -> dict[str, object]:
    """Return what is printed as JSON."""
    made = [
        {"name": past.name, "created": past.campaign.created, "rankbench": past.campaign.rankbench}
        for past in told.pasts
    ]
    changes = [
        {"case": column.case, "candidate": column.candidate, **msgspec.to_builtins(turn)}
        for column, turn in told.changes
    ]
    machine = [
        {
            "campaign": step.at,
            "since": told.pasts[step.at].date,
            "name": told.pasts[step.at].name,
            "ratio": step.ratio,
            "low": step.low,
            "high": step.high,
            "p_adjusted": step.p_adjusted,
        }
        for step in told.machine
    ]
    return {
        "campaigns": made,
        "estimator": told.estimator,
        "threshold": told.threshold,
        "changes": changes,
        "machine": machine,
        "series": told.series,
    }


def show(told: History, *, every: bool) -> None:
    """Print the table, and below it what changed."""
    console.print(Text(told_as.heading(told), "bold"))
    console.print(Text("A bar for each campaign: the higher, the more time it took. Ratios are of times."))
    console.print()
    console.print(filled(told_as.table(told)), markup=False)
    console.print()
    for line in beyond(told, every=every):
        console.print(Text(line))


def beyond(told: History, *, every: bool) -> Iterator[str]:
    """Yield the changes, and how far that can be trusted."""
    found = told_as.lines(told)
    shown = found if every else found[:SHOWN]
    yield from shown
    if len(found) > len(shown):
        yield f"and {len(found) - len(shown)} changes more, which --all shows"
    if len(told.pasts) < FEWEST:
        yield f"From {FEWEST} campaigns on changes is known; of two, `rankbench compare` and `rankbench gate` show."
        return
    yield from told_as.machine(told)
    if not found:
        yield f"No change above {told.threshold * 100:g} % is known."
    if any(turn.explained for column in told.series for turn in column.turns):
        yield f"{told_as.MARK}: no more than the machine changed without MPI."
    yield (
        f"False alarms are held at 5 % over {told.compared} series: a change must be more than campaigns scatter, and "
        "hold for two of them. "
        "What the newest campaign alone does, `rankbench gate` shows."
    )


def draw(told: History, folder: Path, formats: list[str]) -> None:
    """Write the charts."""
    try:
        written = told_as.write(folder, told, formats)
    except OSError as error:
        raise RankbenchError(f"{folder}: cannot be written ({error.strerror}); name another --output") from None
    console.print(f"wrote {format_count(len(written), 'file')} to {folder}", markup=False, soft_wrap=True)
