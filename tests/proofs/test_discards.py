"""Windows bring ranks together, discard few rounds, and do not take a rank that was held up for a slow call."""

from __future__ import annotations

import json
import statistics
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import fakes
from mpi.test_core import in_time

from proofs.judging import check_median, check_repeatedly

if TYPE_CHECKING:
    from mpi.test_core import Core

STALL = Path(fakes.__file__).with_name("stall.c")


def test_ranks_leave_a_barrier_further_apart_than_they_enter_a_window(core: Core, tmp_path: Path) -> None:
    """Rank 1 waits a microsecond longer in each call; without a start it begins the next one that much later."""

    def skew_ns(start: str) -> float:
        arguments = ["--op", "wait-up", "--start", start, "--samples", "200", "--limit", "10"]
        (record,) = core.stream(tmp_path, 2, *arguments)
        return float(statistics.median(in_time(record, "skew_ns")))

    check_median(lambda: skew_ns("window") / skew_ns("none"), 0, 0.2)


def test_windows_discard_few_rounds(core: Core, tmp_path: Path) -> None:
    """At most 5 % of the rounds of short cases are discarded for late starts."""

    def share() -> float:
        arguments = ["--op", "allreduce,barrier,alltoall", "--sizes", "8:64K:x8", "--samples", "200", "--limit", "1"]
        records = core.stream(tmp_path, 2, *arguments)
        return float(sum(record["late"] for record in records) / sum(record["taken"] for record in records))

    check_median(share, 0, 0.05)


def test_a_rank_that_loses_its_cpu_while_it_waits_is_late(core: Core, tmp_path: Path) -> None:
    """Stalls of 300 us while waiting do not pass for calls that took 300 us."""
    library, path = tmp_path / "stall.so", tmp_path / "stream"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(STALL), "-ldl"], check=True)
    arguments = ("--op", "barrier", "--samples", "50000", "--limit", "5", "--quiet", "--stream", str(path))

    def attempt() -> None:
        assert core.run(2, *arguments, before=("env", f"LD_PRELOAD={library}")).exit_code == 0
        (record,) = (line for line in map(json.loads, path.open()) if line["record"] == "case")
        slow = sum(250_000 < time_ns < 500_000 for time_ns in in_time(record, "time_ns"))
        text = f"{record['late']} late rounds, {slow} valid ones of 250 to 500 us"
        assert record["late"] > 10, text
        assert slow < record["late"] / 4, text

    check_repeatedly(attempt)
