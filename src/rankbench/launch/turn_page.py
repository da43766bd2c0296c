"""The shared page by which simultaneous launches measure in turn (`core/sync/turns.c`)."""

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
"""Offsets of four-byte numbers in the page; presence and signs of life have one for each launch."""
FUTEX = {"x86_64": 202, "aarch64": 98, "riscv64": 98, "ppc64le": 221, "s390x": 238}
"""Number of the system call futex."""
FUTEX_WAKE, ALL = 1, 0x7FFFFFFF
DONE = struct.pack("=I", 2)
"""Value of a launch's presence once its processes have ended."""
ON_EACH_HOST = "/dev/shm/rankbench-turns-{}-%"  # noqa: S108 - the core makes it for its user only, and removes it
"""Path of the page on each host, made by the ranks; the core inserts the host's name."""


class Turns:
    """Memory shared with the ranks of a number of launches, until closed. Over hosts, the ranks make it themselves.

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
        """Return where a waiting launch counts its signs of life. Over hosts, its stream changes instead."""
        return (Path(self._path), SIGNS + 4 * place) if self._file is not None else None

    def end_launch(self, place: int) -> None:
        """Skip the turns of a launch whose processes have ended. Over hosts the other launches notice it themselves.

        Waiting launches are woken. A launch that falls asleep at that moment notices it at its next look.
        """
        if self._file is None or os.pread(self._file, len(DONE), PRESENCE + 4 * place) == DONE:
            return
        os.pwrite(self._file, DONE, PRESENCE + 4 * place)
        with mmap.mmap(self._file, PAGE_BYTES) as page:
            for word in (TURN, CHANGES):
                wake(page, word)

    def close(self) -> None:
        """Free the memory."""
        if self._file is not None:
            os.close(self._file)
            return
        for page in Path("/").glob(self._path.removeprefix("/").replace("%", "*")):  # Left if a launch did not start.
            page.unlink(missing_ok=True)


def wake(page: mmap.mmap, place: int) -> None:
    """Wake all that wait for a change of a number in shared memory; futex(2). No effect without the call."""
    if number := FUTEX.get(platform.machine()):
        word = ctypes.c_uint32.from_buffer(page, place)
        ctypes.CDLL(None).syscall(number, ctypes.byref(word), FUTEX_WAKE, ALL, None, None, 0)
