"""The command `operations`: what the core can time, told by the core itself."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer resolves the annotations at run time
from typing import Annotated

import msgspec
import rich.box
import typer
from rich.table import Table

from rankbench import build, libraries
from rankbench.cli import console, home
from rankbench.model import Description, Operation, RankbenchError

ORDER = 25


def operations(
    prefix: Annotated[list[Path] | None, typer.Option(help="A folder with an MPI library's bin/mpicc.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print all that the core says, as JSON.")] = False,  # noqa: FBT002
) -> None:
    """List what a plan can name: operations with their forms and bytes, and ways to start together."""
    description = described(prefix or [])
    if json:
        print(msgspec.json.format(msgspec.json.encode(description)).decode())  # noqa: T201 - for programs
        return
    console.print(operation_table(description.operations))
    console.print(
        "Bytes are per rank, for a message size n and p ranks; where rank 0 has others, they follow in brackets."
    )
    console.print(
        "Families for plans: " + ", ".join([*dict.fromkeys(one.kind for one in description.operations), "all"])
    )
    console.print("\nStarts")
    starts = Table.grid(padding=(0, 2))
    for start in description.starts:
        starts.add_row(f"  {start.name}", start.help)
    console.print(starts)


def described(prefixes: list[Path]) -> Description:
    """Return what the core says of itself, built with the first library that can build it."""
    reason = "no MPI library found to build the core with; get one: rankbench get mpich"
    for library in libraries.find(libraries.everywhere(home(), prefixes)):
        try:
            return build.describe(build.build(library, home()))
        except RankbenchError as error:
            reason = str(error)
    raise RankbenchError(reason)


def operation_table(operations: list[Operation]) -> Table:
    """Return one row per operation."""
    table = Table(box=rich.box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
    for title in ("operation", "forms", "sends", "receives", "datatype", "start", "standard", "what it is"):
        table.add_column(title, overflow="fold")
    for operation in operations:
        table.add_row(
            operation.name,
            ", ".join(operation.forms),
            amounts(str(operation.send), str(operation.root_send)),
            amounts(str(operation.receive), str(operation.root_receive)),
            operation.datatype,
            operation.start,
            operation.standard,
            operation.help,
        )
    return table


def amounts(each: str, root: str) -> str:
    """Return the bytes of a rank, followed by those of rank 0 where they differ."""
    return each if each == root else f"{each} [{root}]".replace("[", r"\[")
