"""The table that `record` prints."""

from __future__ import annotations

from rankbench.cli.commands.record import format_row, list_remarks, list_rows
from rankbench.model.program_records import FORMAT, Dropped, Kind, RunRecord


def make_kind(call: str, size: int, calls: int, seconds: float, waiting_s: list[float]) -> Kind:
    return Kind(
        call=call, form="blocking", bytes=size, gaps=False, ranks=2, root=-1, calls=[calls, calls],
        seconds=[seconds, seconds], shortest_ns=1.0, longest_ns=2.0, distribution=[], waiting_s=waiting_s,
    )  # fmt: skip


def make_run(kinds: list[Kind], seconds: float = 4.0) -> RunRecord:
    return RunRecord(
        record="calls of a program", format=FORMAT, command=["mpiexec"], library="mpich-5", version="MPICH", ranks=2,
        hosts=["a", "a"], seconds=[seconds] * 2, finalised=[True, True], kinds=kinds, dropped=Dropped(),
    )  # fmt: skip


def describe(run: RunRecord) -> list[str]:
    rows = list_rows(run)
    return list(list_remarks(run, rows, sum(row.seconds for row in rows)))


def test_the_share_of_unknown_waiting_is_stated() -> None:
    received = make_kind("MPI_Recv", 8, 10, 0.5, [0.1, 0.1])
    assert "10% of it was waiting for a later rank, which no library changes; of 50% that is not known." in describe(
        make_run([received, make_kind("MPI_Probe", 0, 10, 0.5, [])])
    )
    assert "20% of it was waiting for a later rank, which no library changes." in describe(make_run([received]))


def test_a_line_explains_that_times_of_threads_are_added_up() -> None:
    kinds = [make_kind("MPI_Send", 8, 10, 3.0, [])]
    assert not [line for line in describe(make_run(kinds)) if "threads" in line]
    assert [line for line in describe(make_run(kinds, seconds=2.0)) if "threads" in line]


def test_similar_sizes_of_a_call_have_one_row() -> None:
    """Others have their own: another call, a size more than a quarter larger, unknown sizes."""
    kinds = [
        make_kind("MPI_Send", 26000, 10, 0.2, [0.1, 0.1]), make_kind("MPI_Send", 25600, 30, 0.6, []),
        make_kind("MPI_Send", 40000, 1, 0.1, []), make_kind("MPI_Send", -1, 1, 0.05, []),
        make_kind("MPI_Bcast", 26000, 2, 0.5, []),
    ]  # fmt: skip
    run = make_run(kinds)
    rows = list_rows(run)
    assert [(row.name, row.sizes, row.calls) for row in rows] == [
        ("MPI_Send", "25 KiB to 25.4 KiB", 80),
        ("MPI_Bcast", "25.4 KiB", 4),
        ("MPI_Send", "39.1 KiB", 2),
        ("MPI_Send", "various sizes", 2),
    ]
    assert format_row(rows[0], 8.0, 2) == ["MPI_Send", "25 KiB to 25.4 KiB", "20.0%", "40", "20.0 ms", "12%"]
    assert format_row(rows[1], 8.0, 2)[-1] == "-"
    assert next(list_remarks(run, rows, 2.9)).startswith(
        "Most of the time in MPI: MPI_Send of 25 KiB to 25.4 KiB (55%)"
    )
