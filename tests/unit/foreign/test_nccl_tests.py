"""NCCL tests: out-of-place and in-place calls side by side, of several versions."""

from __future__ import annotations

import math

import pytest
from fakes import tool_outputs
from hypothesis import given
from wording import WORDING

from rankbench.foreign import Table
from rankbench.foreign.tools import nccl_tests
from rankbench.model import Meaning

HEADINGS = """#
#                                                              out-of-place                       in-place          
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)       
"""  # noqa: W291
SETTINGS = (
    "# nThread 1 nGpus 1 minBytes 8 maxBytes 1048576 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 "
    "validation: 1 graph: 0\n"
)
DEVICES = """#
# Using devices
#  Rank  0 Group  0 Pid   4711 on     node-a device  0 [0x0f] NVIDIA A100-SXM4-40GB
#  Rank  1 Group  0 Pid   4712 on     node-b device  0 [0x15] NVIDIA A100-SXM4-40GB
"""
END = """# Out of bounds values : 0 OK
# Avg bus bandwidth    : 7.19
#
"""
ALL_REDUCE = (
    "# nccl-tests version 2.17.6 nccl-headers=22807 nccl-library=22807\n# Collective test starting: all_reduce_perf\n"
    + SETTINGS
    + DEVICES
    + HEADINGS
    + """\
           8             2     float     sum      -1    13.52    0.00    0.00      0    13.29    0.00    0.00      0
     1048576        262144     float     sum      -1    71.05   14.76   14.76      0    70.11   14.96   14.96      3
"""
    + END
)
ALL_GATHER = (
    SETTINGS
    + DEVICES
    + HEADINGS
    + """\
           0             0     float    none      -1    11.50    0.00    0.00      0    11.40    0.00    0.00    N/A
     1048576        131072     float    none      -1    41.25   25.42   12.71      0    40.75   25.73   12.87    N/A
"""
    + END
)
OLD = (
    "# nThread 1 nGpus 2 minBytes 8 maxBytes 8 step: 1048576(bytes) warmup iters: 5 iters: 20 validation: 1 \n#\n"
    "#                                             out-of-place                       in-place          \n"
    "#       size         count    type    root     time   algbw   busbw  error     time   algbw   busbw  error\n"
    "           8             2  double       1    10.25    0.00    0.00  5e-07    10.75    0.00    0.00  0e+00\n"
    "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 0.1 \n"
)
EACH_CALL = (
    "# Collective test starting: new_thing_perf\n"
    + SETTINGS.replace("graph: 0", "graph: 4").replace("agg iters: 1", "agg iters: 8")
    + "#       size         count      type   redop    root     time   algbw   busbw  #wrong    i_min    i_max "
    "   i_p99  "
    "   i_cv%     time   algbw   busbw  #wrong    i_min    i_max    i_p99    i_cv%    timestamp\n"
    + "1024 256 oddtype sum -1 10.5 0.1 0.1 0 9.5 12.5 12.25 3.5 "
    + "10.75 0.1 0.1 0 9.75 12.75 12.5 3.25 2026-01-05 10:00:00\n"
    + END
)
TEXTS = [ALL_REDUCE, ALL_GATHER, OLD, EACH_CALL]
EXPECTED_VALUES = [
    # text, file, operation, buffers, size, column, value
    (ALL_REDUCE, "f", "nccl_tests-all_reduce", "separate", 8, "time", 13.52),
    (ALL_REDUCE, "f", "nccl_tests-all_reduce", "in-place", 1048576, "busbw", 14.96),
    (ALL_REDUCE, "f", "nccl_tests-all_reduce", "separate", 1048576, "size", 1048576),
    (ALL_GATHER, "all_gather.log", "nccl_tests-all_gather", "separate", 524288, "size", 1048576),
    (ALL_GATHER, "allgather.log", "nccl_tests-all_gather-unchecked", "in-place", 524288, "time", 40.75),
    (OLD, "broadcast_perf.out", "nccl_tests-broadcast", "separate", 16, "error", 5e-07),
    (EACH_CALL, "f", "nccl_tests-new_thing_perf", "in-place", 1024, "i_p99", 12.5),
]
RENAME_ADVICE = (
    "neither the output nor the file's name names the collective; name the file after the program, such as "
    "all_reduce_perf.txt (allowed: all_reduce_perf, all_gather_perf, reduce_scatter_perf, broadcast_perf, reduce_perf, "
    "alltoall_perf, alltoallv_perf, gather_perf, scatter_perf, sendrecv_perf, hypercube_perf)"
)


