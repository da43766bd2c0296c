"""The command `record`: what a program calls of MPI, and how long that takes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from rankbench import libraries
from rankbench.campaign import recording
from rankbench.cli.display import console, plain_table, spread_lines
from rankbench.cli.output_files import check_output, is_standard_output
from rankbench.cli.shared_options import Modules, Prefixes
from rankbench.model import RankbenchError
from rankbench.model.program_records import (
    ONE_THREAD,
    Kind,
    RunRecord,
    describe_size,
    name_kind,
    split_by_size,
    sum_time,
)
from rankbench.quantities import format_count, format_time, spell_count
from rankbench.workflows.locations import home

ORDER = 35
GROUP = "Measure"
EXAMPLES = """
rankbench record -- mpiexec -n 8 ./solver input
rankbench record --library openmpi --output record.json -- srun -n 64 ./solver
rankbench advise --profile record.json
"""
SHOWN = 12
DECIDING = 3
UNKNOWN = 0.05
"""From this share on, time of which it is not known whether it was waiting is stated."""
NS_PER_S = 1e9


def record(
    command: Annotated[
        list[str],
        typer.Argument(metavar="COMMAND...", help="The launcher and its words, behind --: mpiexec -n 8 ./solver"),
    ],
    library: Annotated[
        str, typer.Option(metavar="NAME", help="The program's library; default: that of the launcher.")
    ] = "",
    output: Annotated[Path, typer.Option(metavar="FILE", help="The record, in a folder that all nodes see.")] = Path(
        "record.json"
    ),
    program: Annotated[
        str, typer.Option(metavar="WORD", help="The word of COMMAND that is the program, if that is not clear.")
    ] = "",
    prefix: Prefixes = None,
    modules: Modules = None,
) -> None:
    """Run a program and record its calls of MPI.

    For each kind of call: number, time and its distribution, and how long collectives waited for the last rank.
    """
    if is_standard_output(output):
        raise RankbenchError("--output -: standard output is the program's; name a file")
    check_output("--output", output)
    available = libraries.find(libraries.make_search(home(), prefix or (), modules or ()))
    used = libraries.choose(library, available) if library else recording.find_library(command, available)
    run, code, stopped = recording.record_command(command, used, home(), output, program)
    print_record(run, output)
    remark = recording.check_loaded(run, used)
    if remark:
        raise RankbenchError(remark)
    if stopped:
        raise stopped
    if code:
        raise typer.Exit(code)


def print_record(run: RunRecord, output: Path) -> None:
    """Print the time in MPI by operation and size, and the calls that decide."""
    total, rows = sum(run.seconds), list_rows(run)
    sum_s = sum(row.seconds for row in rows)
    share = sum_s / total if total else 0.0
    length = format_time(max(run.seconds) * NS_PER_S)
    console.print(f"{run.library}, {run.ranks} ranks, {length}: {share:.0%} of it in MPI", markup=False)
    table = plain_table("call", "bytes", "of the run", "calls per rank", "mean", "waiting for ranks", words=(0,))
    for row in (row for row in rows[:SHOWN] if row.seconds):  # The time of Wait and Test is that of what they complete.
        table.add_row(*format_row(row, total, run.ranks))
    console.print(table)
    spread_lines("\n".join(list_remarks(run, rows, sum_s)))
    console.print(f"{output}: {spell_count(len(run.kinds), 'kind')} of calls", markup=False, soft_wrap=True)


class Row(NamedTuple):
    """Calls of one name and of similar sizes, over all ranks."""

    name: str
    sizes: str
    calls: int
    seconds: float
    waiting_s: float | None
    """None: it is not known."""


def list_rows(run: RunRecord) -> list[Row]:
    """Return the calls by name and size, those that took most time first."""
    by_name: defaultdict[tuple[str, int, int], list[Kind]] = defaultdict(list)
    for kind in run.kinds:
        by_name[name_kind(kind), kind.ranks, min(kind.bytes, 0)].append(kind)
    rows = [
        make_row(similar) for alike in by_name.values() for similar in split_by_size(alike, lambda kind: kind.bytes)
    ]
    return sorted(rows, key=lambda row: -row.seconds)


def make_row(kinds: Sequence[Kind]) -> Row:
    """Return the row of kinds of call that differ in size at most; they are in ascending order."""
    sizes = list(dict.fromkeys(map(describe_size, (kinds[0], kinds[-1]))))
    waiting = [sum(kind.waiting_s) for kind in kinds if kind.waiting_s]
    return Row(
        name=name_kind(kinds[0]),
        sizes=" to ".join(sizes),
        calls=sum(sum(kind.calls) for kind in kinds),
        seconds=sum(sum(sum_time(kind)) for kind in kinds),
        waiting_s=sum(waiting) if waiting else None,
    )


def format_row(row: Row, total: float, ranks: int) -> list[str]:
    """Return the cells of a row."""
    waiting = f"{row.waiting_s / row.seconds:.0%}" if row.waiting_s is not None and row.seconds else "-"
    mean = format_time(row.seconds / row.calls * NS_PER_S) if row.calls else "-"
    share = f"{row.seconds / total:.1%}" if total else "-"
    return [row.name, row.sizes, share, format_count(row.calls / ranks), mean, waiting]


def describe_waiting(rows: Sequence[Row]) -> Iterator[str]:
    """Yield which part of the time was waiting for others, and of which part that is not known."""
    sum_s = sum(row.seconds for row in rows)
    waiting = sum(row.waiting_s or 0.0 for row in rows)
    unknown = sum(row.seconds for row in rows if row.waiting_s is None)
    if not sum_s or not (waiting or unknown < sum_s):
        return
    besides = f"; of {unknown / sum_s:.0%} that is not known" if unknown >= UNKNOWN * sum_s else ""
    yield f"{waiting / sum_s:.0%} of it was waiting for a later rank, which no library changes{besides}."


def list_remarks(run: RunRecord, rows: Sequence[Row], sum_s: float) -> Iterator[str]:
    """Yield what decides, and what is not known."""
    names = [f"{row.name} of {row.sizes} ({row.seconds / sum_s:.0%})" for row in rows[:DECIDING] if row.seconds]
    if names:
        yield f"Most of the time in MPI: {', '.join(names)}."
    yield from describe_waiting(rows)
    if run.several_threads or sum_s > sum(run.seconds):
        yield "The times of threads that are in MPI at the same time are added up."
    elif run.thread_multiple:
        yield ONE_THREAD
    unfinished = run.finalised.count(False)
    if unfinished:
        yield f"{unfinished} of {run.ranks} ranks ended without MPI_Finalize: their calls up to then are recorded."
    if run.dropped.merged_kinds:
        yield f"{run.dropped.merged_kinds} calls are recorded without their size, since there were too many kinds."
    if run.dropped.requests:
        yield (
            f"The completion of {run.dropped.requests} nonblocking calls is not known, since too many were open or had "
            "one handle."
        )
    if run.dropped.arrivals_kept < 1:
        yield f"Waiting in collectives is estimated from {run.dropped.arrivals_kept:.0%} of them."
    if run.dropped.messages_kept < 1:
        yield f"Waiting for partners is estimated from {run.dropped.messages_kept:.0%} of the messages."
    if run.dropped.messages:
        yield (
            f"Whether {format_count(run.dropped.messages)} sends or receives waited for their partner is not known: "
            "they receive from any source or with any tag, come after MPI_Mprobe, or have too many partners."
        )
