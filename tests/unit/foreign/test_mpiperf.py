"""MPIPerf: reports of collectives, point-to-point calls and nonblocking calls, and reports of each process."""

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
from rankbench.foreign.tools import mpiperf
from rankbench.model import Meaning

FOLDER = tool_outputs.SAMPLES / "mpiperf"
FILES = tool_outputs.list_files("mpiperf")
EXPECTED_VALUES = [
    # file, operation, compute, size in bytes, column, value
    ("Allreduce.txt", "mpiperf-allreduce", "", 65536 * 8, "Mean", 65.08),
    ("Allreduce.txt", "mpiperf-allreduce", "", 8, "TRuns", 40),
    ("Barrier.txt", "mpiperf-barrier", "", 0, "Max", 0.36),
    ("Send.txt", "mpiperf-send", "", 16384, "CI UB", 3.75),
    ("Sendrecv.txt", "mpiperf-sendrecv", "", 1, "CI LB", -21.24),
    ("Alltoall.txt", "mpiperf-alltoall", "", 8192, "StdErr", 0.20),
    ("Reduce_scatter.txt", "mpiperf-reduce_scatter", "", 32768 * 8, "Min", 181.45),
    ("WaitPatternNull.txt", "mpiperf-waitpatternnull", "", 0, "Mean", 0.04),
    ("Igatherv.blocking.txt", "mpiperf-igatherv", "", 64, "Wait", 265.41),
    ("Iallreduce.blocking.txt", "mpiperf-iallreduce", "", 4096 * 8, "Total", 12.44),
    ("Ibarrier.blocking.txt", "mpiperf-ibarrier", "", 0, "Init", 0.46),
    ("Ibarrier.overlap.txt", "mpiperf-ibarrier-overlap", "1.6", 0, "Total", 808.58),
    ("Iscatterv.overlap.txt", "mpiperf-iscatterv-overlap", "0.4", 8, "CompTime", 0.88),
    ("default/send.default.txt", "mpiperf-send", "", 4194304, "RelErr", 0.01),
    ("default/allreduce.default.txt", "mpiperf-allreduce", "", 131072 * 8, "Err", 2.41),
]
HEAD = (FOLDER / "Allreduce.txt").read_text().partition("  2       1 ")[0]
ROW = "  2       1           40      33      17      0.33           0.01       0.00           0.31           0.34 "
REST = "          0.00           0.32           0.33           0.01      \n"
END = "# Elapsed time: 0.022399 sec.\n"
PROCESS_REPORT = """# Characteristics of measurements:
#   Procs - total number of processes
# ------------------------------------------------------------------
# Benchmark: Bcast 
# Confidence level (CL): 95%
# ------------------------------------------------------------------
# [Procs] [Count]     [Rank]  [CRuns] [Mean]       [RSE]      [StdErr]     [Min]        [Max]       [Err]        [CI LB]
#
"""  # noqa: W291


def _find_meaning(table: Table) -> Meaning:
    assert table.operation.foreign
    return table.operation.foreign.meaning


@pytest.mark.parametrize(("name", "operation", "compute", "size", "column", "value"), EXPECTED_VALUES)
def test_values_are_those_of_the_file(
    name: str, operation: str, compute: str, size: int, column: str, value: float
) -> None:
    tables = tool_outputs.read_sample(mpiperf, FOLDER / name)
    table = next(table for table in tables if table.options.get("compute", "") == compute)
    row = next(row for row in table.rows if row.size_bytes == size)
    assert row.numbers[table.columns.index(column)] == value
    assert (table.operation.name, table.ranks, table.scale, table.version) == (operation, 2, 1e3, "0.0.3")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_row_of_every_file_is_read_with_a_known_benchmark(path: Path) -> None:
    tables = tool_outputs.read_sample(mpiperf, path)
    assert tool_outputs.count_rows(tables) == len(re.findall(r"^\s*\d", path.read_text(), re.MULTILINE))
    assert {table.operation.name for table in tables} <= {operation.name for operation in mpiperf.OPERATIONS}
    assert {table.form for table in tables} == {"nonblocking" if path.name.startswith("I") else "blocking"}


