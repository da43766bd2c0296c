"""Locks between processes, also of several hosts that share a folder.

Where the file system has no locks, as Lustre without the mount option `flock`, a folder beside the file takes their
place: it is renamed into place with its owner's name in it, which only one process can do. A killed process leaves it,
and the next one takes it over if it can see that the owner is gone.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import platform
import shutil
import time
from pathlib import Path
from typing import IO, Self

from rankbench import files

NO_LOCKS = (errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK)
"""Errors of a file system without locks."""
POLL_S = 0.2
OWNER = "owner"


class Lock:
    """A lock that this process holds until it is closed or the process ends."""

    def __init__(self, file: IO[bytes], folder: Path | None = None) -> None:
        self._file = file
        self._folder = folder

    def close(self) -> None:
        """Release the lock."""
        if self._folder and _read_owner(self._folder) == _describe_owner():
            shutil.rmtree(self._folder, ignore_errors=True)
        self._folder = None
        self._file.close()

    def __enter__(self) -> Self:
        """Return the lock, which is held already."""
        return self

    def __exit__(self, *_: object) -> None:
        """Release the lock."""
        self.close()


def name_folder(path: Path) -> Path:
    """Return the folder that takes the place of a lock on a file."""
    return path.with_name(f"{path.name}.d")


def lock(path: Path, *, wait: bool = False) -> Lock:
    """Lock a file, which is made if need be. Raises BlockingIOError if another process holds it, and OSError.

    With `wait` it waits for the other process.
    """
    file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, files.MODE), "r+b")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        return Lock(file)
    except OSError as error:
        if error.errno not in NO_LOCKS:
            file.close()
            raise
    folder = name_folder(path)
    try:
        while not _take(folder):
            if not wait:
                raise BlockingIOError(errno.EWOULDBLOCK, f"if no process holds it any more: rm -r {folder}", str(path))
            time.sleep(POLL_S)
    except OSError:
        file.close()
        raise
    return Lock(file, folder)


def is_locked(path: Path) -> bool:
    """Return whether a process of this host, or of a host that shares its locks, holds the lock on a file."""
    try:
        with files.open_regular(path) as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError as error:  # It was never locked, or the file system has no locks.
        owner = _read_owner(name_folder(path)) if error.errno in NO_LOCKS else ""
        return bool(owner) and not _is_gone(owner)
    return False


def _take(folder: Path) -> bool:
    """Make the folder of a lock, unless another process holds it; return whether it was made."""
    folder_part = folder.with_name(f"{folder.name}.{os.getpid()}{files.PART}")
    shutil.rmtree(folder_part, ignore_errors=True)
    folder_part.mkdir()
    try:
        (folder_part / OWNER).write_text(f"{_describe_owner()}\n", encoding="utf-8")
        _remove_stale(folder)
        folder_part.rename(folder)
    except OSError as error:
        if error.errno in {errno.EEXIST, errno.ENOTEMPTY}:
            return False
        raise
    else:
        return True
    finally:
        shutil.rmtree(folder_part, ignore_errors=True)


def _remove_stale(folder: Path) -> None:
    """Remove the folder of a lock whose owner is gone. Between look and removal another process may have taken it."""
    owner = _read_owner(folder)
    if not owner or not _is_gone(owner):
        return
    aside = folder.with_name(f"{folder.name}.{os.getpid()}.stale{files.PART}")
    with contextlib.suppress(OSError):
        folder.rename(aside)
        if _read_owner(aside) != owner:
            aside.rename(folder)
    shutil.rmtree(aside, ignore_errors=True)


def _read_owner(folder: Path) -> str:
    """Return the line that describes the owner of a lock's folder; empty: there is none."""
    try:
        return (folder / OWNER).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _describe_owner() -> str:
    """Return the line that describes this process: host, its boot, namespace of processes, number and start."""
    number = os.getpid()
    return f"{platform.node()} {_read_boot()} {_read_namespace()} {number} {_read_start(number)}"


def _is_gone(owner: str) -> bool:
    """Return whether a process is known to have ended: of another host, or in another container, nothing is known."""
    words = owner.split()
    if len(words) != len(_describe_owner().split()) or words[0] != platform.node():
        return False
    if words[1] != _read_boot():
        return True
    return words[2] == _read_namespace() and _read_start(int(words[3])) != words[4]


def _read_boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return "-"


def _read_namespace() -> str:
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return "-"


def _read_start(number: int) -> str:
    """Return when a process began, in ticks after the boot; `-`: there is none, as numbers are used again."""
    try:
        return Path(f"/proc/{number}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return "-"
