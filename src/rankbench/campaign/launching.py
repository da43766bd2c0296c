"""One launch: makes its command, runs it and classifies its result."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypedDict

import msgspec

from rankbench import files, launch, libraries, samples
from rankbench.campaign import exit_causes, foreign
from rankbench.campaign.exit_causes import EMPTY, LaunchExit
from rankbench.campaign.foreign import Program
from rankbench.campaign.history import Turn
from rankbench.campaign.pinning import drop_moved
from rankbench.launch import allocation
from rankbench.libraries import ambient, content
from rankbench.model import (
    WITH_THREADS,
    AmbientSetting,
    Candidate,
    Case,
    CaseResult,
    CaseStatus,
    CommandLine,
    Launch,
    LaunchStatus,
    Library,
    LibraryFile,
    Outcome,
    Placement,
    Plan,
    RankbenchError,
    State,
    Step,
    Stream,
)

LOG_BYTES = 20_000
JOB = "job.txt"
"""Beside the stream, in the folder of a launch."""
WRONG_DATA_EXIT = 3
"""The core's exit code when all went well but for some data."""
MPI_VARIABLES = (
    *("OMPI_", "OPAL_", "PMIX_", "PRTE_", "MPICH_", "MPIR_", "HYDRA_", "I_MPI_", "MV2_", "MVP_"),
    *("UCX_", "UCC_", "HCOLL_", "FI_", "CXI_", "PSM", "LD_", "OMP_", "KMP_", "MALLOC_", "GLIBC_"),
    *("SLURM_", "PBS_", "FLUX_", "PALS_", "PMI_"),
)
"""Prefixes of environment variables that may change how a library or its launcher behaves, or that are of the job."""


class LaunchRequest(NamedTuple):
    """Everything that a launch needs."""

    number: int
    turn: Turn
    position: int
    candidate: Candidate
    library: Library
    placement: Placement
    plan: Plan
    binary: Path
    cases: list[Case]
    program: Program | None = None
    """A foreign program to run instead of the core."""
    once: frozenset[str] = frozenset()
    """Operations that are called once per launch."""
    among: Sequence[Case] = ()
    """For launches that measure in turn: the cases of all of them, in order. Empty: `cases` is all."""
    alone: str = ""
    """Why it does not take turns with others, where its candidate cannot."""
    files: Path | None = None
    """The list of its library's files (`libraries/content.py`); None: they are not reported."""
    checked_files: Sequence[LibraryFile] = ()
    """Those that the check before the campaign reported; a foreign program reports none."""


class Circumstances(TypedDict, total=False):
    """The fields of a launch's record about its circumstances; `model.Launch` describes them."""

    started: str
    duration_s: float
    load_before: float
    stolen_s: float
    before: State | None
    after: State | None
    state_reason: str
    environment: dict[str, str]
    ambient: list[AmbientSetting]
    job: str
    together: int
    beside: list[str]
    folder: str
    alone: str


LaunchRecords = tuple[Launch, list[CaseResult]]
"""A launch and its rows."""


def make(request: LaunchRequest, folder: Path, before: State | None = None) -> LaunchRecords:
    """Launch the cases once. Job, stream and output go into the folder; files of earlier launches are replaced.

    `before` is the state of the machine now; None: it is measured. Raises SupervisorKilledError if the launch was ended
    for an external reason and must be repeated.
    """
    (answer,) = _make([request], folder, _perform, before=before)
    if isinstance(answer, launch.SupervisorKilledError):
        raise answer
    return answer


def make_together(
    requests: Sequence[LaunchRequest], folder: Path, before: State | None = None
) -> list[LaunchRecords | launch.SupervisorKilledError]:
    """Make launches at the same time, which measure in turn, case by case; each in a subfolder of its own."""
    cases = len(requests[0].among or requests[0].cases)
    # Ranks make the page of turns over nodes, and in containers, which may not open one of ours.
    is_apart = any(request.placement.hosts or request.library.wrap for request in requests)
    with closing(launch.Turns(len(requests), cases, over_hosts=is_apart)) as turns:
        return _make(requests, folder, partial(_perform, turn_ended=turns.end_launch), turns, before)


