"""Intel MPI Benchmarks: every sample is read, each set of columns has its meaning, and damaged rows are reported."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from fakes import tool_outputs
from hypothesis import given
from hypothesis import strategies as st
from wording import WORDING

from rankbench.foreign import Line, Row, Table, Text
from rankbench.foreign.tools import imb
from rankbench.model import Meaning, Operation, RankbenchError

SAMPLES = tool_outputs.SAMPLES / "imb"
FILES = sorted(SAMPLES.rglob("*.txt"))


def number_lines(text: str) -> Iterator[Line]:
    return (Line(number, line) for number, line in enumerate(text.splitlines(), 1))


def read_text(text: str) -> list[Table]:
    return list(imb.read(Text("f", number_lines(text))))


def read_sample(name: str) -> list[Table]:
    return read_text((SAMPLES / name).read_text())


def find_meaning(table: Table) -> Meaning:
    return find_meaning_of_operation(table.operation)


def find_meaning_of_operation(operation: Operation) -> Meaning:
    assert operation.foreign is not None
    return operation.foreign.meaning


def read_refused(text: str) -> str:
    with pytest.raises(RankbenchError) as refusal:
        read_text(text)
    return str(refusal.value)


def are_equal(values: Sequence[float], other: Sequence[float]) -> bool:
    return all(a == b or (math.isnan(a) and math.isnan(b)) for a, b in zip(values, other, strict=True))


# --- the samples ------------------------------------------------------------------------------------------------------


def test_there_are_samples_of_seven_components() -> None:
    assert {path.name.partition(".")[0] for path in FILES if path.parent == SAMPLES} == {
        *("IMB-EXT", "IMB-IO", "IMB-MPI1", "IMB-MT", "IMB-NBC", "IMB-P2P", "IMB-RMA")
    }


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_row_of_a_sample_is_read(path: Path) -> None:
    text = path.read_text()
    tables = read_text(text)
    titles = re.findall(r"^# Benchmarking (\S+)", text, re.MULTILINE)
    assert imb.recognises(list(number_lines(text))[:60])
    assert sum(len(table.rows) for table in tables) == len(re.findall(r"^ *\d", text, re.MULTILINE))
    assert [find_benchmark_name(table) for table in tables] == titles
    assert all(table.operation in imb.OPERATIONS for table in tables)
    assert {table.version for table in tables} <= {"2021.11"}
    assert {table.ranks for table in tables} <= {1, 2}
    assert not any(table.noise or table.repeated for table in tables)


def find_benchmark_name(table: Table) -> str:
    assert table.operation.foreign is not None
    return table.operation.foreign.benchmark


@pytest.mark.parametrize(
    ("file", "table", "size_bytes", "column", "value"),
    [
        ("IMB-EXT.Accumulate", 0, 65536, "t_avg[usec]", 13.30),
        ("IMB-EXT.Accumulate", 1, 65536, "t_avg[usec]", 12.77),
        ("IMB-EXT.Unidir_Get", 0, 8192, "t[usec]", 5.20),
        ("IMB-EXT.Bidir_Put", 1, 16384, "Mbytes/sec", 8532.18),
        ("IMB-EXT.Window", 0, 2048, "t_max[usec]", 87.18),
        ("IMB-IO.C_IRead_Shared", 0, 32768, "t_ovrl[usec]", 5029.91),
        ("IMB-IO.C_IRead_Shared", 0, 4096, "overlap[%]", 100.0),
        ("IMB-IO.C_Read_Shared", 1, 65536, "Mbytes/sec", 1208.17),
        ("IMB-IO.P_Write_Indv", 1, 4096, "t_min[usec]", 3759.10),
        ("IMB-IO.P_Write_Indv", 2, 8192, "t_max[usec]", 176.20),
        ("IMB-IO.P_Write_Indv", 3, 4096, "t_avg[usec]", 3312.18),
        ("IMB-IO.S_IWrite_Indv", 0, 4096, "t_CPU[usec]", 11378.74),
        ("IMB-MPI1.Allreduce", 0, 65536, "t_avg[usec]", 9.37),
        ("IMB-MPI1.Barrier", 0, 0, "t_avg[usec]", 0.30),
        ("IMB-MPI1.Biband", 0, 65536, "Msg/sec", 137664.0),
        ("IMB-MPI1.Exchange", 0, 65536, "Mbytes/sec", 14002.47),
        ("IMB-MPI1.PingPong", 0, 65536, "t[usec]", 6.88),
        ("IMB-MPI1.Reduce_scatter", 0, 32768, "t_max[usec]", 33.13),
        ("IMB-MPI1.Sendrecv", 0, 32768, "t_min[usec]", 18.49),
        ("IMB-MPI1.Uniband", 0, 32768, "Mbytes/sec", 3276.81),
        ("IMB-MT.BarrierMT", 0, 0, "#repetitions", 1000.0),
        ("IMB-MT.BiBandMT", 0, 32, "t_avg[usec]", 0.52),
        ("IMB-MT.BiBandMT", 0, 8, "Mbytes/sec", 13.73),
        ("IMB-MT.ExchangeMT", 0, 16, "t_avg[usec]", 11.65),
        ("IMB-MT.ReduceMT", 0, 32, "t_max[usec]", 0.28),
        ("IMB-NBC.Iallreduce", 0, 65536, "overlap[%]", 41.95),
        ("IMB-NBC.Iallreduce", 0, 65536, "t_pure[usec]", 35.37),
        ("IMB-NBC.Iallreduce_pure", 0, 16384, "t_avg[usec]", 9.89),
        ("IMB-NBC.Ibarrier", 0, 0, "t_CPU[usec]", 1.22),
        ("IMB-NBC.Ibarrier_pure", 0, 0, "t_avg[usec]", 1.73),
        ("IMB-P2P.PingPong", 0, 4194304, "t[usec]", 1056.65),
        ("IMB-P2P.PingPong", 0, 0, "Msg/sec", 564074.0),
        ("IMB-P2P.Unirandom", 0, 131072, "#repetitions", 6400.0),
        ("IMB-RMA.Accumulate", 0, 8192, "t[usec]", 2.07),
        ("IMB-RMA.All_get_all", 0, 65536, "t_max[usec]", 3.73),
        ("IMB-RMA.Compare_and_swap", 1, 0, "t[usec]", 0.39),
        ("IMB-RMA.Truly_passive_put", 0, 65536, "t_ovrl[usec]", 7.78),
        ("default/allreduce.default", 0, 65536, "#repetitions", 640.0),
        ("default/latency.default", 0, 8192, "Mbytes/sec", 2206.01),
        ("default/whole.default", 17, 4194304, "t_avg[usec]", 289.82),
        ("default/whole.default", 18, 0, "t_max[usec]", 1.10),
    ],
)
def test_values_are_those_of_the_file(file: str, table: int, size_bytes: int, column: str, value: float) -> None:
    chosen = read_sample(f"{file}.txt")[table]
    row = next(row for row in chosen.rows if row.size_bytes == size_bytes)
    assert row.numbers[chosen.columns.index(column)] == value


def test_the_head_is_reported_with_the_table() -> None:
    (table,) = read_sample("IMB-MPI1.Allreduce.txt")
    assert table.facts == {
        "date": "Fri Nov 20 11:02:14 2026",
        "machine": "x86_64",
        "system": "Linux",
        "release": "6.18.44-fc-v657",
        "kernel": "#1 SMP PREEMPT_DYNAMIC @0",
        "mpi_version": "5.0",
        "command": "/opt/bench/IMB-MPI1 Allreduce -msglog 16 -iter 200 -time 1",
    }
    assert (table.version, table.line, table.ranks, table.datatype) == ("2021.11", 31, 2, "float")


def test_the_head_of_imb_p2p_is_read() -> None:
    (table,) = read_sample("IMB-P2P.PingPong.txt")
    assert table.facts["command"] == "/opt/bench/IMB-P2P PingPong"
    assert table.facts["date"] == "Fri Nov 20 11:04:23 2026"
    assert table.datatype == "byte"


def test_a_benchmark_that_did_not_run_has_no_table() -> None:
    assert read_sample("IMB-P2P.Stencil2D.txt") == []


@pytest.mark.parametrize(
    ("file", "roles", "scale"),
    [
        ("IMB-MPI1.Allreduce", {"value": "t_avg[usec]", "minimum": "t_min[usec]", "maximum": "t_max[usec]"}, 1e3),
        ("IMB-MPI1.PingPong", {"value": "t[usec]"}, 1e3),
        ("IMB-MPI1.Sendrecv", {"value": "t_avg[usec]", "minimum": "t_min[usec]", "maximum": "t_max[usec]"}, 1e3),
        ("IMB-MPI1.Uniband", {"value": "Mbytes/sec", "rate": "Msg/sec"}, 1e6),
        ("IMB-MT.UniBandMT", {"value": "Mbytes/sec", "rate": "Msg/sec"}, 1e6),
        ("IMB-P2P.Birandom", {"value": "t[usec]", "rate": "Msg/sec"}, 1e3),
        (
            "IMB-NBC.Ibarrier",
            {"value": "t_ovrl[usec]", "pure": "t_pure[usec]", "compute": "t_CPU[usec]", "overlap": "overlap[%]"},
            1e3,
        ),
        ("IMB-RMA.Truly_passive_put", {"value": "t_ovrl[usec]", "pure": "t_pure[usec]"}, 1e3),
    ],
)
def test_columns_have_roles(file: str, roles: dict[str, str], scale: float) -> None:
    (table,) = read_sample(f"{file}.txt")
    assert {role: table.columns[column] for role, column in table.roles.items()} == {
        **roles,
        "repetitions": "#repetitions",
    }
    assert table.scale == scale


@pytest.mark.parametrize(
    ("file", "options"),
    [
        ("IMB-MPI1.Allreduce", [{}]),
        ("IMB-MPI1.PingPongAnySource", [{"receive": "any-source"}]),
        ("IMB-MPI1.Uniband", [{"window": "256"}]),
        ("IMB-MT.BiBandMT", [{"window": "64"}]),
        ("IMB-NBC.Ibcast", [{"quantity": "overlap"}]),
        ("IMB-NBC.Ibcast_pure", [{}]),
        ("IMB-P2P.Corandom", [{"direction": "correlated"}]),
        ("IMB-EXT.Unidir_Put", [{"epoch": "fence", "mode": "aggregate"}, {"epoch": "fence", "mode": "non-aggregate"}]),
        ("IMB-RMA.Put_local", [{"epoch": "flush_local", "mode": mode} for mode in ("non-aggregate", "aggregate")]),
        ("IMB-IO.P_IRead_Indv", [{"mode": "aggregate", "quantity": "overlap"}]),
    ],
)
def test_the_definition_of_the_values_is_reported(file: str, options: list[dict[str, str]]) -> None:
    assert [table.options for table in read_sample(f"{file}.txt")] == options


def test_waiting_ranks_are_reported() -> None:
    tables = read_sample("IMB-IO.P_Write_Indv.txt")
    assert [(table.ranks, table.facts.get("idle_ranks")) for table in tables] == [
        (1, "1"),
        (1, "1"),
        (2, None),
        (2, None),
    ]


def test_a_size_given_up_by_imb_has_a_reason_and_no_value() -> None:
    (table,) = read_sample("IMB-IO.C_IRead_Shared.txt")
    last = table.rows[-1]
    assert (last.line, last.size_bytes) == (46, 65536)
    assert are_equal(last.numbers, (math.nan,) * 5)
    assert last.wrong == WORDING


# --- meanings ---------------------------------------------------------------------------------------------------------


def find_operation(name: str) -> Operation:
    return next(operation for operation in imb.OPERATIONS if operation.name == name)


def test_operations_have_distinct_names() -> None:
    names = [operation.name for operation in imb.OPERATIONS]
    assert len(names) == len(set(names))
    assert all(name.startswith("imb-") and name == name.lower() for name in names)


@pytest.mark.parametrize("name", ["imb-mpi1-allreduce", "imb-mpi1-pingpong", "imb-mt-unibandmt"])
def test_every_meaning_is_complete(name: str) -> None:
    assert find_meaning_of_operation(find_operation(name)).text == WORDING


@pytest.mark.parametrize(
    ("name", "counterpart", "trip", "counted", "start", "over_ranks"),
    [
        ("imb-mpi1-allreduce", "allreduce", "call", 1.0, "library-barrier", "mean"),
        ("imb-mpi1-barrier", "barrier", "call", 1.0, "none", "mean"),
        ("imb-mpi1-pingpong", "pingpong", "half", 1.0, "none", "maximum"),
        ("imb-mpi1-pingpinganysource", "", "call", 1.0, "none", "maximum"),
        ("imb-mpi1-sendrecv", "sendrecv", "call", 2.0, "none", "mean"),
        ("imb-mpi1-exchange", "exchange", "call", 4.0, "none", "mean"),
        ("imb-mpi1-biband", "message-rate-bidirectional", "call", 2.0, "none", "maximum"),
        ("imb-nbc-ireduce_scatter", "reduce_scatter", "call", 1.0, "library-barrier", "maximum"),
        ("imb-nbc-ibarrier_pure", "barrier", "call", 1.0, "none", "mean"),
        ("imb-mpi4-bcast_pure_persistent", "bcast", "call", 1.0, "library-barrier", "mean"),
        ("imb-ext-unidir_put", "put", "call", 1.0, "none", "maximum"),
        ("imb-ext-unidir_put-aggregate", "", "call", 1.0, "none", "maximum"),
        ("imb-ext-accumulate", "", "call", 1.0, "none", "mean"),
        ("imb-rma-get_local", "get", "call", 1.0, "none", "one"),
        ("imb-rma-exchange_get", "get-exchange", "call", 1.0, "none", "mean"),
        ("imb-rma-one_put_all", "", "call", 1.0, "none", "one"),
        ("imb-mt-pingpongmt", "pingpong-pairs", "half", 1.0, "none", "mean"),
        ("imb-mt-bcastmt", "bcast", "call", 1.0, "library-barrier", "mean"),
        ("imb-p2p-pingpong", "pingpong-pairs", "half", 1.0, "none", "mean"),
        ("imb-p2p-stencil3d", "", "call", 1.0, "none", "mean"),
        ("imb-io-s_write_expl", "", "call", 1.0, "none", "mean"),
    ],
)
def test_every_meaning_can_be_compared(
    name: str, counterpart: str, trip: str, counted: float, start: str, over_ranks: str
) -> None:
    operation = find_operation(name)
    means = find_meaning_of_operation(operation)
    assert operation.foreign is not None
    assert (operation.foreign.counterpart, means.trip, means.counted, means.start, means.over_ranks) == (
        *(counterpart, trip, counted, start, over_ranks),
    )
    assert operation.start == start


@pytest.mark.parametrize(
    ("file", "size_bytes", "counted"),
    [
        ("IMB-MPI1.PingPong", 65536, 1),
        ("IMB-MPI1.Sendrecv", 65536, 2),
        ("IMB-MPI1.Exchange", 65536, 4),
        ("IMB-MT.PingPingMT", 32, 1),
        ("IMB-MT.SendRecvMT", 32, 2),
        ("IMB-RMA.Bidir_put", 65536, 1),
        ("IMB-IO.C_Read_Shared", 65536, 1),
    ],
)
def test_a_bandwidth_counts_bytes_as_its_meaning_says(file: str, size_bytes: int, counted: int) -> None:
    table = read_sample(f"{file}.txt")[0]
    row = table.rows[-1]
    longest_us = row.numbers[table.roles.get("maximum", table.roles["value"])]
    megabytes_per_s = row.numbers[table.columns.index("Mbytes/sec")]
    assert (row.size_bytes, find_meaning(table).counted) == (size_bytes, counted)
    assert megabytes_per_s * find_meaning(table).megabyte * longest_us * 1e-6 == pytest.approx(
        counted * size_bytes, rel=0.02
    )


# --- versions and command lines ---------------------------------------------------------------------------------------

TIMES = "  #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n"
PAIR = "  #bytes #repetitions      t[usec]   Mbytes/sec\n"


def make_output(
    name: str,
    rows: str,
    *,
    version: str = "2021.11",
    part: str = "MPI-1",
    text: str = "",
    above: str = "# #processes = 4 \n",
) -> str:
    return (
        "#------------\n"
        f"#    Intel(R) MPI Benchmarks {version}, {part} part\n"
        "#------------\n"
        "# Date                  : Fri Nov 20 12:07:11 2026\n"
        "\n\n# Calling sequence was: \n\n"
        f"# ./IMB {name}{text}\n"
        "\n# Minimum message length in bytes:   0\n#\n"
        "# MPI_Datatype                   :   MPI_BYTE \n"
        "# MPI_Datatype for reductions    :   MPI_FLOAT \n"
        "\n# List of Benchmarks to run:\n\n"
        f"# {name}\n\n"
        f"#------------\n# Benchmarking {name} \n{above}#------------\n{rows}"
        "\n\n# All processes entering MPI_Finalize\n"
    )


@pytest.mark.parametrize(
    ("version", "sentence", "name", "start"),
    [
        ("2021.11", "", "imb-mpi1-bcast", "library-barrier"),
        ("2019 Update 6", " -sync on", "imb-mpi1-bcast", "library-barrier"),
        ("2021.2", " -npmin 4 -sync off", "imb-mpi1-bcast-unsynchronised", "none"),
        ("4.1 Update 1", "", "imb-mpi1-bcast-unsynchronised", "none"),
        ("4.1", " -sync 1", "imb-mpi1-bcast", "library-barrier"),
        ("2018", " -imb_barrier on", "imb-mpi1-bcast-imb-barrier", "barrier"),
    ],
)
def test_the_start_of_calls_follows_from_version_and_command_line(
    version: str, sentence: str, name: str, start: str
) -> None:
    (table,) = read_text(make_output("Bcast", TIMES + "  8  1000  0.1  0.3  0.2\n", version=version, text=sentence))
    usual = find_meaning_of_operation(find_operation("imb-mpi1-bcast"))
    assert (table.operation.name, table.operation.start, find_meaning(table).start) == (name, start, start)
    assert find_meaning(table).text.removeprefix(usual.text) == WORDING


@pytest.mark.parametrize(
    ("head", "version", "megabyte"),
    [
        ("Intel(R) MPI Benchmarks 2017", "2017", 10**6),
        ("Intel (R) MPI Benchmarks 2018 Update 1", "2018 Update 1", 10**6),
        ("Intel (R) MPI Benchmarks 4.1", "4.1", 1 << 20),
        ("Intel (R) MPI Benchmark Suite V3.2", "3.2", 1 << 20),
    ],
)
def test_the_size_of_a_megabyte_depends_on_the_version(head: str, version: str, megabyte: int) -> None:
    row = "  #bytes #repetitions   Mbytes/sec      Msg/sec\n  64 1000 100.00 1562500\n"
    (table,) = read_text(make_output("Uniband", row).replace("Intel(R) MPI Benchmarks 2021.11", head))
    assert (table.version, table.scale, find_meaning(table).megabyte) == (version, megabyte, megabyte)
    assert (
        ("2^20" in find_meaning(table).text) == (megabyte == 1 << 20) == table.operation.name.endswith("-before-2017")
    )


@pytest.mark.parametrize(
    ("name", "version", "text", "options"),
    [
        ("Bcast", "2021.11", "", {}),
        ("Bcast", "2021.11", " -root_shift on", {"root": "rotating"}),
        ("Bcast", "4.1", "", {"root": "rotating"}),
        ("Bcast", "4.1", " -root_shift off", {}),
        ("Allreduce", "4.1", "", {}),
        ("Allreduce", "2021.11", " -off_cache -1", {"off_cache": "-1"}),
        ("Uniband", "2021.1", "", {"window": "64"}),
        ("Uniband", "2021.11", " -window_size 32", {"window": "32"}),
        ("PingPong", "2017", "", {"receive": "any-source"}),
        ("PingPong", "2017 Update 1", "", {}),
    ],
)
def test_options_follow_from_version_and_command_line(
    name: str, version: str, text: str, options: dict[str, str]
) -> None:
    (table,) = read_text(make_output(name, TIMES + "  8  1000  0.1  0.3  0.2\n", version=version, text=text))
    assert table.options == options


def test_a_command_line_may_continue_in_the_next_line() -> None:
    words = "\n#      -iter 7\n#      -sync off"
    (table,) = read_text(make_output("Bcast", TIMES + "  8  7  0.1  0.3  0.2\n", text=words))
    assert table.facts["command"] == "./IMB Bcast -iter 7 -sync off"
    assert find_meaning(table).start == "none"


def test_each_of_several_runs_has_its_own_head() -> None:
    first = make_output("Bcast", TIMES + "  8  1000  0.1  0.3  0.2\n", version="4.1")
    second = make_output("AllReduceMT", TIMES + "  8  1000  0.1  0.3  0.2\n", part="MT")
    tables = read_text(first + second)
    assert [(table.version, table.operation.name) for table in tables] == [
        ("4.1", "imb-mpi1-bcast-unsynchronised"),
        ("2021.11", "imb-mt-allreducemt"),
    ]


# --- output without samples -------------------------------------------------------------------------------------------


def find_row(table: Table) -> Row:
    assert len(table.rows) == 1
    return table.rows[0]


def test_each_number_of_processes_has_a_table() -> None:
    first = "# #processes = 2 \n# ( 6 additional processes waiting in MPI_Barrier)\n"
    again = f"#---\n# Benchmarking Bcast \n# #processes = 8 \n#---\n{TIMES}  8  1000  0.2  0.4  0.3\n"
    two, eight = read_text(make_output("Bcast", TIMES + "  8  1000  0.1  0.3  0.2\n" + again, above=first))
    assert (two.ranks, two.facts["idle_ranks"], find_row(two).numbers) == (2, "6", (1000.0, 0.1, 0.3, 0.2))
    assert (eight.ranks, "idle_ranks" in eight.facts, find_row(eight).numbers) == (8, False, (1000.0, 0.2, 0.4, 0.3))


GROUPS = "# ( 2 groups of 2 processes each running simultaneous ) \n# Group  0:      0    1\n# Group  1:      2    3\n"


def test_each_group_of_ranks_has_a_table() -> None:
    rows = (
        "        Group       #bytes #repetitions      t[usec]   Mbytes/sec\n\n"
        "            0            0         1000        10.19         0.00\n"
        "            1            0         1000        10.22         0.00\n\n"
        "            0            1         1000         7.28         0.13\n"
        "            1            1         1000         7.13         0.13\n"
    )
    first, second = read_text(make_output("Multi-PingPong", rows, above=GROUPS))
    assert (first.options, second.options) == ({"group": "0", "groups": "2"}, {"group": "1", "groups": "2"})
    assert first.columns == second.columns == ("#repetitions", "t[usec]", "Mbytes/sec")
    assert [(row.size_bytes, row.numbers[1]) for row in second.rows] == [(0, 10.22), (1, 7.13)]
    assert (first.ranks, first.operation) == (2, find_operation("imb-mpi1-pingpong"))


def test_common_figures_of_all_groups_have_the_usual_columns() -> None:
    rows = "  #bytes #repetitions t_min[usec] t_max[usec] t_avg[usec] Mbytes/sec\n 1 1000 7.13 7.28 7.20 0.13\n"
    (table,) = read_text(make_output("Multi-PingPong", rows, above=GROUPS))
    assert table.options == {"groups": "2"}
    assert table.columns[table.roles["value"]] == "t_avg[usec]"
    assert (table.operation.name, find_meaning(table).over_ranks) == ("imb-mpi1-pingpong-groups", "mean")
    assert find_meaning(table).text == WORDING


def test_a_size_given_up_for_a_group_belongs_to_that_group() -> None:
    rows = "  Group #bytes #repetitions t[usec] Mbytes/sec\n 1 64 out-of-mem.; needed X=   1.001 GB; use flag\n"
    (table,) = read_text(make_output("Multi-PingPong", rows, above=GROUPS))
    assert (table.options["group"], find_row(table).size_bytes) == ("1", 64)
    assert find_row(table).wrong == WORDING


def test_an_integer_overflow_is_reported() -> None:
    why = "int-overflow; The production rank*size caused int overflow;"
    (table,) = read_text(make_output("Allgather", f"{TIMES}   4194304 {why}\n"))
    assert (find_row(table).size_bytes, find_row(table).wrong) == (4194304, why)


@pytest.mark.parametrize(
    ("part", "name", "sentence", "memory"),
    [
        ("MPI-1", "Allreduce", "", "device"),
        ("MPI-1", "Allreduce", " -mem_alloc_type host", "host"),
        ("RMA", "All_put_all", "", "device"),
    ],
)
def test_memory_of_an_accelerator_is_reported(part: str, name: str, sentence: str, memory: str) -> None:
    text = make_output(name, TIMES + ROW, part=part, text=sentence).replace(
        " part\n", " part (GPU), Technical preview\n"
    )
    (table,) = read_text(text)
    assert (table.options, table.operation) == (
        {"memory": memory},
        find_operation(f"imb-{imb.PARTS[part]}-{name.lower()}"),
    )


@pytest.mark.parametrize(
    ("name", "columns", "numbers"),
    [
        ("PingPong", "t[usec] Mbytes/sec", "1.00 8.00"),
        ("Sendrecv", "t_min[usec] t_max[usec] t_avg[usec] Mbytes/sec", "1.00 2.00 1.50 8.00"),
        ("Allreduce", "t_min[usec] t_max[usec] t_avg[usec]", "1.00 2.00 1.50"),
        ("Uniband", "Mbytes/sec Msg/sec", "8.00 1000000"),
        ("Iallreduce", "t_ovrl[usec] t_pure[usec] t_CPU[usec] overlap[%]", "3.00 2.00 1.00 0.00"),
    ],
)
def test_defects_are_reported_for_their_row(name: str, columns: str, numbers: str) -> None:
    rows = f" #bytes #repetitions {columns} defects\n 8 1000 {numbers} 0.00\n 16 1000 {numbers} 0.25\n"
    (table,) = read_text(make_output(name, rows, part="MPI-NBC" if name.startswith("I") else "MPI-1"))
    assert [row.wrong for row in table.rows] == ["", "defects: 0.25"]
    assert table.columns == ("#repetitions", *columns.split(), "defects")
    assert (find_meaning(table).data, table.operation.name) == ("checked", f"{find_usual_name(name)}-checked")


def find_usual_name(spelt: str) -> str:
    return f"imb-{'nbc' if spelt.startswith('I') else 'mpi1'}-{spelt.lower()}"


def test_failed_checks_of_threads_are_reported_for_the_next_row() -> None:
    rows = TIMES + " 8 1000 0.1 0.3 0.2\nCHECK FAILURES: rank 1: 3\n 16 1000 0.1 0.3 0.2\n 32 1000 0.1 0.3 0.2\n"
    (table,) = read_text(make_output("BcastMT", rows, part="MT", above="# #processes = 4 (threads: 1)\n"))
    assert [row.wrong for row in table.rows] == ["", "CHECK FAILURES: rank 1: 3", ""]
    assert [line.text for line in table.noise] == ["CHECK FAILURES: rank 1: 3"]


def test_the_size_is_that_of_one_thread() -> None:
    above = "# #processes = 4 (threads: 2)\n"
    (table,) = read_text(make_output("BcastMT", TIMES + " 16 1000 0.1 0.3 0.2\n", part="MT", above=above))
    assert (find_row(table).size_bytes, table.ranks, table.options) == (8, 4, {"threads": "2"})


def test_persistent_collectives_are_read() -> None:
    rows = " #bytes #repetitions t_ovrl[usec] t_pure[usec] t_CPU[usec] overlap[%]\n 8 1000 3.00 2.00 1.00 0.00\n"
    (table,) = read_text(make_output("Bcast_persistent", rows, part="MPI-4"))
    assert (table.operation, table.form) == (find_operation("imb-mpi4-bcast_persistent"), "persistent")


def test_a_grid_is_reported() -> None:
    rows = " #bytes #repetitions t[usec] Mbytes/sec Msg/sec\n 8 1000 1.00 8.00 1000000\n"
    (table,) = read_text(make_output("Stencil3D (2 x 2 x 3)", rows, part="IMB-P2P", above="# #processes = 12\n"))
    assert (table.operation, table.options) == (find_operation("imb-p2p-stencil3d"), {"grid": "2x2x3"})


def test_rows_of_a_size_are_samples() -> None:
    (table,) = read_text(
        make_output("Allreduce", TIMES + " 8 1000 0.1 0.3 0.2\n 8 1000 0.1 0.3 0.4\n 16 1000 0.1 0.3 0.2\n")
    )
    assert [(row.size_bytes, row.numbers[3]) for row in table.rows] == [(8, 0.2), (8, 0.4), (16, 0.2)]
    assert table.repeated


def test_unrecognised_lines_are_kept() -> None:
    warnings = "".join(f"UCX WARN {number}\n" for number in range(30))
    (table,) = read_text(make_output("Allreduce", f"{TIMES}{warnings} 8 1000 0.1 0.3 0.2\n"))
    assert [line.text for line in table.noise] == [f"UCX WARN {number}" for number in range(20)]
    assert len(table.rows) == 1


def test_an_unknown_benchmark_is_read_by_its_headings() -> None:
    (table,) = read_text(make_output("Iscan", TIMES + " 8 1000 0.1 0.3 0.2\n", part="MPI-NBC"))
    assert table.operation.name == "imb-nbc-iscan"
    assert table.operation.foreign is not None
    assert table.operation.foreign.counterpart == ""
    assert find_meaning(table).start == "not reported"
    assert find_meaning(table).text == WORDING


def test_without_a_head_a_name_unique_to_one_component_is_known() -> None:
    rows = "# Benchmarking {} \n# #processes = 2 \n#---\n" + TIMES + " 8 1000 0.1 0.3 0.2\n"
    (table,) = read_text(rows.format("Allreduce"))
    assert (table.operation, table.version) == (find_operation("imb-mpi1-allreduce"), "")
    (table,) = read_text(rows.format("Accumulate"))
    assert table.operation.name == "imb-unknown-accumulate"


def test_other_texts_are_not_recognised() -> None:
    assert not imb.recognises(
        list(number_lines("# OSU MPI Allreduce Latency Test v7.4\n# Size  Avg Latency(us)\n4   0.30\n"))
    )
    assert not imb.recognises([])


# --- damaged texts ----------------------------------------------------------------------------------------------------

ROW = " 8 1000 0.1 0.3 0.2\n"


@pytest.mark.parametrize(
    "row",
    [
        " 8 1000 0.1 0.3\n",
        " 8 1000 0.1 0.3 0.2 0.2\n",
        " 8 1000 0.1 nan 0.2\n",
        " 8 1000 0.1 -0.3 0.2\n",
        " 8 1000 0.1 1e999 0.2\n",
        " 8 x 0.1 0.3 0.2\n",
        " 8.5 1000 0.1 0.3 0.2\n",
        " -8 1000 0.1 0.3 0.2\n",
        " inf 1000 0.1 0.3 0.2\n",
        " 4611686018427387905 1000 0.1 0.3 0.2\n",
        f" {'9' * 99} 1 1 1 1\n",
        " 8 9 time-out.; over\n",
        TIMES,
    ],
)
def test_a_damaged_row_is_reported(row: str) -> None:
    assert read_refused(make_output("Allreduce", TIMES + row + ROW)) == WORDING


@pytest.mark.parametrize(
    "rows",
    [
        " #bytes t[usec] #bytes\n 8 1 8\n",
        ROW,
        " #bytes #repetitions joules\n 8 1 1\n",
        " Group #bytes #repetitions t[usec] Mbytes/sec\n x 8 1 1 1\n 1.5 8 1 1 1\n",
    ],
)
def test_damaged_headings_are_reported(rows: str) -> None:
    assert read_refused(make_output("Allreduce", rows)) == WORDING


def test_a_size_that_threads_cannot_share_is_reported() -> None:
    text = make_output("BcastMT", TIMES + " 15 1 1 1 1\n", part="MT", above="# #processes = 4 (threads: 2)\n")
    assert read_refused(text) == WORDING


def test_a_text_truncated_at_any_line_is_read_up_to_there() -> None:
    text = (SAMPLES / "default" / "whole.default.txt").read_text().splitlines()
    for end in range(0, len(text), 7):
        rows = sum(len(table.rows) for table in read_text("\n".join(text[:end])))
        assert rows == sum(bool(re.match(r" *\d", line)) for line in text[:end])


LINES = sorted({line for path in FILES for line in path.read_text().splitlines()})
DAMAGE = st.one_of(
    st.just(""),
    st.sampled_from(["nan", "-1", "1e400", "\x00", "#", ": ", " 0", "٣", "9" * 30, "time-out.;", "\t" * 50, "Group"]),
    st.text(max_size=6),
)


@st.composite
def draw_damaged_text(draw: st.DrawFn) -> str:
    """Draw lines of samples in any order, some with inserted or removed pieces."""
    drawn = draw(st.lists(st.sampled_from(LINES), max_size=12))
    for index in draw(st.lists(st.integers(0, max(0, len(drawn) - 1)), max_size=4)):
        if drawn:
            line = drawn[index]
            at = draw(st.integers(0, len(line)))
            drawn[index] = line[:at] + draw(DAMAGE) + line[at + draw(st.integers(0, 4)) :]
    begin = draw(st.sampled_from(["", TITLE, TITLE + TIMES, TITLE + PAIR]))
    return begin + "\n".join(drawn)


TITLE = "# Benchmarking Bcast\n# #processes = 2\n"


@given(draw_damaged_text())
def test_any_text_is_read_or_refused_with_its_line(text: str) -> None:
    try:
        tables = read_text(text)
    except RankbenchError as error:
        assert re.match(r"f:\d+: ", str(error))
        assert "\n" not in str(error)
    else:
        for table in tables:
            assert table.rows
            assert all(len(row.numbers) == len(table.columns) for row in table.rows)
            assert all(0 <= row.size_bytes <= 1 << 62 for row in table.rows)


def test_long_lines_take_linear_time() -> None:
    """Some patterns try every place in a run of blanks repeatedly; this text would take them hours."""
    blanks = " " * 60_000
    text = f"# a{blanks}b\n# Benchmarking{blanks}x\n{TITLE}{TIMES}# #processes{blanks}2\n1{blanks}x\n"
    assert read_refused(text) == WORDING
