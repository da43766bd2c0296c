"""Runs steps on this machine, each under a supervisor that ends all of its processes (`launch/supervisor.py`)."""

from __future__ import annotations

import contextlib
import marshal
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any

from rankbench import files
from rankbench.launch import resources, supervisor
from rankbench.model import Outcome, RankbenchError, Step

START = "import os, sys; sys.path.append(os.path.dirname(sys.argv[1])); import supervisor; supervisor.main()"
"""Starts a supervisor by its path. Python compiles what is imported only once, unlike a file that it runs."""
TRIES = 3
"""Most runs of a step whose supervisor is killed."""


class SupervisorKilledError(RankbenchError):
    """The supervisor of a step was killed, and the step was ended with it. This says nothing about the step itself."""


def run(step: Step) -> Outcome:
    """Run a step to its end. On an interrupt, its processes are ended before the exception continues."""
    for _ in range(TRIES):
        (outcome,) = run_together([step])
        if not isinstance(outcome, SupervisorKilledError):
            break
    if isinstance(outcome, RankbenchError):
        raise outcome
    return outcome


def run_together(
    steps: Sequence[Step], ended: Callable[[int], None] = lambda _: None
) -> list[Outcome | RankbenchError]:
    """Run steps at the same time, until all have ended; return how each ended, or why it did not start.

    `ended` is called with the position of a step as soon as its processes are gone. On an interrupt, all processes are
    ended before the exception continues. A killed supervisor gives a SupervisorKilledError.
    """
    known_pids = set(supervisor.find_descendants({os.getpid()}, supervisor.list_parents()))
    shared = supervisor.SharedFiles()
    supervisor.prctl(supervisor.PR_SET_CHILD_SUBREAPER, 1)
    processes = [
        subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", START, supervisor.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        for _ in steps
    ]
    known_pids |= {process.pid for process in processes}
    answers: dict[int, Outcome | RankbenchError] = {}
    try:
        for step, process in zip(steps, processes, strict=True):
            send(process, encode_step(step))
        outputs = [process.stdout for process in processes if process.stdout]
        while pending := [place for place in range(len(steps)) if place not in answers]:
            # A signal does not interrupt a read if a library, such as Polars, has set a handler with SA_RESTART: Ctrl-C
            # would wait for the end of the step. It always interrupts select.
            select.select([outputs[place] for place in pending], [], [])
            for place in pending:
                if select.select([outputs[place]], [], [], 0)[0]:
                    answers[place] = read_answer(processes[place], known_pids, shared)
                    ended(place)
    finally:
        for process in processes:
            assert process.stdin
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
        for process in processes:
            assert process.stdout
            process.wait()
            process.stdout.close()
        end_orphans(known_pids, shared)
        supervisor.prctl(supervisor.PR_SET_CHILD_SUBREAPER, 0)
    return [answers[place] for place in range(len(steps))]


def send(process: subprocess.Popen[bytes], message: bytes) -> None:
    """Write a step to a supervisor. If it was killed, its missing answer shows that."""
    assert process.stdin
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(message)
        process.stdin.flush()


def read_answer(
    process: subprocess.Popen[bytes], known_pids: set[int], shared: supervisor.SharedFiles
) -> Outcome | RankbenchError:
    """Return the answer of a supervisor. If it was killed, its processes are ended first."""
    assert process.stdout
    with contextlib.suppress(EOFError):
        message: dict[str, Any] = marshal.load(process.stdout)  # noqa: S302 - the same Python wrote it
        return RankbenchError(message["error"]) if "error" in message else Outcome(**message)
    code = process.wait()
    end_orphans(known_pids, shared)
    how = f"killed by {signal.Signals(-code).name}" if code < 0 else f"ended by exit code {code}"
    return SupervisorKilledError(f"the supervisor of the launch was {how}, and the launch was ended with it")


def end_orphans(known_pids: set[int], shared: supervisor.SharedFiles) -> None:
    """End the processes of killed supervisors, which have become children of this process."""
    adopted: set[int] = set()

    def orphans() -> list[int]:
        parents = supervisor.list_parents()
        roots = {pid for pid, above in parents.items() if above == os.getpid()} - known_pids
        adopted.update(roots)
        return [*roots, *supervisor.find_descendants(roots, parents)]

    if orphans():
        supervisor.end_all(orphans, shared)
    for pid in adopted:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)


def encode_step(step: Step) -> bytes:
    """Return what describes a step to its supervisor."""
    message = {
        "arguments": arguments(step),
        "environment": step.command.environment,
        "output": str(step.output),
        "watch": str(step.watch),
        "heartbeat": (str(step.heartbeat[0]), step.heartbeat[1]) if step.heartbeat else None,
        "limit_s": step.limit_s,
        "shared": list(resources.SEGMENTS),
    }
    return marshal.dumps(message)


def arguments(step: Step) -> list[str]:
    """Write the files that a command reads; return its arguments with their paths."""
    paths = {name: step.output.with_name(name) for name in step.command.files}
    for name, path in paths.items():
        files.write(path, step.command.files[name])
    return [str(paths.get(argument, argument)) for argument in step.command.arguments]
