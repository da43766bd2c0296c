"""Checks whether a candidate works in a placement: one short launch, in which the ranks report about themselves.

Only reports of the ranks count: a launcher of another library starts each rank as its own world, and a search path can
select another library, both silently and with exit code 0.
"""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from rankbench import launch, libraries, samples
from rankbench.build import Build
from rankbench.campaign import exit_causes
from rankbench.campaign.launching import WRONG_DATA_EXIT, list_file_flags
from rankbench.campaign.pinning import check_placement, core
from rankbench.causes.telling_lines import choose_line
from rankbench.launch.topology import parse_list
from rankbench.libraries import Family, content
from rankbench.libraries.launch_commands import describe_launcher
from rankbench.model import (
    LaunchFacts,
    Library,
    LibraryFile,
    NodeNetwork,
    Outcome,
    Placement,
    RankbenchError,
    RankFact,
    Record,
    Step,
    Stream,
)
from rankbench.quantities import spell_count

LIMIT_S = 60.0
SIZE_BYTES = 64 << 10
TRIES = 3


class Check(Record, frozen=True):
    """The result of a check. `reason` is one line on why it does not work; empty: it works."""

    works: bool
    reason: str
    facts: LaunchFacts | None = None
    ranks: tuple[RankFact, ...] = ()
    nodes: tuple[NodeNetwork, ...] = ()
    files: tuple[LibraryFile, ...] = ()
    """Files of the library; empty: not requested."""
    functions: tuple[str, ...] = ()
    """Functions of the library for collectives; empty: it does not report them."""
    elsewhere: bool = False
    """Whether it works, but with ranks elsewhere than the placement says."""
    flags: tuple[str, ...] = ()
    """Warnings about a candidate that works, which must be shown with its values."""


class Trial(NamedTuple):
    """One check. Its stream and output are written to `folder`."""

    library: Library
    build: Build
    placement: Placement
    folder: Path
    settings: Mapping[str, str] = {}
    size_bytes: int = SIZE_BYTES
    """Size of its messages. Some libraries allocate /dev/shm memory as messages need it."""
    files: Path | None = None
    """The list of the library's files to report (`libraries/content.py`); None: none."""

    @property
    def output(self) -> Path:
        """Return the path of its launch's output."""
        return self.folder / "output.log"


def check(
    library: Library, build: Build, placement: Placement, folder: Path, settings: Mapping[str, str] | None = None
) -> Check:
    """Launch the core's check in a placement, with its files in a folder."""
    (result,) = check_together([Trial(library, build, placement, folder, settings or {})])
    return result


def check_together(trials: Sequence[Trial]) -> list[Check]:
    """Launch the core's check for all trials at the same time; nothing is measured.

    A launcher may end before it passes on the messages of ssh: a start that failed without a reason is repeated.
    """
    checks = [
        Check(works=False, reason="" if trial.library.launch else find_unknown_host(trial.placement))
        for trial in trials
    ]
    pending = [place for place, check in enumerate(checks) if not check.reason]
    for _ in range(TRIES):
        results = check_trials([trials[place] for place in pending])
        for place, (check, _) in zip(pending, results, strict=True):
            checks[place] = check
        pending = [place for place, (_, unexplained) in zip(pending, results, strict=True) if unexplained]
    return checks


def check_trials(trials: Sequence[Trial]) -> list[tuple[Check, bool]]:
    """Launch once; return the result of each trial, and whether it failed without a known reason."""
    steps = [make_step(trial) for trial in trials]
    outcomes = iter(launch.run_together([entry for entry in steps if isinstance(entry, Step)]))
    ends = [next(outcomes) if isinstance(entry, Step) else entry for entry in steps]
    return [examine(trial, end) for trial, end in zip(trials, ends, strict=True)]


def make_step(trial: Trial) -> Step | RankbenchError:
    """Return the step of a trial, or why it cannot be launched."""
    trial.folder.mkdir(parents=True, exist_ok=True)
    stream_file = trial.folder / "stream.jsonl"
    stream_file.unlink(missing_ok=True)
    options = ["--check", "--sizes", str(trial.size_bytes), *list_file_flags(trial.files), "--stream", str(stream_file)]
    program = [str(trial.build.binary), *options]
    try:
        family = libraries.find_family(trial.library)
        command = family.make_launch_line(trial.library, trial.placement, trial.settings, program)
    except RankbenchError as error:
        return error
    return Step(command=command, output=trial.output, watch=stream_file, limit_s=LIMIT_S)


def examine(trial: Trial, end: Outcome | RankbenchError) -> tuple[Check, bool]:
    """Return the result of a trial, and whether it failed without a known reason."""
    if isinstance(end, RankbenchError):
        return Check(works=False, reason=str(end)), isinstance(end, launch.SupervisorKilledError)
    try:
        result = judge_check(trial.library, trial.placement, end, trial.folder / "stream.jsonl", trial.output)
        known = result.works or result.facts or end.hung or explain(trial.library, end, trial.output)
    except RankbenchError as error:
        return Check(works=False, reason=str(error)), False
    return result, not known


def explain(library: Library, outcome: Outcome, output: Path) -> str:
    """Return an explanation of a failed launch from its output; empty: unknown."""
    text = output.read_text(encoding="utf-8", errors="replace")
    return exit_causes.explain_log(text, library.family, outcome.exit_code)


