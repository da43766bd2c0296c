"""The state of this machine beside a launch, measured without MPI by a short run of the core (`core/study/state.c`)."""

from __future__ import annotations

import os
import subprocess

import msgspec

from rankbench import processes
from rankbench.model import CommandLine, RankbenchError, State

LONGEST_S = 30.0
"""The core ends within two seconds on any working machine."""


def state(command: CommandLine) -> State:
    """Return the state that a core reports by `--state`. Raises RankbenchError if it reports none."""
    line = " ".join(command.arguments)
    try:
        answer = processes.run(command.arguments, os.environ | command.environment, limit_s=LONGEST_S)
    except subprocess.TimeoutExpired:
        raise RankbenchError(f"{line}: did not answer within {LONGEST_S:g} s") from None
    except OSError as error:
        raise RankbenchError(f"{line}: cannot be run ({error.strerror})") from None
    try:
        return msgspec.json.decode(answer.stdout, type=State)
    except msgspec.MsgspecError as error:
        text = next(iter(answer.stderr.splitlines()), str(error))
        raise RankbenchError(f"{line}: reports no state: {text}") from None