def test_columns_of_a_report_have_roles() -> None:
    (table,) = tool_outputs.read_sample(mpiperf, FOLDER / "Allreduce.txt")
    assert (table.datatype, table.line) == ("double", 1)
    assert {role: table.columns[index] for role, index in table.roles.items()} == {
        "value": "Mean", "minimum": "Min", "maximum": "Max", "error": "StdErr", "repetitions": "FRuns",
    }  # fmt: skip
    assert table.facts["command"] == "/opt/bench/mpiperf -x1 -X64KiB -S2 Allreduce"
    assert table.facts["hosts"] == "vm, vm"
    assert table.facts["timer"] == "MPI_Wtime"
    assert (_find_meaning(table).over_calls, _find_meaning(table).over_ranks, _find_meaning(table).start) == (
        "trimmed mean", "maximum", "window",
    )  # fmt: skip


def test_overlap_has_a_table_for_each_computation() -> None:
    tables = tool_outputs.read_sample(mpiperf, FOLDER / "Iscatterv.overlap.txt")
    assert [table.options["compute"] for table in tables] == [f"{step / 5:g}" for step in range(11)]
    assert {role: tables[0].columns[index] for role, index in tables[0].roles.items()} == {
        "value": "Total", "pure": "BlockingTime", "compute": "CompTime", "repetitions": "CRuns",
    }  # fmt: skip
    for table in tables:
        for row in table.rows:
            pure, compute = (row.numbers[table.roles[role]] for role in ("pure", "compute"))
            assert compute == pytest.approx(pure * float(table.options["compute"]), abs=0.02)


def test_rows_of_a_benchmark_without_sizes_are_samples_of_one_run() -> None:
    (table,) = tool_outputs.read_sample(mpiperf, FOLDER / "WaitPatternUp.txt")
    assert ([row.size_bytes for row in table.rows], table.repeated) == ([0] * 8, True)


def test_untrimmed_values_are_another_benchmark() -> None:
    text = HEAD.replace("(removing outliers): on", "(removing outliers): off") + ROW + REST + END
    (table,) = tool_outputs.read_tables(mpiperf, text)
    assert (table.operation.name, _find_meaning(table).over_calls) == ("mpiperf-allreduce-untrimmed", "mean")
    assert "nothing is dropped" in _find_meaning(table).text


def test_runs_without_synchronisation_are_another_benchmark() -> None:
    head, _, _ = HEAD.partition("# Characteristics")
    text = head + "# Benchmark: Allreduce\n# Pipelined measurements\n# [Procs] [Count]     [TRuns] [Mean]\n#\n"
    (table,) = tool_outputs.read_tables(mpiperf, text + "  2       4           100     0.52\n" + END)
    assert table.operation.name == "mpiperf-allreduce-pipelined"
    assert (_find_meaning(table).over_calls, _find_meaning(table).over_ranks, _find_meaning(table).start) == (
        "mean",
        "maximum",
        "none",
    )
    assert (table.columns, table.rows[0].numbers, table.roles) == (
        ("TRuns", "Mean"), (100.0, 0.52), {"value": 1, "repetitions": 0},
    )  # fmt: skip


@pytest.mark.parametrize(("mean", "scale"), [("0.000001", 1e9), ("1.25", 1e3)])
def test_a_report_of_each_process_has_a_table_for_each(mean: str, scale: float) -> None:
    assert mpiperf.recognises(tool_outputs.number_lines(PROCESS_REPORT))
    rows = "".join(f"  2  16  {rank}  30  {mean}  0.01  0  0  0  0  0\n" for rank in range(2))
    tables = tool_outputs.read_tables(mpiperf, (PROCESS_REPORT + rows) * 2)
    assert [table.options for table in tables] == [{"rank": "0"}, {"rank": "1"}] * 2
    assert [(table.scale, table.operation.name, table.datatype) for table in tables] == [
        (scale, "mpiperf-bcast-process", "byte")
    ] * 4
    assert (_find_meaning(tables[0]).over_ranks, _find_meaning(tables[0]).over_calls) == ("one", "mean")


