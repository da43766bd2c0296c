"""One launch: the command is made and run, and what came out is classed."""

from __future__ import annotations

import os
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from rankbench import files, launch, libraries, samples
from rankbench.campaign import exit_causes, foreign
from rankbench.campaign.exit_causes import EMPTY, LaunchExit
from rankbench.campaign.pinning import drop_moved
from rankbench.model import (
    THREADS,
    Candidate,
    Case,
    CaseResult,
    CaseStatus,
    CommandLine,
    Launch,
    LaunchStatus,
    Library,
    Outcome,
    Placement,
    Plan,
    RankbenchError,
    State,
    Step,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from rankbench.campaign.foreign import Program
    from rankbench.campaign.history import Turn

LOG_BYTES = 20_000
JOB = "job.txt"
"""Beside the stream, in the folder of a launch."""
WRONG_DATA_EXIT = 3
"""The core's exit code when all went well but for some data."""
SPEAKS_TO_MPI = (
    *("OMPI_", "OPAL_", "PMIX_", "PRTE_", "MPICH_", "MPIR_", "HYDRA_", "I_MPI_", "MV2_", "MVP_"),
    *("UCX_", "FI_", "PSM", "LD_", "OMP_", "KMP_", "MALLOC_", "GLIBC_"),
)
"""Beginnings of environment variables that change what a library does, whoever set them."""


class LaunchRequest(NamedTuple):
    """All that one launch needs."""

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
    """Of a foreign tool, in the core's place."""
    once: frozenset[str] = frozenset()
    """Operations that happen once in a launch."""
    among: Sequence[Case] = ()
    """Of launches that measure in turn: the cases of all, in their order. None: these are all."""
    alone: str = ""
    """Why it does not take turns with others, where its candidate cannot."""


class LaunchContext(NamedTuple):
    """What surrounded a launch."""

    started: str
    """ISO 8601, UTC."""
    load: float
    stolen_s: float
    before: State | None
    after: State | None
    state_reason: str
    environment: dict[str, str]
    job: str = ""
    folder: str = ""
    evidence: str = ""
    """What happened to the machine meanwhile that may have ended it."""
    together: int = 1
    """How many launches ran at the same time and measured in turn, this one included."""
    beside: Sequence[str] = ()
    """Their candidates, by their places."""
    share_s: float = 0.0
    """Of these launches, each one's share of the time."""
    alone: str = ""
    """Why it does not take turns with others, where its candidate cannot."""


Made = tuple[Launch, list[CaseResult]]
"""A launch and its rows."""


def make(order: LaunchRequest, folder: Path) -> Made:
    """Launch the cases once. The folder takes job, stream and output; nothing that was there before counts.

    Raises UnwatchedError where the launch was ended for a reason outside of it, and has to be made again.
    """
    (answer,) = _make([order], folder, _perform)
    if isinstance(answer, launch.UnwatchedError):
        raise answer
    return answer


def make_together(orders: Sequence[LaunchRequest], folder: Path) -> list[Made | launch.UnwatchedError]:
    """Make launches at the same time, which measure in turn, case by case; each has a folder of its own in this."""
    cases = len(orders[0].among or orders[0].cases)
    with closing(launch.Turns(len(orders), cases, over_hosts=bool(orders[0].placement.hosts))) as turns:
        return _make(orders, folder, partial(_perform, turn_ended=turns.end_launch), turns)


def _perform(
    orders: Sequence[LaunchRequest], steps: Sequence[Step], turn_ended: Callable[[int], None] = lambda _: None
) -> list[LaunchExit | launch.UnwatchedError]:
    outcomes = launch.run_together(steps, turn_ended)
    return [
        outcome if isinstance(outcome, launch.UnwatchedError) else classify_end(order, step, outcome)
        for order, step, outcome in zip(orders, steps, outcomes, strict=True)
    ]


def _make(
    orders: Sequence[LaunchRequest],
    folder: Path,
    performed: Callable[[Sequence[LaunchRequest], Sequence[Step]], list[LaunchExit | launch.UnwatchedError]],
    turns: launch.Turns | None = None,
) -> list[Made | launch.UnwatchedError]:
    steps = [_step(order, folder / str(place) if turns else folder, turns, place) for place, order in enumerate(orders)]
    before, unknown_before = measure_state(orders[0])
    around = exit_causes.count_kills(folder)
    started, load, stolen_before_s = datetime.now(UTC), launch.load(), launch.stolen_s()
    endings = performed(orders, steps)
    stolen_s = launch.stolen_s() - stolen_before_s
    after, unknown_after = measure_state(orders[0])
    evidence = exit_causes.evidence(around, exit_causes.count_kills(folder))
    answers: list[Made | launch.UnwatchedError] = []
    outcomes = [end.outcome for end in endings if isinstance(end, LaunchExit) and end.outcome]
    for order, step, ending in zip(orders, steps, endings, strict=True):
        if isinstance(ending, launch.UnwatchedError):
            answers.append(ending)
            continue
        log = tail(step.output)
        code = ending.outcome.exit_code if ending.outcome and not order.program else None
        if why := exit_causes.explain_stream_error(code, log):
            raise RankbenchError(f"{step.watch}: cannot be written ({why}); what was stored before is safe")
        circumstances = LaunchContext(
            started=started.isoformat(timespec="milliseconds"),
            load=load,
            stolen_s=stolen_s / len(orders),
            before=before,
            after=after,
            state_reason=unknown_before or unknown_after,
            environment=list_variables(step.command),
            evidence=evidence,
            together=len(orders),
            beside=[order.candidate.name for order in orders] if len(orders) > 1 else [],
            alone=order.alone,
            share_s=max((outcome.duration_s for outcome in outcomes), default=0.0) / len(orders),
        )
        answers.append(make_records(order, step.command, ending, circumstances, log))
    return answers


def _step(order: LaunchRequest, folder: Path, turns: launch.Turns | None, place: int) -> Step:
    """Return how a launch is made."""
    job, stream, output = prepare_files(order, folder)
    taking = turns.arguments(place) if turns else []
    core = [
        str(order.binary),
        *list_core_flags(order.turn.group),
        *taking,
        "--job",
        str(job),
        "--stream",
        str(stream),
        "--quiet",
    ]
    return Step(
        command=make_launch_line(order, core, folder),
        output=output,
        watch=output if order.program else stream,
        limit_s=order.plan.launch_limit_s,
        heartbeat=turns.heartbeat(place) if turns else None,
    )


def make_launch_line(order: LaunchRequest, core: list[str], folder: Path) -> CommandLine:
    """Return how the core is launched, or a foreign program in its place."""
    library, program = order.library, core
    if order.program:
        environment = library.environment | order.program.environment
        library = msgspec.structs.replace(library, environment=environment)
        program = foreign.command(order, order.program, folder.absolute())
    return libraries.find_family(library).make_launch_line(library, order.placement, order.candidate.settings, program)


def make_records(
    order: LaunchRequest, command: CommandLine, ending: LaunchExit, around: LaunchContext, log: str
) -> tuple[Launch, list[CaseResult]]:
    """Return the record of a launch that has ended, and its rows."""
    well, family = ending.status == LaunchStatus.OK, libraries.find_family(order.library)
    code = ending.outcome.exit_code if ending.outcome else None
    meaning = None if well else family.explain(log) or exit_causes.explain_log(log, code, order.placement.ranks)
    record = Launch(
        number=order.number,
        block=order.turn.block,
        position=order.position,
        candidate=order.candidate.name,
        placement=order.placement.name,
        status=ending.status,
        reason="; ".join(filter(None, [ending.reason, meaning, "" if well else around.evidence])),
        started=around.started,
        duration_s=around.share_s or (ending.outcome.duration_s if ending.outcome else 0.0),
        together=around.together,
        beside=list(around.beside),
        waited_s=ending.stream.waited_s,
        busy_s=ending.stream.busy_s,
        spent_s=ending.stream.spent_s,
        exit_code=code,
        command=command.arguments,
        environment=around.environment,
        facts=ending.stream.facts,
        ranks=ending.stream.ranks,
        nodes=ending.stream.nodes,
        load_before=around.load,
        stolen_s=around.stolen_s,
        before=around.before,
        after=around.after,
        state_reason=around.state_reason,
        job=around.job,
        folder=around.folder,
        alone=around.alone,
        output_bytes=ending.outcome.output_bytes if ending.outcome else 0,
        log=log,
    )
    return record, list(
        drop_moved(order.placement, ending.stream.ranks, drop_network_bytes(list_rows(ending), record.output_bytes))
    )


def drop_network_bytes(results: list[CaseResult], output_bytes: int) -> list[CaseResult]:
    """Return rows without `printed_bytes` where ranks wrote more than the launch printed: it went to the network.

    Ranks count all that they write by write() and its kin, which some libraries use for sockets and devices as well.
    """
    if sum(result.printed_bytes for result in results) <= output_bytes:
        return results
    return [msgspec.structs.replace(result, printed_bytes=0) for result in results]


def measure_state(order: LaunchRequest) -> tuple[State | None, str]:
    """Return the state of the machine, or why it is unknown; this never fails a launch."""
    command = CommandLine(arguments=[str(order.binary), "--state"], environment=order.library.environment)
    try:
        return launch.state(command), ""
    except RankbenchError as error:
        return None, str(error)


def list_core_flags(group: str) -> list[str]:
    """Return what all ranks of a launch group must know before they start MPI; the job is read by rank 0 alone."""
    return ["--threads"] if group == THREADS else []


def prepare_files(order: LaunchRequest, folder: Path) -> tuple[Path, Path, Path]:
    """Return paths for the job, written, and for stream and output, cleared of those of an earlier launch."""
    folder = folder.absolute()  # Ranks on other nodes may begin elsewhere.
    job, stream, output = folder / JOB, folder / "stream.jsonl", folder / "output.log"
    try:
        files.make_folder(folder)
        for path in (stream, output):
            files.write(path, b"")
        samples.write_job(job, order.cases, order.plan, order.once, order.among)
    except OSError as error:
        raise RankbenchError(f"{folder}: cannot be written ({error.strerror}); correct that and run again") from None
    return job, stream, output


def perform(order: LaunchRequest, step: Step) -> LaunchExit:
    """Run the step, again if its supervisor is killed, and say how it ended."""
    try:
        return classify_end(order, step, launch.run(step))
    except launch.UnwatchedError:
        raise
    except RankbenchError as error:
        return classify_end(order, step, error)


def classify_end(order: LaunchRequest, step: Step, outcome: Outcome | RankbenchError) -> LaunchExit:
    """Return how a step ended that ran, or was refused."""
    if isinstance(outcome, RankbenchError):
        return LaunchExit(LaunchStatus.REFUSED, str(outcome), None, EMPTY)
    if order.program:
        return foreign.classify(order, order.program.operation, outcome, step.output, tail(step.output))
    return classify(order, outcome, step.watch, tail(step.output))


def classify(order: LaunchRequest, outcome: Outcome, stream_file: Path, log: str = "") -> LaunchExit:
    """Return how a launch ended, by its exit code, by what its stream says, and by what its launcher printed."""
    try:
        lines = samples.read_job(stream_file.with_name(JOB), order.cases, order.plan, order.once)
        stream = samples.read(stream_file, lines)
    except RankbenchError as error:
        return LaunchExit(LaunchStatus.CRASHED, f"its stream cannot be read: {error}", outcome, EMPTY)
    ranks = stream.facts.ranks if stream.facts else 0
    if stream.facts and ranks != order.placement.ranks:
        reason = (
            f"started a world of {ranks} instead of {order.placement.ranks} ranks; is the launcher another library's?"
        )
        return LaunchExit(LaunchStatus.REFUSED, reason, outcome, EMPTY)
    if stream.damage:
        status = LaunchStatus.HUNG if outcome.hung else LaunchStatus.CRASHED
        return LaunchExit(status, f"its stream is damaged: {stream.damage}", outcome, stream)
    if outcome.hung and stream.complete:
        return LaunchExit(LaunchStatus.HUNG, exit_causes.UNFINISHED, outcome, stream)
    if outcome.hung:
        return LaunchExit(LaunchStatus.HUNG, f"no sign of life for {order.plan.launch_limit_s:g} s", outcome, stream)
    if not stream.complete and (stuck_case := exit_causes.find_stuck_phase(log)):
        case_status, reason = stuck_case
        launch_status = LaunchStatus.HUNG if case_status == CaseStatus.HUNG else LaunchStatus.CRASHED
        return LaunchExit(launch_status, reason, outcome, stream, case_status)
    how = exit_causes.ending_text(outcome.exit_code, log, order.placement.ranks)
    if not stream.facts:
        return LaunchExit(LaunchStatus.REFUSED, f"did not start: {how}", outcome, stream)
    if not stream.complete:
        return LaunchExit(LaunchStatus.CRASHED, f"ended before its last case: {how}", outcome, stream)
    if outcome.exit_code not in {0, WRONG_DATA_EXIT}:
        return LaunchExit(LaunchStatus.CRASHED, f"ended badly after its last case: {how}", outcome, stream)
    return LaunchExit(LaunchStatus.OK, "", outcome, stream)


def list_rows(ending: LaunchExit) -> list[CaseResult]:
    """Return the rows of the launch: what was measured, and the case in which it crashed or hung."""
    unfinished = ending.stream.unfinished
    if unfinished is None:
        return ending.stream.results
    deadly = CaseStatus.HUNG if ending.status == LaunchStatus.HUNG else CaseStatus.CRASHED
    deadly = ending.case_status or deadly
    others = [result for result in ending.stream.results if result.case.key != unfinished.key]
    return [*others, CaseResult(case=unfinished, status=deadly, reason=ending.reason)]


def list_variables(command: CommandLine) -> dict[str, str]:
    """Return what is set that a library may listen to: by the launch line, or by whoever started rankbench."""
    ambient = {name: value for name, value in os.environ.items() if name.startswith(SPEAKS_TO_MPI)}
    return ambient | command.environment


def tail(path: Path) -> str:
    """Return the end of a log, without reading the rest: a log may be larger than the memory."""
    with path.open("rb") as log:
        log.seek(max(0, path.stat().st_size - LOG_BYTES))
        return log.read().decode(errors="replace")
