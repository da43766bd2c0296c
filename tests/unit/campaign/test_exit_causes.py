"""Recorded messages of launchers about failed launches, and the causes found in them."""

from __future__ import annotations

from pathlib import Path

import pytest
from wording import WORDING

from rankbench.campaign import exit_causes
from rankbench.campaign.exit_causes import MachineCounters
from rankbench.model import RankFact

RECORDED = Path(__file__).parents[2] / "recorded" / "endings"
SIGNALS = {
    "mpich-5-segv": (11, "SIGSEGV"),
    "mpich-5-segv-nodes": (255, "SIGSEGV"),
    "openmpi-5-segv": (139, "SIGSEGV"),
    "openmpi-5-segv-nodes": (139, "SIGSEGV"),
    "intel-mpi-segv-nodes": (255, "SIGSEGV"),
    "openmpi-5-abort": (134, "SIGABRT"),
    "intel-mpi-segv": (255, "SIGSEGV"),
    "intel-mpi-killed": (255, "SIGKILL"),
    "intel-mpi-left": (255, ""),
    "mvapich2-segv": (1, "SIGSEGV"),
    "srun-segv": (139, "SIGSEGV"),
    "srun-exit-code": (139, "SIGSEGV"),
    "srun-out-of-memory": (137, "SIGKILL"),
    "srun-time": (0, "SIGTERM"),
    "mpich-5-bus": (7, "SIGBUS"),
    "intel-mpi-bus": (255, "SIGBUS"),
}


def read_recording(name: str) -> str:
    return (RECORDED / f"{name}.txt").read_text("utf-8")


@pytest.mark.parametrize(
    "name",
    [
        "mpich-5-segv",
        "mpich-5-segv-nodes",
        "intel-mpi-segv-nodes",
        "openmpi-5-segv-nodes",
        "srun-segv",
        "srun-exit-code",
        "openmpi-4-daemon",
    ],
)
def test_the_line_of_a_signal_is_quoted_and_not_later_ones(name: str) -> None:
    assert exit_causes.quote_signal(read_recording(f"{name}")) == WORDING


@pytest.mark.parametrize(("code", "name"), [(6, "SIGABRT"), (11, "SIGSEGV"), (139, "SIGSEGV"), (1, ""), (2, "")])
def test_the_code_in_a_banner_of_hydra_may_be_a_signal(code: int, name: str) -> None:
    log = read_recording("mpich-5-segv-nodes").replace("EXIT CODE: 11", f"EXIT CODE: {code}")
    assert exit_causes.signal_of(255, log) == name


STUCK = "rankbench-core: stuck: rank {}, case 3 (bcast, blocking, 8 bytes) is timed: a call does not return"


def make_rank(number: int, cpus: str) -> RankFact:
    return RankFact(rank=number, host="n1", cpu=0, cpus=cpus, clock="", libmpi="")


@pytest.mark.parametrize(
    ("shares", "cpus", "status"),
    [
        ((None, None), ("0", "1"), "hung"),
        ((3, 49), ("0", "1"), "hung"),
        ((3, 93), ("0", "1"), "hung"),
        ((95, 93), ("0", "1"), "not-run"),
        ((55, 66), ("0", "0"), "hung"),
        ((90, 91), ("0", "0"), "not-run"),
    ],
)
def test_a_hang_of_ranks_without_a_cpu_is_the_machine_s(
    shares: tuple[int | None, ...], cpus: tuple[str, ...], status: str
) -> None:
    """Ranks that share a CPU wait for each other. A rank that sleeps shows that the library hangs."""
    lines = [
        STUCK.format(rank) + (f"; without a CPU for {share:03d}%" if share is not None else "")
        for rank, share in enumerate(shares)
    ]
    ranks = [make_rank(number, each) for number, each in enumerate(cpus)]
    assert exit_causes.find_stuck_phase("\n".join(lines), ranks) == (status, WORDING)


def test_an_error_of_a_rank_counts_although_others_waited_for_a_cpu() -> None:
    error = STUCK.format(1).replace("a call does not return", "bcast returned: no memory") + "; without a CPU for 001%"
    log = f"{STUCK.format(0)}; without a CPU for 090%\n{error}\n"
    assert exit_causes.find_stuck_phase(log) == ("failed", WORDING)


@pytest.mark.parametrize("name", SIGNALS)
def test_the_signal_of_the_first_rank_is_found(name: str) -> None:
    code, signal = SIGNALS[name]
    assert exit_causes.signal_of(code, read_recording(name), ranks=2) == signal


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (0, "exit code 0"),
        (1, "exit code 1"),
        (-11, "exit code -11 (SIGSEGV)"),
        (139, "exit code 139 (SIGSEGV)"),
        (255, "exit code 255"),
        (None, "exit code None"),
    ],
)
def test_exit_codes_above_128_are_signals_as_in_shells(code: int | None, words: str) -> None:
    assert exit_causes.ending_text(code) == words


def test_a_signal_with_a_cause_of_its_own_is_explained() -> None:
    assert exit_causes.explain_log("", "mpich", 153) == WORDING
    assert exit_causes.explain_log("", "mpich", 139) == ""


@pytest.mark.parametrize("name", ["mpich-5-bus", "intel-mpi-bus"])
def test_a_rank_that_cannot_have_its_shared_memory_is_explained(name: str) -> None:
    assert "/dev/shm" in exit_causes.explain_log(read_recording(name), "mpich")


@pytest.mark.parametrize("why", ["No space left on device", "Disk quota exceeded", "File too large"])
def test_a_stream_that_cannot_be_written_has_the_reason_that_the_core_printed(why: str) -> None:
    log = f"rankbench-core: the stream cannot be written ({why})\nAbort(1) on node 0\n"
    assert (exit_causes.explain_stream_error(1, log), exit_causes.explain_log(log)) == (why, WORDING)
    assert exit_causes.explain_stream_error(4, "") == "is the disk full?"
    assert exit_causes.explain_stream_error(1, "Abort(1) on node 0\n") == ""


def test_an_unknown_log_has_no_explanation() -> None:
    assert exit_causes.explain_log("rank 0 is happy\n") == ""


@pytest.mark.parametrize(
    ("files", "killed"),
    [
        ({"proc/self/cgroup": "0::/job\n", "sys/fs/cgroup/job/memory.events": "oom 3\noom_kill 2\n"}, 2),
        ({"proc/self/cgroup": "4:memory:/a/b\n", "sys/fs/cgroup/memory/a/b/memory.oom_control": "oom_kill 5\n"}, 5),
        ({"proc/self/cgroup": "0::/\n", "proc/vmstat": "pgfault 7\noom_kill 1\n"}, 1),
        ({}, 0),
    ],
)
def test_processes_killed_for_lack_of_memory_are_counted(files: dict[str, str], killed: int, tmp_path: Path) -> None:
    for name, content in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    assert exit_causes.count_memory_kills(tmp_path) == killed


def test_memory_kills_and_full_disks_are_evidence() -> None:
    quiet = MachineCounters(killed_for_memory=3, free_bytes=1 << 30)
    assert exit_causes.evidence(quiet, quiet) == ""
    assert exit_causes.evidence(quiet, MachineCounters(killed_for_memory=5, free_bytes=0)) == WORDING


def test_free_space_is_that_of_the_results_disk(tmp_path: Path) -> None:
    assert exit_causes.count_kills(tmp_path).free_bytes > 0
