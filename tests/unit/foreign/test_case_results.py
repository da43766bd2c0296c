"""Results from rows of a table: nanoseconds, amounts of data, and the other columns."""

from __future__ import annotations

import math
import re
from types import ModuleType

import pytest
from fakes import imports, tool_outputs
from wording import WORDING, refuses

from rankbench.foreign import Table, case_results
from rankbench.foreign.case_results import make_case_result
from rankbench.foreign.tools import imb, mpiperf, osu, reprompi
from rankbench.model import ALL_RANKS, Case, CaseResult, CaseStatus, RankbenchError, Series

RATES = (
    "# OSU MPI Multiple Bandwidth / Message Rate Test v5.3\n# [ pairs: 1 ] [ window size: 64 ]\n"
    "# Size                  MB/s        Messages/s\n8                      15.80        1974959.37\n"
)
OVERLAP = imports.format_osu(imports.OVERLAP, (8, 3.27, 1.75, 1.36, 6.52))
VALIDATED = (
    "# OSU MPI Latency Test v7.4\n# Datatype: MPI_CHAR.\n# Size       Avg Latency(us)        Validation\n"
    "8                      1.50              Fail\n"
)


def read_table(text: str, tool: ModuleType = osu) -> Table:
    (result,) = tool_outputs.read_tables(tool, text)
    return result


def make_result(table: Table, size_bytes: int) -> CaseResult:
    """Return the result of all rows with a size."""
    rows = [row for row in table.rows if row.size_bytes == size_bytes]
    operation = table.operation
    case = Case(operation=operation.name, form=table.form, size_bytes=size_bytes, datatype="byte", placement="1x2",
                ranks=2, start=operation.start, suite=operation.foreign.suite if operation.foreign else "")  # fmt: skip
    return make_case_result(table, case, rows)


def read_times(case_result: CaseResult) -> list[float]:
    """Return the samples, which belong to all ranks together."""
    assert case_result.own_series
    assert case_result.own_series.rank == ALL_RANKS
    return case_result.own_series.time_ns


def test_a_row_is_a_sample_in_nanoseconds_with_its_other_columns() -> None:
    case_result = make_result(read_table(imports.format_latencies((8, 1.5), (16, 2.25))), 16)
    assert case_result == CaseResult(
        case=case_result.case,
        status=CaseStatus.OK,
        rounding_ns=5.0,
        sample_count=1,
        valid=1,
        ranks=2,
        printed={"Avg Latency(us)": 2.25},
        series=[Series(rank=ALL_RANKS, time_ns=[2250.0], last_rank=[], late=[], overrun=[])],
    )


def test_a_bandwidth_is_converted_to_the_time_of_a_message() -> None:
    """10^6 bytes per second in messages of 1000 bytes are 1000 messages per second."""
    case_result = make_result(read_table(imports.format_osu(imports.BANDWIDTH, (1000, 1.0))), 1000)
    assert read_times(case_result) == pytest.approx([1e6])
    assert (case_result.moved_bytes, case_result.moved_messages, case_result.printed) == (
        1000,
        0,
        {"Bandwidth (MB/s)": 1.0},
    )


def test_a_rate_is_converted_to_the_time_of_a_message() -> None:
    by_rate = read_table(RATES)
    rated = by_rate._replace(
        operation=next(operation for operation in osu.OPERATIONS if operation.metric == "rate"),
        roles={"value": 1},
        scale=1.0,
    )
    case_result = make_result(rated, 8)
    assert read_times(case_result) == pytest.approx([1e9 / 1974959.37])
    assert (case_result.moved_bytes, case_result.moved_messages) == (0, 1)
    assert case_result.printed == {"MB/s": 15.8, "Messages/s": 1974959.37}


def test_a_bandwidth_precedes_a_rate_in_the_same_row() -> None:
    assert read_times(make_result(read_table(RATES), 8)) == pytest.approx([8e9 / 15.8e6])


def test_pure_communication_and_computation_are_nanoseconds() -> None:
    case_result = make_result(read_table(OVERLAP), 8)
    assert read_times(case_result) == pytest.approx([3270.0])
    assert (case_result.pure_ns, case_result.compute_ns) == pytest.approx((1360.0, 1750.0))
    assert case_result.printed == {"Overall(us)": 3.27, "Compute(us)": 1.75, "Pure Comm.(us)": 1.36, "Overlap(%)": 6.52}


def test_the_mean_of_three_times_is_the_value_and_all_are_stored() -> None:
    text = tool_outputs.SAMPLES / "imb" / "IMB-MPI1.Bcast.txt"
    table = next(table for table in tool_outputs.read_sample(imb, text) if table.operation.name.endswith("bcast"))
    row = table.rows[3]
    case_result = make_result(table, row.size_bytes)
    assert list(case_result.printed) == list(table.columns)
    assert list(case_result.printed.values()) == list(row.numbers)
    assert read_times(case_result) == pytest.approx([1000 * row.numbers[table.columns.index("t_avg[usec]")]])


def test_every_printed_call_is_a_sample() -> None:
    table = read_table("# OSU MPI Latency Test v7.4\n# Datatype: MPI_CHAR.\n# Size       Avg Latency(us)\n8  1.50\n")
    raw = table._replace(
        repeated=True, rows=[row._replace(numbers=(value,)) for row in table.rows for value in (1.5, 2.0, 1.0)]
    )
    case_result = make_result(raw, 8)
    assert read_times(case_result) == [1500.0, 2000.0, 1000.0]
    assert (case_result.sample_count, case_result.valid, case_result.printed) == (3, 3, {})


