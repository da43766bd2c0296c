"""Folders that appear complete or not at all: filled beside their place, then renamed."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from rankbench.model import RankbenchError

if TYPE_CHECKING:
    from collections.abc import Iterator

PREFIX = ".new-"
STALE_S = 86_400
"""Age from which a folder that was never put is that of a killed process."""


@contextlib.contextmanager
def beside(parent: Path) -> Iterator[Path]:
    """Yield a new folder in `parent`, made if need be, whose name starts with a dot; it is removed in the end."""
    try:
        parent.mkdir(parents=True, exist_ok=True)
        remove_stale(parent)
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
    except OSError as error:
        raise RankbenchError(
            f"{parent}: cannot be written ({error.strerror}); choose a home by RANKBENCH_HOME"
        ) from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remove_stale(parent: Path) -> None:
    """Remove the folders that killed processes have left in `parent`."""
    for folder in parent.glob(f"{PREFIX}*"):
        with contextlib.suppress(FileNotFoundError):
            if time.time() - folder.stat().st_mtime > STALE_S:
                shutil.rmtree(folder, ignore_errors=True)


def sync(folder: Path) -> None:
    """Bring the files of a folder to the disk, so that a power cut after `put` leaves none of them empty."""
    for path in folder.iterdir():
        with path.open("rb") as file:
            os.fsync(file.fileno())


def put(folder: Path, place: Path) -> None:
    """Rename a folder to its place. Where another process was first, its equal result stays."""
    try:
        folder.rename(place)
    except OSError:
        if not place.is_dir():
            raise
