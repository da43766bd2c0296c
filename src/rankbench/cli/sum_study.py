"""Shows the study of sums of `verify --sums`: whether the bits of reductions are the same."""

from __future__ import annotations

import time
from collections.abc import Sequence

import typer

from rankbench.campaign import sum_launches
from rankbench.cli.display import columns, console, spread_lines
from rankbench.cli.formats import print_json
from rankbench.model import Library, RankbenchError
from rankbench.model.sum_bits import HEADS, SumRow, describe_bits, group_alike, join_numbers
from rankbench.quantities import format_duration
from rankbench.workflows.locations import home

RANKS = (2, 3, 4, 5)
"""Numbers of ranks of which some are powers of two; ranks may share cores."""


def study_libraries(reach: Sequence[Library], ranks: int | None, form: str) -> None:
    """Show the table of all libraries; the exit code is 1 if ranks got different bits from one call of allreduce."""
    rows: list[SumRow] = []
    failures: list[str] = []
    for library in reach:
        began_s = time.monotonic()
        try:
            with console.status(f"{library.name}: sums …") as status:
                launches = list(sum_launches.study_library(library, [ranks] if ranks else RANKS, home(), status.update))
            rows += sum_launches.compare(library.name, launches)
            if form != "json":
                duration = format_duration(time.monotonic() - began_s)
                console.print(f"{library.name}: sums of {len(launches)} launches compared ({duration})")
        except RankbenchError as error:
            failures.append(f"FAILED {library.name}: {error}")
    wrong = [row for row in rows if row.on_ranks]
    if form == "json":
        print_json({"sums": rows, "failures": failures})
        raise typer.Exit(bool(wrong or failures))
    show(rows)
    for row in wrong:
        spread_lines(
            f"FAILED {row.candidate}: {row.operation} of {row.elements} {row.type}: ranks of one call got different "
            f"bits, on {join_numbers(row.on_ranks)} ranks; the standard (MPI-4.1 6.9.6) requires identical results"
        )
    for failure in failures:
        spread_lines(failure)
    raise typer.Exit(bool(wrong or failures))


def show(rows: Sequence[SumRow]) -> None:
    """Show a table of all sums, with one row for those of an operation that differ in the same ways."""
    table = columns("library", "operation", "type", "elements", *HEADS, text_columns=3)
    for of in group_alike(rows):
        table.add_row(*describe_bits(of))
    console.print("\nAre the bits of a sum the same? Not on N: on N ranks they are not.\n")
    console.print(table)
