"""Files within a campaign's folder: whole or not there at all, and never written through a symbolic link.

A campaign may come from somebody else, and a link in it would lead what is written to any file of the user's.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from rankbench.model import RankbenchError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PART = ".part"
CHECK = ".check-"
"""Prefix of the folders in which candidates are checked."""
MODE = 0o666
"""Mode of new files, before the umask."""


@contextlib.contextmanager
def write_atomically(path: Path) -> Iterator[Path]:
    """Yield a new file beside a path; without an error it is renamed to the path. Raises OSError."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}{PART}")
    temporary.unlink(missing_ok=True)
    os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, MODE))
    try:
        yield temporary
        temporary.rename(path)
    finally:
        temporary.unlink(missing_ok=True)


def write(path: Path, content: str | bytes) -> None:
    """Write a file, text as UTF-8. Raises OSError."""
    with write_atomically(path) as temporary:
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)


def append(path: Path, content: bytes) -> None:
    """Add to a file. Raises OSError, also where it is a symbolic link."""
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, MODE)
    with os.fdopen(handle, "ab") as file:
        file.write(content)


def make_folder(path: Path) -> Path:
    """Make a folder, if need be, and return it. Raises OSError, and RankbenchError where it is a symbolic link."""
    refuse_links([path])
    path.mkdir(parents=True, exist_ok=True)
    return path


def refuse_links(paths: Iterable[Path]) -> None:
    """Raise RankbenchError where one of the paths is a symbolic link."""
    for path in paths:
        if path.is_symlink():
            raise RankbenchError(f"{path}: is a symbolic link, and a campaign has none; remove it")


def remove_leftovers(campaign: Path) -> None:
    """Remove from a campaign's folder, which this process holds locked, what killed processes left unfinished."""
    for path in campaign.glob(f"{CHECK}*"):
        shutil.rmtree(path, ignore_errors=True)
    for path in [*campaign.glob(f"*{PART}"), *campaign.glob(f"*/*{PART}")]:
        if not writer_lives(path):
            path.unlink(missing_ok=True)


def writer_lives(part: Path) -> bool:
    """Return whether the process that writes an unfinished file is still there: reports are written without a lock."""
    number = part.name.removesuffix(PART).rpartition(".")[2]
    return number.isascii() and number.isdigit() and Path("/proc", number).exists()
