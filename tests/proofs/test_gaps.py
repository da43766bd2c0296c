"""A program's time in MPI is predicted by its calls, measured with its gaps and with data that were just written."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from mpi.test_core import Core

from proofs.judging import check_median
from rankbench import store
from rankbench.analysis.claims import program_answer
from rankbench.analysis.evaluation import evaluate

APPLICATIONS = Path(__file__).parents[1] / "fakes" / "applications"
PROGRAMS = {
    "jacobi": ("jacobi.c", "{mpicc} -O2 -o program jacobi.c", "256 20000"),
    "transpose": ("transpose.cpp", "{mpicxx} -O2 -std=c++17 -o program transpose.cpp", "4000 20000"),
}
PLAN = """
candidates = ["{library}"]
placements = ["1x2"]
control = false
{profile}
stop = {{ blocks = {blocks} }}
[program]
run = "./program {arguments}"
build = "{build}"
record = true
"""


def run_plan(folder: Path, home: Path, name: str, text: str) -> store.Store:
    """Run a plan; return its campaign."""
    (folder / f"{name}.toml").write_text(text)
    rankbench = str(Path(sys.executable).with_name("rankbench"))
    words = [rankbench, "run", f"{name}.toml"]
    subprocess.run(words, cwd=folder, env=os.environ | {"RANKBENCH_HOME": str(home)}, check=True, capture_output=True)
    return store.open(folder / "results" / name)


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_time_in_mpi_of_a_program_is_predicted(core: Core, home: Path, tmp_path: Path, program: str) -> None:
    source, build, arguments = PROGRAMS[program]
    numbers = itertools.count()

    def compare() -> float:
        """Return the predicted time in MPI over the recorded one, each of another run."""
        folder = tmp_path / str(next(numbers))
        folder.mkdir()
        shutil.copy(APPLICATIONS / source, folder)
        values = {"library": core.library.name, "arguments": arguments, "build": build}
        first = run_plan(folder, home, "first", PLAN.format(profile="", blocks=1, **values))
        (record,) = (first.folder / "records").glob("with-*.json")
        again = run_plan(folder, home, "again", PLAN.format(profile=f'profile = "{record}"', blocks=3, **values))
        answer = program_answer.find_answer(evaluate(again))
        assert answer
        (entry,) = answer.predictions
        assert entry.recorded
        return entry.mpi_s.value / entry.recorded.value

    check_median(compare, 0.75, 1.33)
