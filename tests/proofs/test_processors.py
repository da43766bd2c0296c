"""Ranks outside of calls: they compute as long as requested, sleep if they do not take part, and serve a target."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

from mpi.test_core import Core
from mpi.test_operations import MILLISECOND_NS, list_options

from proofs.judging import repeat


def find_median(record: dict[str, Any]) -> float:
    """Return the median of a case's samples."""
    return float(statistics.median(record["series"][0]["time_ns"]))


@repeat
def test_a_computation_takes_its_requested_time(core: Core, tmp_path: Path) -> None:
    options = list_options(quantity="overlap", compute_us=500, tests=3)
    arguments = ["--op", "allreduce", "--form", "nonblocking", "--sizes", "8", "--samples", "30", "--limit", "20"]
    (record,) = core.measure(tmp_path, 2, *arguments, *options)
    print(
        f"computation of 500 us: {record['compute_ns'] / 1000:.1f} us; call alone {record['pure_ns'] / 1000:.2f} us; "
        f"both {find_median(record) / 1000:.1f} us"
    )
    assert record["compute_ns"] > 0.4 * MILLISECOND_NS
    assert 0 < record["pure_ns"] < record["compute_ns"]
    assert find_median(record) > 0.8 * record["compute_ns"]


@repeat
def test_idle_ranks_leave_their_core_to_others(core: Core) -> None:
    """Two ranks exchange messages for four seconds; the third one sleeps and has less than half of their CPU time."""
    accounted = ("sh", "-c", '"$@"; code=$?; times; exit $code', "sh")
    process = core.run(3, "--op", "pingpong", "--sizes", "8", "--samples", "5000000", "--limit", "4", before=accounted)
    assert process.exit_code == 0, process.printed
    spent = sorted(
        parse_seconds(line) for line in process.printed.splitlines() if line.count("m") == 2 and line[:1].isdigit()
    )
    values = [value for value in spent if value > 0.01]
    print(f"CPU time of three ranks: {', '.join(f'{value:.2f} s' for value in values)}")
    assert len(values) == 3
    assert values[0] < values[-1] / 2


def parse_seconds(line: str) -> float:
    """Return the seconds of a line of `times`, user and system together: `0m1.230s 0m0.010s`."""
    return sum(60 * float(minutes) + float(rest[:-1]) for minutes, rest in (word.split("m") for word in line.split()))


@repeat
def test_a_computing_passive_target_delays_a_put_or_does_not(core: Core, tmp_path: Path) -> None:
    """A put to memory in the same node takes its own time, or as long as the target computes: nothing in between."""
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
    (waiting,) = core.measure(tmp_path, 2, *arguments)
    (computing,) = core.measure(tmp_path, 2, *arguments, *list_options(target="computing"))
    print(
        f"put to a waiting target {find_median(waiting) / 1000:.2f} us, to a computing one "
        f"{find_median(computing) / 1000:.2f} us"
    )
    assert find_median(waiting) < MILLISECOND_NS
    assert find_median(computing) < MILLISECOND_NS or find_median(computing) > 3 * MILLISECOND_NS
