"""Free resources of a machine that its launches share."""

from __future__ import annotations

import mmap
import os
import shutil
import subprocess
import threading
from pathlib import Path

import pytest

from rankbench.launch import resources
from rankbench.launch.resources import SHM, Monitor, find_shortage, format_amount, read_free


def write_file(root: Path, path: str, content: str) -> None:
    """Write a file below a recorded root."""
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content)


def test_free_resources_are_shared_memory_huge_pages_and_network_contexts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dev/shm").mkdir(parents=True)
    pages = "sys/kernel/mm/hugepages/hugepages-2048kB"
    for name, count in (("nr", 64), ("free", 40), ("resv", 8)):
        write_file(tmp_path, f"{pages}/{name}_hugepages", f"{count}\n")
    write_file(tmp_path, "sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages", "0\n")
    write_file(tmp_path, "sys/class/infiniband/hfi1_0/nfreectxts", "16\n")
    facts = os.statvfs(tmp_path)
    monkeypatch.setattr(os, "statvfs", lambda _: facts)  # Other processes write to this file system, too.
    free = read_free(tmp_path)
    assert free.pop(SHM) == facts.f_bavail * facts.f_frsize
    assert free == {"huge pages of 2048kB": 32, "network contexts of hfi1_0": 16}


def test_a_machine_without_these_resources_has_none(tmp_path: Path) -> None:
    assert read_free(tmp_path) == {}


def test_a_monitor_stores_the_greatest_use() -> None:
    amounts, read = [100, 40, 90], threading.Event()

    def read_next() -> dict[str, int]:
        if len(amounts) == 1:
            read.set()
        return {SHM: amounts.pop(0) if len(amounts) > 1 else amounts[0]}

    with Monitor(0.001, read_next) as monitor:
        assert read.wait(10)
    assert monitor.used == {SHM: 60}


def test_a_tenth_of_free_resources_must_remain() -> None:
    assert find_shortage({SHM: 90}, {SHM: 100}) == ""
    assert find_shortage({SHM: 91}, {SHM: 100}) == SHM
    assert find_shortage({"network contexts of hfi1_0": 5}, {SHM: 100}) == ""


def test_amounts_have_their_units() -> None:
    assert format_amount(SHM, 8 << 20) == "8.00 MiB of /dev/shm"
    assert format_amount("huge pages of 2048kB", 12) == "12 huge pages of 2048kB"


@pytest.mark.needs("fuser")
def test_shared_memory_of_ended_processes_is_named_with_the_command_that_removes_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Memory that a process maps is neither counted nor removed. Complaints about other users' processes are hidden."""
    fuser = tmp_path / "fuser"
    fuser.write_text(f'#!/bin/sh\necho "Cannot stat /proc/1/fd" >&2\nexec {shutil.which("fuser")} "$@"\n')
    fuser.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    pattern = f"rankbench-test-{os.getpid()}-*"
    monkeypatch.setattr(resources, "SEGMENTS", (pattern, "rankbench-none-*"))
    folder = Path(resources.SHM)
    used, abandoned = (folder / pattern.replace("*", name) for name in ("used", "left"))
    try:
        assert resources.describe_abandoned() == ""
        for path in (used, abandoned):
            path.write_bytes(bytes(1 << 20))
        with used.open("r+b") as file, mmap.mmap(file.fileno(), 1 << 20):
            assert resources.describe_abandoned().endswith("what removes it is printed by `rankbench doctor`")
            line = resources.describe_abandoned(removal=True)
            assert line.startswith("1 segment of shared memory (1.00 MiB) in /dev/shm is of MPI processes")
            command = ["bash", "-c", line.partition("remove it by: ")[2]]
            assert subprocess.run(command, check=True, capture_output=True).stderr == b""
            assert (used.exists(), abandoned.exists()) == (True, False)
    finally:
        for path in (used, abandoned):
            path.unlink(missing_ok=True)


def test_a_segment_that_is_removed_meanwhile_does_no_harm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read_facts = Path.lstat

    def remove_first(path: Path) -> os.stat_result:
        if path.name == "mpich_shm_1":
            path.unlink(missing_ok=True)
        return read_facts(path)

    monkeypatch.setattr(Path, "lstat", remove_first)
    monkeypatch.setattr(resources, "SEGMENTS", ("mpich_shm_*",))
    for number in (1, 2):
        (tmp_path / f"mpich_shm_{number}").touch()
    assert resources.find_abandoned(tmp_path) == [tmp_path / "mpich_shm_2"]
