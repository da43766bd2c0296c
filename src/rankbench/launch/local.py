"""Steps run at once on this machine, each under a keeper that ends all of its processes (see `launch/keeper.py`)."""

from __future__ import annotations

import json
import select
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rankbench.launch import keeper
from rankbench.model import Outcome, RankbenchError

if TYPE_CHECKING:
    from rankbench.model import Step

KILLED = '{"error": "the process that watches over launches was killed; run again to go on"}'


def run(step: Step) -> Outcome:
    """Run a step to its end. Interrupted, it ends the step's processes before the interruption goes on."""
    order = {
        "arguments": arguments(step),
        "environment": step.command.environment,
        "output": str(step.output),
        "watch": str(step.watch),
        "limit_s": step.limit_s,
    }
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", str(Path(keeper.__file__))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdin
    assert process.stdout
    try:
        process.stdin.write(json.dumps(order).encode() + b"\n")
        process.stdin.flush()
        # A read is begun again after a signal where a library has set a handler with SA_RESTART, as Polars does: Ctrl-C
        # would wait for the step's end. To poll is always interrupted.
        select.select([process.stdout], [], [])
        answer = json.loads(process.stdout.readline() or KILLED)
    finally:
        process.stdin.close()
        process.wait()
        process.stdout.close()
    if "error" in answer:
        raise RankbenchError(answer["error"])
    return Outcome(**answer)


def arguments(step: Step) -> list[str]:
    """Return the command's arguments, with the files that it reads written and named."""
    paths = {name: step.output.with_name(name) for name in step.command.files}
    for name, path in paths.items():
        path.write_text(step.command.files[name], encoding="utf-8")
    return [str(paths.get(argument, argument)) for argument in step.command.arguments]