def test_reports_of_each_process_of_a_nonblocking_call_have_the_computation() -> None:
    head = (FOLDER / "Ibcast.overlap.txt").read_text()
    head = head[head.index("# Characteristics") : head.index("  2       1 ")].replace("[Count]     ", "[Count] [Rank] ")
    tables = tool_outputs.read_tables(mpiperf, head + "  2  1  1  1.9  0.0  40  31  0.0  0.3  1.6  0.0  1.9  0.1\n")
    assert tables[0].options == {"compute": "0", "rank": "1"}
    assert tables[0].operation.name == "mpiperf-ibcast-overlap-process"
    assert "BlockingTime" in _find_meaning(tables[0]).text


def test_without_valid_runs_there_is_no_value() -> None:
    text = HEAD + "  2  1  100  0  0  0.00  0.00  0.00  nan  -nan  0.00  0.00  0.00  0.00\n" + END
    (table,) = tool_outputs.read_tables(mpiperf, text)
    assert table.rows[0].numbers[:3] == (100.0, 0.0, 0.0)
    assert all(math.isnan(value) for value in table.rows[0].numbers[3:])


def test_the_unit_is_that_of_the_head() -> None:
    text = HEAD.replace("microseconds", "seconds") + ROW + REST + END
    assert tool_outputs.read_tables(mpiperf, text)[0].scale == 1e9


def test_a_cold_cache_is_an_option() -> None:
    text = HEAD.replace("Cache defeat: off", "Cache defeat: on") + ROW + REST + END
    assert tool_outputs.read_tables(mpiperf, text)[0].options == {"cache": "defeated"}


@pytest.mark.parametrize(("iterations", "compute"), [("1", "2"), ("4", "0"), ("0", "0"), ("x", "0")])
def test_computations_are_those_of_the_head(iterations: str, compute: str) -> None:
    text = (FOLDER / "Ibarrier.overlap.txt").read_text().replace("iterations: 10", f"iterations: {iterations}")
    assert tool_outputs.read_tables(mpiperf, text)[0].options == {"compute": compute}


def test_an_unknown_benchmark_is_read_by_its_headings() -> None:
    (table,) = tool_outputs.read_tables(
        mpiperf, HEAD.replace("Benchmark: Allreduce", "Benchmark: Usertest") + ROW + REST + END
    )
    assert (table.operation.name, table.datatype, table.rows[0].size_bytes) == ("mpiperf-usertest", "", 1)
    assert table.operation.foreign
    assert table.operation.foreign.counterpart == ""
    assert "unknown to rankbench" in _find_meaning(table).text


def test_several_reports_may_follow_each_other() -> None:
    text = HEAD + ROW + REST + END
    assert [table.line for table in tool_outputs.read_tables(mpiperf, text * 2)] == [1, 1 + len(text.splitlines())]


@pytest.mark.parametrize(
    "row",
    [
        ROW,
        ROW.replace("0.33", "nan") + REST,
        ROW.replace("0.33", "-0.33") + REST,
        ROW + REST.replace("0.32", "inf"),
        ROW.replace("40", "4e1") + REST,
        ROW.replace(" 1  ", " 4611686018427387904  ") + REST,
        ROW + REST.replace("\n", " 1\n"),
    ],
)
def test_a_damaged_row_is_refused(row: str) -> None:
    assert tool_outputs.read_refusal(mpiperf, HEAD + row) == WORDING