def _perform(
    requests: Sequence[LaunchRequest], steps: Sequence[Step], turn_ended: Callable[[int], None] = lambda _: None
) -> list[LaunchExit | launch.SupervisorKilledError]:
    outcomes = launch.run_together(steps, turn_ended)
    return [
        outcome if isinstance(outcome, launch.SupervisorKilledError) else classify_end(request, step, outcome)
        for request, step, outcome in zip(requests, steps, outcomes, strict=True)
    ]


def _make(
    requests: Sequence[LaunchRequest],
    folder: Path,
    perform: Callable[[Sequence[LaunchRequest], Sequence[Step]], list[LaunchExit | launch.SupervisorKilledError]],
    turns: launch.Turns | None = None,
    before: State | None = None,
) -> list[LaunchRecords | launch.SupervisorKilledError]:
    steps = [
        _step(request, folder / str(place) if turns else folder, turns, place) for place, request in enumerate(requests)
    ]
    before, unknown_before = (before, "") if before else measure_state(requests[0])
    kills = exit_causes.count_kills(folder)
    started, load, stolen_before_s = datetime.now(UTC), launch.load(), launch.stolen_s()
    endings = perform(requests, steps)
    stolen_s = launch.stolen_s() - stolen_before_s
    clean_nodes(requests, endings)
    after, unknown_after = measure_state(requests[0])
    evidence = exit_causes.evidence(kills, exit_causes.count_kills(folder))
    answers: list[LaunchRecords | launch.SupervisorKilledError] = []
    outcomes = [end.outcome for end in endings if isinstance(end, LaunchExit) and end.outcome]
    for request, step, ending in zip(requests, steps, endings, strict=True):
        if isinstance(ending, launch.SupervisorKilledError):
            answers.append(ending)
            continue
        log = tail(step.output)
        code = ending.outcome.exit_code if ending.outcome and not request.program else None
        if why := exit_causes.explain_stream_error(code, log):
            raise RankbenchError(f"{step.watch}: cannot be written ({why}); what was stored before is safe")
        around = Circumstances(
            started=started.isoformat(timespec="milliseconds"),
            duration_s=max((outcome.duration_s for outcome in outcomes), default=0.0) / len(requests),
            load_before=load,
            stolen_s=stolen_s / len(requests),
            before=before,
            after=after,
            state_reason=unknown_before or unknown_after,
            environment=list_variables(step.command),
            job=allocation.find_number(),
            ambient=list_ambient(request.library, step.command),
            together=len(requests),
            beside=[request.candidate.name for request in requests] if len(requests) > 1 else [],
            alone=request.alone,
        )
        answers.append(make_records(request, step.command, ending, around, log, evidence))
    return answers


def clean_nodes(
    requests: Sequence[LaunchRequest], endings: Sequence[LaunchExit | launch.SupervisorKilledError]
) -> None:
    """Remove what ranks that did not end by themselves left on other hosts."""
    for request, ending in zip(requests, endings, strict=True):
        well = isinstance(ending, LaunchExit) and (ending.outcome is None or ending.outcome.exit_code == 0)
        if len(request.placement.hosts) > 1 and not well:
            launch.clean_hosts(request.placement.hosts, request.placement.remote_shell)


def _step(request: LaunchRequest, folder: Path, turns: launch.Turns | None, place: int) -> Step:
    """Return the step that makes a launch."""
    job, stream, output = prepare_files(request, folder)
    flags = [*list_file_flags(request.files), *(turns.arguments(place) if turns else [])]
    core = make_core_words(request, job, stream, flags)
    return Step(
        command=make_launch_line(request, core, folder),
        output=output,
        watch=output if request.program else stream,
        limit_s=request.plan.launch_limit_s,
        heartbeat=turns.heartbeat(place) if turns else None,
    )


def make_launch_line(request: LaunchRequest, core: list[str], folder: Path) -> CommandLine:
    """Return the launch line of the core, or of the foreign program that runs instead."""
    library, program = request.library, core
    if request.program:
        environment = library.environment | request.program.environment
        library = msgspec.structs.replace(library, environment=environment)
        program = foreign.command(request, request.program, folder.absolute())
    return libraries.find_family(library).make_launch_line(
        library, request.placement, request.candidate.settings, program
    )


