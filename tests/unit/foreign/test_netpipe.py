"""NetPIPE: columns of np.out and sentences of the terminal, of versions 3 and 5."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from fakes import tool_outputs
from hypothesis import given

from rankbench.foreign.tools import netpipe

if TYPE_CHECKING:
    from rankbench.foreign import Table
    from rankbench.model import Meaning

FILE_3 = """       1 4.823011   0.00000158
       2 9.627113   0.00000158
   65536 7812.500000   0.00006400
 8388611 9437.187500   0.00678168
"""
FILE_5 = """        1     0.005     0.004     0.006    1.52
     1024     3.413     3.001     3.724    2.40
  1048576   104.858   100.002   110.377   80.00
"""
TERMINAL_3 = """0: node1
1: node2
Using synchronous sends
Now starting the main loop
  0:       1 bytes 100000 times -->      4.82 Mbps in       1.58 usec
  1:       2 bytes  99999 times -->      9.62 Mbps in       1.58 usec
120: 6291459 bytes      3 times -->   7453.12 Mbps in    6440.21 usec
"""
TERMINAL_5 = """
      Clock resolution ~   1.000 nsecs      Clock accuracy ~  38.000 nsecs

Start testing with 7 trials for each message size
  1:       1  B     25000 times -->    5.263 Mbps  in    1.520 usecs
  2:   1.024 KB     20000 times -->    3.413 Gbps  in    2.400 usecs
  3:   8.389 MB       100 times -->   67.112 Gbps  in    1.000 msecs

