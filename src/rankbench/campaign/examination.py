"""Before block 1: which candidates work where they are to be launched. Only those that do are launched."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rankbench.campaign import doctor
from rankbench.model import CaseStatus

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from rankbench.build import Build
    from rankbench.model import Candidate, Library, Placement


class Refusal(NamedTuple):
    """Why a candidate is not launched in a placement, and what its check printed."""

    reason: str
    log: str
    status: CaseStatus = CaseStatus.REFUSED
    """Of its cases."""


class Seen(NamedTuple):
    """What the check of a candidate in a placement found, and what it printed."""

    candidate: Candidate
    placement: Placement
    check: doctor.Check
    log: str

    @property
    def refusal(self) -> Refusal:
        """Return it as the reason not to launch the candidate there."""
        status = CaseStatus.NOT_AS_ASKED if self.check.elsewhere else CaseStatus.REFUSED
        return Refusal(self.check.reason, self.log, status)


def examine(
    candidates: Sequence[Candidate],
    placements: Sequence[Placement],
    libraries: Mapping[str, Library],
    builds: Mapping[str, Build],
    folder: Path,
) -> dict[tuple[str, str], Refusal]:
    """Check each candidate in each placement; return those that fail, by the names of both. A twin is its original."""
    failed = {
        (seen.candidate.name, seen.placement.name): seen.refusal
        for seen in looks(candidates, placements, libraries, builds, folder)
        if not seen.check.works
    }
    return {
        (candidate.name, placement.name): failed[original, placement.name]
        for candidate in candidates
        for placement in placements
        if ((original := candidate.control_of or candidate.name), placement.name) in failed
    }


def looks(
    candidates: Sequence[Candidate],
    placements: Sequence[Placement],
    libraries: Mapping[str, Library],
    builds: Mapping[str, Build],
    folder: Path,
) -> Iterator[Seen]:
    """Check each candidate that is no twin in each placement, and yield what was found."""
    output = folder / "output.log"
    for candidate in candidates:
        for placement in placements if not candidate.control_of else ():
            output.unlink(missing_ok=True)
            library, build = libraries[candidate.library], builds[candidate.library]
            check = doctor.check(library, build, placement, folder, candidate.settings)
            log = output.read_text(encoding="utf-8", errors="replace") if output.exists() else ""
            yield Seen(candidate, placement, check, log)
