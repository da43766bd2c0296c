"""Checks before block 1 whether each candidate works in each placement. Only those that work are launched."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from rankbench import launch, libraries
from rankbench.build import Build
from rankbench.campaign import doctor
from rankbench.campaign.sharing import Uses
from rankbench.launch.resources import Amounts
from rankbench.libraries import content
from rankbench.model import Candidate, CaseStatus, Library, LibraryFile, Placement, RankbenchError, Stream, Usage

LOOK_S = 0.002
"""Time between two readings of the resources that checks use. Nothing is measured meanwhile."""
SCARCE = 0.5
"""If checks use more than this share of what is free, they run one by one."""
MOST_BYTES = 4 << 20
"""Largest messages of a check; longer ones are sent in parts, or copied from process to process."""
AT_ONCE = 4
"""Checks that run at the same time."""


class Refusal(NamedTuple):
    """Why a candidate is not launched in a placement, and what its check printed."""

    reason: str
    log: str
    status: CaseStatus = CaseStatus.REFUSED
    """The status of its cases."""


class CheckedCandidate(NamedTuple):
    """The result and the output of a candidate's check in a placement."""

    candidate: Candidate
    placement: Placement
    check: doctor.Check
    log: str
    used: Amounts
    """Amount of each resource that its launch used."""
    usage: Usage | None = None
    """The report of its library; None: it reported nothing."""

    @property
    def refusal(self) -> Refusal:
        """Return the refusal that follows from a failed check."""
        status = CaseStatus.NOT_AS_ASKED if self.check.elsewhere else CaseStatus.REFUSED
        return Refusal(self.check.reason, self.log, status)


class CheckResults(NamedTuple):
    """Results of checks, by the names of candidate and placement; a twin has those of its original."""

    refused: dict[tuple[str, str], Refusal]
    uses: Uses
    """Resources that the working candidates use."""
    usage: list[Usage]
    """Reports of their libraries."""
    files: dict[str, list[LibraryFile]]
    """Files of their libraries, by candidate."""


def examine(
    candidates: Sequence[Candidate],
    placements: Sequence[Placement],
    used: Mapping[str, Library],
    builds: Mapping[str, Build],
    folder: Path,
    size_bytes: int = doctor.SIZE_BYTES,
) -> CheckResults:
    """Check each candidate in each placement, with messages as long as the largest of the plan."""
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
    library_files = {look.candidate.name: list(look.check.files) for look in checks if look.check.works}
    return CheckResults(refused, uses, [look.usage for look in checks if look.usage], library_files)


def check_candidates(
    candidates: Sequence[Candidate],
    placements: Sequence[Placement],
    used: Mapping[str, Library],
    builds: Mapping[str, Build],
    folder: Path,
    size_bytes: int = doctor.SIZE_BYTES,
) -> Iterator[CheckedCandidate]:
    """Check each candidate but the twin in each placement, and yield the results."""
    originals = [candidate for candidate in candidates if not candidate.control_of]
    lists = {candidate.name: folder / f"files-{place}.txt" for place, candidate in enumerate(originals)}
    for candidate in originals:
        write_file_list(lists[candidate.name], candidate, used[candidate.library])
    for placement in placements:
        for at, batch in enumerate(batches(originals, placement)):
            trials = [
                doctor.Trial(
                    used[candidate.library],
                    builds[candidate.library],
                    placement,
                    folder / placement.name / f"{at}-{place}",
                    candidate.settings,
                    size_bytes,
                    lists[candidate.name],
                )
                for place, candidate in enumerate(batch)
            ]
            for candidate, trial, (check, amounts) in zip(batch, trials, check_reporting(trials), strict=True):
                text = read_output(trial.output)
                usage = read_usage(candidate, trial.library, placement, text, check) if check.works else None
                yield CheckedCandidate(candidate, placement, check, text, amounts, usage)


def write_file_list(path: Path, candidate: Candidate, library: Library, known: Iterable[LibraryFile] = ()) -> None:
    """Write the list of the files of a candidate's library, with the hashes of those that are known.

    Raises RankbenchError if it cannot be written.
    """
    settings = libraries.find_family(library).encode_settings(candidate.settings)
    try:
        content.write_list(path, library, library.environment | settings, known)
    except OSError as error:
        raise RankbenchError(f"{path}: cannot be written ({error.strerror}); correct that and run again") from None


def check_reporting(trials: Sequence[doctor.Trial]) -> list[tuple[doctor.Check, Amounts]]:
    """Check with the libraries' reports on; repeat failed checks without them, since reports can hide the reason."""
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
    """Return the settings that make a library report what it uses."""
    return dict(libraries.find_family(trial.library).report_settings)


def read_usage(
    candidate: Candidate, library: Library, placement: Placement, text: str, check: doctor.Check | Stream
) -> Usage | None:
    """Return what a library and the network devices reported in a check; None: nothing."""
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
    """Check at the same time, or one by one if resources are scarce; return each result with the amounts used."""
    with launch.Monitor(LOOK_S) as monitor:
        checks = doctor.check_together(trials)
    if len(trials) > 1 and any(used > SCARCE * monitor.before[name] for name, used in monitor.used.items()):
        return [alone for trial in trials for alone in check_alone_if_scarce([trial])]
    return [(check, {name: used // len(trials) for name, used in monitor.used.items()}) for check in checks]


def batches(candidates: Sequence[Candidate], placement: Placement) -> list[Sequence[Candidate]]:
    """Return groups of candidates to check at the same time: several if each rank has a CPU here, else one.

    On nodes, a scheduler or ssh may not allow several; and more ranks than CPUs wait for each other for a long time.
    """
    here = not placement.hosts and placement.launcher == "mpiexec" and placement.ranks <= (os.cpu_count() or 1)
    count = AT_ONCE if here else 1
    return [candidates[at : at + count] for at in range(0, len(candidates), count)]


def read_output(output: Path) -> str:
    """Return the output of a check."""
    return output.read_text(encoding="utf-8", errors="replace") if output.exists() else ""
