"""Runs a user's command with the recorder preloaded into its ranks, and joins what they leave to one record."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import os
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from rankbench import files, libraries, plan, processes, staging
from rankbench.build import recorder
from rankbench.campaign import launching
from rankbench.campaign.foreign import Program
from rankbench.campaign.history import Turn
from rankbench.campaign.preparation import PreparedCampaign
from rankbench.campaign.rank_records import join_ranks
from rankbench.campaign.user_program import RECORD
from rankbench.launch import preloading, supervisor
from rankbench.libraries import derived
from rankbench.model import Candidate, Case, CaseStatus, LaunchStatus, Library, Placement, RankbenchError
from rankbench.model.program_records import RunRecord, encode, sum_mpi
from rankbench.plan.programs import OPERATION

SCRIPT = "rank.sh"
TEXT = """#!/bin/sh
# Starts one rank with the recorder.
exec env RANKBENCH_RECORD={folder} LD_PRELOAD={recorder}"${{LD_PRELOAD:+ $LD_PRELOAD}}" "$@"
"""
RECORD_FILE = "record.json"
MOST_RUNS, LEAST_RUNS = 5, 3
"""Recorded runs of each candidate: the median of a library's times is within the range of five with 94%."""
LIBMPI = re.compile(r"\blib\w*mpi\w*\.so\.(\d+) => (\S+)")


class Recording(NamedTuple):
    """The record of a command."""

    run: RunRecord
    code: int
    """The command's exit code."""
    stopped: BaseException | None
    """Ctrl-C or a signal that came while it ran, to be raised when the record was shown."""


def record_command(command: Sequence[str], library: Library, home: Path, output: Path, program: str = "") -> Recording:
    """Run a command, write the record of its calls, and return it with how the command ended.

    A command that is stopped from outside leaves what was recorded up to then, as one that ends early does.

    Args:
        command: a launcher and its words, or a program alone.
        library: the one that the program uses; the recorder is built with its wrapper.
        home: where builds are kept.
        output: the file to write. Its folder must be seen by all nodes.
        program: the word that is the program, where the command does not show it.

    Raises RankbenchError where nothing can be recorded.
    """
    for place in preloading.find_programs(command, program):
        path = preloading.require_preloadable(command[place], preloading.list_folders(command))
        require_same_interface(path, library)
    preloaded = recorder.build_recorder(library, home, calls=True)
    if not output.parent.is_dir():
        raise RankbenchError(f"{output}: no such folder: {output.parent}")
    if not os.access(output.parent, os.W_OK | os.X_OK):
        raise RankbenchError(f"{output.parent}: cannot be written; name another file by --output")
    with staging.make_temporary_folder(output.parent.absolute()) as folder:
        text = TEXT.format(folder=shlex.quote(str(folder)), recorder=shlex.quote(str(preloaded)))
        files.write(folder / SCRIPT, text.encode())
        words = preloading.insert_words(command, ["/bin/sh", str(folder / SCRIPT)], program)
        code, stopped = run_command(words)
        try:
            run = join_ranks(folder, list(command), library.name)
        except RankbenchError as error:
            if stopped:
                raise stopped from None
            if code and not any(folder.glob("rank-*")):
                raise RankbenchError(
                    f"{shlex.join(command)}: exit code {code} before a rank called MPI_Init; what it printed says why"
                ) from None
            raise RankbenchError(f"{shlex.join(command)}: {error}") from None
    with files.make_staging_folder(output) as staged:
        files.write(staged / RECORD_FILE, encode(run))
        files.put(staged / RECORD_FILE, output)
    return Recording(run, code, stopped)


def run_command(words: Sequence[str]) -> tuple[int, BaseException | None]:
    """Return the exit code of a command, and what ended it from outside: Ctrl-C or a signal, of which the command may
    know nothing. Then all of its processes are ended. What ranks that died left in /dev/shm is removed.
    """
    shared, began_s = supervisor.SharedFiles(), time.monotonic()
    with subprocess.Popen(words) as process:
        try:
            while True:
                is_young = time.monotonic() - began_s < supervisor.START_S
                with contextlib.suppress(subprocess.TimeoutExpired):
                    return process.wait(supervisor.START_POLL_S if is_young else supervisor.POLL_S), None
                shared.look(supervisor.descendants)
        except BaseException as stopped:  # raised again behind the record
            supervisor.end_all(supervisor.descendants, shared, process)
            return process.wait(), stopped
        finally:
            shared.remove()


