"""Properties of this machine that disturb measurements: the observation, why it matters, and what to do.

Pure functions over a root folder, so that machines can be recorded. What is well is not spoken of.
"""

from __future__ import annotations

import os
import re
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from rankbench.launch import host
from rankbench.launch.topology import parse_list, read_text
from rankbench.plan.placing import format_ranges
from rankbench.quantities import format_size, spell_count

LOOK_S = 0.5
"""Time for which other processes are observed."""
BUSY_SHARE = 0.05
"""Share of a CPU below which a process does not matter."""
STOLEN_SHARE = 0.01
SMALL_SHM_BYTES = 256 << 20
LEAST_STACK_BYTES = 1 << 20
LEAST_FILES = 1024
NAMED_NEIGHBOURS = 3
NEW = ("", 0.0)
"""A process that did not run at the first reading."""
GOOD_CLOCKS = {"", "tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "timebase"}
"""Time sources that programs read without a system call."""
TICK_HZ = os.sysconf("SC_CLK_TCK")
ROOT = Path("/")


class Hindrance(NamedTuple):
    """One property that disturbs measurements."""

    observation: str
    matters: str
    advice: str

    def __str__(self) -> str:
        """Return the hindrance as one line."""
        return f"{self.observation}: {self.matters}; {self.advice}"


class Usage(NamedTuple):
    """CPU time used until some moment."""

    at_s: float
    processes: Mapping[int, tuple[str, float]]
    """Command and CPU time in seconds, by process."""
    stolen_s: float


def check_machine(root: Path = ROOT, look_s: float = LOOK_S) -> list[Hindrance]:
    """Return everything on this machine that disturbs measurements; it observes other processes for a moment."""
    before = read_usage(root)
    time.sleep(look_s)
    return [*list_static(root), *check_load(before, read_usage(root), os.getpid()), *check_name(socket.gethostname())]


def list_static(root: Path) -> Iterator[Hindrance]:
    """Yield the hindrances that are properties of the system, not of its load."""
    for check in CHECKS:
        yield from check(root)


# --- processors -------------------------------------------------------------------------------------------------------


def check_governor(root: Path) -> Iterator[Hindrance]:
    """Yield CPUs whose frequency follows the load."""
    folder = root / "sys/devices/system/cpu"
    cpus: dict[str, set[int]] = {}
    for path in folder.glob("cpu[0-9]*/cpufreq/scaling_governor"):
        cpus.setdefault(read_text(path).strip(), set()).add(int(path.parts[-3][3:]))
    for name in sorted(cpus.keys() - {"performance", ""}):
        yield Hindrance(
            f"CPUs {format_ranges(cpus[name])} have the frequency governor {name}",
            "their frequency follows the load, so that values depend on what ran before",
            "as root: cpupower frequency-set -g performance",
        )


def check_turbo(root: Path) -> Iterator[Hindrance]:
    """Yield that turbo is on: CPUs may run faster for a while."""
    folder = root / "sys/devices/system/cpu"
    intel, other = read_text(folder / "intel_pstate/no_turbo").strip(), read_text(folder / "cpufreq/boost").strip()
    switch = "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo" if intel == "0" else ""
    switch = switch or ("echo 0 > /sys/devices/system/cpu/cpufreq/boost" if other == "1" else "")
    if switch:
        yield Hindrance(
            "turbo is on",
            "how fast a core is depends on how many others work and how warm they are",
            f"as root: {switch}",
        )


def check_threads(root: Path) -> Iterator[Hindrance]:
    """Yield that cores have several hardware threads."""
    if read_text(root / "sys/devices/system/cpu/smt/active").strip() == "1":
        yield Hindrance(
            "cores have several hardware threads (SMT)",
            "other threads on a core take half of it from a rank",
            "as root: echo off > /sys/devices/system/cpu/smt/control, or run nothing else",
        )


def check_quota(root: Path) -> Iterator[Hindrance]:
    """Yield a CPU quota of this container."""
    most, _, period = read_text(root / "sys/fs/cgroup/cpu.max").strip().partition(" ")
    old = root / "sys/fs/cgroup/cpu"
    if not most:
        most, period = read_text(old / "cpu.cfs_quota_us").strip(), read_text(old / "cpu.cfs_period_us").strip()
    cpus = len(find_usable_cpus(root))
    if most.isdigit() and period.isdigit() and int(most) < cpus * int(period):
        yield Hindrance(
            f"this container may use {int(most) / int(period):.3g} of {cpus} CPUs",
            "ranks are stopped within a call when the quota is used up",
            "give it whole CPUs (--cpuset-cpus instead of --cpus), or use fewer ranks",
        )


def find_usable_cpus(root: Path) -> set[int]:
    """Return the CPUs that this process may use."""
    allowed = re.search(r"^Cpus_allowed_list:\s*(\S+)", read_text(root / "proc/self/status"), re.MULTILINE)
    return parse_list(allowed[1]) if allowed else set()


def check_virtual(root: Path) -> Iterator[Hindrance]:
    """Yield that the machine is virtual."""
    if name := host.virtual(root, read_text(root / "proc/cpuinfo")):
        yield Hindrance(
            f"this is a virtual machine ({name})",
            "its CPUs may share cores, move and be taken away, and distances between them change",
            "measure on a physical machine, or run many blocks and read the intervals",
        )


# --- memory and limits ------------------------------------------------------------------------------------------------


def check_huge_pages(root: Path) -> Iterator[Hindrance]:
    """Yield that the kernel uses transparent huge pages for all memory."""
    if "[always]" in read_text(root / "sys/kernel/mm/transparent_hugepage/enabled"):
        yield Hindrance(
            "transparent huge pages are always made",
            "the kernel rearranges memory while it is measured, and large messages differ from launch to launch",
            "as root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
        )


def check_balancing(root: Path) -> Iterator[Hindrance]:
    """Yield that the kernel moves memory between NUMA nodes."""
    several = len(list((root / "sys/devices/system/node").glob("node[0-9]*"))) > 1
    if several and read_text(root / "proc/sys/kernel/numa_balancing").strip() == "1":
        yield Hindrance(
            "NUMA balancing is on",
            "pages are unmapped and moved between memories while they are measured",
            "as root: sysctl kernel.numa_balancing=0",
        )


def check_shared_memory(root: Path) -> Iterator[Hindrance]:
    """Yield that /dev/shm, which ranks of a node use to communicate, is small."""
    match = re.search(r"^\S+ /dev/shm \S+ \S*\bsize=(\d+)([kmg]?)", read_text(root / "proc/mounts"), re.MULTILINE)
    size = int(match[1]) << {"": 0, "k": 10, "m": 20, "g": 30}[match[2]] if match else SMALL_SHM_BYTES
    if size < SMALL_SHM_BYTES:
        yield Hindrance(
            f"the memory disk /dev/shm holds {format_size(size)} only",
            "libraries put their shared memory there, and crash or become slow if it is full",
            "make it larger: mount -o remount,size=2g /dev/shm, or --shm-size=2g of the container",
        )


def check_limits(root: Path) -> Iterator[Hindrance]:
    """Yield limits of this process that ranks inherit."""
    table = read_text(root / "proc/self/limits")
    yield from (
        hindrance
        for check in (check_locked_memory, check_stack, check_core_files, check_file_size, check_open_files)
        for hindrance in check(root, table)
    )


def find_limit(table: str, name: str) -> float:
    """Return a soft limit; infinity: none."""
    match = re.search(rf"^{re.escape(name)}\s+(\d+)", table, re.MULTILINE)
    return float(match[1]) if match else float("inf")


def check_locked_memory(root: Path, table: str) -> Iterator[Hindrance]:
    """Yield a small limit of locked memory on machines with a network that pins memory."""
    most = find_limit(table, "Max locked memory")
    if most < float("inf") and list((root / "sys/class/infiniband").glob("*")):
        yield Hindrance(
            f"only {format_size(int(most))} of memory may be locked",
            "InfiniBand needs more, and libraries fall back to slower transports or do not start",
            "ulimit -l unlimited, for all nodes in /etc/security/limits.conf",
        )


def check_stack(_root: Path, table: str) -> Iterator[Hindrance]:
    """Yield a small limit of the stack."""
    if (most := find_limit(table, "Max stack size")) < LEAST_STACK_BYTES:
        yield Hindrance(
            f"the stack is limited to {format_size(int(most))}", "libraries crash in deep calls", "ulimit -s 8192"
        )


def check_core_files(_root: Path, table: str) -> Iterator[Hindrance]:
    """Yield that a crash writes a core file."""
    if find_limit(table, "Max core file size") > 0 and "Max core file size" in table:
        yield Hindrance(
            "a crash writes a core file",
            "of every rank, with all its memory, which fills the disk and takes time",
            "ulimit -c 0",
        )


def check_file_size(_root: Path, table: str) -> Iterator[Hindrance]:
    """Yield a limit of file sizes."""
    if (most := find_limit(table, "Max file size")) < float("inf"):
        yield Hindrance(
            f"no file may be larger than {format_size(int(most))}",
            "the samples of a long launch may not fit",
            "ulimit -f unlimited",
        )


def check_open_files(_root: Path, table: str) -> Iterator[Hindrance]:
    """Yield a small limit of open files."""
    if (most := find_limit(table, "Max open files")) < LEAST_FILES:
        yield Hindrance(
            f"only {most:.0f} files may be open at once",
            "launchers hold several for each rank",
            "ulimit -n 4096",
        )


def check_clock_source(root: Path) -> Iterator[Hindrance]:
    """Yield that reading the clock needs a system call."""
    name = read_text(root / "sys/devices/system/clocksource/clocksource0/current_clocksource").strip()
    if name not in GOOD_CLOCKS:
        yield Hindrance(
            f"the kernel takes its time from {name}",
            "reading a clock costs about a microsecond, and the kernel may consider the processor's counter unstable",
            "boot with clocksource=tsc, if the processor's counter is stable",
        )


def check_load_average(root: Path) -> Iterator[Hindrance]:
    """Yield a high load of the last minute, even if its processes are invisible or have ended."""
    average, cpus = float((read_text(root / "proc/loadavg").split() or ["0"])[0]), len(find_usable_cpus(root))
    if cpus and average > cpus / 2:
        yield Hindrance(
            f"the load average is {average:.1f} on {spell_count(cpus, 'CPU')}",
            "other processes ran here in the last minute; if they still do, ranks share CPUs with them",
            "wait, or measure where nothing else runs",
        )


CHECKS: tuple[Callable[[Path], Iterator[Hindrance]], ...] = (
    *(check_governor, check_turbo, check_threads, check_quota, check_virtual),
    *(check_huge_pages, check_balancing, check_shared_memory, check_limits, check_clock_source, check_load_average),
)


# --- other processes --------------------------------------------------------------------------------------------------


def read_usage(root: Path) -> Usage:
    """Return the CPU time used so far."""
    processes = dict(filter(None, map(read_process, (root / "proc").glob("[0-9]*"))))
    up = read_text(root / "proc/uptime").split()
    return Usage(float(up[0]) if up else 0.0, processes, host.stolen_s(root))


def read_process(folder: Path) -> tuple[int, tuple[str, float]] | None:
    """Return a process's command and CPU time; None: it has ended."""
    match = re.match(r"\d+ \((.*)\) \S (?:\S+ ){10}(\d+) (\d+)", read_text(folder / "stat"), re.DOTALL)
    return (int(folder.name), (match[1], (int(match[2]) + int(match[3])) / TICK_HZ)) if match else None


def check_load(before: Usage, after: Usage, own_pid: int) -> Iterator[Hindrance]:
    """Yield which other processes used the CPUs between two readings."""
    passed_s = after.at_s - before.at_s
    if passed_s <= 0:
        return
    shares = Counter(
        {
            pid: (used_s - before.processes.get(pid, NEW)[1]) / passed_s
            for pid, (_, used_s) in after.processes.items()
            if pid != own_pid
        }
    )
    neighbours = [(pid, share) for pid, share in shares.most_common() if share > BUSY_SHARE]
    if neighbours:
        named = [f"{after.processes[pid][0]} (pid {pid}, {share:.0%})" for pid, share in neighbours[:NAMED_NEIGHBOURS]]
        more = [f"{len(neighbours) - NAMED_NEIGHBOURS} more"] * (len(neighbours) > NAMED_NEIGHBOURS)
        yield Hindrance(
            f"other processes use the CPUs: {', '.join(named + more)}",
            "ranks lose their cores within a call",
            "end them, or request the node exclusively",
        )
    stolen = (after.stolen_s - before.stolen_s) / passed_s
    if stolen > STOLEN_SHARE:
        yield Hindrance(
            f"the hypervisor takes {stolen:.0%} of a CPU away",
            "ranks are stopped within a call, by no process of this machine",
            "measure when the host is quiet, or with dedicated CPUs",
        )


def check_name(name: str) -> Iterator[Hindrance]:
    """Yield that the machine's own name does not resolve."""
    try:
        socket.getaddrinfo(name, None)
    except OSError:
        yield Hindrance(
            f"this host's own name, {name}, does not resolve",
            "launchers wait for it, or do not start",
            f"add it to /etc/hosts: 127.0.0.1 {name}",
        )