def make_records(
    request: LaunchRequest,
    command: CommandLine,
    ending: LaunchExit,
    around: Circumstances,
    log: str,
    evidence: str = "",
) -> LaunchRecords:
    """Return the record of a launch and its rows. `evidence`: events on the machine that may have ended it."""
    well, code = ending.status == LaunchStatus.OK, ending.outcome.exit_code if ending.outcome else None
    meaning = "" if well else exit_causes.explain_log(log, request.library.family, code, request.placement.ranks)
    record = Launch(
        number=request.number,
        block=request.turn.block,
        position=request.position,
        candidate=request.candidate.name,
        placement=request.placement.name,
        status=ending.status,
        reason="; ".join(filter(None, [ending.reason, meaning, "" if well else evidence])),
        waited_s=ending.stream.waited_s,
        busy_s=ending.stream.busy_s,
        spent_s=ending.stream.spent_s,
        exit_code=code,
        command=command.arguments,
        facts=ending.stream.facts,
        ranks=ending.stream.ranks,
        nodes=ending.stream.nodes,
        files=content.select_own(request.library, ending.stream.files or request.checked_files),
        output_bytes=ending.outcome.output_bytes if ending.outcome else 0,
        log=log,
        **around,
    )
    return record, list(
        drop_moved(request.placement, ending.stream.ranks, drop_network_bytes(list_rows(ending), record.output_bytes))
    )


def drop_network_bytes(results: list[CaseResult], output_bytes: int) -> list[CaseResult]:
    """Return rows without `printed_bytes` if the ranks wrote more than the launch printed.

    Ranks count all bytes of write() and similar calls, which some libraries also use for sockets and devices.
    """
    if sum(result.printed_bytes for result in results) <= output_bytes:
        return results
    return [msgspec.structs.replace(result, printed_bytes=0) for result in results]


def measure_state(request: LaunchRequest) -> tuple[State | None, str]:
    """Return the state of the machine, or why it is unknown. A failure here does not fail the launch."""
    words = [*request.library.wrap, str(request.binary), "--state"]
    command = CommandLine(arguments=words, environment=request.library.environment)
    try:
        return launch.state(command), ""
    except RankbenchError as error:
        return None, str(error)


def make_core_words(request: LaunchRequest, job: Path, stream: Path, flags: Sequence[str]) -> list[str]:
    """Return the core with its arguments for the cases of a launch."""
    words = [str(request.binary), *list_core_flags(request.cases[0].launch_group), *flags]
    return [*words, "--job", str(job), "--stream", str(stream), "--quiet"]


def list_core_flags(group: str) -> list[str]:
    """Return the options that all ranks of a launch group need before they start MPI; only rank 0 reads the job."""
    return ["--threads"] if group in WITH_THREADS else []


def list_file_flags(path: Path | None) -> list[str]:
    """Return the options for the list of a library's files."""
    return ["--files", str(path.absolute())] if path else []


def prepare_files(request: LaunchRequest, folder: Path) -> tuple[Path, Path, Path]:
    """Write the job and empty stream and output; return the paths of the three.

    Raises RankbenchError if they cannot be written.
    """
    folder = folder.absolute()  # Ranks on other nodes may have another working directory.
    job, stream, output = folder / JOB, folder / "stream.jsonl", folder / "output.log"
    try:
        files.make_folder(folder)
        for path in (stream, output):
            files.write(path, b"")
        samples.write_job(job, request.cases, request.plan, request.once, request.among)
    except OSError as error:
        raise RankbenchError(f"{folder}: cannot be written ({error.strerror}); correct that and run again") from None
    return job, stream, output


def run_step(request: LaunchRequest, step: Step) -> LaunchExit:
    """Run the step, again if its supervisor is killed; return how it ended."""
    try:
        return classify_end(request, step, launch.run(step))
    except launch.SupervisorKilledError:
        raise
    except RankbenchError as error:
        return classify_end(request, step, error)


def classify_end(request: LaunchRequest, step: Step, outcome: Outcome | RankbenchError) -> LaunchExit:
    """Return how a step ended, or that it was refused."""
    if isinstance(outcome, RankbenchError):
        return LaunchExit(LaunchStatus.REFUSED, str(outcome), None, EMPTY)
    if request.program:
        return foreign.classify(request, request.program.operation, outcome, step.output, tail(step.output))
    return classify(request, outcome, step.watch, tail(step.output))


