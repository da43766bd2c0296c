"""The last printed digit of values: read from the field of each row, for every tool."""

from __future__ import annotations

import math
import re
from types import ModuleType

import pytest
from fakes import imports, tool_outputs
from hypothesis import given
from hypothesis import strategies as st

from rankbench import units
from rankbench.foreign import Row, Table, tools
from rankbench.foreign.case_results import make_case_result
from rankbench.foreign.fields import count_decimals
from rankbench.foreign.tools import imb, mpbench, mpiperf, nccl_tests, osu, reprompi, skampi
from rankbench.model import Case

SAMPLES = {
    name: [path for folder in sorted(tool_outputs.SAMPLES.glob(f"{name}*")) for path in sorted(folder.rglob("*.txt"))]
    for name in sorted(units.modules(tools))
}
WITHOUT = {"columns", "nccl_tests", "fi_pingpong", "mpibench", "perftest"}
"""Tools without recorded outputs."""
ALL_REDUCE = (
    "# Collective test starting: all_reduce_perf\n"
    "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"
    " 1048576 262144 float sum -1    71.05   14.76   14.76      0    70.11   14.96   14.96      0\n"
    " 8589934592 2147483648 float sum -1  1234.5   14.76   14.76      0   7e+06   14.96   14.96      0\n"
    "# Avg bus bandwidth    : 7.19\n"
)


def find_rounding_ns(table: Table, row: Row) -> float:
    """Return the rounding of a row's time."""
    case = Case(operation=table.operation.name, form=table.form, size_bytes=row.size_bytes, datatype="byte",
                placement="1x2", ranks=2, start=table.operation.start)  # fmt: skip
    return make_case_result(table, case, [row]).rounding_ns


@pytest.mark.parametrize(
    ("field", "decimals"),
    [("0.20", 2), ("0.2", 1), ("20", 0), ("20.", 0), (".5", 1), ("1.2e-06", 7), ("1.20E3", -1), ("12e2", -2)],
)
def test_decimals_are_those_of_the_field(field: str, decimals: int) -> None:
    assert count_decimals(field) == decimals


@given(st.integers(1, 10**9), st.integers(0, 12), st.integers(-20, 20))
def test_a_printed_number_is_a_multiple_of_its_last_digit(digits: int, decimals: int, exponent: int) -> None:
    text = f"{digits:0{decimals + 1}}"
    field = f"{text[: len(text) - decimals]}.{text[len(text) - decimals :]}e{exponent}"
    assert count_decimals(field) == decimals - exponent
    assert float(field) == pytest.approx(digits * 10.0 ** -count_decimals(field))


def test_an_exponent_of_any_length_is_read() -> None:
    assert abs(count_decimals("0e" + "9" * 5000)) == abs(count_decimals("0e-" + "9" * 5000)) < 1000


@pytest.mark.parametrize("name", sorted(SAMPLES.keys() - WITHOUT))
def test_values_of_recorded_outputs_have_their_printed_digits(name: str) -> None:
    """With as many decimals as were read, the value stands in its line; a time between two moments has theirs."""
    count = 0
    for path in SAMPLES[name]:
        lines = path.read_text().splitlines()
        for table in tool_outputs.read_tables(units.modules(tools)[name], path.read_text(), str(path)):
            value = table.roles["value"]
            between = table.columns[value] == "runtime_sec" and "process" in table.options
            for row in table.rows:
                if not math.isnan(row.numbers[value]):
                    assert row.decimals is not None
                    text = f"{row.numbers[value]:.{row.decimals}f}"
                    assert between or text in re.split(r"[,|\s]+", lines[row.line - 1]), (path, row)
                    count += 1
    assert count


@pytest.mark.parametrize(
    ("tool", "text", "size_bytes", "rounding_ns"),
    [
        (osu, imports.format_latencies((8, 1.5)), 8, 5.0),
        (osu, imports.format_osu(imports.BANDWIDTH, (1000, 1.0)), 1000, 5000.0),  # 1 ms, printed as 1.00 MB/s
        (osu, "nprocs: 2, min: 18 ms, max: 22 ms, avg: 20 ms\n", 0, 1.5e6),
        (osu, "nprocs: 1, min: 18, max: 18, avg: 18\n", 0, 1e6),
        (osu, "nprocs: 100, min: 18 ms, max: 22 ms, avg: 20 ms\n", 0, 1.99e6),
        (nccl_tests, ALL_REDUCE, 1048576, 5.0),
        (nccl_tests, ALL_REDUCE, 8589934592, 50.0),  # with fewer decimals the longer the time
    ],
)
def test_the_rounding_of_a_time(tool: ModuleType, text: str, size_bytes: int, rounding_ns: float) -> None:
    """Half a unit; of osu_init, which cuts the decimals of each rank and of their mean, up to two units."""
    table = tool_outputs.read_tables(tool, text)[0]
    row = next(row for row in table.rows if row.size_bytes == size_bytes)
    assert find_rounding_ns(table, row) == pytest.approx(rounding_ns)


@pytest.mark.parametrize(
    ("tool", "file", "rounding_ns"),
    [
        (imb, "imb/IMB-MPI1.PingPong.txt", 5.0),
        (mpbench, "mpbench/latency.txt", 5e-4),
        (mpiperf, "mpiperf/Bcast.txt", 5.0),
        (skampi, "skampi/skampi_coll.txt", 50.0),
        (reprompi, "reprompi/MPI_Bcast.summary.txt", 0.05),
    ],
)
def test_the_rounding_of_recorded_times(tool: ModuleType, file: str, rounding_ns: float) -> None:
    table = tool_outputs.read_sample(tool, tool_outputs.SAMPLES / file)[0]
    assert find_rounding_ns(table, table.rows[-1]) == pytest.approx(rounding_ns)


def test_the_rounding_of_several_rows_is_the_largest() -> None:
    text = "# OSU MPI Latency Test v7.4\n# Size       Latency (us)\n8   1.5\n"
    (table,) = tool_outputs.read_tables(osu, text)
    rows = [table.rows[0], table.rows[0]._replace(decimals=3)]
    case = Case(operation="o", form="blocking", size_bytes=8, datatype="byte", placement="1x2", ranks=2, start="none")
    assert make_case_result(table, case, rows).rounding_ns == pytest.approx(50.0)


def test_without_a_value_there_is_no_rounding() -> None:
    (table,) = tool_outputs.read_tables(osu, imports.format_latencies((8, 0.0)))
    assert find_rounding_ns(table, table.rows[0]) == 0.0
