"""From a record of a program to the answer: its calls are measured, and the program itself, with real libraries."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from mpi.conftest import run_rankbench
from rankbench import libraries, store
from rankbench.analysis.claims import program_answer
from rankbench.analysis.evaluation import evaluate
from rankbench.model import Library

FAKES = Path(__file__).parents[1] / "fakes"
PLAN = """
candidates = ["mpich", "openmpi"]
placements = ["1x2"]
profile = "record.json"
control = false
samples = 20
[stop]
blocks = 1
[program]
run = "./program {arguments}"
build = "{{mpicc}} -O2 -o program program.c"
record = true
"""


def record(library: Library, source: str, folder: Path, home: Path, *arguments: str) -> Path:
    """Compile a program in a folder of its own, and record it; return the folder."""
    place = folder / "program"
    place.mkdir()
    (place / "program.c").write_bytes((FAKES / source).read_bytes())
    command = [library.wrapper, "-O2", "program.c", "-o", "program", f"-Wl,-rpath,{Path(library.prefix) / 'lib'}"]
    environment = library.environment | library.build_environment
    subprocess.run(command, cwd=place, env=os.environ | environment, check=True)
    launcher = [library.launcher, "-n", "2", str(place / "program"), *arguments]
    answer = run_rankbench(
        "record", "--output", str(place / "record.json"), "--", *launcher, home=home, environment=library.environment
    )
    assert answer.returncode == 0, answer.stderr
    return place


@pytest.fixture
def mpich(reach: list[Library]) -> Library:
    return libraries.choose("mpich", [entry for entry in reach if entry.source == "pypi"])


@pytest.mark.thorough
def test_a_late_rank_is_waiting_and_no_library_is_blamed(mpich: Library, home: Path, tmp_path: Path) -> None:
    place = record(mpich, "recorded/late.c", tmp_path, home)
    answer = run_rankbench(
        *("run", "mpich", "openmpi", "--profile", str(place / "record.json"), "--blocks", "2", "--samples", "20"),
        *("--results", str(tmp_path / "results"), "--name", "late"),
        home=home,
    )
    assert answer.returncode == 0, answer.stderr
    assert "Mostly waiting: look at how work is divided among ranks" in " ".join(answer.stdout.split())
    stored = store.open(tmp_path / "results" / "late")
    (case,) = (case for case in stored.campaign.cases if case.operation == "allreduce")
    assert case.options["arrival"] == "one-late"
    assert (case.size_bytes, case.ranks) == (8, 2)


@pytest.mark.thorough
def test_a_campaign_goes_on_without_the_record_it_began_with(mpich: Library, home: Path, tmp_path: Path) -> None:
    place = record(mpich, "applications/jacobi.c", tmp_path, home, "64", "20")
    plan = PLAN.format(arguments="64 20").replace('"mpich", "openmpi"', '"mpich"').replace("record = true\n", "")
    (place / "plan.toml").write_text(plan, encoding="utf-8")
    results = tmp_path / "results"
    answer = run_rankbench("run", str(place / "plan.toml"), "--results", str(results), home=home)
    assert answer.returncode == 0, answer.stderr
    (place / "record.json").unlink()
    again = run_rankbench("run", "--continue", str(results / "plan"), "--more", "1", home=home)
    assert again.returncode == 0, again.stderr
    assert len({launch.block for launch in store.open(results / "plan").launches()}) == 2


def test_a_program_is_measured_and_recorded_beside_its_calls(mpich: Library, home: Path, tmp_path: Path) -> None:
    place = record(mpich, "applications/jacobi.c", tmp_path, home, "64", "200")
    plan = PLAN.format(arguments="64 200").replace('"mpich", "openmpi"', '"mpich"')
    (place / "plan.toml").write_text(plan, encoding="utf-8")
    results = ("--results", str(tmp_path / "results"))
    answer = run_rankbench("run", str(place / "plan.toml"), *results, home=home)
    assert answer.returncode == 0, answer.stderr
    stored = store.open(tmp_path / "results" / "plan")
    cases = {(case.operation, case.form, case.size_bytes) for case in stored.campaign.cases if not case.suite}
    assert ("pingping", "nonblocking", 512) in cases or ("pingping", "nonblocking", 256) in cases
    assert stored.records().keys() == {"", *(candidate.name for candidate in stored.campaign.candidates)}
    answer_of_calls = program_answer.find_answer(evaluate(stored))
    assert answer_of_calls
    assert all(entry.recorded and entry.recorded.low > 0 and entry.measured for entry in answer_of_calls.predictions)
