"""Finds folders that hold campaigns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from rankbench.model import RankbenchError


def list_campaigns(folders: Iterable[Path]) -> Iterator[Path]:
    """Yield the folders of campaigns at or directly below the given folders, each once.

    Raises RankbenchError if a folder has none.
    """
    known: set[Path] = set()
    for folder in folders:
        inside = (
            [folder]
            if (folder / "campaign.json").exists()
            else sorted(path.parent for path in folder.glob("*/campaign.json"))
        )
        if not inside:
            what = "no campaign, and none right below it (there is no campaign.json)"
            what = what if folder.is_dir() else "a file, not a folder" if folder.exists() else "no such folder"
            raise RankbenchError(f"{folder}: {what}; `rankbench run` makes campaigns")
        yield from (path for path in inside if path.resolve() not in known)
        known.update(path.resolve() for path in inside)
