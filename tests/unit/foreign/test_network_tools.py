"""Tools without a title of the usual form: mpiBench, and transfers by verbs, libfabric and UCX.

Made in their formats, but for UCX, which is recorded.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes import tool_outputs
from wording import WORDING

from rankbench.foreign import recognition
from rankbench.foreign.tools import fi_pingpong, imb, mpibench, perftest, ucx_perftest

LINE = "-" * 87


def format_mpibench(name: str, size: int, values: tuple[float, float, float], ranks: int = 4) -> str:
    numbers = "\t".join(f"{label}:\t{value:8.4f}" for label, value in zip(("Avg", "Min", "Max"), values, strict=True))
    return f"{name:20.20}\tBytes:\t{size:8}\tIters:\t{1000:7}\t{numbers}\tComm: MPI_COMM_WORLD\tRanks: {ranks}\n"


MPIBENCH = (
    "START mpiBench v1.5\n"
    + format_mpibench("Barrier", 0, (2.5, 2.25, 2.75))
    + format_mpibench("Bcast", 1, (3.5, 3.25, 3.75))
    + "[n1] a warning\n"
    + format_mpibench("Bcast", 8, (4.5, 4.25, 4.75))
)
PINGPONG = """\
bytes   #sent   #ack     total       time     MB/sec    usec/xfer   Mxfers/sec
64      10      =10      1.2k        0.00s     21.69       2.95       0.34
1k      10      =10      20k         0.00s    379.26       2.70       0.37
1.5k    1k      =1k      2.9m        0.01s    500.00       3.07       0.33
1m      10      =10      20m         0.00s   8867.45     118.25       0.01
"""
SEND_LATENCY = f"""\
{LINE}
                    Send Latency Test
 Dual-port       : OFF          Device         : mlx5_0
 Number of qps   : 1            Transport type : IB
 Connection type : RC           Using SRQ      : OFF
 TX depth        : 1
 Link type       : IB
{LINE}
 local address: LID 0x01 QPN 0x0053 PSN 0xc1675c
 remote address: LID 0x15 QPN 0x0052 PSN 0xd79849
{LINE}
 #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] 
 2       1000          0.91           4.31         0.94                0.95             0.05            1.10                    4.31
 4       1000          0.92           3.31         0.95                0.96             0.05            1.10                    3.31
{LINE}
"""  # noqa: E501, W291 - as it is printed
WRITE_BANDWIDTH = f"""\
                    RDMA_Write BW Test
 Dual-port       : OFF          Device         : mlx5_0
 Number of qps   : 2            Transport type : IB
 TX depth        : 128
{LINE}
 #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]
 65536      5000             44326.24            44276.64                  0.708426
{LINE}
                    RDMA_Write BW Test
 Number of qps   : 2            Transport type : IB
 #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
 1048576    5000             196.53             196.50               0.023425
"""
PALLAS = """\
#---------------------------------------------------
#    PALLAS MPI Benchmark Suite V2.2, MPI-1 part
#---------------------------------------------------
# Date       : Tue Aug  9 07:11:25 2005
# Machine    : x86_64# System     : Linux

#
# Minimum message length in bytes:   0
# Maximum message length in bytes:   4194304
#
# MPI_Datatype                   :   MPI_BYTE
# MPI_Datatype for reductions    :   MPI_FLOAT
# MPI_Op                         :   MPI_SUM
#
#

# List of Benchmarks to run:

# PingPong

#---------------------------------------------------
# Benchmarking PingPong
# ( #processes = 2 )
#---------------------------------------------------
       #bytes #repetitions      t[usec]   Mbytes/sec
            0         1000         5.53         0.00
            1         1000         5.60         0.17
