"""The command `operations`: what the core can time, told by the core itself."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer resolves the annotations at run time
from typing import Annotated

import msgspec
import typer
from rich.table import Table
from rich.text import Text

from rankbench import build, libraries
from rankbench.cli import console, home
from rankbench.model import Amount, Description, Operation, RankbenchError

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
    console.print("\nBytes are per rank, for a message size n and p ranks.")
    console.print("A plan names operations, one of their forms (allreduce.persistent), or families:")
    console.print(f"{', '.join(families(description))}.")
    console.print("\nStarts")
    starts = Table.grid(padding=(0, 2))
    for start in description.starts:
        starts.add_row(Text(start.name, style="bold"), start.help)
    console.print(starts)


def families(description: Description) -> list[str]:
    """Return the names that mean several operations."""
    return [*dict.fromkeys(operation.kind for operation in description.operations), "all"]


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
    """Return what each operation is, and under it how it can be asked for."""
    table = Table.grid(padding=(0, 2))
    for operation in operations:
        facts = [
            ", ".join(operation.forms),
            f"sends {amounts(operation.send, operation.root_send)}",
            f"receives {amounts(operation.receive, operation.root_receive)}",
            f"{operation.datatype}, start {operation.start}",
            operation.standard,
        ]
        table.add_row(Text(operation.name, style="bold"), f"{operation.help} ({operation.kind})")
        table.add_row("", Text("; ".join(facts), style="dim"))
    return table


def amounts(each: Amount, root: Amount) -> str:
    """Return the bytes of a rank, followed by those of rank 0 where they differ."""
    return str(each) if each == root else f"{each} (rank 0: {root})"
