"""The page by which launches that run at the same time measure in turn: see `core/turns.c`."""

from __future__ import annotations

import os
import secrets
import struct
from pathlib import Path

MOST_LAUNCHES = 64
PAGE_BYTES = 4096
DONE = struct.pack("=I", 2)
"""What is written where a launch's presence is told, once its processes have ended."""
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
        """Return what the core is told in the launch at a place."""
        return ["--turns", f"{place}/{self.launches}/{self.cases}:{self._path}"]

    def ended(self, place: int) -> None:
        """Let the turns of a launch whose processes have ended be passed over. Over hosts the others notice it."""
        if self._file is not None:
            os.pwrite(self._file, DONE, 4 + 4 * place)

    def close(self) -> None:
        """Give the memory back."""
        if self._file is not None:
            os.close(self._file)
            return
        for page in Path("/").glob(self._path.removeprefix("/").replace("%", "*")):  # Where not all launches came.
            page.unlink(missing_ok=True)
