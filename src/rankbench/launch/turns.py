"""The page by which launches that run at the same time measure in turn: see `core/sync/turns.c`."""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
import secrets
import struct
from pathlib import Path

MOST_LAUNCHES = 64
PAGE_BYTES = 4096
TURN, PRESENCE, CHANGES, SIGNS = 0, 4, 260, 780
"""Where numbers of four bytes stand in the page; of presence and signs one for each launch."""
FUTEX = {"x86_64": 202, "aarch64": 98, "riscv64": 98, "ppc64le": 221, "s390x": 238}
"""The number of the system call."""
FUTEX_WAKE, ALL = 1, 0x7FFFFFFF
DONE = struct.pack("=I", 2)
"""What is written where a launch's presence is reported, once its processes have ended."""
ON_EACH_HOST = "/dev/shm/rankbench-turns-{}-%"  # noqa: S108 - the core makes it, for its user alone, and removes it
"""Where the ranks keep a page of each host; the core puts the host's name in."""


class Turns:
    """Memory that is shared with the ranks of so many launches, until it is closed; over hosts it is the ranks' own.

    The order of turns is balanced over the visits of so many cases, those that a launch leaves out included.
    """

    def __init__(self, launches: int, cases: int, *, over_hosts: bool = False) -> None:
        self.launches, self.cases = launches, cases
        self._file = None
        self._path = ON_EACH_HOST.format(secrets.token_hex(8))
        if not over_hosts:
            self._file = os.memfd_create("rankbench-turns", os.MFD_CLOEXEC)
            os.ftruncate(self._file, PAGE_BYTES)
            self._path = f"/proc/{os.getpid()}/fd/{self._file}"

    def arguments(self, place: int) -> list[str]:
        """Return the options by which the core of the launch at a place takes its turns."""
        return ["--turns", f"{place}/{self.launches}/{self.cases}:{self._path}"]

    def heartbeat(self, place: int) -> tuple[Path, int] | None:
        """Return where the launch at a place shows that it lives while it waits. Over hosts its stream changes."""
        return (Path(self._path), SIGNS + 4 * place) if self._file is not None else None

    def end_launch(self, place: int) -> None:
        """Let the turns of a launch whose processes have ended be passed over. Over hosts the others notice it.

        One that died wakes those who wait. What falls asleep at that moment notices it at its next look.
        """
        if self._file is None or os.pread(self._file, len(DONE), PRESENCE + 4 * place) == DONE:
            return
        os.pwrite(self._file, DONE, PRESENCE + 4 * place)
        with mmap.mmap(self._file, PAGE_BYTES) as page:
            for word in (TURN, CHANGES):
                wake(page, word)

    def close(self) -> None:
        """Give the memory back."""
        if self._file is not None:
            os.close(self._file)
            return
        for page in Path("/").glob(self._path.removeprefix("/").replace("%", "*")):  # Where not all launches came.
            page.unlink(missing_ok=True)


def wake(page: mmap.mmap, place: int) -> None:
    """Wake all that wait for a number of shared memory to change; futex(2). Nothing where the call is not known."""
    if number := FUTEX.get(platform.machine()):
        word = ctypes.c_uint32.from_buffer(page, place)
        ctypes.CDLL(None).syscall(number, ctypes.byref(word), FUTEX_WAKE, ALL, None, None, 0)
