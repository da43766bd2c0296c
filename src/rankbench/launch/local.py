"""Steps run at once on this machine, each under a keeper that ends all of its processes (see `launch/keeper.py`)."""

from __future__ import annotations

import json
import select
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankbench.launch import keeper
from rankbench.model import Outcome, RankbenchError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rankbench.model import Step

KILLED = '{"error": "the process that watches over launches was killed; run again to go on"}'


def run(step: Step) -> Outcome:
    """Run a step to its end. Interrupted, it ends the step's processes before the interruption goes on."""
    (outcome,) = run_together([step])
    if isinstance(outcome, RankbenchError):
        raise outcome
    return outcome


def run_together(
    steps: Sequence[Step], ended: Callable[[int], None] = lambda _: None
) -> list[Outcome | RankbenchError]:
    """Run steps at the same time to the end of all, and return how each ended, or why it did not start.

    `ended` is told the place of each as soon as its processes are gone. Interrupted, all are ended before the
    interruption goes on.
    """
    processes = [
        subprocess.Popen(
            [sys.executable, "-I", "-S", str(Path(keeper.__file__))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        for _ in steps
    ]
    answers: dict[int, dict[str, Any]] = {}
    try:
        for step, process in zip(steps, processes, strict=True):
            assert process.stdin
            process.stdin.write(order(step))
            process.stdin.flush()
        outputs = [process.stdout for process in processes if process.stdout]
        while left := [place for place in range(len(steps)) if place not in answers]:
            # A read is begun again after a signal where a library has set a handler with SA_RESTART, as Polars does:
            # Ctrl-C would wait for the step's end. To poll is always interrupted.
            select.select([outputs[place] for place in left], [], [])
            for place in left:
                if select.select([outputs[place]], [], [], 0)[0]:
                    answers[place] = json.loads(outputs[place].readline() or KILLED)
                    ended(place)
    finally:
        for process in processes:
            assert process.stdin
            process.stdin.close()
        for process in processes:
            assert process.stdout
            process.wait()
            process.stdout.close()
    told = [answers[place] for place in range(len(steps))]
    return [RankbenchError(one["error"]) if "error" in one else Outcome(**one) for one in told]


def order(step: Step) -> bytes:
    """Return the line that tells a keeper what to run."""
    told = {
        "arguments": arguments(step),
        "environment": step.command.environment,
        "output": str(step.output),
        "watch": str(step.watch),
        "limit_s": step.limit_s,
    }
    return json.dumps(told).encode() + b"\n"


def arguments(step: Step) -> list[str]:
    """Return the command's arguments, with the files that it reads written and named."""
    paths = {name: step.output.with_name(name) for name in step.command.files}
    for name, path in paths.items():
        path.write_text(step.command.files[name], encoding="utf-8")
    return [str(paths.get(argument, argument)) for argument in step.command.arguments]
