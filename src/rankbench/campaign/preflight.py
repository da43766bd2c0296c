"""Before block 1: which candidates work where they are to be launched. Only those that do are launched."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from rankbench import launch
from rankbench.campaign import doctor
from rankbench.model import CaseStatus

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from rankbench.build import Build
    from rankbench.campaign.sharing import Uses
    from rankbench.launch.resources import Amounts
    from rankbench.model import Candidate, Library, Placement

LOOK_S = 0.01
"""Time between two looks at what checks use of the machine's resources. Nothing is measured meanwhile."""
SCARCE = 0.5
"""The part of what is free from which on checks are made one by one."""
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
    used: Amounts
    """What its launch took of each resource."""

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
) -> tuple[dict[tuple[str, str], Refusal], Uses]:
    """Check each candidate in each placement; return those that fail, and what those that work use of the machine.

    Both are by the names of candidate and placement; a twin is its original.
    """
    checks = list(looks(candidates, placements, libraries, builds, folder))
    failed = {(look.candidate.name, look.placement.name): look.refusal for look in checks if not look.check.works}
    uses = {(look.candidate.name, look.placement.name): look.used for look in checks if look.check.works}
    refused = {
        (candidate.name, placement.name): failed[original, placement.name]
        for candidate in candidates
        for placement in placements
        if ((original := candidate.control_of or candidate.name), placement.name) in failed
    }
    return refused, uses


def looks(
    candidates: Sequence[Candidate],
    placements: Sequence[Placement],
    libraries: Mapping[str, Library],
    builds: Mapping[str, Build],
    folder: Path,
) -> Iterator[Seen]:
    """Check each candidate that is no twin in each placement, and yield what was found."""
    for placement in placements:
        originals = [candidate for candidate in candidates if not candidate.control_of]
        for at, batch in enumerate(batches(originals, placement)):
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
            checks = check_alone_if_scarce(trials)
            yield from (
                Seen(candidate, placement, check, read_output(trial.output), used)
                for candidate, trial, (check, used) in zip(batch, trials, checks, strict=True)
            )


def check_alone_if_scarce(trials: Sequence[doctor.Trial]) -> list[tuple[doctor.Check, Amounts]]:
    """Check at the same time, and again one by one where the machine has too little for that; with what each used."""
    with launch.Monitor(LOOK_S) as monitor:
        checks = doctor.check_together(trials)
    if len(trials) > 1 and any(used > SCARCE * monitor.before[name] for name, used in monitor.used.items()):
        return [alone for trial in trials for alone in check_alone_if_scarce([trial])]
    return [(check, {name: used // len(trials) for name, used in monitor.used.items()}) for check in checks]


def batches(candidates: Sequence[Candidate], placement: Placement) -> list[Sequence[Candidate]]:
    """Return which candidates are checked at the same time: some where a rank has a CPU of this machine, else one.

    On nodes a scheduler or ssh may be in the way of several, and more ranks than CPUs wait for each other for long.
    """
    here = not placement.hosts and placement.launcher == "mpiexec" and placement.ranks <= (os.cpu_count() or 1)
    count = AT_ONCE if here else 1
    return [candidates[at : at + count] for at in range(0, len(candidates), count)]


def read_output(output: Path) -> str:
    """Return what a check printed."""
    return output.read_text(encoding="utf-8", errors="replace") if output.exists() else ""
