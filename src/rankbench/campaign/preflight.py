"""Before block 1: which candidates work where they are to be launched. Only those that do are launched."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from rankbench.campaign import doctor
from rankbench.model import CaseStatus

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from rankbench.build import Build
    from rankbench.model import Candidate, Library, Placement

AT_ONCE = 4
"""Checks at the same time."""


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
        (look.candidate.name, look.placement.name): look.refusal
        for look in looks(candidates, placements, libraries, builds, folder)
        if not look.check.works
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
    for placement in placements:
        asked = [candidate for candidate in candidates if not candidate.control_of]
        for at, batch in enumerate(batches(asked, placement)):
            trials = [
                doctor.Trial(
                    libraries[candidate.library],
                    builds[candidate.library],
                    placement,
                    folder / placement.name / f"{at}-{place}",
                    candidate.settings,
                )
                for place, candidate in enumerate(batch)
            ]
            checks = doctor.check_together(trials)
            yield from (
                Seen(candidate, placement, check, printed(trial.output))
                for candidate, trial, check in zip(batch, trials, checks, strict=True)
            )


def batches(candidates: Sequence[Candidate], placement: Placement) -> list[Sequence[Candidate]]:
    """Return which candidates are checked at the same time: some where a rank has a CPU of this machine, else one.

    On nodes a scheduler or ssh may be in the way of several, and more ranks than CPUs wait for each other for long.
    """
    here = not placement.hosts and placement.launcher == "mpiexec" and placement.ranks <= (os.cpu_count() or 1)
    count = AT_ONCE if here else 1
    return [candidates[at : at + count] for at in range(0, len(candidates), count)]


def printed(output: Path) -> str:
    """Return what a check printed."""
    return output.read_text(encoding="utf-8", errors="replace") if output.exists() else ""
