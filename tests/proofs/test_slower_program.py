"""A program is found slower whose sums over ranks take a tenth longer, and the calls of its record say which they are.

The program finds conjugate gradients; `fakes/slower.c` precedes the calls of both candidates, which are one library.
"""

from __future__ import annotations

import itertools
import shutil
import subprocess
from pathlib import Path

import pytest
from mpi.conftest import run_rankbench

from proofs.judging import check_repeatedly
from rankbench import store
from rankbench.analysis.claims import program_answer
from rankbench.analysis.evaluation import evaluate
from rankbench.language import render
from rankbench.model import Library

FAKES = Path(__file__).parents[1] / "fakes"
SLOWER = "slower"
PERCENT = 10
BLOCKS = 100
"""Of 2 s on two cores."""
CANDIDATE = """
[[candidate]]
library = "{library}"
name = "{name}"
settings = {{ LD_PRELOAD = "{preloaded}", SLOWER = "allreduce {percent}" }}
"""
PROGRAM = """
[program]
run = "{program} 50 150000"
value = 'time per iteration:\\s+([\\d.]+) us'
"""


@pytest.fixture
def library(reach: list[Library]) -> Library:
    """Return a library with a compiler for Fortran; wheels have none."""
    return next(entry for entry in reach if entry.source == "system" and find_fortran(entry))


def find_fortran(library: Library) -> str | None:
    return shutil.which(library.wrapper.replace("mpicc", "mpifort"))


def compile_program(library: Library, folder: Path) -> tuple[Path, Path]:
    """Return the program, and the file that makes its sums slower."""
    program, preloaded = folder / "program", folder / "slower.so"
    source = FAKES / "applications" / "gradient.f90"
    subprocess.run([str(find_fortran(library)), "-O2", str(source), "-o", str(program)], cwd=folder, check=True)
    shared = [library.wrapper, "-O2", "-shared", "-fPIC", "-o", str(preloaded), str(FAKES / "slower.c")]
    subprocess.run(shared, check=True)
    return program, preloaded


def test_the_slower_call_of_a_slower_program_is_named(library: Library, home: Path, tmp_path: Path) -> None:
    program, preloaded = compile_program(library, tmp_path)
    record = tmp_path / "record.json"
    launcher = [library.launcher, "-n", "2", str(program), "50", "1000000"]
    recorded = run_rankbench("record", "--output", str(record), "--", *launcher, home=home)
    assert recorded.returncode == 0, recorded.stderr
    candidates = "".join(
        CANDIDATE.format(library=library.name, name=name, preloaded=preloaded, percent=percent)
        for name, percent in (("plain", 0), (SLOWER, PERCENT))
    )
    settings = f'placements = ["1x2"]\nthreshold = "1%"\nprofile = "{record}"\nstop = {{ blocks = {BLOCKS} }}\n'
    plan = tmp_path / "plan.toml"
    plan.write_text(settings + candidates + PROGRAM.format(program=program))
    numbers = itertools.count()

    def find_slower_call() -> None:
        name = f"attempt {next(numbers)}"
        words = ["run", str(plan), "--results", str(tmp_path), "--name", name]
        answer = run_rankbench(*words, home=home)
        assert answer.returncode == 0, answer.stderr
        conclusion = program_answer.find_answer(evaluate(store.open(tmp_path / name)))
        assert conclusion
        (slower,) = (entry for entry in conclusion.predictions if entry.candidate == SLOWER)
        deciding = program_answer.name_deciding(conclusion)
        assert slower.measured
        assert deciding
        ratio = slower.measured
        print(f"{SLOWER}: {ratio.value:.3f} ({ratio.low:.3f} to {ratio.high:.3f}); differ in: {render(deciding)}")
        assert ratio.low > 1, "not shown to be slower"
        assert render(deciding) == "allreduce 8 B"

    check_repeatedly(find_slower_call, wanted=1)