Completed with        max bandwidth   67.112 Gbps        1.520 usecs latency
"""
TEXTS = [FILE_3, FILE_5, TERMINAL_3, TERMINAL_5]
EXPECTED_VALUES = [
    # text, version, size, column, value, nanoseconds of the value
    (FILE_3, "3.x", 65536, "Mbps", 7812.5, 64000),
    (FILE_3, "3.x", 1, "seconds", 0.00000158, 1580),
    (FILE_5, "5.x", 1024, "minimum Gbps", 3.001, 2400),
    (FILE_5, "5.x", 1048576, "average Gbps", 104.858, 80000),
    (TERMINAL_3, "3.x", 6291459, "times", 3, 6440210),
    (TERMINAL_3, "3.x", 2, "Mbps", 9.62, 1580),
    (TERMINAL_5, "5.x", 1024, "Mbps", 3413, 2400),
    (TERMINAL_5, "5.x", 8389000, "usecs", 1000, 1000000),
]


def _find_meaning(table: Table) -> Meaning:
    assert table.operation.foreign
    return table.operation.foreign.meaning


@pytest.mark.parametrize(("text", "version", "size", "column", "value", "time_ns"), EXPECTED_VALUES)
def test_values_are_those_of_the_text(
    text: str, version: str, size: int, column: str, value: float, time_ns: float
) -> None:
    assert netpipe.recognises(tool_outputs.number_lines(text))
    (table,) = tool_outputs.read_tables(netpipe, text)
    (row,) = [row for row in table.rows if row.size_bytes == size]
    assert row.numbers[table.columns.index(column)] == value
    assert row.numbers[table.roles["value"]] * table.scale == pytest.approx(time_ns)
    assert (table.version, table.ranks) == (version, 2)


def test_the_two_versions_print_different_statistics_of_their_trials() -> None:
    (third,), (fifth,) = tool_outputs.read_tables(netpipe, FILE_3), tool_outputs.read_tables(netpipe, FILE_5)
    assert (third.operation.name, fifth.operation.name) == ("netpipe-pingpong", "netpipe-pingpong-mean")
    assert (_find_meaning(third).over_calls, _find_meaning(fifth).over_calls) == ("minimum", "mean")
    assert (_find_meaning(third).trip, _find_meaning(fifth).trip) == ("half", "half")
    assert (_find_meaning(third).data, _find_meaning(fifth).data) == ("not checked", "checked")
    assert ("2^20" in _find_meaning(third).text, "10^9" in _find_meaning(fifth).text) == (True, True)


def test_lines_before_the_sizes_are_options() -> None:
    (table,) = tool_outputs.read_tables(netpipe, TERMINAL_3)
    assert (table.options, table.line) == ({"mode": "synchronous"}, 1)
    assert (table.facts, table.noise) == ({"hosts": "node1, node2"}, ())
    assert table.roles == {"value": 2, "repetitions": 0}


@pytest.mark.parametrize(
    ("text", "name", "counted", "scale"),
    [
        ("Passing data in both directions simultaneously.", "netpipe-bidirectional", 2.0, 131072),
        ("Streaming in one direction only.", "netpipe-stream", 1.0, 131072),
    ],
)
def test_other_patterns_are_other_benchmarks(text: str, name: str, counted: float, scale: float) -> None:
    (table,) = tool_outputs.read_tables(netpipe, f"{text}\n{TERMINAL_3}")
    assert (table.operation.name, table.operation.metric) == (name, "bandwidth")
    assert (_find_meaning(table).counted, _find_meaning(table).megabyte, table.scale) == (counted, 1 << 20, scale)
    assert table.columns[table.roles["value"]] == "Mbps"
    assert table.operation.foreign
    assert table.operation.foreign.counterpart == ""
    (fifth,) = tool_outputs.read_tables(netpipe, f"Bidirectional mode using 1 pairs of processes.\n{TERMINAL_5}")
    assert (fifth.operation.name, _find_meaning(fifth).megabyte) == ("netpipe-bidirectional-mean", 10**6)
    assert (fifth.scale, fifth.ranks) == (125000, 0)


def test_successive_runs_are_separate_tables() -> None:
    tables = tool_outputs.read_tables(netpipe, f"Streaming in one direction only.\n{TERMINAL_3}{TERMINAL_3}")
    assert [(table.operation.name, len(table.rows)) for table in tables] == [
        ("netpipe-stream", 3),
        ("netpipe-pingpong", 3),
    ]


@pytest.mark.parametrize(
    ("row", "ranks"),
    [
        ("1024     6.827     6.001     6.999    2.40", 4),
        ("1     0.000     0.000     0.001    2.40", 0),
        ("1024     9.999     6.001     6.999    2.40", 0),
        ("0     9.999     6.001     6.999    2.40", 0),
    ],
)
def test_version_5_adds_the_bandwidths_of_pairs(row: str, ranks: int) -> None:
    assert tool_outputs.read_tables(netpipe, row)[0].ranks == ranks


def test_the_column_of_concurrent_work_is_ignored() -> None:
    (table,) = tool_outputs.read_tables(netpipe, "     1024     3.413     3.001     3.724    2.40     1.50 GFlops\n")
    assert table.rows[0].numbers == (3.413, 3.001, 3.724, 2.40)


@pytest.mark.parametrize(
    ("after", "wrong"),
    [
        ("   12 failures", "12 failures of its data check"),
        (" (integrity problems!!!)", "its data check failed"),
        ("", ""),
    ],
)
def test_a_failed_check_of_the_data_is_reported(after: str, wrong: str) -> None:
    (third,) = tool_outputs.read_tables(
        netpipe, f"  0:       1 bytes 100000 times -->      4.82 Mbps in       1.58 usec{after}\n"
    )
    (fifth,) = tool_outputs.read_tables(
        netpipe, f"  1:       1  B     25000 times -->    5.263 Mbps  in    1.520 usecs{after}\n"
    )
    assert third.rows[0].wrong == fifth.rows[0].wrong == wrong


MIXED = "a row of NetPIPE's {} after one of its {}, expected one form in a run"
NOT_A_SENTENCE = "expected a size, 'times -->', a bandwidth and a time, as NetPIPE prints them; is the line cut?"


@pytest.mark.parametrize(
    ("before", "row", "message"),
    [
        (FILE_3, "4 1.0", "2 columns, expected 3 (bytes Mbps seconds); is it cut?"),
        (FILE_3, "4 1.0 2.0 3.0", "4 columns, expected 3 (bytes Mbps seconds)"),
        (FILE_3, "4 1.0 nan", "seconds is 'nan', expected a number of 0 or more"),
        (FILE_3, "-4 1.0 2.0", "bytes is '-4', expected a whole number from 0 to 2^62"),
        (FILE_5, "4 1 2 -3 4", "maximum Gbps is '-3', expected a number of 0 or more"),
        ("", "4 1.0", "2 columns, expected 3 (bytes Mbps seconds) or 5 (bytes, three Gbps, usecs)"),
        (TERMINAL_3, "  3:       4 by", NOT_A_SENTENCE),
        (TERMINAL_3, "  3:       4 bytes 10 times -->      inf Mbps in       1.58 usec",
         "rate is 'inf', expected a number of 0 or more"),
        (TERMINAL_5, "  4:   1.024 KB     20000 times -->    3.413 Gbps  in    2.400", NOT_A_SENTENCE),
        (TERMINAL_5, "  4:   5000000000 TB     20000 times -->    3.413 Gbps  in    2.400 secs",
         "size is '5000000000000000000000', expected a whole number from 0 to 2^62"),
        (TERMINAL_5, "4 1.0 2.0", MIXED.format("file 3", "terminal 5")),
        (FILE_5, TERMINAL_3.splitlines()[-1], MIXED.format("terminal 3", "file 5")),
        (TERMINAL_5, "  4:   1 B     20000 times -->    1e308 Gbps  in    2.400 secs",
         "rate is 'inf', expected a number of 0 or more"),
    ],
)  # fmt: skip
def test_a_damaged_row_is_refused(before: str, row: str, message: str) -> None:
    assert tool_outputs.read_refusal(netpipe, before + row) == f"f:{len(before.splitlines()) + 1}: {message}"


@pytest.mark.parametrize(
    "text",
    ["", "4 1.0\n", "4 1.0 2.0\n", "# size\n" + FILE_3, FILE_3 + "a warning\n", "0: node1\n1: node2\n", "4 1 2 3 4"],
)
def test_other_texts_are_not_recognised(text: str) -> None:
    assert not netpipe.recognises(tool_outputs.number_lines(text))


def test_names_of_benchmarks_are_unique() -> None:
    names = [operation.name for operation in netpipe.OPERATIONS]
    assert len(set(names)) == len(names) == 6


@given(tool_outputs.draw_damage(TEXTS))
def test_damaged_texts_are_read_or_refused(text: str) -> None:
    netpipe.recognises(tool_outputs.number_lines(text))
    tool_outputs.assert_read_or_refused(netpipe, text)