def test_a_time_of_zero_is_refused_as_a_value() -> None:
    case_result = make_result(read_table(imports.format_latencies((8, 0.0))), 8)
    assert case_result == CaseResult(
        case=case_result.case,
        status=CaseStatus.BELOW,
        reason=WORDING,
        sample_count=1,
        ranks=2,
        printed={"Avg Latency(us)": 0.0},
    )


def test_a_bandwidth_of_zero_is_refused_as_a_value() -> None:
    case_result = make_result(read_table(imports.format_osu(imports.BANDWIDTH, (8, 0.0))), 8)
    assert (case_result.status, case_result.series, case_result.moved_bytes) == (CaseStatus.BELOW, [], 8)
    assert case_result.reason == WORDING


def test_an_empty_message_has_no_bandwidth() -> None:
    case_result = make_result(read_table(imports.format_osu(imports.BANDWIDTH, (0, 12.5))), 0)
    assert (case_result.status, case_result.reason) == (CaseStatus.NOT_RUN, WORDING)
    assert (case_result.series, case_result.printed) == ([], {"Bandwidth (MB/s)": 12.5})


def test_wrong_data_are_reported_and_have_no_samples() -> None:
    table = read_table(VALIDATED)
    case_result = make_result(table, 8)
    assert case_result.status == CaseStatus.WRONG_DATA
    assert case_result.reason == table.rows[0].wrong != ""
    assert (case_result.sample_count, case_result.valid, case_result.series) == (1, 0, [])


def test_a_size_given_up_by_a_tool_is_refused() -> None:
    table = read_table(imports.format_latencies((8, 1.5)))
    given_up = table._replace(rows=[row._replace(numbers=(math.nan,), wrong="out of time") for row in table.rows])
    case_result = make_result(given_up, 8)
    assert (case_result.status, case_result.reason, case_result.series) == (CaseStatus.REFUSED, "out of time", [])


WAIT_PATTERN = (tool_outputs.SAMPLES / "mpiperf" / "WaitPatternUp.txt").read_text()
INVALID = "  2       {}           32      0       0       0.00           0.00       0.00           0.00           0.00 "
INVALID += "          0.00           0.00           0.00           0.00\n"
"""MPIPerf's row of a measurement in which no run was valid."""
MPIPERF_ROW = re.compile(r"^  2 .*\n", re.MULTILINE)
REPROMPI = (tool_outputs.SAMPLES / "reprompi" / "sync_HCA2_window_global.txt").read_text()


def test_a_measurement_without_a_valid_run_is_refused_with_the_counts() -> None:
    (mpiperf_table,) = tool_outputs.read_tables(mpiperf, MPIPERF_ROW.sub(INVALID.format(1), WAIT_PATTERN))
    case_result = make_result(mpiperf_table, 0)
    assert (case_result.status, case_result.reason, case_result.series, case_result.sample_count) == (
        CaseStatus.REFUSED,
        WORDING,
        [],
        8,
    )


def test_a_summary_without_a_valid_call_is_refused_with_the_counts() -> None:
    (table,) = tool_outputs.read_tables(reprompi, re.sub(r"( 8 +50 +)\d+ ", r"\g<1>0 ", REPROMPI))
    case_result = make_result(table, 8)
    assert (case_result.status, case_result.reason) == (CaseStatus.REFUSED, WORDING)


def test_rows_without_a_valid_run_do_not_count_beside_others() -> None:
    text = WAIT_PATTERN.replace("# Elapsed", INVALID.format(256) + "# Elapsed")
    (table,) = tool_outputs.read_tables(mpiperf, text)
    case_result = make_result(table, 0)
    assert (case_result.status, case_result.sample_count, case_result.valid) == (CaseStatus.OK, 9, 8)
    assert read_times(case_result) == pytest.approx([2080, *[2070] * 7])


@pytest.mark.parametrize("tool", [imb, osu, mpiperf], ids=lambda tool: str(tool.NAME))
def test_every_row_of_every_sample_has_a_sample_or_a_reason(tool: ModuleType) -> None:
    rows = 0
    for path in tool_outputs.list_files(tool.NAME if tool is not osu else "osu-7.4"):
        text = path.read_text()
        for table in tool_outputs.read_tables(tool, text) if tool.recognises(tool_outputs.number_lines(text)) else []:
            for size in dict.fromkeys(row.size_bytes for row in table.rows):
                case_result = make_result(table, size)
                assert (case_result.status == CaseStatus.OK) == bool(case_result.series) == (case_result.reason == "")
                assert all(
                    0 < time_ns < math.inf for time_ns in (read_times(case_result) if case_result.series else [])
                )
                rows += 1
    assert rows > 50


@pytest.mark.parametrize("value", ["1e308", "1e12"])
def test_an_impossible_time_is_an_error_with_its_line(value: str) -> None:
    table = read_table(imports.LATENCY + f"8  1.50\n16  {value}\n")
    with refuses():
        case_results.refuse_impossible_values(table, "out.txt")


@pytest.mark.parametrize("value", ["1e308", "1e-40"])
def test_an_infinite_bandwidth_is_refused(value: str) -> None:
    table = read_table(imports.BANDWIDTH + f"8  {value}\n")
    with pytest.raises(RankbenchError, match=r"^out\.txt:4: Bandwidth \(MB/s\) is "):
        case_results.refuse_impossible_values(table, "out.txt")
