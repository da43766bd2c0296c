"""Recorded messages of launchers about failed launches, and the causes found in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankbench.campaign import exit_causes
from rankbench.campaign.exit_causes import MachineCounters
from rankbench.model import NO_CPU, RankFact

RECORDED = Path(__file__).parents[2] / "recorded"
OWN_MPIEXEC = 'launch by the library\'s own mpiexec: launcher = "mpiexec"'
SIGNALS = {
    "endings/mpich-5-segv": (11, "SIGSEGV"),
    "endings/mpich-5-segv-nodes": (255, "SIGSEGV"),
    "endings/openmpi-5-segv": (139, "SIGSEGV"),
    "endings/openmpi-5-segv-nodes": (139, "SIGSEGV"),
    "endings/intel-mpi-segv-nodes": (255, "SIGSEGV"),
    "endings/openmpi-5-abort": (134, "SIGABRT"),
    "endings/intel-mpi-segv": (255, "SIGSEGV"),
    "endings/intel-mpi-killed": (255, "SIGKILL"),
    "endings/intel-mpi-left": (255, ""),
    "endings/mvapich2-segv": (1, "SIGSEGV"),
    "endings/srun-segv": (139, "SIGSEGV"),
    "endings/srun-exit-code": (139, "SIGSEGV"),
    "endings/srun-out-of-memory": (137, "SIGKILL"),
    "endings/srun-time": (0, "SIGTERM"),
    "failures/mpich-5-killed": (9, "SIGKILL"),
    "failures/openmpi-5-killed": (137, "SIGKILL"),
}
MEANINGS = {
    "loader-newer-binary": (
        "the binary calls ompi_mpi_instance_null, which this library lacks; compile with the older of the two: "
        "binary_of"
    ),
    "openmpi-4-firewall": (
        "ranks do not reach each other over the network; let a firewall pass all ports between the nodes"
    ),
    "openmpi-4-prefix": ("Open MPI does not find its own files; set OPAL_PREFIX to its folder, or unset it"),
    "openmpi-4-prefix-launcher": ("Open MPI does not find its own files; set OPAL_PREFIX to its folder, or unset it"),
    "srun-no-plugin": (f"this Slurm has no plugin mpi/pmix; `srun --mpi=list` names those it has, or {OWN_MPIEXEC}"),
    "srun-node-failure": "node n2 was lost; run again to continue with the remaining nodes",
    "srun-openmpi-no-pmi": (
        'Open MPI was built without PMI, which srun needs; launch by its own mpiexec: launcher = "mpiexec"'
    ),
    "srun-openmpi-singletons": (
        f"srun and the library have no common process interface, so each rank started its own world; {OWN_MPIEXEC}"
    ),
    "srun-out-of-memory": (
        "the memory limit of the scheduler or the container is reached; use fewer ranks or smaller sizes"
    ),
    "srun-time": "the job reached its time limit; request more: time in [job]",
    "ssh-host-key": "ssh does not know a host's key; accept it once by hand: ssh HOST true",
    "ssh-name": "the name of host nowhere does not resolve here; fix the name, or add it to /etc/hosts",
    "ssh-no-route": "host n2 cannot be reached; fix the network or the firewall, or use other hosts: --hosts",
    "ssh-password": "ssh asks for a password; give the hosts your key: ssh-copy-id HOST",
    "ssh-refused": ("host n2 refuses ssh; let sshd run there, or name another remote shell: --remote-shell"),
    "ssh-timeout": "host n2 does not answer; is it up, and does a firewall let ssh through?",
    "system-shm": "the memory disk /dev/shm is full; make it larger, or use fewer ranks",
}


def read_recording(name: str) -> str:
    return (RECORDED / f"{name}.txt").read_text("utf-8")


def test_every_recorded_ending_is_read() -> None:
    files = {f"endings/{path.stem}" for path in (RECORDED / "endings").iterdir()}
    assert files == {name for name in (*SIGNALS, *(f"endings/{name}" for name in MEANINGS)) if "endings" in name}


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("mpich-5-segv", "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Segmentation fault (signal 11)"),
        ("mpich-5-segv-nodes", "PID 55 RUNNING AT n2; EXIT CODE: 11"),
        ("intel-mpi-segv-nodes", "RANK 1 PID 61 RUNNING AT n2; KILLED BY SIGNAL: 11 (Segmentation fault)"),
        (
            "openmpi-5-segv-nodes",
            "prterun noticed that process rank 1 with PID 82 on node n2 exited on; signal 11 (Segmentation fault).",
        ),
        ("srun-segv", "srun: error: n2: task 1: Segmentation fault (core dumped)"),
        ("srun-exit-code", "srun: error: n2: tasks 1,3: Exited with exit code 139"),
        ("ssh-refused", ""),
    ],
)
def test_the_line_of_a_signal_is_quoted_and_not_later_ones(name: str, line: str) -> None:
    assert exit_causes.quote_signal(read_recording(f"endings/{name}")) == line


@pytest.mark.parametrize(("code", "name"), [(6, "SIGABRT"), (11, "SIGSEGV"), (139, "SIGSEGV"), (1, ""), (2, "")])
def test_the_code_in_a_banner_of_hydra_may_be_a_signal(code: int, name: str) -> None:
    log = read_recording("endings/mpich-5-segv-nodes").replace("EXIT CODE: 11", f"EXIT CODE: {code}")
    assert exit_causes.signal_of(255, log) == name


STUCK = "rankbench-core: stuck: rank {}, case 3 (bcast, blocking, 8 bytes) is timed: a call does not return"


def make_rank(number: int, cpus: str) -> RankFact:
    return RankFact(rank=number, host="n1", cpu=0, cpus=cpus, clock="", libmpi="")


@pytest.mark.parametrize(
    ("shares", "cpus", "status", "reason"),
    [
        ((None, None), ("0", "1"), "hung", "a call does not return"),
        ((3, 49), ("0", "1"), "hung", "a call does not return"),
        ((3, 93), ("0", "1"), "hung", "a call does not return"),
        ((95, 93), ("0", "1"), "not-run", f"{NO_CPU}: each rank waited for one for 93% of the time or more"),
        ((55, 66), ("0", "0"), "hung", "a call does not return"),
        ((90, 91), ("0", "0"), "not-run", f"{NO_CPU}: each rank waited for one for 90% of the time or more"),
    ],
)
def test_a_hang_of_ranks_without_a_cpu_is_the_machine_s(
    shares: tuple[int | None, ...], cpus: tuple[str, ...], status: str, reason: str
) -> None:
    """Ranks that share a CPU wait for each other. A rank that sleeps shows that the library hangs."""
    lines = [
        STUCK.format(rank) + (f"; without a CPU for {share:03d}%" if share is not None else "")
        for rank, share in enumerate(shares)
    ]
    ranks = [make_rank(number, each) for number, each in enumerate(cpus)]
    assert exit_causes.find_stuck_phase("\n".join(lines), ranks) == (status, f"{reason} (the case is timed)")


def test_an_error_of_a_rank_counts_although_others_waited_for_a_cpu() -> None:
    error = STUCK.format(1).replace("a call does not return", "bcast returned: no memory") + "; without a CPU for 001%"
    log = f"{STUCK.format(0)}; without a CPU for 090%\n{error}\n"
    assert exit_causes.find_stuck_phase(log) == (
        "failed", "rank 1 alone: bcast returned: no memory (the case is timed)",
    )  # fmt: skip


@pytest.mark.parametrize("name", SIGNALS)
def test_the_signal_of_the_first_rank_is_found(name: str) -> None:
    code, signal = SIGNALS[name]
    assert exit_causes.signal_of(code, read_recording(name), ranks=2) == signal


@pytest.mark.parametrize("name", MEANINGS)
def test_failures_outside_the_library_are_explained(name: str) -> None:
    assert exit_causes.explain_log(read_recording(f"endings/{name}")) == MEANINGS[name]


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
    assert exit_causes.explain_log("", 153) == "a file reached the greatest size allowed; raise `ulimit -f`"
    assert exit_causes.explain_log("", 139) is None


@pytest.mark.parametrize(
    ("why", "meaning"),
    [
        ("No space left on device", "a disk is full; make room and run again to continue"),
        ("Disk quota exceeded", "the disk quota is used up; make room and run again to continue"),
        ("File too large", "a file reached the greatest size allowed; raise `ulimit -f`"),
    ],
)
def test_a_stream_that_cannot_be_written_has_the_reason_that_the_core_printed(why: str, meaning: str) -> None:
    log = f"rankbench-core: the stream cannot be written ({why})\nAbort(1) on node 0\n"
    assert (exit_causes.explain_stream_error(1, log), exit_causes.explain_log(log)) == (why, meaning)
    assert exit_causes.explain_stream_error(4, "") == "is the disk full?"
    assert exit_causes.explain_stream_error(1, "Abort(1) on node 0\n") == ""


def test_an_unknown_log_has_no_explanation() -> None:
    assert exit_causes.explain_log("rank 0 is happy\n") is None


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
    assert exit_causes.evidence(quiet, MachineCounters(killed_for_memory=5, free_bytes=0)) == (
        "the kernel ended 2 processes for lack of memory; use fewer ranks or smaller sizes; "
        "the disk of the results is full; make room and run again to continue"
    )


def test_free_space_is_that_of_the_results_disk(tmp_path: Path) -> None:
    assert exit_causes.count_kills(tmp_path).free_bytes > 0
