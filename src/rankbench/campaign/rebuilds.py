"""Notices that a library was rebuilt, or configured anew, since earlier launches of a campaign.

Launches of both builds must never be values of one candidate: their mean is of neither, and their difference looks like
a slow change of the machine.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from rankbench.libraries import content
from rankbench.libraries.content import Change
from rankbench.model import Launch, LibraryFile, RankbenchError


class Rebuild(NamedTuple):
    """A candidate whose library is another one than in its last launch."""

    candidate: str
    block: int
    """The block of this launch."""
    change: Change


class KnownFiles:
    """The files of each candidate's library, by its launches. Launches from before files were reported have none."""

    def __init__(self, launches: Iterable[Launch] = ()) -> None:
        self._files: dict[str, list[LibraryFile]] = {}
        self._blocks: dict[str, int] = {}
        for launch in launches:
            self.add(launch)

    def add(self, launch: Launch) -> None:
        """Add a launch. Refused ones measured nothing, perhaps because of their files."""
        if content.is_known(launch):
            self._files[launch.candidate] = content.merge(self._files.get(launch.candidate, []), launch.files)
            self._blocks[launch.candidate] = launch.block

    def find_rebuild(self, candidate: str, library_files: Sequence[LibraryFile]) -> Rebuild | None:
        """Return what differs between these files of a candidate and those of its launches; None: nothing."""
        change = content.find_change(self._files.get(candidate, []), library_files)
        return Rebuild(candidate, self._blocks[candidate], change) if change else None


def require_same(folder: Path, known: KnownFiles, library_files: Mapping[str, Sequence[LibraryFile]]) -> None:
    """Refuse to continue a campaign if files of a candidate's library are not those of its launches.

    Raises RankbenchError if they are not.
    """
    rebuilds = [known.find_rebuild(candidate, files) for candidate, files in library_files.items()]
    if changed := [rebuild for rebuild in rebuilds if rebuild]:
        raise RankbenchError(f"{folder}: {explain(changed)}. {advise(folder)}")


def explain(rebuilds: Iterable[Rebuild]) -> str:
    """Return `dev was rebuilt since block 5 (libmpi.so.40)`, candidates with the same change together."""
    names: dict[tuple[int, str, bool], list[str]] = {}
    for candidate, block, change in rebuilds:
        names.setdefault((block, change.listed, change.rebuilt), []).append(candidate)
    clauses = []
    for (block, files, rebuilt), candidates in names.items():
        verb = "were" if len(candidates) > 1 else "was"
        what = "rebuilt" if rebuilt else "configured anew"
        clauses.append(f"{' and '.join(candidates)} {verb} {what} since block {block} ({files})")
    return "; ".join(clauses)


def advise(folder: Path) -> str:
    """Return how old and new libraries are compared."""
    new = next(
        path
        for path in (folder.with_name(f"{folder.name}-{number}") for number in range(2, 1 << 30))
        if not (path / "campaign.json").exists()
    )
    compare = shlex.join(["rankbench", "compare", str(folder), str(new)])
    return f"Start another campaign: --new; then compare old and new: {compare}"
