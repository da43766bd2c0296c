"""Before block 1: which candidates work where they are to be launched. Only those that do are launched."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from rankbench import launch, libraries
from rankbench.campaign import doctor
from rankbench.model import CaseStatus, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from rankbench.build import Build
    from rankbench.campaign.sharing import Uses
    from rankbench.launch.resources import Amounts
    from rankbench.model import Candidate, Library, Placement, Stream

LOOK_S = 0.01
"""Time between two looks at what checks use of the machine's resources. Nothing is measured meanwhile."""
SCARCE = 0.5
"""The part of what is free from which on checks are made one by one."""
MOST_BYTES = 4 << 20
"""Of a check's messages; of longer ones libraries send parts, or copy from process to process."""
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
    usage: Usage | None = None
    """What its library reported; none where it reported nothing."""

    @property
    def refusal(self) -> Refusal:
        """Return it as the reason not to launch the candidate there."""
        status = CaseStatus.NOT_AS_ASKED if self.check.elsewhere else CaseStatus.REFUSED
        return Refusal(self.check.reason, self.log, status)


class Examined(NamedTuple):
    """What checks found, by the names of candidate and placement; a twin is its original."""

    refused: dict[tuple[str, str], Refusal]
    uses: Uses
    """What those that work use of the machine."""
    usage: list[Usage]
    """What their libraries reported."""


def examine(
    candidates: Sequence[Candidate],
    placements: Sequence[Placement],
    used: Mapping[str, Library],
    builds: Mapping[str, Build],
    folder: Path,
    size_bytes: int = doctor.SIZE_BYTES,
) -> Examined:
    """Check each candidate in each placement, with messages as long as the largest that are to be measured."""
    bytes_checked = min(max(size_bytes, doctor.SIZE_BYTES), MOST_BYTES)
    checks = list(check_candidates(candidates, placements, used, builds, folder, bytes_checked))
    failed = {(look.candidate.name, look.placement.name): look.refusal for look in checks if not look.check.works}
    uses = {(look.candidate.name, look.placement.name): look.used for look in checks if look.check.works}
    refused = {
        (candidate.name, placement.name): failed[original, placement.name]
        for candidate in candidates
        for placement in placements
        if ((original := candidate.control_of or candidate.name), placement.name) in failed
    }
    return Examined(refused, uses, [look.usage for look in checks if look.usage])


def check_candidates(
    candidates: Sequence[Candidate],
    placements: Sequence[Placement],
    used: Mapping[str, Library],
    builds: Mapping[str, Build],
    folder: Path,
    size_bytes: int = doctor.SIZE_BYTES,
) -> Iterator[Seen]:
    """Check each candidate that is no twin in each placement, and yield what was found."""
    for placement in placements:
        originals = [candidate for candidate in candidates if not candidate.control_of]
        for at, batch in enumerate(batches(originals, placement)):
            trials = [
                doctor.Trial(
                    used[candidate.library],
                    builds[candidate.library],
                    placement,
                    folder / placement.name / f"{at}-{place}",
                    candidate.settings,
                    size_bytes,
                )
                for place, candidate in enumerate(batch)
            ]
            for candidate, trial, (check, amounts) in zip(batch, trials, check_reporting(trials), strict=True):
                text = read_output(trial.output)
                usage = read_usage(candidate, trial.library, placement, text, check) if check.works else None
                yield Seen(candidate, placement, check, text, amounts, usage)


def check_reporting(trials: Sequence[doctor.Trial]) -> list[tuple[doctor.Check, Amounts]]:
    """Check while libraries report what they use; what fails so is checked without, since reports hide the reason."""
    reporting = [trial._replace(settings=report_settings(trial) | dict(trial.settings)) for trial in trials]
    checks = check_alone_if_scarce(reporting)
    again = [
        place
        for place, (check, _) in enumerate(checks)
        if not check.works and report_settings(trials[place]) and trials[place].output.exists()
    ]
    for place in again:
        (checks[place],) = check_alone_if_scarce([trials[place]])
    return checks


def report_settings(trial: doctor.Trial) -> dict[str, str]:
    """Return the settings with which the library of a trial reports what it uses."""
    return dict(libraries.find_family(trial.library).report_settings)


def read_usage(
    candidate: Candidate, library: Library, placement: Placement, text: str, check: doctor.Check | Stream
) -> Usage | None:
    """Return what a library reported in a check, and devices that counted it; none where nothing is known."""
    family = libraries.find_family(library)
    usage = Usage(
        candidate=candidate.name,
        placement=placement.name,
        uses=family.read_usage(text) | family.read_functions(check.functions),
        ignored=family.list_ignored(library, candidate.settings, text),
        nodes=[node for node in check.nodes if node.probe_bytes],
    )
    return usage if usage.uses or usage.ignored or usage.nodes else None


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