@dataclasses.dataclass
class ProgramRecorder:
    """Records the plan's program with each candidate, in a few launches between the blocks of a campaign.

    The record of the run with the median time in MPI stands for all: the machine changes from minute to minute.
    """

    prepared: PreparedCampaign
    show: Callable[[str], None]
    failed: set[str] = dataclasses.field(default_factory=set)

    def record_between(self, block: int) -> None:
        """Record behind a block, so that MOST_RUNS are spread over the blocks that are measured in any case."""
        least = max(plan.count_least_blocks(self.prepared.store.campaign.plan.stop), MOST_RUNS)
        self.record_each(min(MOST_RUNS, math.ceil(block * MOST_RUNS / least)))

    def record_rest(self) -> None:
        """Record what a short campaign leaves, so that there are LEAST_RUNS."""
        for runs in range(1, LEAST_RUNS + 1):
            self.record_each(runs)

    def record_each(self, runs: int) -> None:
        """Record each candidate once that has fewer than so many runs.

        A launch that fails leaves no record, and a line that says why.
        """
        campaign = self.prepared.store.campaign
        cases = [case for case in campaign.cases if case.suite == OPERATION]
        if not campaign.plan.program or not campaign.plan.program.record or not cases:
            return
        case = max(cases, key=lambda case: case.ranks)
        placement = campaign.get_placement(case.placement)
        for candidate, program in list_recordable(self.prepared, case):
            known = self.prepared.store.program_runs(candidate.name)
            if candidate.name in self.failed or len(known) >= runs:
                continue
            try:
                run = record_launch(self.prepared, candidate, case, placement, program)
            except RankbenchError as error:
                self.failed.add(candidate.name)
                self.show(f"note: the calls of {candidate.name} are not recorded: {error}")
            else:
                self.keep(candidate.name, [*known, run])

    def keep(self, candidate: str, runs: Sequence[RunRecord]) -> None:
        """Store the last of some runs, and the median one as what stands for all."""
        store = self.prepared.store
        store.keep_record(encode(runs[-1]), candidate, len(runs))
        middle = sorted(runs, key=sum_mpi)[len(runs) // 2]
        store.keep_record(encode(msgspec.structs.replace(middle, runs_mpi_s=list(map(sum_mpi, runs)))), candidate)


def list_recordable(prepared: PreparedCampaign, case: Case) -> list[tuple[Candidate, Program]]:
    """Return the candidates that can start the program, with their program."""
    startable = [
        (candidate, prepared.programs.get((candidate.library, case.operation)))
        for candidate in prepared.store.campaign.candidates
        if not candidate.control_of and (candidate.name, case.placement) not in prepared.refused
    ]
    return [(candidate, program) for candidate, program in startable if program is not None]


def record_launch(
    prepared: PreparedCampaign, candidate: Candidate, case: Case, placement: Placement, program: Program
) -> RunRecord:
    """Return the record of one launch of a candidate. Raises RankbenchError where it fails."""
    campaign = prepared.store.campaign
    library = campaign.get_library(candidate)
    request = launching.LaunchRequest(
        number=0,
        turn=Turn(0, candidate.name, placement.name),
        position=0,
        candidate=candidate,
        library=library,
        placement=placement,
        plan=campaign.plan,
        binary=prepared.binaries[candidate.library],
        cases=[case],
        program=program._replace(script=program.script.replace(recorder.FILE, recorder.CALLS_FILE)),
    )
    folder = prepared.store.folder / "work" / "recording"
    try:
        launch, results = launching.make(request, folder)
        if launch.status != LaunchStatus.OK or any(result.status != CaseStatus.OK for result in results):
            reasons = [launch.reason, *(result.reason for result in results)]
            raise RankbenchError(next(filter(None, reasons), str(launch.status)))
        assert campaign.plan.program
        return join_ranks(folder / RECORD, campaign.plan.program.run, library.name)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def find_library(command: Sequence[str], available: Sequence[Library]) -> Library:
    """Return the library that the launcher of a command belongs to.

    Raises RankbenchError if it belongs to none, or to the scheduler.
    """
    place = shutil.which(command[0])
    if not place:
        raise RankbenchError(f"{command[0]}: no such program")
    named = "name the program's library: rankbench record --library NAME -- ..."
    if not preloading.is_launcher(command[0]):
        raise RankbenchError(f"{command[0]}: not a launcher that is known; {named}")
    launcher = Path(place).resolve()
    equals = [
        candidate for candidate in available if candidate.launcher and Path(candidate.launcher).resolve() == launcher
    ]
    beside = [
        candidate
        for candidate in available
        if candidate.launcher and Path(candidate.launcher).parent.resolve() == Path(place).parent.resolve()
    ]
    if equals or len(beside) == 1:
        return (equals or beside)[0]
    raise RankbenchError(f"{command[0]}: belongs to no library that is known here ({place}); {named}")


def require_same_interface(program: Path, library: Library) -> None:
    """Make sure that a binary is linked to a library of the same binary interface; scripts and others may be right.

    Raises RankbenchError if not.
    """
    ldd = shutil.which("ldd")
    expected = re.search(r"\.so\.(\d+)", library.abi)
    if not ldd or not derived.is_binary(program) or not expected:
        return
    answer = processes.run([ldd, str(program)]).stdout
    wrong = next((place for place in LIBMPI.finditer(answer) if place[1] != expected[1]), None)
    if wrong and not any(place[1] == expected[1] for place in LIBMPI.finditer(answer)):
        shown = wrong[0].partition(" ")[0]
        raise RankbenchError(
            f"{program}: is linked to {shown}, {library.name} has {library.abi}; use the launcher of the program's "
            "library, or name it: --library NAME"
        )


def check_loaded(run: RunRecord, library: Library) -> str:
    """Return a remark where the ranks used another library than the recorder was built for; empty: they did not."""
    known = libraries.recognise(run.version)
    if known and known[0].name != library.family:
        return f"the program used {run.version}, not {library.name}"
    return ""