def classify(request: LaunchRequest, outcome: Outcome, stream_file: Path, log: str = "") -> LaunchExit:
    """Return how a launch ended, by its exit code, its stream and the output of its launcher."""
    try:
        lines = samples.read_job(stream_file.with_name(JOB), request.cases, request.plan, request.once)
        stream = samples.read(stream_file, lines)
    except RankbenchError as error:
        return LaunchExit(LaunchStatus.CRASHED, f"its stream cannot be read: {error}", outcome, EMPTY)
    ranks = stream.facts.ranks if stream.facts else 0
    if stream.facts and ranks != request.placement.ranks:
        reason = (
            f"started a world of {ranks} instead of {request.placement.ranks} ranks; is the launcher another library's?"
        )
        return LaunchExit(LaunchStatus.REFUSED, reason, outcome, EMPTY)
    if stream.damage:
        status = LaunchStatus.HUNG if outcome.hung else LaunchStatus.CRASHED
        return LaunchExit(status, f"its stream is damaged: {stream.damage}", outcome, stream)
    if leftover := exit_causes.explain_leftover(outcome, stream):
        return LaunchExit(LaunchStatus.OK, leftover, outcome, stream)
    if outcome.hung:
        return classify_hung(request, outcome, stream)
    if not stream.complete and exit_causes.CLOSED in log:
        return LaunchExit(LaunchStatus.CRASHED, exit_causes.CLOSED_REASON, outcome, stream)
    if not stream.complete and (stuck_case := exit_causes.find_stuck_phase(log, stream.ranks)):
        case_status, reason = stuck_case
        launch_status = LaunchStatus.CRASHED if case_status == CaseStatus.FAILED else LaunchStatus.HUNG
        return LaunchExit(launch_status, reason, outcome, stream, case_status)
    how = exit_causes.ending_text(outcome.exit_code, log, request.placement.ranks)
    if not stream.facts:
        return LaunchExit(LaunchStatus.REFUSED, f"did not start: {how}", outcome, stream)
    if not stream.complete:
        return LaunchExit(LaunchStatus.CRASHED, f"ended before its last case: {how}", outcome, stream)
    if outcome.exit_code not in {0, WRONG_DATA_EXIT}:
        return LaunchExit(LaunchStatus.CRASHED, f"ended badly after its last case: {how}", outcome, stream)
    return LaunchExit(LaunchStatus.OK, "", outcome, stream)


def classify_hung(request: LaunchRequest, outcome: Outcome, stream: Stream) -> LaunchExit:
    """Return how a launch ended that gave no sign of life."""
    if stream.complete:
        return LaunchExit(LaunchStatus.HUNG, exit_causes.UNFINISHED, outcome, stream)
    if exit_causes.lacked_cpu(outcome.waiting, stream.ranks):
        reason = exit_causes.explain_waiting(outcome.waiting)
        return LaunchExit(LaunchStatus.HUNG, reason, outcome, stream, CaseStatus.NOT_RUN)
    return LaunchExit(LaunchStatus.HUNG, f"no sign of life for {request.plan.launch_limit_s:g} s", outcome, stream)


def list_rows(ending: LaunchExit) -> list[CaseResult]:
    """Return the rows of the launch: the measured cases, and the case in which it crashed or hung."""
    unfinished = ending.stream.unfinished
    if unfinished is None:
        return ending.stream.results
    status = CaseStatus.HUNG if ending.status == LaunchStatus.HUNG else CaseStatus.CRASHED
    status = ending.case_status or status
    others = [result for result in ending.stream.results if result.case.key != unfinished.key]
    return [*others, CaseResult(case=unfinished, status=status, reason=ending.reason)]


def list_variables(command: CommandLine) -> dict[str, str]:
    """Return the variables that a library may read: those of the launch line, and those of rankbench's environment."""
    around = {
        name: value
        for name, value in os.environ.items()
        if name.startswith(MPI_VARIABLES) and not ambient.SECRET.search(name)
    }
    return around | command.environment


def list_ambient(library: Library, command: CommandLine | None = None) -> list[AmbientSetting]:
    """Return what a library takes from the shell and from files, beside the variables of a launch line."""
    on_line = command.environment if command else library.environment
    return ambient.list_ambient(library, {name: value for name, value in os.environ.items() if name not in on_line})


def tail(path: Path) -> str:
    """Return the end of a log without reading the rest, which may be larger than the memory."""
    with path.open("rb") as log:
        log.seek(max(0, path.stat().st_size - LOG_BYTES))
        return log.read().decode(errors="replace")
