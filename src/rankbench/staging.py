"""Folders that appear complete or not at all: filled beside their place, then renamed."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from rankbench.model import RankbenchError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def beside(parent: Path) -> Iterator[Path]:
    """Yield a new folder in `parent`, made if need be, whose name starts with a dot; it is removed in the end."""
    try:
        parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=".new-", dir=parent))
    except OSError as error:
        raise RankbenchError(
            f"{parent}: cannot be written ({error.strerror}); choose a home by RANKBENCH_HOME"
        ) from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def put(folder: Path, place: Path) -> None:
    """Rename a folder to its place. Where another process was first, its equal result stays."""
    try:
        folder.rename(place)
    except OSError:
        if not place.is_dir():
            raise
