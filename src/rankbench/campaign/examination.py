"""Before block 1: which candidates work where they are to be launched. Only those that do are launched."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rankbench.campaign import doctor

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from rankbench.build import Build
    from rankbench.model import Candidate, Library, Placement


class Refusal(NamedTuple):
    """Why a candidate is not launched in a placement, and what its check printed."""

    reason: str
    log: str


def examine(
    candidates: Sequence[Candidate],
    placements: Sequence[Placement],
    libraries: Mapping[str, Library],
    builds: Mapping[str, Build],
    folder: Path,
) -> dict[tuple[str, str], Refusal]:
    """Check each candidate in each placement; return those that fail, by the names of both. A twin is its original."""
    refused: dict[tuple[str, str], Refusal] = {}
    for candidate in candidates:
        for placement in placements:
            original = candidate.control_of, placement.name
            if candidate.control_of and original in refused:
                refused[candidate.name, placement.name] = refused[original]
            elif not candidate.control_of and (refusal := tried(candidate, placement, libraries, builds, folder)):
                refused[candidate.name, placement.name] = refusal
    return refused


def tried(
    candidate: Candidate,
    placement: Placement,
    libraries: Mapping[str, Library],
    builds: Mapping[str, Build],
    folder: Path,
) -> Refusal | None:
    """Return why a candidate does not work in a placement, or nothing."""
    library, build = libraries[candidate.library], builds[candidate.library]
    check = doctor.check(library, build, placement, folder, candidate.settings)
    output = folder / "output.log"
    log = output.read_text(encoding="utf-8", errors="replace") if output.exists() else ""
    return None if check.works else Refusal(check.reason, log)
