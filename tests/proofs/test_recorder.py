"""What recording a call costs: calls by names that the recorder takes, and by those that it leaves alone, in turns."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from mpi.conftest import run_rankbench
from mpi.test_core import Core
from numpy.typing import NDArray

from proofs.judging import check_median

SOURCE = Path(__file__).parents[1] / "fakes" / "recorded" / "steady.c"
OPERATIONS = ["sum", "ring", "requests"]
SMALL, LARGE = 4 << 10, 8 << 20
"""Bytes that the program reads between its calls: all remain in the first cache, or drive the recorder's out of it."""
MOST_NS = 200
MOST_SHARE = 0.01
STEP_NS = 1e4
"""Between two calls at 10^5 calls a second."""
PAIRS = 800
"""Of the first 131,072 messages each is kept; of a longer run fewer are."""

Steps = Callable[[str, int, int, int], NDArray[np.float64]]


@pytest.fixture
def time_steps(core: Core, home: Path, tmp_path: Path) -> Steps:
    """Return a function that runs the program recorded and returns ns of a call and its work, recorded and not."""
    environment = core.library.environment | core.library.build_environment
    program = tmp_path / "steady"
    command = [core.library.wrapper, "-O2", str(SOURCE), "-o", str(program)]
    rpath = f"-Wl,-rpath,{Path(core.library.prefix) / 'lib'}"
    subprocess.run([*command, rpath], env=os.environ | environment, check=True)

    def time_steps(operation: str, calls: int, lines: int, spread_bytes: int) -> NDArray[np.float64]:
        arguments = [operation, str(PAIRS), str(calls), str(lines), str(spread_bytes)]
        launcher = [core.library.launcher, "-n", "2", str(program), *arguments]
        record = ("record", "--output", str(tmp_path / "record.json"), "--", *launcher)
        answer = run_rankbench(*record, home=home, environment=core.library.environment)
        assert answer.returncode == 0, answer.stderr
        pairs = [line.split() for line in answer.stdout.splitlines()]
        return np.array([[float(word) for word in pair] for pair in pairs if len(pair) == 2])

    return time_steps


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("spread_bytes", [SMALL, LARGE])
def test_recording_a_call_takes_little(time_steps: Steps, operation: str, spread_bytes: int) -> None:
    def measure_ns() -> float:
        recorded, direct = time_steps(operation, 500, 64 if spread_bytes == SMALL else 512, spread_bytes).T
        return float(np.median(recorded - direct))

    check_median(measure_ns, -MOST_NS, MOST_NS)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_program_of_many_calls_takes_hardly_longer(time_steps: Steps, operation: str) -> None:
    lines = 200
    for _ in range(4):
        lines = max(1, int(lines * STEP_NS / np.median(time_steps(operation, 50, lines, LARGE)[:, 1])))

    def measure_ratio() -> float:
        recorded, direct = time_steps(operation, 500, lines, LARGE).T
        return float(np.median(recorded / direct))

    check_median(measure_ratio, 1 - MOST_SHARE, 1 + MOST_SHARE)
