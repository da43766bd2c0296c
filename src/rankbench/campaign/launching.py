"""One launch: the command is made and run, and what came out is classed."""

from __future__ import annotations

import os
import signal
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from rankbench import launch, libraries, samples
from rankbench.model import (
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
    Stream,
)

if TYPE_CHECKING:
    from pathlib import Path

    from rankbench.campaign.history import Turn

LOG_CHARACTERS = 20_000
WRONG_DATA_EXIT = 3
"""The core's exit code when all went well but for some data."""
SPEAKS_TO_MPI = (
    *("OMPI_", "OPAL_", "PMIX_", "PRTE_", "MPICH_", "MPIR_", "HYDRA_", "I_MPI_", "MV2_", "MVP_"),
    *("UCX_", "FI_", "PSM", "LD_", "OMP_", "KMP_", "MALLOC_", "GLIBC_"),
)
"""Beginnings of environment variables that change what a library does, whoever set them."""


class Order(NamedTuple):
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


class Ending(NamedTuple):
    """How a launch ended."""

    status: LaunchStatus
    reason: str
    outcome: Outcome | None
    stream: Stream


EMPTY = Stream(facts=None, ranks=[], results=[], unfinished=None, complete=False)


def make(order: Order, folder: Path) -> tuple[Launch, list[CaseResult]]:
    """Launch the cases once. The folder takes job, stream and output; nothing that was there before counts."""
    job, stream, output = prepared(order, folder)
    program = [str(order.binary), "--job", str(job), "--stream", str(stream), "--quiet"]
    family = libraries.family_of(order.library)
    command = family.launch_line(order.library, order.placement, order.candidate.settings, program)
    before, unknown_before = state(order)
    started, load, stolen_before_s = datetime.now(UTC), launch.load(), launch.stolen_s()
    ending = perform(order, Step(command=command, output=output, watch=stream, limit_s=order.plan.launch_limit_s))
    stolen_s = launch.stolen_s() - stolen_before_s
    after, unknown_after = state(order)
    log = tail(output)
    meaning = family.explain(log) if ending.status != LaunchStatus.OK else None
    record = Launch(
        number=order.number,
        block=order.turn.block,
        position=order.position,
        candidate=order.candidate.name,
        placement=order.placement.name,
        status=ending.status,
        reason="; ".join(filter(None, [ending.reason, meaning])),
        started=started.isoformat(timespec="milliseconds"),
        duration_s=ending.outcome.duration_s if ending.outcome else 0.0,
        exit_code=ending.outcome.exit_code if ending.outcome else None,
        command=command.arguments,
        environment=environment(command),
        facts=ending.stream.facts,
        ranks=ending.stream.ranks,
        load_before=load,
        stolen_s=stolen_s,
        before=before,
        after=after,
        state_reason=unknown_before or unknown_after,
        log=log,
    )
    return record, rows(order, ending)


def state(order: Order) -> tuple[State | None, str]:
    """Return the state of the machine, or why it is not known: that never costs a launch."""
    command = CommandLine(arguments=[str(order.binary), "--state"], environment=order.library.environment)
    try:
        return launch.state(command), ""
    except RankbenchError as error:
        return None, str(error)


def prepared(order: Order, folder: Path) -> tuple[Path, Path, Path]:
    """Return paths for the job, written, and for stream and output, cleared of those of an earlier launch."""
    job, stream, output = folder / "job.txt", folder / "stream.jsonl", folder / "output.log"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in (stream, output):
            path.write_bytes(b"")
        samples.write_job(job, order.cases, order.plan)
    except OSError as error:
        raise RankbenchError(f"{folder}: cannot be written ({error.strerror}); mend that and run again") from None
    return job, stream, output


def perform(order: Order, step: Step) -> Ending:
    """Run the step and say how it ended."""
    try:
        outcome = launch.run(step)
    except RankbenchError as error:
        return Ending(LaunchStatus.REFUSED, str(error), None, EMPTY)
    try:
        stream = samples.read(step.watch, order.cases)
    except RankbenchError as error:
        return Ending(LaunchStatus.CRASHED, f"its stream cannot be read: {error}", outcome, EMPTY)
    ranks = stream.facts.ranks if stream.facts else 0
    if stream.facts and ranks != order.placement.ranks:
        reason = (
            f"started a world of {ranks} instead of {order.placement.ranks} ranks; is the launcher another library's?"
        )
        return Ending(LaunchStatus.REFUSED, reason, outcome, EMPTY)
    if stream.damage:
        status = LaunchStatus.HUNG if outcome.hung else LaunchStatus.CRASHED
        return Ending(status, f"its stream is damaged: {stream.damage}", outcome, stream)
    if outcome.hung:
        return Ending(LaunchStatus.HUNG, f"no sign of life for {step.limit_s:g} s", outcome, stream)
    how = exit_text(outcome.exit_code)
    if not stream.facts:
        return Ending(LaunchStatus.REFUSED, f"did not start: {how}", outcome, stream)
    if not stream.complete:
        return Ending(LaunchStatus.CRASHED, f"ended before its last case: {how}", outcome, stream)
    if outcome.exit_code not in {0, WRONG_DATA_EXIT}:
        return Ending(LaunchStatus.CRASHED, f"ended badly after its last case: {how}", outcome, stream)
    return Ending(LaunchStatus.OK, "", outcome, stream)


def exit_text(code: int | None) -> str:
    """Return an exit code in words, with the signal's name where it tells of one: launchers add 128 to it."""
    number = -code if code and code < 0 else (code or 0) - 128
    names = {int(one): one.name for one in signal.Signals}
    return f"exit code {code}" + (f" ({names[number]})" if number in names else "")


def rows(order: Order, ending: Ending) -> list[CaseResult]:
    """Return the rows of the launch: what was measured, and the case in which it crashed or hung."""
    results = list(ending.stream.results)
    unfinished = ending.stream.unfinished
    if unfinished is not None:
        deadly = CaseStatus.HUNG if ending.status == LaunchStatus.HUNG else CaseStatus.CRASHED
        results.append(CaseResult(case=order.cases[unfinished], status=deadly, reason=ending.reason))
    return results


def environment(command: CommandLine) -> dict[str, str]:
    """Return what is set that a library may listen to: by the launch line, or by whoever started rankbench."""
    ambient = {name: value for name, value in os.environ.items() if name.startswith(SPEAKS_TO_MPI)}
    return ambient | command.environment


def tail(path: Path) -> str:
    """Return the end of a log."""
    return path.read_text(encoding="utf-8", errors="replace")[-LOG_CHARACTERS:]
