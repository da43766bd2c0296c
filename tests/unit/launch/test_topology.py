"""CPUs of a machine: from lstopo, and from /sys if lstopo is missing or fails. Both give the same."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from rankbench.launch import topology
from rankbench.model import Cpu


def lay_out(root: Path, files: dict[str, str]) -> Path:
    """Write files below a folder."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"{text}\n")
    return root


def make_cpu(number: int, socket: int, core_id: int, siblings: str, l3: str) -> dict[str, str]:
    """Return the files in /sys of a CPU, which shares its L1 and L2 within its core only."""
    folder = f"sys/devices/system/cpu/cpu{number}"
    caches = [("1", "Data", siblings), ("1", "Instruction", siblings), ("2", "Unified", siblings), ("3", "Unified", l3)]
    of_caches = {
        f"{folder}/cache/index{index}/{name}": text
        for index, cache in enumerate(caches)
        for name, text in zip(("level", "type", "shared_cpu_list"), cache, strict=True)
    }
    return of_caches | {
        f"{folder}/topology/physical_package_id": str(socket),
        f"{folder}/topology/core_id": str(core_id),
        f"{folder}/topology/thread_siblings_list": siblings,
        f"{folder}/node{socket}/cpulist": "",
    }


def lay_out_two_sockets(root: Path) -> Path:
    """Write two sockets of two cores of two threads; core ids are equal on both, as on real machines."""
    rows = [(cpu, cpu // 2 % 2, cpu % 2, f"{cpu % 4},{cpu % 4 + 4}", "0-1,4-5" if cpu % 4 < 2 else "2-3,6-7")
            for cpu in range(8)]  # fmt: skip
    return lay_out(root, {name: text for row in rows for name, text in make_cpu(*row).items()})


def allow_cpus(cpus: set[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: cpus)


def test_cpus_of_the_kernel_have_cores_sockets_and_caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    allow_cpus(set(range(8)), monkeypatch)
    cpus = topology.cpus(lay_out_two_sockets(tmp_path))
    assert [cpu.number for cpu in cpus] == list(range(8))
    assert cpus[5] == Cpu(number=5, core=1, socket=0, numa=0, caches={"L2": 1, "L3": 0}, ordinal=3, core_ordinal=1)
    assert cpus[6] == Cpu(number=6, core=2, socket=1, numa=1, caches={"L2": 2, "L3": 2}, ordinal=5, core_ordinal=2)


def test_cpus_outside_the_affinity_mask_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    allow_cpus({4, 6}, monkeypatch)
    assert topology.cpus(lay_out_two_sockets(tmp_path)) == [
        Cpu(number=4, core=4, socket=0, numa=0, caches={"L2": 4, "L3": 4}, ordinal=1, core_ordinal=0),
        Cpu(number=6, core=6, socket=1, numa=1, caches={"L2": 6, "L3": 6}, ordinal=5, core_ordinal=2),
    ]


def test_cpus_of_other_containers_do_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    allow_cpus({4, 6}, monkeypatch)
    root = lay_out(lay_out_two_sockets(tmp_path), {"sys/fs/cgroup/cpuset.cpus.effective": "4,6"})
    assert [(cpu.number, cpu.ordinal, cpu.core_ordinal) for cpu in topology.cpus(root)] == [(4, 0, 0), (6, 1, 1)]


def test_an_old_kernel_reports_cores_by_their_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    allow_cpus(set(range(8)), monkeypatch)
    root = lay_out_two_sockets(tmp_path)
    for path in root.glob("sys/devices/system/cpu/cpu*/topology/thread_siblings_list"):
        path.unlink()
    assert [cpu.core for cpu in topology.cpus(root)] == [0, 1, 2, 3, 0, 1, 2, 3]


def test_cpus_without_topology_share_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    allow_cpus({0, 3}, monkeypatch)
    assert topology.cpus(tmp_path) == [
        Cpu(number=0, core=0, socket=0, numa=0, ordinal=0, core_ordinal=0),
        Cpu(number=3, core=3, socket=0, numa=0, ordinal=1, core_ordinal=1),
    ]


def test_a_socket_without_a_number_is_socket_0(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    allow_cpus({0}, monkeypatch)
    assert [cpu.socket for cpu in topology.cpus(lay_out(tmp_path, make_cpu(0, -1, 0, "0", "0")))] == [0]


def test_lstopo_and_sys_agree_on_this_machine() -> None:
    text = topology.ask_lstopo()
    assert text, "lstopo is not here; on Debian: apt-get install hwloc-nox"
    usable = os.sched_getaffinity(0)
    by_hwloc = topology.assemble(topology.parse_xml(text), usable)
    assert by_hwloc == topology.assemble(topology.read_system(Path("/"), usable), usable)
    assert by_hwloc == topology.cpus()
    assert {cpu.number for cpu in by_hwloc} == usable


@pytest.mark.parametrize(
    "program", ["exit 1", "echo '<topology>'", "echo lstopo: no", "echo '<topology/>'", "kill -9 $$"]
)
def test_sys_is_read_if_lstopo_fails(program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = topology.cpus()
    lstopo = tmp_path / "lstopo"
    lstopo.write_text(f"#!/bin/sh\n{program}\n")
    lstopo.chmod(lstopo.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert topology.cpus() == usual


def test_sys_is_read_without_lstopo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = topology.cpus()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert topology.ask_lstopo() == ""
    assert topology.cpus() == usual


def test_the_description_of_another_machine_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = topology.cpus()
    monkeypatch.setenv("HWLOC_SYNTHETIC", "pack:4 core:8 pu:1")
    assert topology.cpus() == usual


@pytest.mark.parametrize(
    ("cpuset", "cpus"),
    [
        ("0x00000005", {0, 2}),
        ("0x00000001,0x80000000", {31, 32}),
        ("0x00000001,,0x00000002", {1, 64}),
        ("0xf...f,0x00000003", {0, 1, 32, 33, 64}),
        ("0xf...f", {0, 1, 2, 31, 32, 33, 64}),
        ("0x0", set()),
        ("", set()),
    ],
)
def test_cpu_sets_are_words_of_32_bits(cpuset: str, cpus: set[int]) -> None:
    assert topology.parse_cpuset(cpuset, [0, 1, 2, 31, 32, 33, 64]) == cpus


@pytest.mark.parametrize(("text", "numbers"), [("0-3,8", {0, 1, 2, 3, 8}), ("5", {5}), ("", set())])
def test_cpu_lists_of_the_kernel_are_read(text: str, numbers: set[int]) -> None:
    assert topology.parse_list(text) == numbers
