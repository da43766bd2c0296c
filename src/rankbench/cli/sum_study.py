"""Studies sums for `verify --sums`: whether the bits of reductions are the same wherever they could differ."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import typer

from rankbench.campaign import selftest
from rankbench.cli.display import columns, console, spread_lines
from rankbench.cli.formats import print_json
from rankbench.model import Library, RankbenchError, Record
from rankbench.samples.sums import SumBits
from rankbench.workflows.locations import home

if TYPE_CHECKING:
    from rankbench.campaign.selftest import Bench

LAUNCHES = 3
HEADS = ("on all ranks", "in all calls", "in all launches", "unbound", "ranks reversed")
RANKS = (2, 3, 4, 5)
"""Numbers of ranks of which some are powers of two; ranks may share cores."""


class Launched(NamedTuple):
    """The sums of one launch."""

    ranks: int
    binding: str
    """How its ranks were bound to CPUs."""
    sums: list[SumBits]


class SumRow(Record, frozen=True):
    """Where the bits of one sum differ: numbers of ranks; empty: nowhere."""

    library: str
    operation: str
    type: str
    elements: int
    on_ranks: list[int]
    from_call_to_call: list[int]
    from_launch_to_launch: list[int]
    in_another_placement: list[int]
    in_reverse: list[int]


def study_libraries(reach: Sequence[Library], ranks: int | None, form: str) -> None:
    """Show the table of all libraries; the exit code is 1 if ranks got different bits from one call of allreduce."""
    rows: list[SumRow] = []
    failures: list[str] = []
    for library in reach:
        try:
            rows += compare(library.name, list(launch_all(library, [ranks] if ranks else RANKS)))
        except RankbenchError as error:
            failures.append(f"FAILED {library.name}: {error}")
    wrong = [row for row in rows if row.on_ranks]
    if form == "json":
        print_json({"sums": rows, "failures": failures})
        raise typer.Exit(bool(wrong or failures))
    show(rows)
    for row in wrong:
        spread_lines(
            f"FAILED {row.library}: {row.operation} of {row.elements} {row.type}: ranks of one call got different "
            f"bits, on {join(row.on_ranks)} ranks; the standard (MPI-4.1 6.9.6) requires identical results"
        )
    for failure in failures:
        spread_lines(failure)
    raise typer.Exit(bool(wrong or failures))


def launch_all(library: Library, numbers: Sequence[int]) -> Iterator[Launched]:
    """Yield all launches of a library: some in one placement, and one in another."""
    for ranks in numbers:
        with tempfile.TemporaryDirectory(prefix="rankbench-") as folder:
            bench = selftest.prepare_bench(library, ranks, home(), Path(folder))
            for _ in range(LAUNCHES):
                yield launch_once(bench, bench.placement.binding)
            if bench.placement.binding != "none":
                yield launch_once(bench, "none")


def launch_once(bench: Bench, binding: str) -> Launched:
    """Launch the study once."""
    ranks = bench.placement.ranks
    placed = bench._replace(placement=msgspec.structs.replace(bench.placement, binding=binding))
    with console.status(f"{bench.library.name}: sums on {ranks} ranks …"):
        return Launched(ranks, binding, selftest.sums(placed).sums)


def compare(library: str, launches: Sequence[Launched]) -> list[SumRow]:
    """Return a row for each sum; numbers of elements are those of the largest message of the core's sizes."""
    by_sum: defaultdict[tuple[str, str, int], list[tuple[Launched, SumBits]]] = defaultdict(list)
    for launched in launches:
        places: defaultdict[tuple[str, str], int] = defaultdict(int)
        for bits in launched.sums:
            place = places[bits.operation, bits.type]
            places[bits.operation, bits.type] += 1
            if not bits.lacking:
                by_sum[bits.operation, bits.type, place].append((launched, bits))
    return [
        SumRow(
            library=library,
            operation=operation,
            type=name,
            elements=of[0][1].elements,
            on_ranks=list_ranks(launched for launched, bits in of if not bits.on_ranks),
            from_call_to_call=list_ranks(launched for launched, bits in of if not bits.from_call_to_call),
            from_launch_to_launch=list_unlike(of, by_binding=True),
            in_another_placement=list_unlike(of, by_binding=False),
            in_reverse=list_ranks(launched for launched, bits in of if not bits.in_reverse),
        )
        for (operation, name, _), of in by_sum.items()
    ]


def list_ranks(launches: Iterable[Launched]) -> list[int]:
    """Return the numbers of ranks of launches."""
    return sorted({launched.ranks for launched in launches})


def list_unlike(of: Sequence[tuple[Launched, SumBits]], *, by_binding: bool) -> list[int]:
    """Return the numbers of ranks whose launches found unlike bits: those of one binding, or of the first of each."""
    digests: defaultdict[tuple[int, str], list[str]] = defaultdict(list)
    for launched, bits in of:
        digests[launched.ranks, launched.binding].append(bits.digest)
    if by_binding:
        return sorted({ranks for (ranks, _), of_launches in digests.items() if len(set(of_launches)) > 1})
    firsts: defaultdict[int, set[str]] = defaultdict(set)
    for (ranks, _), of_launches in digests.items():
        firsts[ranks].add(of_launches[0])
    return sorted(ranks for ranks, unlike in firsts.items() if len(unlike) > 1)


def join(ranks: Sequence[int]) -> str:
    """Return numbers in words: `3 and 5`."""
    return " and ".join(filter(None, [", ".join(map(str, ranks[:-1])), *map(str, ranks[-1:])]))


def show(rows: Sequence[SumRow]) -> None:
    """Show a table of all sums, with one row for those of an operation that differ in the same ways."""
    alike: defaultdict[tuple[str, str, tuple[str, ...]], list[SumRow]] = defaultdict(list)
    for row in rows:
        alike[row.library, row.operation, make_cells(row)].append(row)
    table = columns("library", "operation", "type", "elements", *HEADS, text_columns=3)
    for (library, operation, cells), of in alike.items():
        elements = sorted({row.elements for row in of})
        shown = f"{elements[0]}–{elements[-1]}" if len(elements) > 1 else str(elements[0])
        table.add_row(library, operation, ", ".join(dict.fromkeys(row.type for row in of)), shown, *cells)
    console.print("\nAre the bits of a sum the same? Not on N: on N ranks they are not.\n")
    console.print(table)


def make_cells(row: SumRow) -> tuple[str, ...]:
    """Return what the table shows below each of HEADS."""
    where = (row.on_ranks, row.from_call_to_call, row.from_launch_to_launch, row.in_another_placement, row.in_reverse)
    return tuple(f"not on {join(ranks)}" if ranks else "yes" for ranks in where)
