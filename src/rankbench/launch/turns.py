"""The page by which launches that run at the same time on this machine measure in turn: see `core/turns.c`."""

from __future__ import annotations

import os
import struct

MOST_LAUNCHES = 64
PAGE_BYTES = 4096
DONE = struct.pack("=I", 2)
"""What is written where a launch's presence is told, once its processes have ended."""


class Turns:
    """Memory that is shared with the ranks of so many launches, until it is closed."""

    def __init__(self, launches: int) -> None:
        self.launches = launches
        self._file = os.memfd_create("rankbench-turns", os.MFD_CLOEXEC)
        os.ftruncate(self._file, PAGE_BYTES)

    def arguments(self, place: int) -> list[str]:
        """Return what the core is told in the launch at a place."""
        return ["--turns", f"{place}/{self.launches}:/proc/{os.getpid()}/fd/{self._file}"]

    def ended(self, place: int) -> None:
        """Let the turns of a launch whose processes have ended be passed over."""
        os.pwrite(self._file, DONE, 4 + 4 * place)

    def close(self) -> None:
        """Give the memory back."""
        os.close(self._file)
