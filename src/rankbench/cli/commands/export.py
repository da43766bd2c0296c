"""The command `export`: a campaign in a format that other programs read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rankbench import exports, files
from rankbench.cli.display import StatusLine, console
from rankbench.cli.output_files import check_output, is_stream, write_outputs
from rankbench.cli.shared_options import CampaignFolder
from rankbench.exports import EvaluatedCampaign, file_name
from rankbench.model import RankbenchError
from rankbench.store import Store
from rankbench.workflows.opening import open_current

ORDER = 62
GROUP = "Share"
EXAMPLES = """
rankbench export --format parquet
rankbench export results/plan --format json --output campaign.json
"""


def export(
    folder: CampaignFolder = None,
    format_: Annotated[
        str,
        typer.Option(
            "--format", metavar="FORMAT", help=f"One of {', '.join(exports.list_formats())}.", show_default=False
        ),
    ] = "",
    output: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="Output path, - is standard output; default: below CAMPAIGN/exports."),
    ] = None,
) -> None:
    """Write a campaign in a format that other programs read.

    For tables, papers, CI and other programs.
    """
    chosen = exports.find_format(format_)
    opened = open_current(folder)
    if not opened.launches():
        raise RankbenchError(f"{opened.folder}: no launch of this campaign is stored yet; nothing to export")
    campaign = EvaluatedCampaign(opened)
    if output:
        check_place(output, format_, chosen.PLACE)
        with StatusLine(f"writing {output} …"):
            write_outputs("--output", output, lambda path: chosen.write(campaign, path))
        return
    path = usual(opened, chosen.SUFFIX)
    try:
        files.make_folder(path.parent)
        files.refuse_links([path])
        with StatusLine(f"writing {path} …"):
            written = list(chosen.write(campaign, path))
    except OSError as error:
        raise RankbenchError(f"{path}: cannot be written ({error.strerror}); name another --output PATH") from None
    for place in written:
        console.print(f"wrote {place}", markup=False, soft_wrap=True)


def check_place(output: Path, format_: str, kind: str) -> None:
    """Raise RankbenchError where what a format writes cannot be: several files in a stream, or a file at a folder."""
    if kind != "file" and is_stream(output):
        raise RankbenchError(f"--output {output}: --format {format_} writes several files; name a file instead")
    check_output("--output", output)


def usual(opened: Store, suffix: str) -> Path:
    """Return the default path of an export."""
    return opened.folder / "exports" / f"{file_name(opened.campaign.name)}{suffix}"
