"""The command `find`: every library in reach, and whether it works."""

from __future__ import annotations

import re
import sys
import tempfile
import textwrap
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import rich.box
import typer
from rich.table import Table

from rankbench import build, libraries
from rankbench.campaign import doctor
from rankbench.campaign.doctor import Check
from rankbench.cli.display import console
from rankbench.cli.formats import TableOrJson, add_output_option, check_format, print_json
from rankbench.cli.shared_options import Modules, Prefixes
from rankbench.model import Library, Placement, RankbenchError, Record
from rankbench.staging import UnwritableHomeError
from rankbench.workflows.locations import home

ORDER = 20
GROUP = "Get ready"
EXAMPLES = """
rankbench find
rankbench find --prefix /opt/mpich-4.3 --modules "gcc/12 openmpi/5"
rankbench find --no-check --format json
"""
INDENT = 4
PAIR = Placement(name="check", nodes=1, ranks_per_node=2, binding="none")


class LibraryCheck(Record, frozen=True):
    """A library and the result of its check, for JSON."""

    library: Library
    check: Check | None


@add_output_option
def find(
    prefix: Prefixes = None,
    modules: Modules = None,
    no_check: Annotated[bool, typer.Option("--no-check", help="Do not build or run anything.")] = False,  # noqa: FBT002
    format_: TableOrJson = "table",
) -> None:
    """List the MPI libraries found here, and whether each works.

    For each library, it compiles the measuring program and runs a check on two ranks.
    """
    form = check_format(format_, "table", "json")
    search = libraries.make_search(home(), prefix or (), modules or ())
    reach = libraries.find(search)
    if not reach:
        raise RankbenchError(
            "no MPI library found on PATH or in the system; get one: rankbench get mpich openmpi"
            + "".join(f"; or {hint}" for hint in [libraries.suggest_modules(search)] if hint)
        )
    results = []
    with console.status("checking …") as status:
        for number, library in enumerate(reach, start=1):
            status.update(f"checking {library.name}, {number} of {len(reach)} …")
            announce = partial(print_step, f"{number} of {len(reach)}")
            results.append(LibraryCheck(library=library, check=None if no_check else check(library, announce)))
    if form == "json":
        print_json(results)
        return
    show(results)
    if hint := libraries.suggest_modules(search):
        console.print(f"\n{hint}", soft_wrap=True, markup=False)


def print_step(place: str, text: str) -> None:
    """Print what takes long, to standard error: a pipe gets the list alone."""
    print(f"{place}: {text}", file=sys.stderr)  # noqa: T201


def check(library: Library, show: Callable[[str], None]) -> Check:
    """Build the core and run it on two unbound ranks. `show` prints what is being built."""
    try:
        core = build.build(library, home(), show=show)
    except UnwritableHomeError:
        raise
    except RankbenchError as error:
        return Check(works=False, reason=str(error).removeprefix(f"{library.name}: "))
    with tempfile.TemporaryDirectory(prefix="rankbench-") as folder:
        return doctor.check(library, core, PAIR, Path(folder))


def show(results: list[LibraryCheck]) -> None:
    """Print a table, and below it what does not fit."""
    table = Table(box=rich.box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for title in ("name", "library", "source", "ABI", "compiler", "works"):
        table.add_column(title, overflow="fold")
    for result in results:
        table.add_row(*row(result))
    console.print(table)
    console.print()
    width = max(len(result.library.name) for result in results)
    for result in results:
        console.print(f"{result.library.name:{width}}  {tools(result.library)}", soft_wrap=True, markup=False)
        for line in origin(result.library, console.width - INDENT):
            console.print(f"{'':{INDENT}}{line}", soft_wrap=True, markup=False)
    for result in results:
        if result.check and not result.check.works:
            console.print(f"\n{result.library.name} does not work: {result.check.reason}", soft_wrap=True, markup=False)


def row(result: LibraryCheck) -> list[str]:
    """Return a library's cells."""
    library = result.library
    works = "" if not result.check else "[green]yes[/]" if result.check.works else "[red]no[/]"
    return [
        library.name,
        libraries.format_title(library),
        library.source,
        library.abi or "?",
        short(library.compiler),
        works,
    ]


def tools(library: Library) -> str:
    """Return the wrapper of a library, and the launcher that lies next to it."""
    return f"{library.wrapper}, {Path(library.launcher).name or 'no launcher'}"


def origin(library: Library, width: int) -> list[str]:
    """Return how a library was built, as its source reports it, wrapped to a width."""
    wrapper = textwrap.TextWrapper(width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    return [line for key, value in library.origin.items() for line in wrapper.wrap(f"{key}: {value}")]


def short(compiler: str) -> str:
    """Return the name and version of a compiler from its first line: `cc (Debian 12.2.0-14) 12.2.0` is `cc 12.2.0`."""
    version = re.search(r"\d+(\.\d+)+", compiler)
    named = re.search(r"(\S+) version \d", compiler)
    name = named[1] if named else (compiler.split() or ["none"])[0]
    return f"{name} {version[0]}" if version else compiler or "none"
