"""Resources that all launches on a machine share: space in /dev/shm, huge pages, network contexts.

Pure functions over a root folder, but for the thread that reads what is free while launches run.
"""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Self

from rankbench import files
from rankbench.launch import supervisor
from rankbench.launch.topology import read_text
from rankbench.quantities import format_memory

ROOT = Path("/")
SHM = "/dev/shm"  # noqa: S108 - only its free space is read
MEMORY = "memory for messages"
SEGMENTS = ("mpich_shm_*", "sm_segment.*", "vader_segment.*", "psm*_shm*", "Intel_MPI_*")
"""Names of the files that MPI libraries make in /dev/shm."""
SPARE = 0.1
"""Share of the free amount that launches must leave."""

Amounts = dict[str, int]
"""Amounts by the name of a resource: bytes of /dev/shm, else counts."""


def read_free(root: Path = ROOT) -> Amounts:
    """Return the free amount of each resource that this machine reports."""
    return dict(amount for find in (_find_shm, _find_huge_pages, _find_contexts) for amount in find(root))


def _find_shm(root: Path) -> Iterator[tuple[str, int]]:
    with suppress(OSError):
        facts = os.statvfs(root / SHM.removeprefix("/"))
        yield SHM, facts.f_bavail * facts.f_frsize


def _find_huge_pages(root: Path) -> Iterator[tuple[str, int]]:
    """Yield free, unclaimed huge pages, by size."""
    for folder in sorted((root / "sys/kernel/mm/hugepages").glob("hugepages-*")):
        total, free, claimed = (_read_number(folder / f"{name}_hugepages") for name in ("nr", "free", "resv"))
        if total:
            yield f"huge pages of {folder.name.removeprefix('hugepages-')}", max(0, free - claimed)


def _find_contexts(root: Path) -> Iterator[tuple[str, int]]:
    """Yield the free contexts of Omni-Path adapters; each rank takes one."""
    for path in sorted((root / "sys/class/infiniband").glob("*/nfreectxts")):
        yield f"network contexts of {path.parent.name}", _read_number(path)


def _read_number(path: Path) -> int:
    content = read_text(path).strip()
    return int(content) if content.isdigit() else 0


def format_amount(name: str, amount: float) -> str:
    """Return an amount of a resource in words, such as `8 MiB of /dev/shm`."""
    return f"{format_memory(amount)} of {name}" if name in {SHM, MEMORY} else f"{amount:.0f} {name}"


def find_abandoned(folder: Path = Path(SHM)) -> list[Path]:
    """Return the shared memory of MPI libraries that is this user's and that no process here maps."""
    facts = files.find_facts(path for pattern in SEGMENTS for path in folder.glob(pattern))
    users = {path for path, fact in facts.items() if fact.st_uid == os.getuid() and stat.S_ISREG(fact.st_mode)}
    mapped = {
        Path(path)
        for process in Path("/proc").glob("[0-9]*")
        for path, _ in (supervisor.list_mapped(int(process.name)) if users else ())
    }
    return sorted(users - mapped)


def describe_abandoned(folder: Path = Path(SHM), *, removal: bool = False) -> str:
    """Return a line on shared memory that ended MPI processes left behind; empty: there is none.

    Args:
        folder: where it is looked for.
        removal: name the command that removes it, instead of the one that prints that command.
    """
    sizes = [fact.st_size for fact in files.find_facts(find_abandoned(folder)).values()]
    if not sizes:
        return ""
    count, are, them = ("1 segment", "is", "it") if len(sizes) == 1 else (f"{len(sizes)} segments", "are", "them")
    line = f"{count} of shared memory ({format_memory(sum(sizes))}) in {folder} {are} of MPI processes that have ended"
    if not removal:
        return f"{line}; what removes {them} is printed by `rankbench doctor`"
    names = " -o ".join(f"-name '{pattern}'" for pattern in SEGMENTS)
    unused = "! -exec fuser -s {} \\; -delete 2>/dev/null"  # It complains about each process of another user.
    command = f"find {folder} -maxdepth 1 -user {os.getuid()} \\( {names} \\) {unused}"
    return f"{line}; unless a container shares the folder, remove {them} by: {command}"


class Monitor:
    """Context manager that reads the free amounts repeatedly and keeps the least of each resource."""

    def __init__(self, period_s: float, read: Callable[[], Amounts] = read_free) -> None:
        self._period_s, self._read = period_s, read
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self.before: Amounts = {}
        self.least: Amounts = {}

    def __enter__(self) -> Self:
        """Start reading."""
        self.before = self._read()
        self.least = dict(self.before)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Read a last time and stop."""
        self._end.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._end.wait(self._period_s):
            self.least = {name: min(amount, self.least.get(name, amount)) for name, amount in self._read().items()}

    @property
    def used(self) -> Amounts:
        """The largest amount of each resource that was used meanwhile."""
        return {name: max(0, amount - self.least.get(name, amount)) for name, amount in self.before.items()}


def find_shortage(needed: Mapping[str, float], free: Mapping[str, int]) -> str:
    """Return the first resource of which more is needed than is available; empty: none."""
    return next((name for name, amount in needed.items() if amount > (1 - SPARE) * free.get(name, amount * 2)), "")