def _find_meaning(table: Table) -> Meaning:
    assert table.operation.foreign
    return table.operation.foreign.meaning


@pytest.mark.parametrize(("text", "file", "operation", "buffers", "size", "column", "value"), EXPECTED_VALUES)
def test_values_are_those_of_the_text(
    text: str, file: str, operation: str, buffers: str, size: int, column: str, value: float
) -> None:
    assert nccl_tests.recognises(tool_outputs.number_lines(text))
    tables = tool_outputs.read_tables(nccl_tests, text, file)
    (table,) = [table for table in tables if table.options.get("buffers", "separate") == buffers]
    (row,) = [row for row in table.rows if row.size_bytes == size]
    assert row.numbers[table.columns.index(column)] == value
    assert (table.operation.name, table.scale) == (operation, 1e3)
    assert table.columns[table.roles["value"]] == "time"


def test_head_and_foot_are_facts() -> None:
    first, second = tool_outputs.read_tables(nccl_tests, ALL_REDUCE)
    assert (first.version, first.ranks, first.line, first.datatype) == ("2.17.6", 2, 1, "float")
    assert (first.options, second.options) == ({"reduction": "sum"}, {"buffers": "in-place", "reduction": "sum"})
    assert (first.facts["hosts"], first.facts["devices"]) == ("node-a, node-b", "NVIDIA A100-SXM4-40GB")
    assert (first.facts["iters"], first.facts["warmup iters"], first.facts["nccl"]) == ("20", "5", "22807")
    assert (first.facts["avg bus bandwidth"], first.facts["out of bounds values"]) == ("7.19", "0 OK")


def test_wrong_values_and_unchecked_data_are_reported() -> None:
    assert [row.wrong for row in tool_outputs.read_tables(nccl_tests, ALL_REDUCE)[1].rows] == ["", "3 wrong values"]
    checked, unchecked = tool_outputs.read_tables(nccl_tests, ALL_GATHER, "all_gather")
    assert (_find_meaning(checked).data, _find_meaning(unchecked).data) == ("checked", "not checked")
    assert math.isnan(unchecked.rows[0].numbers[-1])
    assert unchecked.rows[0].wrong == ""


def test_a_root_a_graph_and_aggregated_calls_are_options() -> None:
    assert tool_outputs.read_tables(nccl_tests, OLD, "broadcast")[0].options == {"root": "1"}
    (table, _) = tool_outputs.read_tables(nccl_tests, EACH_CALL)
    assert table.options == {"aggregated": "8", "graph": "4", "reduction": "sum"}
    assert {role: table.columns[index] for role, index in table.roles.items()} == {
        "value": "time", "minimum": "i_min", "maximum": "i_max", "p99": "i_p99",
    }  # fmt: skip
    assert (table.datatype, table.ranks) == ("oddtype", 0)
    assert "unknown to rankbench" in _find_meaning(table).text


def test_cpu_time_is_another_benchmark() -> None:
    table = tool_outputs.read_tables(nccl_tests, ALL_REDUCE.replace("    time ", " cputime "))[0]
    assert table.operation.name == "nccl_tests-all_reduce-cputime"
    assert "not until it is done" in _find_meaning(table).text


