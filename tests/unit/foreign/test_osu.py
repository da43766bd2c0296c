"""OSU's tables: every sample, every kind of column, and damaged files."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from fakes.tool_outputs import SAMPLES
from hypothesis import given
from hypothesis import strategies as st
from wording import WORDING, refuses

from rankbench.foreign import Line, Table, Text, printed_lines
from rankbench.foreign.suites.osu import PROGRAMS
from rankbench.foreign.tools import osu
from rankbench.model import RankbenchError

FILES = sorted(path for path in SAMPLES.glob("osu-*/**/*.txt") if path.read_text().strip())
NO_TABLE = {"osu_hello.txt", *(f"osu_{call}.txt" for call in PROGRAMS if "neighbor" in call)}
TABLES = [path for path in FILES if path.name not in NO_TABLE]


def _read_text(text: str, file: str = "f") -> list[Table]:
    return list(osu.read(Text(file, iter([Line(number, line) for number, line in enumerate(text.splitlines(), 1)]))))


def _read_file(path: Path) -> list[Table]:
    return list(osu.read(Text(str(path), printed_lines.read_file(path))))


def _find_name(path: Path) -> str:
    return str(path.relative_to(SAMPLES))


# --- the samples ------------------------------------------------------------------------------------------------------


def test_there_are_samples_of_most_programs() -> None:
    assert len(TABLES) > 110
    assert {path.parent.name for path in TABLES} == {"osu-5.3", "osu-7.4", "default"}


@pytest.mark.parametrize("path", TABLES, ids=_find_name)
def test_every_row_of_a_sample_is_read(path: Path) -> None:
    (table,) = _read_file(path)
    printed_rows = [line.split() for line in path.read_text().splitlines() if line[:1].isdigit()]
    if printed_rows:
        assert [(str(row.size_bytes), *row.numbers) for row in table.rows] == [
            (size, *map(float, numbers)) for size, *numbers in printed_rows
        ]
    assert len(table.rows) == max(len(printed_rows), 1)
    assert {len(row.numbers) for row in table.rows} == {len(table.columns)}
    assert not table.noise
    assert not table.repeated
    assert table.version in {"", path.relative_to(SAMPLES).parts[0].removeprefix("osu-")}
    assert table.version or path.name == "osu_init.txt"


@pytest.mark.parametrize("path", [path for path in TABLES if path.name.startswith("osu_")], ids=_find_name)
def test_the_program_of_a_sample_is_that_of_its_file_name(path: Path) -> None:
    (table,) = _read_file(path)
    assert table.operation.foreign
    assert table.operation.foreign.benchmark == path.name.split(".")[0]
    assert table.operation in osu.OPERATIONS
    assert table.form == table.operation.form


@pytest.mark.parametrize("path", [path for path in FILES if path.name in NO_TABLE], ids=_find_name)
def test_a_program_that_measured_nothing_has_no_table(path: Path) -> None:
    assert not _read_file(path)


BY_HAND = [
    ("osu-7.4/osu_acc_latency.txt", "osu-acc_latency", 65536, "Latency (us)", 15.98, 1e3),
    ("osu-7.4/osu_iallreduce.txt", "osu-iallreduce", 65536, "Overall(us)", 82.38, 1e3),
    ("osu-7.4/osu_iallreduce.txt", "osu-iallreduce", 65536, "Compute(us)", 23.41, 1e3),
    ("osu-7.4/osu_iallreduce.txt", "osu-iallreduce", 65536, "Pure Comm.(us)", 20.88, 1e3),
    ("osu-7.4/osu_ireduce_scatter.txt", "osu-ireduce_scatter", 1, "Overlap(%)", 17.53, 1e3),
    ("osu-7.4/osu_mbw_mr.txt", "osu-mbw_mr", 65536, "MB/s", 7338.10, 1e6),
    ("osu-7.4/osu_mbw_mr.txt", "osu-mbw_mr", 65536, "Messages/s", 111970.59, 1e6),
    ("osu-7.4/osu_get_mbw.txt", "osu-get_mbw", 65536, "Bandwidth (MB/s)", 42146.15, 1e6),
    ("osu-7.4/osu_get_mbw.txt", "osu-get_mbw", 65536, "", 643099223773.02, 1e6),
    ("osu-7.4/osu_bw.txt", "osu-bw", 65536, "Bandwidth (MB/s)", 7216.96, 1e6),
    ("osu-7.4/osu_latency_mp.txt", "osu-latency_mp", 1024, "Avg Latency(us)", 9.59, 1e3),
    ("osu-7.4/osu_scatterv_persistent.txt", "osu-scatterv_persistent", 1024, "Avg Latency(us)", 1.47, 1e3),
    ("osu-7.4/osu_get_multi_lat.txt", "osu-get_multi_lat", 1024, "Latency (us)", 1.30, 1e3),
    ("osu-7.4/osu_barrier.txt", "osu-barrier", 0, "Avg Latency(us)", 1656.64, 1e3),
    ("osu-7.4/osu_cas_latency.txt", "osu-cas_latency", 1, "Latency (us)", 0.09, 1e3),
    ("osu-7.4/osu_init.txt", "osu-init", 0, "avg", 20.0, 1e6),
    ("osu-7.4/osu_init.txt", "osu-init", 0, "max", 22.0, 1e6),
    ("osu-7.4/default/osu_allreduce.full_tail.rep2.txt", "osu-allreduce", 64, "Avg Latency(us)", 0.99, 1e3),
    ("osu-7.4/default/osu_allreduce.full_tail.rep2.txt", "osu-allreduce", 64, "Min Latency(us)", 0.95, 1e3),
    ("osu-7.4/default/osu_allreduce.full_tail.rep2.txt", "osu-allreduce", 64, "Max Latency(us)", 1.03, 1e3),
    ("osu-7.4/default/osu_allreduce.full_tail.rep2.txt", "osu-allreduce", 64, "Iterations", 1000.0, 1e3),
    ("osu-7.4/default/osu_allreduce.full_tail.rep2.txt", "osu-allreduce", 64, "P99 Tail Lat(us)", 1.16, 1e3),
    ("osu-7.4/default/osu_barrier.default.txt", "osu-barrier", 0, "Max Latency(us)", 0.93, 1e3),
    ("osu-5.3/osu_latency_mt.txt", "osu-latency_mt", 1024, "Latency (us)", 4.36, 1e3),
    ("osu-5.3/osu_latency.txt", "osu-latency", 0, "Latency (us)", 3.50, 1e3),
    ("osu-5.3/osu_put_bibw.txt", "osu-put_bibw", 1024, "Bandwidth (MB/s)", 3846.84, 1e6),
    ("osu-5.3/osu_mbw_mr.txt", "osu-mbw_mr", 1024, "Messages/s", 809282.98, 1e6),
    ("osu-5.3/osu_igather.txt", "osu-igather", 1024, "Pure Comm.(us)", 1.98, 1e3),
    ("osu-5.3/osu_get_acc_latency.txt", "osu-get_acc_latency", 1024, "Latency (us)", 0.90, 1e3),
    ("osu-5.3/osu_ibarrier.txt", "osu-ibarrier", 0, "Pure Comm.(us)", 23.11, 1e3),
    ("osu-5.3/osu_ialltoallw.txt", "osu-ialltoallw", 1, "Overall(us)", 229.80, 1e3),
    ("osu-5.3/osu_fop_latency.txt", "osu-fop_latency", 8, "Latency (us)", 0.04, 1e3),
    ("osu-5.3/osu_init.txt", "osu-init", 0, "min", 31.0, 1e6),
]


@pytest.mark.parametrize(("file", "name", "size", "column", "value", "scale"), BY_HAND)
def test_values_are_those_of_the_file(file: str, name: str, size: int, column: str, value: float, scale: float) -> None:
    (table,) = _read_file(SAMPLES / file)
    (row,) = [row for row in table.rows if row.size_bytes == size]
    assert (table.operation.name, table.scale) == (name, scale)
    assert row.numbers[table.columns.index(column)] == value
    assert (SAMPLES / file).read_text().splitlines()[row.line - 1].split()[-1]


def test_the_definition_of_the_values_is_reported() -> None:
    def describe_file(file: str) -> tuple[str, int, dict[str, str]]:
        (table,) = _read_file(SAMPLES / file)
        return table.datatype, table.ranks, table.options

    remote = {"allocation": "MPI_Win_allocate", "synchronisation": "MPI_Win_flush"}
    assert describe_file("osu-5.3/osu_latency.txt") == ("", 2, {})
    assert describe_file("osu-7.4/osu_latency.txt") == ("byte", 2, {})
    assert describe_file("osu-7.4/osu_allreduce.txt") == ("char", 0, {})
    assert describe_file("osu-7.4/osu_ireduce.txt") == ("char", 0, {"quantity": "overlap"})
    assert describe_file("osu-7.4/osu_iallgather.txt") == ("byte", 0, {"quantity": "overlap"})
    assert describe_file("osu-7.4/osu_put_bw.txt") == ("byte", 2, remote)
    assert describe_file("osu-7.4/osu_latency_mt.txt") == ("byte", 2, {"receiver threads": "2", "sender threads": "1"})
    assert describe_file("osu-7.4/osu_mbw_mr.txt") == ("byte", 2, {"pairs": "1", "window": "64"})
    assert describe_file("osu-7.4/osu_init.txt") == ("", 2, {})
    assert describe_file("osu-7.4/osu_get_multi_lat.txt") == (
        "",
        2,
        {"allocation": "MPI_Win_allocate", "pairs": "1", "synchronisation": "PSCW"},
    )


def test_columns_have_roles() -> None:
    def list_roles(file: str) -> dict[str, str]:
        (table,) = _read_file(SAMPLES / file)
        return {role: table.columns[place] for role, place in table.roles.items()}

    assert list_roles("osu-7.4/default/osu_allreduce.full_tail.rep0.txt") == {
        "value": "Avg Latency(us)",
        "minimum": "Min Latency(us)",
        "maximum": "Max Latency(us)",
        "repetitions": "Iterations",
        "p50": "P50 Tail Lat(us)",
        "p90": "P90 Tail Lat(us)",
        "p99": "P99 Tail Lat(us)",
    }
    assert list_roles("osu-7.4/osu_ibcast.txt") == {
        "value": "Overall(us)",
        "compute": "Compute(us)",
        "pure": "Pure Comm.(us)",
        "overlap": "Overlap(%)",
    }
    assert list_roles("osu-5.3/osu_mbw_mr.txt") == {"value": "MB/s", "rate": "Messages/s"}
    assert list_roles("osu-7.4/osu_get_mbw.txt") == {"value": "Bandwidth (MB/s)"}
    assert list_roles("osu-7.4/osu_init.txt") == {"value": "avg", "minimum": "min", "maximum": "max"}


def test_concatenated_files_are_read_as_single_ones() -> None:
    alone = [table for path in TABLES for table in _read_file(path)]
    together = _read_text("".join(path.read_text() for path in TABLES))
    assert [[row[1:] for row in table.rows] for table in together] == [
        [row[1:] for row in table.rows] for table in alone
    ]
    assert [table.options for table in together] == [table.options for table in alone]
    by_title_alone = {"osu-ialltoallw": "osu-ialltoallv"}
    for together_table, other in zip(together, alone, strict=True):
        name = other.operation.name
        assert together_table.operation.name == (by_title_alone.get(name, name) if other.version == "5.3" else name)


def test_repeated_runs_are_read_as_the_first_ones() -> None:
    text = "".join(path.read_text() for path in TABLES)
    tables, lines_before = _read_text(text * 2), len(text.splitlines())
    first, second = tables[: len(tables) // 2], tables[len(tables) // 2 :]
    moved = [
        table._replace(
            line=table.line + lines_before,
            rows=[row._replace(line=row.line + lines_before) for row in table.rows],
        )
        for table in first
    ]
    assert list(map(repr, second)) == list(map(repr, moved))  # Also of values that are not a number.


def test_options_of_a_run_do_not_come_from_an_earlier_one() -> None:
    """Options before a title, and other options of a second run with the same title."""
    head, rows = "# OSU MPI_Put Latency Test v7.4\n# Window creation: {}\n# Size          Latency (us)\n", "8    1.25\n"
    runs = [head.format(way) + rows for way in ("MPI_Win_create", "MPI_Win_allocate", "MPI_Win_create")]
    options = [table.options for table in _read_text("".join([*runs, "Dimensions size = 4\n", runs[0], runs[0]]))]
    created, allocated = {"allocation": "MPI_Win_create"}, {"allocation": "MPI_Win_allocate"}
    assert options == [created, allocated, created, created | {"dimensions": "4"}, created]


# --- meanings ---------------------------------------------------------------------------------------------------------


def test_meanings_have_all_properties_that_matter_for_a_comparison() -> None:
    def summarise_meaning(name: str) -> tuple[str, str, str, str, float, int]:
        foreign = PROGRAMS[name].foreign
        assert foreign
        meaning = foreign.meaning
        return meaning.over_calls, meaning.over_ranks, meaning.start, meaning.trip, meaning.counted, meaning.megabyte

    assert summarise_meaning("latency") == ("mean", "one", "none", "half", 1.0, 0)
    assert summarise_meaning("multi_lat") == ("mean", "mean", "none", "half", 1.0, 0)
    assert summarise_meaning("bw") == ("mean", "one", "none", "call", 1.0, 10**6)
    assert summarise_meaning("bibw") == ("mean", "one", "none", "call", 2.0, 10**6)
    assert summarise_meaning("put_bibw") == ("mean", "one", "none", "call", 2.0, 10**6)
    assert summarise_meaning("allreduce") == ("mean", "mean", "library-barrier", "call", 1.0, 0)
    assert summarise_meaning("barrier") == ("mean", "mean", "none", "call", 1.0, 0)
    assert summarise_meaning("ibcast") == ("mean", "mean", "library-barrier", "call", 1.0, 0)
    assert summarise_meaning("put_latency") == ("mean", "one", "none", "call", 1.0, 0)
    assert summarise_meaning("init") == ("single", "mean", "none", "call", 1.0, 0)


def test_counterparts_are_set_if_the_call_is_the_same() -> None:
    def find_counterpart(name: str) -> str:
        foreign = PROGRAMS[name].foreign
        assert foreign
        return foreign.counterpart

    assert [find_counterpart(name) for name in ("latency", "bw", "bibw", "multi_lat", "mbw_mr")] == [
        "pingpong",
        "bandwidth",
        "bandwidth-bidirectional",
        "pingpong-pairs",
        "message-rate",
    ]
    assert [find_counterpart(name) for name in ("allreduce", "iallreduce", "allreduce_persistent")] == ["allreduce"] * 3
    assert not any(
        find_counterpart(name) for name in ("reduce_scatter", "neighbor_alltoall", "latency_mt", "bw_fan_in")
    )


# --- output without samples -------------------------------------------------------------------------------------------

HEAD = "# OSU MPI Latency Test v7.4\n# Size       Avg Latency(us)\n"
VALIDATED = """\
# OSU MPI Allreduce Latency Test v7.4
# Datatype: MPI_INT.
# Size       Avg Latency(us)        Validation  P50 Tail Lat(us)
4                       0.88              Pass              0.90
8                       0.93              Fail              0.94
DATA VALIDATION ERROR: ./osu_allreduce exited with status 1 on message size 8.
"""
ALL_TYPES = """\

