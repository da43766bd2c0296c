"""Folders that appear complete or not at all: filled under a temporary name, then renamed."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from rankbench.model import RankbenchError

PREFIX = ".new-"
STALE_S = 86_400
"""Age above which an unpublished folder belongs to a killed process."""


class UnwritableHomeError(RankbenchError):
    """The folder for libraries and builds cannot be written."""

    def __init__(self, folder: Path, error: OSError) -> None:
        super().__init__(f"{folder}: cannot be written ({error.strerror}); choose another folder by RANKBENCH_HOME")


@contextlib.contextmanager
def make_temporary_folder(parent: Path) -> Iterator[Path]:
    """Yield a new hidden folder in `parent`, which is created if necessary; the new folder is removed at the end."""
    try:
        parent.mkdir(parents=True, exist_ok=True)
        remove_stale(parent)
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
    except OSError as error:
        raise UnwritableHomeError(parent, error) from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remove_stale(parent: Path) -> None:
    """Remove the folders of killed processes in `parent`."""
    for folder in parent.glob(f"{PREFIX}*"):
        with contextlib.suppress(FileNotFoundError):
            if time.time() - folder.stat().st_mtime > STALE_S:
                shutil.rmtree(folder, ignore_errors=True)


def sync(folder: Path) -> None:
    """Sync the files of a folder to disk, so that a power cut after `publish` leaves none of them empty."""
    for path in folder.iterdir():
        with path.open("rb") as file:
            os.fsync(file.fileno())


def publish(folder: Path, place: Path) -> None:
    """Rename a folder to its place. If another process was first, its equal result stays."""
    try:
        folder.rename(place)
    except OSError:
        if not place.is_dir():
            raise
