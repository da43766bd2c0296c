"""ReproMPI: single calls, summaries and times of each process, with several synchronisations."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
from fakes import tool_outputs
from hypothesis import given
from wording import WORDING

from rankbench.foreign import Table
from rankbench.foreign.tools import reprompi
from rankbench.model import Meaning

FOLDER = tool_outputs.SAMPLES / "reprompi"
FILES = tool_outputs.list_files("reprompi")
EXPECTED_VALUES = [
    # file, operation, size, row of that size, column, value
    ("MPI_Allreduce.summary.txt", "reprompi-allreduce-median", 65536, 0, "max_sec", 0.020061912),
    ("MPI_Barrier.summary.txt", "reprompi-barrier-median", 0, 0, "mean_sec", 0.000000812),
    ("Sendrecv.summary.txt", "reprompi-sendrecv-median", 2048, 0, "stddev_sec", 0.0002751593),
    ("default/Send_Recv.default.txt", "reprompi-send_recv-median", 4, 0, "median_sec", 0.0000030095),
    ("MPI_Allreduce.raw.txt", "reprompi-allreduce", 4, 16, "runtime_sec", 0.012003023),
    ("Sendrecv.raw.txt", "reprompi-sendrecv", 65536, 10, "nrep", 10),
    ("sync_HCA3_window_global.txt", "reprompi-allreduce-median-global-window", 1024, 0, "valid_nrep", 27),
    ("sync_HCA2_window_local.txt", "reprompi-allreduce-median-window", 8, 0, "min_sec", 0.00000017),
    (
        "sync_None_dissem_barrier_local.txt",
        "reprompi-allreduce-median-dissem_barrier",
        8,
        0,
        "median_sec",
        0.0050134525,
    ),
    ("sync_JK_roundtime_local.txt", "reprompi-allreduce-median-roundtime", 1024, 0, "total_nrep", 1),
    ("sync_HCA3_MPI_Barrier_global.txt", "reprompi-allreduce-median-global", 8, 0, "mean_sec", 0.0000024703),
]
SETTINGS = """#@operation=MPI_SUM
#@datatype=MPI_DOUBLE
#@datatype_extent_bytes=8
#@root_proc=0
#@nprocs=4
#@procsync=MPI_Barrier
#@runtime_type=local
"""
END = "# Benchmark started at Mon Jan  5 10:00:00 2026\n# Execution time: 0s\n"
RAW = SETTINGS + "   test       nrep        count    runtime_sec \n"


def _find_meaning(table: Table) -> Meaning:
    assert table.operation.foreign
    return table.operation.foreign.meaning


@pytest.mark.parametrize(("name", "operation", "size", "row", "column", "value"), EXPECTED_VALUES)
def test_values_are_those_of_the_file(
    name: str, operation: str, size: int, row: int, column: str, value: float
) -> None:
    table = tool_outputs.read_sample(reprompi, FOLDER / name)[0]
    rows = [row for row in table.rows if row.size_bytes == size]
    assert rows[row].numbers[table.columns.index(column)] == value
    assert (table.operation.name, table.ranks, table.scale, table.datatype) == (operation, 2, 1e9, "byte")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_row_of_every_file_is_read(path: Path) -> None:
    tables = tool_outputs.read_sample(reprompi, path)
    assert tool_outputs.count_rows(tables) == len(re.findall(r"^\s+[A-Z]\w* +\d", path.read_text(), re.MULTILINE))
    of_one_size = path.name.endswith(".raw.txt") or path.name.startswith("MPI_Barrier")
    assert all(table.repeated == of_one_size for table in tables)


def test_columns_of_a_summary_have_roles() -> None:
    (table,) = tool_outputs.read_sample(reprompi, FOLDER / "MPI_Allreduce.summary.txt")
    assert {role: table.columns[index] for role, index in table.roles.items()} == {
        "value": "median_sec", "median": "median_sec", "mean": "mean_sec", "minimum": "min_sec", "maximum": "max_sec",
        "deviation": "stddev_sec", "repetitions": "valid_nrep",
    }  # fmt: skip
    assert (table.line, table.version, table.options) == (1, "", {"reduction": "bor"})
    assert table.facts["command"].startswith("/opt/bench/mpibenchmark --calls-list=MPI_Allreduce ")
    assert (table.facts["clocksync"], table.facts["started"]) == ("HCA3O", "Fri Nov 20 11:19:42 2026")
    assert (_find_meaning(table).over_calls, _find_meaning(table).over_ranks, _find_meaning(table).start) == (
        "median", "maximum", "library-barrier",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "over_ranks", "start"),
    [
        ("sync_HCA_window_global.txt", "span", "window"),
        ("sync_HCA_window_local.txt", "maximum", "window"),
        ("sync_HCA_roundtime_global.txt", "span", "roundtime"),
        ("sync_HCA_dissem_barrier_local.txt", "maximum", "barrier"),
        ("sync_HCA_MPI_Barrier_local.txt", "maximum", "library-barrier"),
    ],
)
def test_synchronisation_and_clock_are_reported(name: str, over_ranks: str, start: str) -> None:
    (table,) = tool_outputs.read_sample(reprompi, FOLDER / name)
    assert (_find_meaning(table).over_ranks, _find_meaning(table).start, table.operation.start) == (
        over_ranks,
        start,
        start,
    )


def test_a_benchmark_without_sizes_is_one_of_all_its_counts() -> None:
    (raw,) = tool_outputs.read_sample(reprompi, FOLDER / "MPI_Barrier.raw.txt")
    assert {row.size_bytes for row in raw.rows} == {0}
    (summary,) = tool_outputs.read_sample(reprompi, FOLDER / "MPI_Barrier.summary.txt")
    assert ({row.size_bytes for row in summary.rows}, len(summary.rows)) == ({0}, 15)


def test_a_summary_without_valid_calls_has_no_value() -> None:
    (table,) = tool_outputs.read_sample(reprompi, FOLDER / "sync_HCA3_window_global.txt")
    numbers = table.rows[0].numbers
    assert numbers[:2] == (50.0, 0.0)
    assert all(math.isnan(value) for value in numbers[2:])


def test_counts_are_numbers_of_elements() -> None:
    (table,) = tool_outputs.read_tables(reprompi, RAW + "MPI_Reduce 0 16 0.0001\n" + END)
    assert (table.rows[0].size_bytes, table.datatype, table.ranks) == (128, "double", 4)
    assert table.options == {"reduction": "sum"}
    sized = RAW.replace("count", "msize_bytes")
    assert tool_outputs.read_tables(reprompi, sized + "MPI_Reduce 0 16 0.0001\n" + END)[0].rows[0].size_bytes == 16


def test_failed_calls_are_left_out() -> None:
    head = SETTINGS.replace("MPI_Barrier", "window") + "test nrep count errorcode runtime_sec\n"
    rows = "".join(
        f"MPI_Bcast {nrep} {count} {error} 0.00{nrep}1\n"
        for nrep, count, error in [(0, 1, 0), (1, 1, 1), (2, 1, 0), (0, 2, 1), (1, 2, 3)]
    )
    (table,) = tool_outputs.read_tables(reprompi, head + rows + END)
    assert [(row.size_bytes, row.numbers) for row in table.rows[:2]] == [
        (8, (0.0, 0.0, 0.0001)),
        (8, (2.0, 0.0, 0.0021)),
    ]
    assert [row.size_bytes for row in table.rows] == [8, 8, 16]
    assert all(math.isnan(value) for value in table.rows[2].numbers)
    assert table.facts["left out"] == WORDING


def test_each_process_has_a_table_and_its_time() -> None:
    head = SETTINGS + "process   test  nrep  count loc_tstart_sec   loc_tend_sec \n"
    rows = "      0 MPI_Bcast 0 1 10.0000000000 10.0000012000\n      1 MPI_Bcast 0 1 11.0000000000 11.0000014000\n"
    tables = tool_outputs.read_tables(reprompi, head + rows + END)
    assert [table.options for table in tables] == [{"process": "0"}, {"process": "1"}]
    assert tables[0].columns == ("nrep", "loc_tstart_sec", "loc_tend_sec", "runtime_sec")
    assert [table.rows[0].numbers[table.roles["value"]] for table in tables] == [1.2e-06, 1.4e-06]
    assert {table.operation.name for table in tables} == {"reprompi-bcast-process"}
    assert (_find_meaning(tables[0]).over_ranks, tables[0].repeated) == ("one", True)
    assert tool_outputs.read_refusal(reprompi, head + "0 MPI_Bcast 0 1 10.0 9.0\n") == WORDING


@pytest.mark.parametrize(
    ("columns", "value", "name"),
    [("mean_sec min_sec", "mean_sec", "reprompi-scan-mean"), ("max_sec min_sec", "min_sec", "reprompi-scan-min")],
)
def test_the_value_is_the_best_printed_statistic(columns: str, value: str, name: str) -> None:
    head = SETTINGS + f"test count total_nrep valid_nrep {columns}\n"
    (table,) = tool_outputs.read_tables(reprompi, head + "MPI_Scan 1 5 5 0.5 0.25\n" + END)
    assert (table.columns[table.roles["value"]], table.operation.name) == (value, name)


def test_calls_of_a_run_may_be_in_any_order() -> None:
    rows = "".join(f"{call} 0 {count} 0.1\n" for count in (1, 2) for call in ("MPI_Scan", "MPI_Bcast"))
    tables = tool_outputs.read_tables(reprompi, RAW + rows + END)
    assert [(table.operation.name, len(table.rows)) for table in tables] == [
        ("reprompi-scan", 2),
        ("reprompi-bcast", 2),
    ]


def test_several_runs_may_follow_each_other() -> None:
    tables = tool_outputs.read_tables(reprompi, (RAW + "MPI_Scan 0 1 0.1\n" + END) * 2)
    assert [table.line for table in tables] == [1, 12]


@pytest.mark.parametrize(
    ("synchronisation", "start"), [("None", "none"), ("Double_MPI_Barrier", "library-barrier"), ("new", "not reported")]
)
def test_each_synchronisation_is_another_benchmark(synchronisation: str, start: str) -> None:
    text = RAW.replace("procsync=MPI_Barrier", f"procsync={synchronisation}") + "MPI_Scan 0 1 0.1\n" + END
    (table,) = tool_outputs.read_tables(reprompi, text)
    assert (table.operation.name, _find_meaning(table).start) == (f"reprompi-scan-{synchronisation.lower()}", start)


def test_another_root_is_an_option_and_an_unknown_call_is_read() -> None:
    (table,) = tool_outputs.read_tables(reprompi, RAW.replace("root_proc=0", "root_proc=1") + "MPI_New 0 1 0.1\n" + END)
    assert (table.options, table.operation.name) == ({"root": "1"}, "reprompi-mpi_new")
    assert table.operation.help == "MPI_New, unknown to rankbench"


def test_a_ping_pong_is_a_round_trip_and_an_exchange_is_not() -> None:
    operations = {operation.name: operation for operation in reprompi.OPERATIONS}
    trips = {name: operation.foreign.meaning.trip for name, operation in operations.items() if operation.foreign}
    assert (trips["reprompi-send_recv"], trips["reprompi-send_recv-median"]) == ("round", "round")
    assert trips["reprompi-isend_irecv"] == "call"
    counterparts = {name: operation.foreign.counterpart for name, operation in operations.items() if operation.foreign}
    assert (counterparts["reprompi-isend_irecv"], counterparts["reprompi-send_recv"]) == ("", "pingpong")
    assert counterparts["reprompi-reduce_scatter"] == "reduce_scatter"
    assert len(operations) == len(reprompi.OPERATIONS)


@pytest.mark.parametrize(
    "row",
    [
        "MPI_Scan 0 1",
        "MPI_Scan 0 1 0.1 0.2",
        "MPI_Scan 0 1 nan",
        "MPI_Scan 0 1 -0.1",
        "MPI_Scan 0 -1 0.1",
        "MPI_Scan 0 4611686018427387904 0.1",
        "7 0 1 0.1",
    ],
)
def test_a_damaged_row_is_refused(row: str) -> None:
    assert tool_outputs.read_refusal(reprompi, RAW + row) == WORDING


def test_an_unknown_kind_of_time_is_refused() -> None:
    assert tool_outputs.read_refusal(reprompi, RAW.replace("local", "lunar") + "MPI_Scan 0 1 0.1\n") == WORDING


def test_a_missing_setting_is_reported() -> None:
    rows = "MPI_Scan 0 1 0.1\n" + END
    assert tool_outputs.read_tables(reprompi, RAW.replace("#@nprocs=4\n", "") + rows)[0].ranks == 0
    assert tool_outputs.read_refusal(reprompi, RAW.replace("#@datatype_extent_bytes=8\n", "") + rows) == WORDING


def test_headings_without_a_time_are_refused() -> None:
    wanted = (
        "expected runtime_sec, or one of median_sec, mean_sec and min_sec, or with a column process loc_tstart_sec and "
        "loc_tend_sec, and none twice"
    )
    assert (
        tool_outputs.read_refusal(reprompi, SETTINGS + "test count max_sec\n")
        == f"f:8: columns test count max_sec, {wanted}"
    )
    twice = "test count runtime_sec runtime_sec"
    assert tool_outputs.read_refusal(reprompi, SETTINGS + twice) == f"f:8: columns {twice}, {wanted}"


@pytest.mark.parametrize("after", ["", SETTINGS, "#Command-Line Arguments: mpibenchmark\n"])
def test_a_run_without_an_end_is_refused(after: str) -> None:
    assert tool_outputs.read_refusal(reprompi, RAW + "MPI_Scan 0 1 0.1\n" + after) == WORDING


def test_unrecognised_lines_are_kept() -> None:
    (table,) = tool_outputs.read_tables(reprompi, RAW + "WARNING: slow\nMPI_Scan 0 1 0.1\n" + END)
    assert [line.text for line in table.noise] == ["WARNING: slow"]


@pytest.mark.parametrize(
    ("text", "whether"),
    [(SETTINGS, True), ("#Command-Line Arguments: x", True), ("#Command-line arguments:  x", True), ("# x", False)],
)
def test_reprompi_is_recognised_by_its_head(text: str, whether: bool) -> None:
    assert reprompi.recognises(tool_outputs.number_lines(text)) is whether


@given(
    tool_outputs.draw_damage([path.read_text() for path in FILES if "sync_" not in path.name or "HCA3" in path.name])
)
def test_damaged_texts_are_read_or_refused(text: str) -> None:
    reprompi.recognises(tool_outputs.number_lines(text))
    tool_outputs.assert_read_or_refused(reprompi, text)