def judge_check(library: Library, placement: Placement, outcome: Outcome, stream_file: Path, output: Path) -> Check:
    """Return the result of a launch of the core's check, from its end and its files."""
    stream = samples.read(stream_file, [])
    text = output.read_text(encoding="utf-8", errors="replace")
    reason = (
        check_world(library, placement, stream)
        or stream.damage
        or explain_end(outcome, stream, explain(library, outcome, output), text)
        or check_library(library, stream)
        or check_files(library, stream.ranks)
    )
    elsewhere = "" if reason else check_placement(placement, stream.ranks)
    leftover = exit_causes.explain_leftover(outcome, stream)
    return Check(
        works=not (reason or elsewhere),
        reason=reason or elsewhere,
        facts=stream.facts,
        ranks=tuple(stream.ranks),
        nodes=tuple(stream.nodes),
        files=tuple(content.select_own(library, stream.files)),
        functions=tuple(stream.functions),
        elsewhere=bool(elsewhere),
        flags=() if reason or elsewhere else tuple(filter(None, [leftover, *list_warnings(stream.ranks)])),
    )


def find_unknown_host(placement: Placement) -> str:
    """Return a message about hosts of a placement that do not resolve, which make launchers hang.

    Another remote shell than ssh, and a scheduler, may know names that the system does not.
    """
    reached = placement.launcher == "mpiexec" and not placement.remote_shell
    lost = list(find_unresolved(placement.hosts if reached else ()))
    if not lost:
        return ""
    names, verb, name = (" and ".join(lost), "do", "names") if len(lost) > 1 else (lost[0], "does", "name")
    return f"the {name} {names} {verb} not resolve here; fix hosts in the plan (or --hosts), or add to /etc/hosts"


def find_unresolved(names: Iterable[str]) -> Iterator[str]:
    """Yield the names of hosts that have no address."""
    for name in names:
        try:
            socket.getaddrinfo(name.rpartition("@")[2], None)
        except OSError:
            yield name


def list_warnings(ranks: Iterable[RankFact]) -> Iterator[str]:
    """Yield warnings about ranks that work: too few cores, or no binding."""
    places = {rank: {core(cpu) for cpu in parse_list(rank.cpus)} for rank in ranks}
    crowds = list(find_crowded(places))
    free = [rank for rank, cores in places.items() if len(cores) > 1]
    yield from crowds[:1]
    if free and not crowds:
        yield (
            f"rank {free[0].rank} may run on CPUs {free[0].cpus}: unbound ranks move during a case; "
            'set binding = "core"'
        )


def find_crowded(places: Mapping[RankFact, set[int]]) -> Iterator[str]:
    """Yield hosts with more ranks than cores that these may use."""
    for host, count in Counter(rank.host for rank in places).items():
        cores = len(set().union(*(cores for rank, cores in places.items() if rank.host == host)))
        if 0 < cores < count:
            on = f"{count} ranks share {spell_count(cores, 'core')} of {host}"
            yield f"{on}: times show how a library waits, and may be a thousand times longer; do not compare them"


def check_world(library: Library, placement: Placement, stream: Stream) -> str:
    """Return why the world is not the requested one."""
    ranks = stream.facts.ranks if stream.facts else placement.ranks
    if ranks == placement.ranks:
        return ""
    if placement.launcher == "srun":
        return (
            f"srun started worlds of {ranks} instead of one world of {placement.ranks} ranks: it and the library "
            'have no common process interface; launch by the library\'s own mpiexec: launcher = "mpiexec"'
        )
    advice = (
        "the plan's launcher is of another library, or starts another number"
        if library.launch
        else "it belongs to another library; use the library's own mpiexec"
    )
    launcher = describe_launcher(library)
    return f"{launcher} started worlds of {ranks} instead of one world of {placement.ranks} ranks: {advice}"


def explain_end(outcome: Outcome, stream: Stream, explanation: str, text: str) -> str:
    """Return why the launch failed: the explanation of its output, else the line of it that says most."""
    if outcome.exit_code == WRONG_DATA_EXIT and stream.facts:
        return "data sent between neighbouring ranks came back wrong"
    if stream.complete and (outcome.exit_code == 0 or exit_causes.explain_leftover(outcome, stream)):
        return ""
    if outcome.hung and stream.complete:
        return exit_causes.UNFINISHED
    if outcome.hung and exit_causes.lacked_cpu(outcome.waiting, stream.ranks):
        return exit_causes.explain_waiting(outcome.waiting)
    how = f"hung for {LIMIT_S:g} s" if outcome.hung else exit_causes.ending_text(outcome.exit_code, text)
    how += " but no result" * (outcome.exit_code == 0)
    return f"{how}: {explanation or choose_line(text) or 'it printed nothing'}"


def check_library(library: Library, stream: Stream) -> str:
    """Return why the library in the launch is not the planned one; empty: it is, or has no name."""
    inside = stream.facts.library_version if stream.facts else ""
    recognised = libraries.recognise(inside)
    if not inside or (recognised and is_named_so(library, *recognised)):
        return ""
    mapped = next((rank.libmpi for rank in stream.ranks if rank.libmpi), "unknown file")
    first_line = inside.partition("\n")[0]
    advice = "unset LD_LIBRARY_PATH, or name this library first in it"
    return f"inside the launch it is another library: {first_line} ({mapped}); {advice}"


def is_named_so(library: Library, family: Family, version: str) -> bool:
    """Return whether a launch's text is of the planned library, whose tools may name the family that it derives from.

    That one has other versions.
    """
    return family.origin == library.family or (family.name == library.family and same_version(version, library.version))


def check_files(library: Library, ranks: Iterable[RankFact]) -> str:
    """Return a message about a mapped libmpi that does not belong to the library."""
    reasons = (libraries.explain_wrong_libmpi(library, file) for file in dict.fromkeys(rank.libmpi for rank in ranks))
    return next(filter(None, reasons), "")


def same_version(version: str, other: str) -> bool:
    """Return whether two versions agree in their common parts: 2021.18 and 2021.18.1 do."""
    return all(part == other_part for part, other_part in zip(version.split("."), other.split("."), strict=False))