def test_groups_have_their_own_communicators() -> None:
    table = tool_outputs.read_tables(nccl_tests, ALL_REDUCE.replace("Rank  1 Group  0", "Rank  1 Group  1"))[0]
    assert (table.ranks, table.options) == (1, {"groups": "2", "reduction": "sum"})


def test_several_tests_may_follow_each_other() -> None:
    tables = tool_outputs.read_tables(nccl_tests, ALL_REDUCE + ALL_GATHER, "all_gather.log")
    assert [table.operation.name for table in tables] == [
        *["nccl_tests-all_reduce"] * 2, "nccl_tests-all_gather", "nccl_tests-all_gather-unchecked",
    ]  # fmt: skip
    assert tables[2].line == 1 + len(ALL_REDUCE.splitlines())


@pytest.mark.parametrize("file", ["out.txt", "all_reduce_broadcast.txt"])
def test_a_file_name_without_a_benchmark_is_refused(file: str) -> None:
    assert tool_outputs.read_refusal(nccl_tests, ALL_GATHER, file) == f"{file}:10: {RENAME_ADVICE}"


@pytest.mark.parametrize(
    ("file", "name"),
    [("reduce_scatter.log", "reduce_scatter"), ("a-alltoallv", "alltoallv"), ("all_to_all", "alltoall")],
)
def test_older_tests_are_named_by_their_file(file: str, name: str) -> None:
    assert tool_outputs.read_tables(nccl_tests, ALL_GATHER, file)[0].operation.name == f"nccl_tests-{name}"


@pytest.mark.parametrize(
    "row",
    [
        "8 2 float sum -1 13.5 0 0 0 13.2 0 0",
        "8 2 float sum -1 13.5 0 0 0 13.2 0 0 0 0",
        "8 2 float sum -1 nan 0 0 0 13.2 0 0 0",
        "8 2 float sum -1 N/A 0 0 0 13.2 0 0 0",
        "8 2 float sum -1 13.5 0 0 -1 13.2 0 0 0",
        "-8 2 float sum -1 13.5 0 0 0 13.2 0 0 0",
        "8 4611686018427387904 float sum -1 13.5 0 0 0 13.2 0 0 0",
    ],
)
def test_a_damaged_row_is_refused(row: str) -> None:
    head = SETTINGS + HEADINGS
    assert tool_outputs.read_refusal(nccl_tests, head + row) == WORDING


def test_headings_with_unequal_halves_are_refused() -> None:
    assert tool_outputs.read_refusal(nccl_tests, "# size count type time algbw busbw time algbw\n") == WORDING


@pytest.mark.parametrize("after", ["", SETTINGS])
def test_a_test_without_an_end_is_refused(after: str) -> None:
    text = ALL_REDUCE.removesuffix(END) + after
    assert tool_outputs.read_refusal(nccl_tests, text) == WORDING


def test_unrecognised_lines_are_kept() -> None:
    text = ALL_REDUCE.replace("           8 ", "node-a:4711 [0] NCCL INFO cudaDriverVersion 12040\n           8 ")
    assert [line.text for line in tool_outputs.read_tables(nccl_tests, text)[0].noise] == [
        "node-a:4711 [0] NCCL INFO cudaDriverVersion 12040"
    ]


def test_no_call_has_a_counterpart_in_mpi() -> None:
    assert {operation.foreign.counterpart for operation in nccl_tests.OPERATIONS if operation.foreign} == {""}


@pytest.mark.parametrize(("text", "whether"), [(SETTINGS, True), (HEADINGS, True), ("# nThreads", False), ("", False)])
def test_nccl_tests_are_recognised_by_their_head(text: str, whether: bool) -> None:
    assert nccl_tests.recognises(tool_outputs.number_lines(text)) is whether


@given(tool_outputs.draw_damage(TEXTS))
def test_damaged_texts_are_read_or_refused(text: str) -> None:
    nccl_tests.recognises(tool_outputs.number_lines(text))
    tool_outputs.assert_read_or_refused(nccl_tests, text, "all_gather.txt")
