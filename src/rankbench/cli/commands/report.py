"""The command `report`: a campaign's report as one HTML file and, on request, as figures and text."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import polars as pl
import typer
from rich.markup import escape

from rankbench import extras, files
from rankbench import report as reports
from rankbench.across.two_campaigns import hold
from rankbench.analysis.evaluation import evaluate
from rankbench.analysis.questions.view import CampaignView
from rankbench.cli.campaign_list import Row, read_rows
from rankbench.cli.cases import divide
from rankbench.cli.display import StatusLine, console, print_text
from rankbench.cli.output_files import check_output, write_output
from rankbench.cli.shared_options import CampaignFolder, Threshold
from rankbench.language import as_data
from rankbench.model import RankbenchError
from rankbench.plan import notation
from rankbench.report import listing
from rankbench.workflows.locations import has_campaigns
from rankbench.workflows.opening import choose_folder, open_current
from rankbench.workflows.option_values import parse_option

ORDER = 60
GROUP = "Read"
EXAMPLES = """
rankbench report
rankbench report results/plan --output plan.html
rankbench report plan --summary
rankbench report plan --figures png,svg --markdown
rankbench report plan --against results/plan-old
rankbench report results
"""


def report(
    folder: CampaignFolder = None,
    output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Output file, - is standard output; default: CAMPAIGN/report.html."),
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(metavar="OLD", help="An older campaign: the page shows what changed since, case by case."),
    ] = None,
    summary: Annotated[  # noqa: FBT002
        bool,
        typer.Option(
            "--summary", help="Write CAMPAIGN/summary.pdf, the answer on one A4 page, and summary.png, a slide, too."
        ),
    ] = False,
    figures: Annotated[
        str, typer.Option(metavar="FORMATS", help=f"Write CAMPAIGN/figures too, as {','.join(reports.FORMATS)}.")
    ] = "",
    figures_of: Annotated[
        str,
        typer.Option(
            metavar="KINDS",
            help=f"Kinds of charts for --figures: {','.join(reports.USUAL)} unless others are named; or all.",
        ),
    ] = "",
    markdown: Annotated[  # noqa: FBT002
        bool, typer.Option("--markdown", help="Write CAMPAIGN/report.md too, with the pictures of --figures by group.")
    ] = False,
    latex: Annotated[bool, typer.Option("--latex", help="Write CAMPAIGN/tables.tex too.")] = False,  # noqa: FBT002
    csv: Annotated[bool, typer.Option("--csv", help="Write CAMPAIGN/summary.csv and comparisons.csv too.")] = False,  # noqa: FBT002
    threshold: Threshold = "",
) -> None:
    """Write a campaign's report: one HTML file for any browser.

    It needs no network. Figures and text are written on request. Of a folder with several campaigns the page is a list,
    FOLDER/index.html.
    """
    extras.require("report", "`rankbench report`")
    place = choose_folder(folder)
    if output:
        check_output("--output", output)
    if has_campaigns(place):
        others = {"--against": against, "--summary": summary, "--figures": figures, "--markdown": markdown}
        others |= {"--latex": latex, "--csv": csv, "--threshold": threshold, "--figures-of": figures_of}
        for name in (name for name, value in others.items() if value):
            raise RankbenchError(f"{name}: {place} holds several campaigns; name one of them")
        write_list(place, output)
        return
    if figures_of and not figures:
        raise RankbenchError("--figures-of: which formats? Add --figures svg, for example")
    formats, kinds = reports.check_figures(divide(figures), divide(figures_of))
    with StatusLine(f"evaluating {place} …"):
        campaign = open_current(place)
        matters = parse_option("threshold", threshold, notation.parse_share, notation.SHARE_HELP)
        campaign_pair = hold(open_current(choose_folder(against)), campaign, threshold=matters) if against else None
        view = campaign_pair.now if campaign_pair and matters is None else evaluate(campaign, threshold=matters)
    pieces: dict[Path, Callable[[Path], object]] = {}
    if output:
        with StatusLine(f"writing {output} …"):
            write_output("--output", output, reports.html(view, campaign_pair))
    else:
        derived = {"verdict": as_data(view.verdict)}
        pieces[place / "report.html"] = lambda path: reports.write_html(path, view, campaign_pair)
        pieces[place / "verdict.json"] = lambda _: campaign.write_derived(reports.make_frames(view), derived)
    if summary:
        pieces[place / "summary.pdf"] = lambda path: reports.write_page(path, view)
        pieces[place / "summary.png"] = lambda path: reports.write_slide(path, view)
    pictures: list[Path] = []
    if formats:
        pieces[place / "figures"] = lambda path: pictures.extend(write_figures(path, view, formats, kinds))
    if markdown:
        pieces[place / "report.md"] = lambda path: files.write(path, reports.markdown(view, pictures))
    if latex:
        pieces[place / "tables.tex"] = lambda path: files.write(path, reports.latex(view))
    if csv:
        frames = reports.make_frames(view)
        pieces |= {place / f"{name}.csv": as_csv(frame) for name, frame in frames.items()}
    for path, write in pieces.items():
        write_one(path, write)


def write_list(folder: Path, output: Path | None) -> None:
    """Write the list of a folder's campaigns, the newest first, and print what cannot be read."""
    rows, damaged = read_rows(folder, no_answer=False)
    target = (output or folder / "index.html").resolve().parent
    listed = [
        listing.ListedCampaign(
            row.name, row.date, row.state, row.candidates, row.blocks, row.question, row.answer, find_page(row, target)
        )
        for row in reversed(rows)
    ]
    text = listing.render_list(str(folder), listed)
    if output:
        write_output("--output", output, text)
    else:
        write_one(folder / "index.html", lambda path: files.write(path, text))
    for line in damaged:
        print_text(line)
    if missing := [row.name for row in rows if not (Path(row.folder) / "report.html").exists()]:
        print_text(f"no report yet: {', '.join(missing)}; `rankbench report NAME` writes one")


def find_page(row: Row, target: Path) -> str:
    """Return the path of a campaign's report from the folder of the list; empty: there is none."""
    page = Path(row.folder).resolve() / "report.html"
    return os.path.relpath(page, target) if page.exists() else ""


def write_figures(folder: Path, view: CampaignView, formats: list[str], kinds: list[str]) -> list[Path]:
    """Write figures, show their number so far, and return their files."""
    with StatusLine(f"drawing figures in {folder} …") as status:
        return reports.write_figures(
            folder, view, formats, kinds, lambda count: status.update(f"drawing figures in {folder}: {count} …")
        )


def as_csv(frame: pl.DataFrame) -> Callable[[Path], None]:
    """Return a function that writes a table to a path."""
    return lambda path: files.write(path, frame.write_csv())


def write_one(path: Path, write: Callable[[Path], object]) -> None:
    """Write one part of the report and print its path. Raises RankbenchError if it cannot be written."""
    try:
        with StatusLine(f"writing {path} …"):
            write(path)
    except OSError as error:
        raise RankbenchError(
            f"{path}: cannot be written ({error.strerror}); --output FILE puts the page elsewhere"
        ) from None
    console.print(f"wrote {escape(str(path))}", soft_wrap=True)