def test_columns_without_a_time_are_refused() -> None:
    assert tool_outputs.read_refusal(mpiperf, "# mpiperf 9 report\n# [Procs] [Count] [Speed]\n2 1 3\n") == (
        "f:3: columns [Procs] [Count] [Speed], expected [Mean] or [Total] and one of [TRuns], [CRuns], [FRuns]"
    )
    assert tool_outputs.read_refusal(mpiperf, "# mpiperf 9 report\n# [Size] [CRuns] [Mean]\n2 1 3\n") == WORDING


@pytest.mark.parametrize("after", ["", "# mpiperf 0.0.3 report\n"])
def test_a_report_without_an_end_is_refused(after: str) -> None:
    assert tool_outputs.read_refusal(mpiperf, HEAD + ROW + REST + after) == WORDING


def test_unrecognised_lines_are_kept() -> None:
    (table,) = tool_outputs.read_tables(mpiperf, HEAD + "a warning\n" + ROW + REST + END)
    assert [line.text for line in table.noise] == ["a warning"]


def test_counterparts_are_set_if_call_and_size_are_equal() -> None:
    counterparts = {
        operation.name: operation.foreign.counterpart for operation in mpiperf.OPERATIONS if operation.foreign
    }
    assert counterparts["mpiperf-iallgatherv"] == counterparts["mpiperf-iallgatherv-overlap"] == "allgatherv"
    assert [name for name, same in counterparts.items() if not same] == [
        "mpiperf-reduce_scatter", "mpiperf-ireduce_scatter", "mpiperf-ireduce_scatter-overlap", "mpiperf-send",
        "mpiperf-waitpatterndown",
    ]  # fmt: skip
    assert counterparts["mpiperf-waitpatternup"] == "wait-up"


@pytest.mark.parametrize(("text", "whether"), [(HEAD, True), ("# mpiperf report", False), ("", False)])
def test_mpiperf_is_recognised_by_its_head(text: str, whether: bool) -> None:
    assert mpiperf.recognises(tool_outputs.number_lines(text)) is whether


@given(tool_outputs.draw_damage([path.read_text() for path in FILES]))
def test_damaged_texts_are_read_or_refused(text: str) -> None:
    mpiperf.recognises(tool_outputs.number_lines(text))
    tool_outputs.assert_read_or_refused(mpiperf, text)


# --- running ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "sizes", "arguments"),
    [
        ("bcast", [0, 8, 64], ["-x", "8", "-X", "64", "-S", "2", "Bcast"]),
        ("allreduce", [4, 8, 64], ["-x", "1", "-X", "8", "-S", "2", "Allreduce"]),
        ("allreduce", [4], ["-x", "1", "-X", "1", "-S", "2", "Allreduce"]),
        ("ibcast", [8], ["-b", "-x", "8", "-X", "8", "-S", "2", "Ibcast"]),
        ("barrier", [0], ["-x", "1", "-X", "1", "-S", "2", "Barrier"]),
    ],
)
def test_arguments_are_runs_counts_and_the_benchmark(
    tmp_path: Path, name: str, sizes: list[int], arguments: list[str]
) -> None:
    """A count of 0 would never end; with these arguments MPIPerf 0.0.3 measured these sizes."""
    operation = next(operation for operation in mpiperf.RUNNABLE if operation.name == f"mpiperf-{name}")
    planned = tool_outputs.make_plan(operation.name)
    request = RunRequest(operation, sizes, 2, planned, tmp_path)
    assert mpiperf.arguments(request) == ["-E", "50", "-R", "167", *arguments]
    described = mpiperf.apply_plan(operation, planned, [])
    assert described.foreign
    assert find_lines(described.foreign.meaning.text, "ends after 50 valid") == WORDING


def test_benchmarks_with_several_computations_in_a_run_cannot_be_run() -> None:
    assert not any("overlap" in operation.name for operation in mpiperf.RUNNABLE)
