"""Files that are written whole or not at all: within a campaign's folder, and where a user wants them.

A campaign may come from somebody else, and a link in it would lead what is written to any file of the user's: nothing
in its folder is written through a symbolic link. What a user names may be anything that can be written, also a link or
a device, and stays what it is.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from rankbench.model import RankbenchError

PART = ".part"
CHECK = ".check-"
"""Prefix of the folders in which candidates are checked."""
MODE = 0o666
"""Mode of new files, before the umask."""
IRREPLACEABLE = (errno.EACCES, errno.EPERM, errno.EBUSY, errno.EXDEV)
"""Errors of a rename over a file that can still be written: its folder cannot, or it is a mount point."""


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


def open_regular(path: Path) -> IO[bytes]:
    """Open a file for reading. Raises OSError, also where it is a device or FIFO, which might never end."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "it is no regular file", str(path))
    return os.fdopen(handle, "rb")


def read_regular(path: Path) -> bytes:
    """Return the content of a file. Raises OSError as `open_regular` does."""
    with open_regular(path) as file:
        return file.read()


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


def check_place(place: Path) -> None:
    """Raise OSError where no file can be: at a folder, in one that does not exist, behind a link to itself."""
    if stat.S_ISDIR(_find_mode(place)):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(place))
    if not is_special(place):
        Path(os.path.realpath(place)).parent.stat()


def find_facts(paths: Iterable[Path]) -> dict[Path, os.stat_result]:
    """Return what is known of files that other programs may remove at any moment: of those that are still there.

    Links are not followed.
    """
    facts = {}
    for path in paths:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            facts[path] = path.lstat()
    return facts


def is_special(place: Path) -> bool:
    """Return whether a path leads to a device, FIFO or socket. Raises OSError where it leads nowhere."""
    mode = _find_mode(place)
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _find_mode(place: Path) -> int:
    """Return the mode of what a path leads to; of what is not there, that of a regular file."""
    try:
        return place.stat().st_mode
    except FileNotFoundError:
        return stat.S_IFREG


@contextlib.contextmanager
def make_staging_folder(place: Path | None = None) -> Iterator[Path]:
    """Yield a folder for files that `put` takes to a place: beside it, where that can be. It is removed at the end."""
    beside = Path(os.path.realpath(place)).parent if place and not is_special(place) else None
    near = beside if beside and os.access(beside, os.W_OK) else None
    with tempfile.TemporaryDirectory(suffix=PART, prefix=".rankbench-", dir=near) as folder:
        yield Path(folder)


def put(written: Path, place: Path) -> None:
    """Put a file where a user wants it. Raises OSError.

    A regular file is replaced at once and keeps its mode and owner, of a symbolic link its target; a device or FIFO is
    opened and written.
    """
    if is_special(place):
        _copy(written, place)
        return
    target = Path(os.path.realpath(place))
    with contextlib.suppress(FileNotFoundError):
        _copy_owner_and_mode(target, written)
    try:
        written.replace(target)
    except OSError as error:
        if error.errno not in IRREPLACEABLE:
            raise
        _copy(written, target)


def _copy(written: Path, place: Path) -> None:
    with written.open("rb") as source, place.open("wb") as into:
        shutil.copyfileobj(source, into)


def _copy_owner_and_mode(old: Path, new: Path) -> None:
    facts = old.stat()
    with contextlib.suppress(PermissionError):
        os.chown(new, facts.st_uid, facts.st_gid)
    new.chmod(stat.S_IMODE(facts.st_mode))