"""


def test_mpibench_is_a_table_for_each_call() -> None:
    barrier, bcast = tool_outputs.read_tables(mpibench, MPIBENCH)
    assert (barrier.operation.name, bcast.operation.name, bcast.ranks) == ("mpibench-barrier", "mpibench-bcast", 4)
    assert [(row.size_bytes, row.numbers) for row in bcast.rows] == [(1, (3.5, 3.25, 3.75)), (8, (4.5, 4.25, 4.75))]
    assert (bcast.scale, bcast.roles) == (1e3, {"value": 0, "minimum": 1, "maximum": 2})
    assert [line.text for line in barrier.noise] == ["START mpiBench v1.5", "[n1] a warning"]


def test_fi_pingpong_has_sizes_with_units() -> None:
    (table,) = tool_outputs.read_tables(fi_pingpong, PINGPONG)
    assert [(row.size_bytes, row.numbers[1]) for row in table.rows] == [
        (64, 2.95),
        (1024, 2.7),
        (1536, 3.07),
        (1 << 20, 118.25),
    ]
    for row in table.rows:  # A megabyte is 10^6 bytes.
        assert row.numbers[0] == pytest.approx(row.size_bytes / row.numbers[1], rel=0.01)


def test_each_run_of_fi_pingpong_begins_with_its_headings() -> None:
    assert len(tool_outputs.read_tables(fi_pingpong, PINGPONG * 2)) == 2


def test_perftest_has_the_mean_of_latencies() -> None:
    (table,) = tool_outputs.read_tables(perftest, SEND_LATENCY)
    assert table.operation.name == "perftest-send-latency"
    assert [(row.size_bytes, row.numbers[table.roles["value"]]) for row in table.rows] == [(2, 0.95), (4, 0.96)]
    assert table.columns[table.roles["median"]] == "t_typical[usec]"
    assert (table.facts["device"], table.options) == ("mlx5_0", {"queue pairs": "1", "send depth": "1"})


def test_bandwidths_of_perftest_agree_with_their_message_rates() -> None:
    for table in tool_outputs.read_tables(perftest, WRITE_BANDWIDTH):
        (row,) = table.rows
        rate = row.numbers[-1] * 1e6
        assert row.numbers[table.roles["value"]] * table.scale / row.size_bytes == pytest.approx(rate, rel=1e-3)


def test_the_benchmarks_of_pallas_are_those_of_imb() -> None:
    (table,) = tool_outputs.read_tables(imb, PALLAS)
    assert (table.operation.name, table.ranks, table.version) == ("imb-mpi1-pingpong-before-2017", 2, "2.2")
    assert [row.numbers[table.roles["value"]] for row in table.rows] == [5.53, 5.6]


@pytest.mark.parametrize(
    ("text", "tool"),
    [(MPIBENCH, mpibench), (PINGPONG, fi_pingpong), (SEND_LATENCY, perftest), (PALLAS, imb)],
    ids=["mpibench", "fi_pingpong", "perftest", "pallas"],
)
def test_the_tool_is_recognised(text: str, tool: object) -> None:
    assert recognition.find_tool(tool_outputs.number_lines(text)) is tool


@pytest.mark.parametrize(
    ("tool", "text", "message"),
    [
        (mpibench, MPIBENCH.replace("3.5000", "nan"), "Avg is 'nan', expected a number of 0 or more"),
        (perftest, SEND_LATENCY.replace(" 0.05            1.10                    3.31", ""), "6 columns, expected 9"),
        (fi_pingpong, PINGPONG.replace("379.26", "x"), "MB/sec is 'x', expected a number of 0 or more"),
    ],
    ids=["mpibench", "perftest", "fi_pingpong"],
)
def test_a_damaged_row_is_an_error(tool: object, text: str, message: str) -> None:
    assert message in tool_outputs.read_refusal(tool, text)  # type: ignore[arg-type]


UCX = Path(__file__).parents[2] / "recorded/outputs/ucx_perftest/tag.txt"


def test_ucx_perftest_has_its_test_from_the_server_and_its_numbers_from_the_client() -> None:
    latency, bandwidth = tool_outputs.read_sample(ucx_perftest, UCX)
    assert (latency.operation.name, bandwidth.operation.name) == (
        "ucx_perftest-tag-match-latency",
        "ucx_perftest-tag-match-bandwidth",
    )
    (row,) = latency.rows
    time_us, rate = row.numbers[latency.roles["value"]], row.numbers[5]
    assert row.size_bytes == 8
    assert 8 / (time_us * 1e-6) == pytest.approx(rate * (1 << 20), rel=0.01)
    (row,) = bandwidth.rows
    assert row.size_bytes == 65536
    assert row.numbers[bandwidth.roles["value"]] * bandwidth.scale == pytest.approx(row.numbers[7] * 65536, rel=0.01)


def test_the_client_of_ucx_perftest_alone_is_refused() -> None:
    text = UCX.read_text()
    client = text[text.index("+--------------+") : text.index("Waiting", 10)]
    assert tool_outputs.read_refusal(ucx_perftest, client) == WORDING
    other = text.replace("(automatic)", "bcopy      ").replace("tag match latency", "get latency      ")
    assert [table.options for table in tool_outputs.read_tables(ucx_perftest, other)] == [{"data layout": "bcopy"}] * 2
    assert "the time of one call" in str(tool_outputs.read_tables(ucx_perftest, other)[0].operation.foreign)
