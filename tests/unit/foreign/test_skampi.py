"""SKaMPI: named results, whose rows begin with loop variables."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
from fakes import tool_outputs
from hypothesis import given
from wording import WORDING, find_lines

from rankbench.foreign import Table
from rankbench.foreign.running import RunRequest
from rankbench.foreign.tools import skampi

FOLDER = tool_outputs.SAMPLES / "skampi"
FILES = tool_outputs.list_files("skampi")
EXPECTED_VALUES = [
    # file, measurement, benchmark, ranks, size, column, value
    ("skampi_pt2pt.txt", "Pingpong_Send_Recv", "Pingpong_Send_Recv", 2, 2048, "mean", 8.6),
    ("skampi_pt2pt.txt", "Pingpong_Send_Irecv", "Pingpong_Send_Irecv", 2, 16384, "standard error", 10.7),
    ("skampi_pt2pt.txt", "Pingpong_Issend_Recv", "Pingpong_Issend_Recv", 2, 8, "repetitions", 8),
    ("skampi_pt2pt.txt", "Pingpong_Sendrecv", "Pingpong_Sendrecv", 2, 64, "process 1", 4.3),
    ("skampi_coll.txt", "MPI_Bcast-procs-long", "MPI_Bcast", 2, 262144, "mean", 19.3),
    ("skampi_coll.txt", "Bcast_using_Send_Recv-procs-short", "Bcast_using_Send_Recv", 2, 1024, "process 0", 0.3),
    ("skampi_coll.txt", "MPI_Barrier-procs", "MPI_Barrier", 2, 0, "mean", 0.3),
    ("skampi_coll.txt", "MPI_Scatterv-length", "MPI_Scatterv", 2, 131072, "mean", 11003.1),
    ("skampi_coll.txt", "MPI_Comm_dup-procs", "MPI_Comm_dup", 2, 0, "standard error", 127.5),
    ("skampi_misc.txt", "MPI_Wtime_avg", "MPI_Wtime_avg", 1, 0, "repetitions", 16),
    ("default/allreduce.default.txt", "MPI_Allreduce-length", "MPI_Allreduce", 2, 1048576, "repetitions", 14),
    ("default/pt2pt.ski.default.txt", "Pingpong_Send_Recv", "Pingpong_Send_Recv", 2, 8192, "process 1", 10.2),
]
HEAD = "# SKaMPI Version 5.0.4 rev. 355\n\n# Started at Mon Jan  5 10:00:00 2026\n\n"


def _find_tables(tables: list[Table], measurement: str) -> list[Table]:
    return [table for table in tables if table.facts["measurement"] == measurement]


@pytest.mark.parametrize(("name", "measurement", "benchmark", "ranks", "size", "column", "value"), EXPECTED_VALUES)
def test_values_are_those_of_the_file(
    name: str, measurement: str, benchmark: str, ranks: int, size: int, column: str, value: float
) -> None:
    text = (FOLDER / name).read_text()
    lines = range(text.index(f'begin result "{measurement}"'), text.index(f'end result "{measurement}"'))
    first, last = (text.count("\n", 0, place) + 1 for place in (lines.start, lines.stop))
    rows = [
        (table, row)
        for table in tool_outputs.read_sample(skampi, FOLDER / name)
        for row in table.rows
        if first < row.line < last and row.size_bytes == size
    ]
    table, row = rows[0]
    assert table.operation.foreign
    assert (table.operation.foreign.benchmark, table.ranks, table.scale) == (benchmark, ranks, 1e3)
    assert row.numbers[table.columns.index(column)] == value
    assert table.roles == {"value": 0, "error": 1, "repetitions": 2}


def test_a_value_of_every_file_with_results_is_tested() -> None:
    empty = {"io.txt", "skampi_onesided.txt", "procnames.txt"}
    assert {name for name, *_ in EXPECTED_VALUES} | empty == {str(path.relative_to(FOLDER)) for path in FILES}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_row_of_every_file_is_read(path: Path) -> None:
    assert tool_outputs.count_rows(tool_outputs.read_sample(skampi, path)) == len(
        re.findall(r"^\w+= ", path.read_text(), re.MULTILINE)
    )


def test_every_recorded_result_is_known() -> None:
    names = {table.operation.name for path in FILES for table in tool_outputs.read_sample(skampi, path)}
    assert names <= {operation.name for operation in skampi.OPERATIONS}


def test_the_head_has_version_and_date() -> None:
    table = tool_outputs.read_sample(skampi, FOLDER / "skampi_coll.txt")[0]
    assert table.version == "6.0.0 rev. 5fb775a0443f7721ebef4af50cb197d3c03b91cc"
    assert table.facts == {"started": "Fri Nov 20 11:24:49 2026", "measurement": "MPI_Bcast-procs-short"}
    assert table.line == 6


def test_loop_variables_distinguish_tables() -> None:
    tables = tool_outputs.read_tables(
        skampi,
        HEAD
        + '# begin result "Combining_short_Puts_fence"\n'
        + "count= 1 msgcount= 1        4       1.5       0.1       16       1.5     ---   \n"
        + "count= 1 msgcount= 2        4       2.5       0.1       16       2.5     ---   \n"
        + "count= 2 msgcount= 1        8       3.5       0.1       16       3.5     ---   \n"
        + '# end result "Combining_short_Puts_fence"\n# duration = 0.01 sec\n',
    )
    assert [table.options for table in tables] == [{"msgcount": "1"}, {"msgcount": "2"}]
    assert [[row.size_bytes for row in table.rows] for table in tables] == [[4, 8], [4]]
    assert math.isnan(tables[0].rows[0].numbers[4])
    assert tables[0].operation.kind == "one-sided"


def test_each_number_of_processes_has_a_table() -> None:
    tables = tool_outputs.read_tables(
        skampi,
        HEAD
        + '# begin result "MPI_Gather-procs-short"\n'
        + "procs= 2     1024       1.2       0.0       32       1.2       0.2\n"
        + "procs= 3     1024       1.5       0.0       32       1.5       0.2       0.3\n"
        + f"procs= 40    1024       2.5       0.0       32 {'1.0 ' * 16}\n"
        + '# end result "MPI_Gather-procs-short"\n',
    )
    assert [(table.ranks, len(table.columns)) for table in tables] == [(2, 5), (3, 6), (40, 19)]
    assert {table.operation.name for table in tables} == {"skampi-gather"}


def test_sixteen_times_may_be_those_of_more_processes() -> None:
    (table,) = tool_outputs.read_tables(
        skampi,
        HEAD
        + f'# begin result "MPI_Scan-length"\ncount= 1 4 1.5 0.1 16 {"1.0 " * 16}\n# end result "MPI_Scan-length"\n',
    )
    assert table.ranks == 0


def test_results_of_an_older_version_without_loops_are_read() -> None:
    (table,) = tool_outputs.read_tables(
        skampi,
        '   begin result "Mine"\n       4       6.0       0.0      160       5.7       5.7\n   end result "Mine"\n',
    )
    assert (table.version, table.rows[0].size_bytes, table.rows[0].numbers) == ("", 4, (6.0, 0.0, 160.0, 5.7, 5.7))
    assert table.operation.name == "skampi-mine"
    assert table.operation.help == "Mine, unknown to rankbench"
    assert table.operation.foreign
    assert table.operation.foreign.counterpart == ""
    assert table.operation.foreign.meaning.start == "not reported"


def test_results_of_one_call_in_a_run_are_its_samples_and_those_of_the_next_run_are_not() -> None:
    over_sizes = '# begin result "MPI_Bcast-length"\ncount= 1 4 1.5 0.1 16\n# end result "MPI_Bcast-length"\n'
    over_ranks = (
        '# begin result "MPI_Bcast-procs-short"\nprocs= 2 4 2.5 0.1 16 2.4 2.5\nprocs= 3 4 3.5 0.1 16 3.4 3.5 3.3\n'
        '# end result "MPI_Bcast-procs-short"\n'
    )
    sized = over_sizes.replace("0.1 16", "0.1 16 1.4 1.5")
    tables = tool_outputs.read_tables(skampi, (HEAD + over_ranks + sized) * 2)
    assert [(table.ranks, table.repeated, [row.numbers[0] for row in table.rows]) for table in tables] == [
        (2, True, [2.5, 1.5]),
        (3, False, [3.5]),
    ] * 2


def test_rows_of_a_size_are_samples() -> None:
    result = (
        '# begin result "MPI_Scan-length"\ncount= 1 4 1.5 0.1 16\ncount= 1 4 2.5 0.1 16\n# end result "MPI_Scan-length"'
    )
    (table,) = tool_outputs.read_tables(skampi, result)
    assert ([row.numbers[0] for row in table.rows], table.repeated) == ([1.5, 2.5], True)


def test_unrecognised_lines_are_kept() -> None:
    (table,) = tool_outputs.read_tables(
        skampi,
        HEAD + '# begin result "MPI_Scan-length"\nIt is late\ncount= 1 4 1.5 0.1 16\n# end result "MPI_Scan-length"\n',
    )
    assert [line.text for line in table.noise] == ["It is late"]


@pytest.mark.parametrize(
    "row",
    [
        "count= 1 4 1.5 0.1",
        "count= 1",
        "count= 1 4 nan 0.1 16",
        "count= 1 4 1.5 -0.1 16",
        "count= 1 4 1.5 0.1 16 inf",
        "count= 1 -4 1.5 0.1 16",
        "procs= x 4 1.5 0.1 16",
        "procs= 2 4 1.5 0.1 16 1 2 3",
    ],
)
def test_a_damaged_row_is_refused(row: str) -> None:
    assert tool_outputs.read_refusal(skampi, f'# begin result "MPI_Scan-length"\n{row}') == WORDING


@pytest.mark.parametrize("after", ["", '# begin result "MPI_Scan-length"\n# end result "MPI_Scan-length"\n'])
def test_a_result_without_an_end_is_refused(after: str) -> None:
    text = HEAD + '# begin result "MPI_Bcast-length"\ncount= 1 4 1.5 0.1 16\n' + after
    assert tool_outputs.read_refusal(skampi, text) == WORDING


def test_every_benchmark_is_described() -> None:
    for operation in skampi.OPERATIONS:
        assert operation.foreign
        assert "quarter" in operation.foreign.meaning.text
    meanings = {operation.name: operation.foreign.meaning for operation in skampi.OPERATIONS if operation.foreign}
    assert (meanings["skampi-pingpong_send_recv"].trip, meanings["skampi-pingpong_sendrecv"].trip) == ("round", "call")
    assert (meanings["skampi-bcast"].over_calls, meanings["skampi-bcast"].start) == ("trimmed mean", "window")
    counterparts = {
        operation.name: operation.foreign.counterpart for operation in skampi.OPERATIONS if operation.foreign
    }
    assert counterparts["skampi-reduce_scatter"] == counterparts["skampi-gather_using_send_recv"] == ""
    assert counterparts["skampi-scatterv"] == "scatterv"


@pytest.mark.parametrize(
    ("text", "whether"), [(HEAD, True), ('# begin result "x"', True), ("# SKaMPI", False), ("", False)]
)
def test_skampi_is_recognised_by_its_head(text: str, whether: bool) -> None:
    assert skampi.recognises(tool_outputs.number_lines(text)) is whether


@given(tool_outputs.draw_damage([path.read_text() for path in FILES if path.stat().st_size]))
def test_damaged_texts_are_read_or_refused(text: str) -> None:
    skampi.recognises(tool_outputs.number_lines(text))
    tool_outputs.assert_read_or_refused(skampi, text)


# --- running ----------------------------------------------------------------------------------------------------------

SCRIPT = """\
set_min_repetitions(8)
set_max_repetitions(50)
set_max_relative_standard_error(0.03)
set_skampi_buffer(1048832)
datatype = MPI_INT
comm_all = comm(get_np())
begin measurement "MPI_Bcast"
   measure comm_all : Bcast(2, datatype, 0)
