"""Hindrances on recorded machines: a machine without any, and single hindrances."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest
from wording import WORDING

from rankbench.launch import machine_checks
from rankbench.launch.machine_checks import Hindrance, Usage, check_load, list_static

CPU = "sys/devices/system/cpu"
LIMITS = """Limit                     Soft Limit           Hard Limit           Units
Max file size             unlimited            unlimited            bytes
Max stack size            8388608              unlimited            bytes
Max core file size        0                    unlimited            bytes
Max open files            4096                 524288               files
Max locked memory         unlimited            unlimited            bytes
"""
QUIET = {
    f"{CPU}/cpu0/cpufreq/scaling_governor": "performance\n",
    f"{CPU}/cpu1/cpufreq/scaling_governor": "performance\n",
    f"{CPU}/intel_pstate/no_turbo": "1\n",
    f"{CPU}/smt/active": "0\n",
    "sys/fs/cgroup/cpu.max": "max 100000\n",
    "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
    "sys/devices/system/node/node0/meminfo": "",
    "sys/devices/system/node/node1/meminfo": "",
    "sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc\n",
    "proc/sys/kernel/numa_balancing": "0\n",
    "proc/cpuinfo": "model name\t: Xeon\nflags\t\t: fpu tsc\n",
    "proc/mounts": "tmpfs /dev/shm tmpfs rw,nosuid,nodev 0 0\n",
    "proc/self/limits": LIMITS,
    "proc/self/status": "Name:\tpython\nCpus_allowed_list:\t0-1\n",
    "proc/loadavg": "0.10 0.20 0.30 1/200 4711\n",
}
"""A machine without hindrances."""
HINDRANCES: dict[str, tuple[dict[str, str], str]] = {
    "governor": (
        {f"{CPU}/cpu1/cpufreq/scaling_governor": "powersave\n"},
        "CPUs 1 have the frequency governor powersave: their frequency follows the load, so that values depend on "
        "what ran before; as root: cpupower frequency-set -g performance",
    ),
    "turbo of Intel": (
        {f"{CPU}/intel_pstate/no_turbo": "0\n"},
        "turbo is on: how fast a core is depends on how many others work and how warm they are; as root: "
        "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo",
    ),
    "boost of others": (
        {f"{CPU}/intel_pstate/no_turbo": "", f"{CPU}/cpufreq/boost": "1\n"},
        "turbo is on: how fast a core is depends on how many others work and how warm they are; as root: "
        "echo 0 > /sys/devices/system/cpu/cpufreq/boost",
    ),
    "threads": (
        {f"{CPU}/smt/active": "1\n"},
        "cores have several hardware threads (SMT): other threads on a core take half of it from a rank; as root: "
        "echo off > /sys/devices/system/cpu/smt/control, or run nothing else",
    ),
    "quota": (
        {"sys/fs/cgroup/cpu.max": "150000 100000\n"},
        "this container may use 1.5 of 2 CPUs: ranks are stopped within a call when the quota is used up; "
        "give it whole CPUs (--cpuset-cpus instead of --cpus), or use fewer ranks",
    ),
    "quota of control groups 1": (
        {
            "sys/fs/cgroup/cpu.max": "",
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "50000\n",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
        },
        "this container may use 0.5 of 2 CPUs: ranks are stopped within a call when the quota is used up; "
        "give it whole CPUs (--cpuset-cpus instead of --cpus), or use fewer ranks",
    ),
    "virtual machine": (
        {"proc/cpuinfo": "flags\t\t: fpu hypervisor\n", "sys/class/dmi/id/sys_vendor": "QEMU\n"},
        "this is a virtual machine (QEMU): its CPUs may share cores, move and be taken away, and distances between "
        "them change; measure on a physical machine, or run many blocks and read the intervals",
    ),
    "huge pages": (
        {"sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never\n"},
        "transparent huge pages are always made: the kernel rearranges memory while it is measured, and large messages "
        "differ from launch to launch; as root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
    ),
    "balancing": (
        {"proc/sys/kernel/numa_balancing": "1\n"},
        "NUMA balancing is on: pages are unmapped and moved between memories while they are measured; as root: "
        "sysctl kernel.numa_balancing=0",
    ),
    "shared memory": (
        {"proc/mounts": "shm /dev/shm tmpfs rw,nosuid,nodev,noexec,relatime,size=65536k 0 0\n"},
        "the memory disk /dev/shm holds 64 MiB only: libraries put their shared memory there, and crash or become "
        "slow if it is full; make it larger: mount -o remount,size=2g /dev/shm, or --shm-size=2g of the container",
    ),
    "locked memory": (
        {
            "sys/class/infiniband/mlx5_0/node_type": "1: CA\n",
            "proc/self/limits": LIMITS.replace("memory         unlimited ", "memory         65536     "),
        },
        "only 64 KiB of memory may be locked: InfiniBand needs more, and libraries fall back to slower transports or "
        "do not start; ulimit -l unlimited, for all nodes in /etc/security/limits.conf",
    ),
    "stack": (
        {"proc/self/limits": LIMITS.replace("8388608", "65536  ")},
        "the stack is limited to 64 KiB: libraries crash in deep calls; ulimit -s 8192",
    ),
    "core files": (
        {"proc/self/limits": LIMITS.replace("core file size        0        ", "core file size        unlimited")},
        "a crash writes a core file: of every rank, with all its memory, which fills the disk and takes time; "
        "ulimit -c 0",
    ),
    "file size": (
        {"proc/self/limits": LIMITS.replace("file size             unlimited", "file size             1048576  ")},
        "no file may be larger than 1 MiB: the samples of a long launch may not fit; ulimit -f unlimited",
    ),
    "open files": (
        {"proc/self/limits": LIMITS.replace("files            4096", "files            256 ")},
        "only 256 files may be open at once: launchers hold several for each rank; ulimit -n 4096",
    ),
    "clock": (
        {"sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet\n"},
        "the kernel takes its time from hpet: reading a clock costs about a microsecond, and the kernel may consider "
        "the processor's counter unstable; boot with clocksource=tsc, if the processor's counter is stable",
    ),
    "load": (
        {"proc/loadavg": "1.70 0.20 0.30 3/200 4711\n"},
        "the load average is 1.7 on 2 CPUs: other processes ran here in the last minute; if they still do, ranks share "
        "CPUs with them; wait, or measure where nothing else runs",
    ),
}
IDLE_USAGE = Usage(100.0, {7: ("python3", 5.0)}, 0.0)


def write_files(root: Path, files: dict[str, str]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return root


def test_a_well_configured_machine_has_no_hindrance(tmp_path: Path) -> None:
    assert list(list_static(write_files(tmp_path, QUIET))) == []


def test_a_machine_without_information_has_no_hindrance(tmp_path: Path) -> None:
    assert list(list_static(tmp_path)) == []


@pytest.mark.parametrize("name", HINDRANCES)
def test_each_hindrance_is_one_line(name: str, tmp_path: Path) -> None:
    files, line = HINDRANCES[name]
    assert list(map(str, list_static(write_files(tmp_path, QUIET | files)))) == [line]


def test_processes_that_use_cpus_are_named_with_pid_and_command() -> None:
    then = Usage(100.5, {7: ("python3", 5.4), 8: ("stress", 0.5), 9: ("a b", 0.1), 10: ("idle", 0.0)}, 0.0)
    assert list(map(str, check_load(IDLE_USAGE, then, own_pid=7))) == WORDING


def test_the_busiest_processes_are_named() -> None:
    then = Usage(101.0, {pid: (f"job{pid}", pid / 100) for pid in (10, 20, 30, 40, 50)}, 0.0)
    assert [hindrance.observation for hindrance in check_load(IDLE_USAGE, then, own_pid=7)] == [
        "other processes use the CPUs: job50 (pid 50, 50%), job40 (pid 40, 40%), job30 (pid 30, 30%), 2 more"
    ]


def test_stolen_time_is_reported() -> None:
    then = Usage(100.5, IDLE_USAGE.processes, 0.1)
    assert list(map(str, check_load(IDLE_USAGE, then, own_pid=7))) == WORDING


def test_an_idle_machine_has_no_hindrance() -> None:
    assert list(check_load(IDLE_USAGE, Usage(100.5, IDLE_USAGE.processes, 0.0), own_pid=7)) == []
    assert list(check_load(IDLE_USAGE, IDLE_USAGE, own_pid=7)) == []


def test_process_names_may_contain_parentheses(tmp_path: Path) -> None:
    numbers = " ".join(["0"] * 10 + ["150", "50"] + ["0"] * 30)
    files = {"proc/42/stat": f"42 (a) b (c) S {numbers}\n", "proc/uptime": "12.5 20.0\n", "proc/43/stat": ""}
    usage = machine_checks.read_usage(write_files(tmp_path, files))
    assert usage == Usage(12.5, {42: ("a) b (c", 200 / machine_checks.TICK_HZ)}, 0.0)


def test_a_host_name_that_does_not_resolve_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def raise_unknown(*_: Any) -> Any:
        raise socket.gaierror

    monkeypatch.setattr(socket, "getaddrinfo", raise_unknown)
    assert list(map(str, machine_checks.check_name("node1"))) == WORDING


def test_this_machine_can_be_checked() -> None:
    assert all(
        isinstance(hindrance, Hindrance) and all(hindrance) for hindrance in machine_checks.check_machine(look_s=0.05)
    )
