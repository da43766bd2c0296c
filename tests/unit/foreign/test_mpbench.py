"""MPBench: two columns without headings, whose meaning is in the file's name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fakes import tool_outputs
from hypothesis import given
from wording import WORDING, find_lines

from rankbench.foreign import Text
from rankbench.foreign.running import RunRequest
from rankbench.foreign.tools import mpbench
from rankbench.model import RankbenchError

FILES = tool_outputs.list_files("mpbench")
EXPECTED_VALUES = [
    # file, benchmark, size, value, what it is multiplied by
    ("allreduce.txt", "allreduce", 64, 83774.796875, 1024),
    ("alltoall.txt", "alltoall", 1048576, 19464234.0, 1024),
    ("bandwidth.txt", "bandwidth", 8192, 2530366.0, 1024),
    ("bibandwidth.txt", "bibandwidth", 262144, 5755687.5, 1024),
    ("broadcast.txt", "broadcast", 12, 22826.076172, 1024),
    ("latency.txt", "latency", 8, 10.451040, 1000),
    ("reduce.txt", "reduce", 1024, 938958.875, 1024),
    ("roundtrip.txt", "roundtrip", 6144, 328008.34375, 1),
    ("default/allreduce.default.txt", "allreduce", 48, 67707.984375, 1024),
    ("default/latency.default.txt", "latency", 16777216, 2402.827393, 1000),
]
RENAME_ADVICE = (
    "two columns, as MPBench prints them, and the file's name does not name the benchmark; name it after the "
    "benchmark, such as latency.txt (allowed: latency, roundtrip, bandwidth, bibandwidth, broadcast, reduce, "
    "allreduce, alltoall)"
)


@pytest.mark.parametrize(("name", "benchmark", "size", "value", "scale"), EXPECTED_VALUES)
def test_values_are_those_of_the_file(name: str, benchmark: str, size: int, value: float, scale: float) -> None:
    table = tool_outputs.read_sample(mpbench, tool_outputs.SAMPLES / "mpbench" / name)[0]
    assert table.operation.foreign
    assert table.operation.foreign.benchmark == benchmark
    (row,) = [row for row in table.rows if row.size_bytes == size]
    assert row.numbers[table.roles["value"]] == pytest.approx(value, rel=1e-6)
    assert table.scale == scale


def test_a_value_of_every_file_is_tested() -> None:
    assert sorted(name for name, *_ in EXPECTED_VALUES) == sorted(
        str(path.relative_to(tool_outputs.SAMPLES / "mpbench")) for path in FILES
    )


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_row_of_every_file_is_read(path: Path) -> None:
    assert tool_outputs.count_rows(tool_outputs.read_sample(mpbench, path)) == len(
        re.findall(r"^\s*\d", path.read_text(), re.MULTILINE)
    )


def test_rows_of_a_size_are_samples_of_one_run() -> None:
    path = tool_outputs.SAMPLES / "mpbench" / "default" / "latency.default.txt"
    (table,) = tool_outputs.read_sample(mpbench, path)
    of_four = [(row.line, row.numbers) for row in table.rows if row.size_bytes == 4]
    assert ([line for line, _ in of_four], of_four[1:]) == ([1, 2, 3], [(2, (0.691441,)), (3, (0.695113,))])
    assert (table.line, len(table.rows), table.repeated) == (1, 67, True)


@pytest.mark.parametrize(
    ("file", "benchmark"),
    [
        ("latency.txt", "latency"),
        ("results/node7_bandwidth.dat", "bandwidth"),
        ("mpi-bi-bandwidth-2.out", "bibandwidth"),
        ("Bidirectional_Bandwidth", "bibandwidth"),
        ("all_reduce.txt", "allreduce"),
        ("all-to-all.1", "alltoall"),
        ("bcast.txt", "broadcast"),
        ("round trip.txt", "roundtrip"),
        ("small_reduce.txt", "reduce"),
    ],
)
def test_the_file_name_is_the_benchmark(file: str, benchmark: str) -> None:
    assert mpbench.find_kind(file) == benchmark


@pytest.mark.parametrize(
    "file", ["out.txt", "latency_bandwidth.txt", "reduce_scatter.txt", "allgather.txt", "latency/out.txt", "mylatency2"]
)
def test_a_file_name_without_a_benchmark_is_refused(file: str) -> None:
    with pytest.raises(RankbenchError) as caught:
        mpbench.find_kind(file)
    assert str(caught.value) == f"{file}: {RENAME_ADVICE}"


def test_tables_have_their_meaning() -> None:
    (table,) = tool_outputs.read_tables(mpbench, "4 1.5\n8 2.5", "bibandwidth.dat")
    meaning = table.operation.foreign.meaning if table.operation.foreign else None
    assert meaning
    assert (table.form, table.ranks, table.datatype, table.options) == ("nonblocking", 2, "byte", {"window": "1"})
    assert (meaning.counted, meaning.over_calls, meaning.start) == (2.0, "mean", "none")
    assert "1024 bytes" in meaning.text
    (latency,) = tool_outputs.read_tables(mpbench, "4 1.5", "latency.txt")
    assert latency.operation.foreign
    assert latency.operation.foreign.meaning.trip == "gap"
    assert "not a latency" in latency.operation.foreign.meaning.text


@pytest.mark.parametrize(
    ("text", "whether"),
    [
        ("4 1.0\n4 2.0\n8 3.0", True),
        ("\n4 nan\n", True),
        ("8 1.0\n4 2.0", False),
        ("# a heading\n4 2.0", False),
        ("4 1.0 2.0", False),
        ("4.5 1.0", False),
        ("4", False),
        ("", False),
        ("4 x", False),
        ("1".rjust(30, "1") + " 1.0", False),
    ],
)
def test_only_two_columns_with_increasing_sizes_are_recognised(text: str, whether: bool) -> None:
    assert mpbench.recognises(tool_outputs.number_lines(text)) is whether


@pytest.mark.parametrize("line", ["8 nan", "8 -1.0", "8 1e999", "8", "8 1.0 2.0", "-8 1.0", "9999999999999999999 1.0"])
def test_a_damaged_row_is_refused(line: str) -> None:
    assert tool_outputs.read_refusal(mpbench, f"4 1.0\n{line}", "reduce.txt") == WORDING


def test_a_warning_of_a_library_is_kept() -> None:
    (table,) = tool_outputs.read_tables(mpbench, "4 1.0\nWARNING: no InfiniBand\n\n8 2.0", "reduce.txt")
    assert [line.text for line in table.noise] == ["WARNING: no InfiniBand"]
    assert [row.size_bytes for row in table.rows] == [4, 8]


def test_every_benchmark_is_a_documented_row() -> None:
    assert [operation.name for operation in mpbench.OPERATIONS] == [f"mpbench-{name}" for name in mpbench.KINDS]


@given(tool_outputs.draw_damage([path.read_text() for path in FILES]))
def test_damaged_texts_are_read_or_refused(text: str) -> None:
    mpbench.recognises(tool_outputs.number_lines(text))
    tool_outputs.assert_read_or_refused(mpbench, text, "reduce.txt")


# --- running ----------------------------------------------------------------------------------------------------------


def test_arguments_are_the_benchmark_repetitions_and_sizes(tmp_path: Path) -> None:
    planned = tool_outputs.make_plan("mpbench-latency")
    for kind in mpbench.KINDS.values():
        request = RunRequest(kind.operation, [0, 8, 24], 2, planned, tmp_path)
        assert mpbench.arguments(request) == [kind.flag, "-i", "50", "-e", "1", "-m", "5", "-M", "8b,24b"]
    described = mpbench.apply_plan(mpbench.LATENCY, planned, ["-i", "7"])
    assert described.foreign
    assert find_lines(described.foreign.meaning.text, "7 repetitions run in") == WORDING


def test_a_benchmark_that_is_known_need_not_be_in_the_name_of_the_file() -> None:
    text = Text("output.log", iter(tool_outputs.number_lines("8 0.5\n64 0.7\n")), "latency")
    (table,) = mpbench.read(text)
    assert (table.operation, len(table.rows)) == (mpbench.LATENCY, 2)