end measurement
begin measurement "MPI_Bcast"
   measure comm_all : Bcast(16, datatype, 0)
end measurement
"""


def test_the_program_of_a_run_measures_each_size(tmp_path: Path) -> None:
    """SKaMPI 6 measured 8 and 64 bytes with this program."""
    operation = skampi.KNOWN["MPI_Bcast"]
    planned = tool_outputs.make_plan(operation.name)
    arguments = skampi.arguments(RunRequest(operation, [0, 8, 9, 64], 2, planned, tmp_path))
    assert arguments == ["-i", str(tmp_path / "measure.ski")]
    assert Path(arguments[1]).read_text() == SCRIPT
    described = skampi.apply_plan(operation, planned, [])
    assert described.foreign
    assert find_lines(described.foreign.meaning.text, "(8 to 50 in") == WORDING


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("MPI_Barrier", "Barrier()"),
        ("MPI_Alltoall", "Alltoall(2, datatype, 2, datatype)"),
        ("MPI_Gather", "Gather(2, datatype, 2, datatype, 0)"),
        ("MPI_Reduce", "Reduce(2, datatype, MPI_SUM, 0)"),
        ("MPI_Scan", "Scan(2, datatype, MPI_SUM)"),
        ("Pingpong_Send_Recv_AnyTag", "Pingpong_Send_Recv_AT(2, datatype, 0, 1)"),
        ("Pingpong_Sendrecv", "Pingpong_Sendrecv(2, datatype, 0, 2, datatype, 0, 1)"),
        ("Pingpong_Sendrecv_replace", "Pingpong_Sendrecv_replace(2, datatype, 0, 0, 1)"),
    ],
)
def test_measurements_have_the_arguments_of_skampi_s_own_programs(tmp_path: Path, name: str, call: str) -> None:
    operation = skampi.KNOWN[name]
    sizes = [8] if operation.sized else [0]
    skampi.arguments(RunRequest(operation, sizes, 2, tool_outputs.make_plan(operation.name), tmp_path))
    lines = (tmp_path / "measure.ski").read_text().splitlines()
    assert lines[-3:] == [f'begin measurement "{name}"', f"   measure comm_all : {call}", "end measurement"]
