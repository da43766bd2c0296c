from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from rankbench import launch
from rankbench.launch import host
from rankbench.model import UNKNOWN_MACHINE

CPUINFO = "processor\t: 0\nmodel name\t: Example 9000\nflags\t\t: fpu sse2 hypervisor avx\n"
STAT = "cpu  10 20 30 40 50 60 70 800 90 0\n"


def write_files(root: Path, files: dict[str, str]) -> Path:
    """Lay out a machine's files below a folder."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def make_topology(cpu: int, socket: int, core: int) -> dict[str, str]:
    """Return the two topology files of a CPU."""
    folder = f"sys/devices/system/cpu/cpu{cpu}/topology"
    return {f"{folder}/physical_package_id": f"{socket}\n", f"{folder}/core_id": f"{core}\n"}


def make_root(tmp_path: Path, **files: str) -> Path:
    """Return the root of a machine of two sockets with two cores of two hardware threads each."""
    cpus = [(0, 0, 0), (1, 0, 1), (2, 1, 0), (3, 1, 1), (4, 0, 0), (5, 0, 1), (6, 1, 0), (7, 1, 1)]
    tree = {name: text for cpu in cpus for name, text in make_topology(*cpu).items()}
    tree |= {"proc/cpuinfo": CPUINFO, "proc/meminfo": "MemTotal:  1024 kB\n", "proc/stat": STAT}
    tree |= {"etc/os-release": 'NAME=x\nPRETTY_NAME="Example Linux 7"\n', "sys/class/dmi/id/sys_vendor": "QEMU\n"}
    return write_files(tmp_path, tree | files)


@pytest.fixture(autouse=True)
def eight_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))


def test_hardware_threads_of_a_core_count_once(tmp_path: Path) -> None:
    facts = host.machine(make_root(tmp_path))
    assert (facts.sockets, facts.cores) == (2, 4)
    assert [cpu.core for cpu in facts.cpus] == [0, 1, 2, 3, 0, 1, 2, 3]


def test_other_facts_are_those_of_the_kernel(tmp_path: Path) -> None:
    facts = host.machine(make_root(tmp_path))
    assert (facts.cpu, facts.memory_bytes, facts.distribution, facts.virtual) == (
        "Example 9000",
        1024 * 1024,
        "Example Linux 7",
        "QEMU",
    )


def test_limits_of_a_container_count(tmp_path: Path) -> None:
    limits = {"sys/fs/cgroup/cpu.max": "300000 100000\n", "sys/fs/cgroup/memory.max": "4096\n"}
    facts = host.machine(make_root(tmp_path, **limits))
    assert (facts.cores, facts.memory_bytes) == (3, 4096)


def test_a_container_without_limits_has_the_whole_machine(tmp_path: Path) -> None:
    limits = {"sys/fs/cgroup/cpu.max": "max 100000\n", "sys/fs/cgroup/memory.max": "max\n"}
    facts = host.machine(make_root(tmp_path, **limits))
    assert (facts.cores, facts.memory_bytes) == (4, 1024 * 1024)


def test_a_machine_without_any_information_has_one_core(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    facts = host.machine(tmp_path)
    assert (facts.sockets, facts.cores, facts.virtual) == (1, 1, "")


def test_stolen_time_is_in_seconds(tmp_path: Path) -> None:
    assert launch.stolen_s(make_root(tmp_path)) == 800 / os.sysconf("SC_CLK_TCK")


def test_this_machine_has_cores_and_memory() -> None:
    facts = launch.machine()
    assert facts.cores >= facts.sockets >= 1
    assert facts.memory_bytes > 1 << 20
    assert facts.host


@pytest.mark.parametrize(
    ("cores", "online", "why"),
    [
        (1, 2, "this process may use 1 of 2 CPUs (taskset, cgroup, container or srun -c 1)"),
        (1, 1, "this machine has 1 CPU"),
        (2, 2, ""),
    ],
)
def test_one_core_is_explained_by_its_limit(cores: int, online: int, why: str) -> None:
    text = host.explain_one_core(msgspec.structs.replace(UNKNOWN_MACHINE, cores=cores), online)
    assert text == (f"{why}: two ranks need two; to share one: --placements 1x2" if why else "")