# OSU MPI Broadcast Latency Test v7.4
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)
1                       0.10
2                       0.20
# Datatype: MPI_INT.
# Size       Avg Latency(us)
4                       0.30
# Datatype: MPI_FLOAT.
# Size       Avg Latency(us)
4                       0.40
"""
WINDOWS = """\
# OSU MPI Multiple Bandwidth / Message Rate Test v7.4
# [ pairs: 2 ] [ window size: varied ]

# Uni-directional Bandwidth (MB/sec)
# Datatype: MPI_CHAR.
#                8          16
1             1.50        2.50
2             3.00        5.00

# Message Rate Profile
#                8          16
1       1500000.00  2500000.00
2       1500000.00  2500000.00
"""
FULL = """\

# OSU MPI-CUDA Non-blocking Allgather Latency Test v6.2
# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait

# Size           Overall(us)       Compute(us)    Coll. Init(us)      MPI_Test(us)      MPI_Wait(us)    Pure Comm.(us)\
     Min Comm.(us)     Max Comm.(us)        Overlap(%)  P50 Tail Lat(us)
1                       4.58              2.43              0.10              0.00              0.50              2.00\
              1.90              2.10               nan              4.40
"""
DERIVED = """\
# OSU MPI Bandwidth Test v7.4
# Send Buffer on DEVICE (D) and Receive Buffer on HOST (H)
# Datatype: MPI_CHAR.
# Size      Bandwidth (MB/s) P50 Tail BW(MB/s) P99 Tail BW(MB/s)     Transmit Size
64                    100.00             90.00             99.00                32
"""


def test_wrong_data_are_reported_row_by_row() -> None:
    (table,) = _read_text(VALIDATED)
    assert [(row.size_bytes, row.numbers, row.wrong) for row in table.rows] == [
        (4, (0.88, 0.90), ""),
        (8, (0.93, 0.94), "validation failed"),
    ]
    assert table.columns == ("Avg Latency(us)", "P50 Tail Lat(us)")
    assert (table.datatype, table.options) == ("int", {"validation": "yes"})
    assert [line.number for line in table.noise] == [6]


def test_a_run_with_several_datatypes_is_a_table_for_each() -> None:
    tables = _read_text(ALL_TYPES)
    assert [(table.datatype, table.line, [row.numbers for row in table.rows]) for table in tables] == [
        ("byte", 2, [(0.1,), (0.2,)]),
        ("int", 7, [(0.3,)]),
        ("float", 10, [(0.4,)]),
    ]
    assert {(table.operation.name, table.version) for table in tables} == {("osu-bcast", "7.4")}


def test_varied_windows_are_a_table_for_each_window() -> None:
    tables = _read_text(WINDOWS)
    assert [
        (table.operation.name, table.scale, table.columns, table.options, [row.numbers for row in table.rows])
        for table in tables
    ] == [
        ("osu-mbw_mr", 1e6, ("8",), {"pairs": "2", "window": "8"}, [(1.5,), (3.0,)]),
        ("osu-mbw_mr", 1e6, ("16",), {"pairs": "2", "window": "16"}, [(2.5,), (5.0,)]),
        ("osu-mbw_mr-rate", 1.0, ("8",), {"pairs": "2", "window": "8"}, [(1.5e6,), (1.5e6,)]),
        ("osu-mbw_mr-rate", 1.0, ("16",), {"pairs": "2", "window": "16"}, [(2.5e6,), (2.5e6,)]),
    ]
    assert {table.ranks for table in tables} == {4}
    assert [row.size_bytes for row in tables[0].rows] == [1, 2]


def test_all_columns_of_an_overlap_are_read_and_an_undefined_share_is_nan() -> None:
    (table,) = _read_text(FULL)
    assert len(table.columns) == 10
    assert table.roles == {"value": 0, "compute": 1, "pure": 5, "overlap": 8}
    assert math.isnan(table.rows[0].numbers[8])
    assert table.options == {"accelerator": "CUDA", "quantity": "overlap"}
    assert table.operation.name == "osu-iallgather"


def test_derived_datatypes_count_the_sent_bytes() -> None:
    (table,) = _read_text(DERIVED)
    assert table.columns == ("Bandwidth (MB/s)", "P50 Tail BW(MB/s)", "P99 Tail BW(MB/s)", "Size")
    assert table.roles == {"value": 0, "p50": 1, "p99": 2}
    assert (table.rows[0].size_bytes, table.rows[0].numbers) == (32, (100.0, 90.0, 99.0, 64.0))
    assert table.options == {"buffers": "DEVICE (D), HOST (H)"}


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("OSU MPI Latency Test", "osu-latency"),
        ("OSU MPI Latency Test Test v7.5", "osu-latency"),
        ("OSU MPI_Put-CUDA Latency Test v6.1", "osu-put_latency"),
        ("OSU MPI Non-blocking Neighborhood All-to-Allw Latency Test v7.5.2", "osu-ineighbor_alltoallw"),
        ("OSU MPI Neighbor Alltoall Latency Test v7.4", "osu-neighbor_alltoall"),
        ("OSU MPI Alltoall Latency Test v5.6.3", "osu-alltoall"),
        ("OSU MPI All-to-Allv Personalized Exchange Persistent Latency Test v7.4", "osu-alltoallv_persistent"),
        ("OSU MPI Partitioned Latency Test v7.5", "osu-partitioned_latency"),
        ("OSU OpenSHMEM Barrier Latency Test v5.3", "osu-openshmem-barrier-latency"),
        ("OSU NCCL-CUDA Allreduce Latency Test v7.4", "osu-nccl-cuda-allreduce-latency"),
    ],
)
def test_variants_of_titles_are_read(title: str, name: str) -> None:
    (table,) = _read_text(f"# {title}\n# Size          Latency (us)\n1          0.5\n")
    assert table.operation.name == name


def test_an_unknown_benchmark_is_read_by_its_headings() -> None:
    (table,) = _read_text("# OSU MPI Novel Bandwidth Test v9.1\n# Size      Bandwidth (MB/s)\n8      12.5\n")
    operation = table.operation
    assert operation.foreign
    assert (operation.name, operation.metric, table.scale) == ("osu-mpi-novel-bandwidth", "bandwidth", 1e6)
    assert (operation.foreign.counterpart, operation.foreign.meaning.start) == ("", "not reported")
    assert operation.foreign.meaning.text == WORDING


@pytest.mark.parametrize("name", ["bw_fan_in", "bw_fan_out"])
def test_a_program_with_the_title_of_another_is_named_by_its_file(name: str) -> None:
    text = "# OSU MPI Bandwidth Test v7.4\n# Size      Bandwidth (MB/s)\n8      12.5\n"
    assert [table.operation.name for table in _read_text(text, f"out/osu_{name}.txt")] == [f"osu-{name}"]
    assert [table.operation.name for table in _read_text(text, "out/osu_bw.txt")] == ["osu-bw"]


def test_other_lines_in_a_table_are_kept() -> None:
    text = f"{HEAD}0   1.00\n[h:1] a warning\n2 processes were\n1   2.00\n"
    (table,) = _read_text(text)
    assert [row.numbers for row in table.rows] == [(1.0,), (2.0,)]
    assert table.noise == (Line(4, "[h:1] a warning"), Line(5, "2 processes were"))
    noisy = text + "a warning\n" * 1000
    assert len(_read_text(noisy)[0].noise) == 20


def test_the_topology_of_neighbours_is_read_before_the_title() -> None:
    text = "Dimensions size = 4 \nTime took to create topology graph:12.50 us.\n\n"
    text += "# OSU MPI Neighborhood Allgather Latency Test v7.4\n# Size       Avg Latency(us)\n1      1.5\n"
    (table,) = _read_text(text)
    assert (table.options, table.facts) == ({"dimensions": "4"}, {"time took to create topology graph": "12.50 us."})


# --- damaged files ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "row",
    [
        "1",
        "1 2 3",
        "1 " * 30_000,
        "1   nan",
        "1   -nan",
        "1   inf",
        "1   1e999",
        "1   -0.50",
        "1   0,50",
        "1   1_0",
        "1   0x1p3",
        "1   ?",
        "1   ٣",
        "-1   0.5",
        "1.5   0.5",
        "1e3   0.5",
        "4611686018427387905  0.5",
        "9" * 5000 + "  0.5",
        "nan  0.5",
    ],
)
def test_a_damaged_row_is_reported_once_with_its_line(row: str) -> None:
    with refuses():
        _read_text(f"{HEAD}0   0.25\n{row}\n")


def test_the_largest_size_and_the_longest_number_are_read() -> None:
    (table,) = _read_text(f"{HEAD}4611686018427387904   {'9' * 300}.5\n")
    assert table.rows[0][1:] == (1 << 62, (float("9" * 300),), "", 1)


@pytest.mark.parametrize(
    "text",
    [
        "# OSU MPI Latency Test v7.4\n1   0.5\n",
        "# OSU MPI Latency Test v7.4\n# Size      Bandwidth (MB/s)\n1   0.5\n",
        "# OSU MPI Latency Test v7.4\n# Size\n",
        "# OSU MPI Latency Test v7.4\n# Size      Speed (furlongs)\n",
        "# OSU MPI Barrier Latency Test v7.4\n# Avg Latency(us)\n    0.93\n    0.94\n",
        "# OSU MPI Barrier Latency Test v7.4\n# Avg Latency(us)\n    nan\n",
        "# OSU MPI Init Test v7.4\nnprocs: 2, min: 18 ms, max: 22 ms\n",
        "nprocs: 2, min: 18 ms, max: -3 ms, avg: 20 ms\n",
        VALIDATED.replace("Pass", "Pas"),
        VALIDATED.replace("Fail              0.94", "Fail"),
        DERIVED.replace("     32", "    3.5"),
    ],
)
def test_a_damaged_text_is_reported_once_with_its_line(text: str) -> None:
    with refuses():
        _read_text(text)


def test_only_output_of_osu_is_recognised() -> None:
    def is_recognised(text: str) -> bool:
        return osu.recognises([Line(number, line) for number, line in enumerate(text.splitlines(), 1)])

    assert is_recognised(HEAD)
    assert is_recognised("a warning\n" * 300 + HEAD)
    assert is_recognised("nprocs: 2, min: 31, max: 36, avg: 33\n")
    assert not is_recognised("#    Intel(R) MPI Benchmarks 2021.11, MPI-1 part\n# Benchmarking PingPong\n")
    assert not is_recognised("4 3458.643555\n8 10981.392578\n")
    assert not is_recognised("# OSU is a university\n")


KNOWN_LINES = (
    sorted({line for path in TABLES for line in path.read_text().splitlines()})
    + (VALIDATED + ALL_TYPES + WINDOWS + FULL + DERIVED).splitlines()
)


@st.composite
def _draw_mutated(draw: st.DrawFn) -> str:
    """Draw lines of samples in any order, some with inserted or removed pieces."""
    drawn = draw(st.lists(st.sampled_from(KNOWN_LINES), max_size=12))
    texts = []
    for line in drawn:
        place = draw(st.integers(0, len(line)))
        cut = draw(st.sampled_from([0, 0, 0, 1, 5]))
        texts.append(
            line[:place]
            + draw(st.sampled_from(["", "", "", " ", "nan", "-", "9", "(", ")", ":", "\t1", "é"]))
            + line[place + cut :]
        )
    return "\n".join(texts)


@given(_draw_mutated())
def test_any_lines_are_tables_or_one_message(text: str) -> None:
    try:
        tables = _read_text(text)
    except RankbenchError as error:
        assert str(error).startswith("f:")
        assert "\n" not in str(error)
    else:
        for table in tables:
            assert "value" in table.roles
            assert table.rows
            assert {len(row.numbers) for row in table.rows} == {len(table.columns)}
            assert all(row.size_bytes >= 0 for row in table.rows)
            assert all(number >= 0 or math.isnan(number) for row in table.rows for number in row.numbers)
            assert all(math.isfinite(row.numbers[table.roles["value"]]) for row in table.rows)
            assert list(table.options) == sorted(table.options)
