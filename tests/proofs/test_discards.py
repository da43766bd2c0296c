"""Windows align ranks and discard few rounds, and a rank that was interrupted does not count as a slow call."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import fakes
import pytest
from mpi.test_core import Core, list_valid

from proofs.judging import check_median, check_repeatedly

VISITS, FEW = 150, 10
VISIT = (
    "case operation=allreduce form=blocking bytes=8 datatype=float start=window samples=20 fill_s=0.003 limit_s=0.04\n"
)
BUSY = "import os; os.sched_setaffinity(0, {{{cpu}}})\nwhile True: pass"
STALL = Path(fakes.__file__).with_name("stall.c")


def test_ranks_leave_a_barrier_further_apart_than_they_enter_a_window(core: Core, tmp_path: Path) -> None:
    """Rank 1 waits a microsecond longer in each call; without a start it begins the next call that much later."""

    def measure_skew_ns(start: str) -> float:
        arguments = ["--op", "wait-up", "--start", start, "--samples", "200", "--limit", "10"]
        (record,) = core.measure(tmp_path, 2, *arguments)
        return float(statistics.median(list_valid(record, "skew_ns")))

    check_median(lambda: measure_skew_ns("window") / measure_skew_ns("none"), 0, 0.2)


def test_windows_discard_few_rounds(core: Core, tmp_path: Path) -> None:
    """At most 5% of the rounds of short cases are discarded for late starts."""

    def measure_share() -> float:
        arguments = ["--op", "allreduce,barrier,alltoall", "--sizes", "8:64K:x8", "--samples", "200", "--limit", "1"]
        records = core.measure(tmp_path, 2, *arguments)
        return float(sum(record["late"] for record in records) / sum(record["taken"] for record in records))

    check_median(measure_share, 0, 0.05)


def test_a_rank_that_loses_its_cpu_while_it_waits_is_late(core: Core, tmp_path: Path) -> None:
    """Stalls of 300 us while waiting do not count as calls that took 300 us."""
    library, path = tmp_path / "stall.so", tmp_path / "stream"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(STALL), "-ldl"], check=True)
    arguments = ("--op", "barrier", "--samples", "50000", "--limit", "5", "--quiet", "--stream", str(path))

    def attempt_stall() -> None:
        assert core.run(2, *arguments, before=("env", f"LD_PRELOAD={library}")).exit_code == 0
        (record,) = (line for line in map(json.loads, path.open()) if line["record"] == "case")
        slow = sum(250_000 < time_ns < 500_000 for time_ns in list_valid(record, "time_ns"))
        text = f"{record['late']} late rounds, {slow} valid ones of 250 to 500 us"
        assert record["late"] > 10, text
        assert slow < record["late"] / 4, text

    check_repeatedly(attempt_stall)


def measure_beside_others(core: Core, tmp_path: Path, job: Path) -> list[dict[str, Any]]:
    """Return the case records of a job while another process competes for each CPU."""
    programs = [[sys.executable, "-c", BUSY.format(cpu=cpu)] for cpu in sorted(os.sched_getaffinity(0))]
    busy = [subprocess.Popen(program) for program in programs]
    try:
        return core.measure(tmp_path, 2, "--job", str(job))
    finally:
        for process in busy:
            process.kill()
            process.wait()


def test_a_busy_machine_changes_neither_pace_nor_tolerance(core: Core, tmp_path: Path) -> None:
    """While another process competes for each CPU, no start that is a microsecond late is valid, and times remain those
    of calls.

    A call takes 0.2 to 2 us. The tenth of the visits with the slowest medians would show calls that waited for a CPU.
    """
    job = tmp_path / "job"
    job.write_text("rankbench-job 1\n" + VISITS * VISIT)

    def attempt_visits() -> None:
        records = measure_beside_others(core, tmp_path, job)
        valid = [record for record in records if record["status"] == "ok"]
        skew_ns = max(max(list_valid(record, "skew_ns"), default=0) for record in valid)
        medians = sorted(statistics.median(list_valid(record, "time_ns")) for record in valid)
        few = sum(record["valid"] < FEW for record in records)
        slow_ns = medians[9 * len(medians) // 10]
        text = (
            f"{len(valid)} of {VISITS} visits with a result, {few} with fewer than {FEW} rounds in time; largest skew "
            f"{skew_ns} ns; medians {medians[len(medians) // 2]:.0f} ns, 90% below {slow_ns:.0f} ns"
        )
        print(text)
        assert skew_ns < 1000, text
        assert slow_ns < 10_000, text
        assert len(valid) > VISITS / 2, text

    check_repeatedly(attempt_visits)


@pytest.mark.parametrize("operation", ["put", "get", "accumulate"])
def test_a_busy_machine_makes_no_data_wrong(core: Core, tmp_path: Path, operation: str) -> None:
    """New data are checked only after a call that delivers them, also if the time ends just then.

    Other work is no excuse here: a correct library is never reported as wrong.
    """
    job = tmp_path / "job"
    visit = VISIT.replace("allreduce", operation).replace("start=window", "start=none")
    job.write_text("rankbench-job 1\n" + VISITS // 3 * visit)
    records = [record for _ in range(3) for record in measure_beside_others(core, tmp_path, job)]
    wrong = [record["reason"] for record in records if record["status"] == "wrong-data"]
    assert not wrong, f"{len(wrong)} of {len(records)} visits: {wrong[0]}"
