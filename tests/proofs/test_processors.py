"""What ranks do beside the calls: they compute as long as was asked, sleep where they take no part, serve a target."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

from mpi.test_operations import MILLISECOND_NS, list_options

from proofs.judging import repeat

if TYPE_CHECKING:
    from pathlib import Path

    from mpi.test_core import Core


def typical_ns(record: dict[str, Any]) -> float:
    """Return the median of a case's samples."""
    return float(statistics.median(record["series"][0]["time_ns"]))


@repeat
def test_a_computation_takes_what_it_was_sized_to(core: Core, tmp_path: Path) -> None:
    options = list_options(quantity="overlap", compute_us=500, tests=3)
    arguments = ["--op", "allreduce", "--form", "nonblocking", "--sizes", "8", "--samples", "30", "--limit", "20"]
    (record,) = core.stream(tmp_path, 2, *arguments, *options)
    assert record["compute_ns"] > 0.4 * MILLISECOND_NS
    assert 0 < record["pure_ns"] < record["compute_ns"]
    assert typical_ns(record) > 0.8 * record["compute_ns"]


@repeat
def test_ranks_that_stay_out_leave_their_core_to_others(core: Core) -> None:
    """Two ranks exchange messages for four seconds; the third one sleeps: it has less than half of their CPU time."""
    accounted = ("sh", "-c", '"$@"; code=$?; times; exit $code', "sh")
    process = core.run(3, "--op", "pingpong", "--sizes", "8", "--samples", "5000000", "--limit", "4", before=accounted)
    assert process.exit_code == 0, process.printed
    spent = sorted(
        seconds(line) for line in process.printed.splitlines() if line.count("m") == 2 and line[:1].isdigit()
    )
    values = [value for value in spent if value > 0.01]
    assert len(values) == 3
    assert values[0] < values[-1] / 2


def seconds(line: str) -> float:
    """Return the seconds of a line of `times`, user and system together: `0m1.230s 0m0.010s`."""
    return sum(60 * float(minutes) + float(rest[:-1]) for minutes, rest in (word.split("m") for word in line.split()))


@repeat
def test_a_passive_target_that_computes_is_seen_where_the_library_needs_it(core: Core, tmp_path: Path) -> None:
    """A put to memory in the same node either takes its time, or as long as the target computes: nothing in between."""
    arguments = [
        "--op",
        "put-passive",
        "--sizes",
        "8",
        "--samples",
        "100",
        "--limit",
        "20",
        *list_options(busy_us=5000),
    ]
    (waiting,) = core.stream(tmp_path, 2, *arguments)
    (computing,) = core.stream(tmp_path, 2, *arguments, *list_options(target="computing"))
    assert typical_ns(waiting) < MILLISECOND_NS
    assert typical_ns(computing) < MILLISECOND_NS or typical_ns(computing) > 3 * MILLISECOND_NS
