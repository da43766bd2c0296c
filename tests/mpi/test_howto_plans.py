"""Plans of the guides that run as they are: each is accepted with the libraries that it names."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

GUIDES = Path(__file__).parents[2] / "docs" / "howto"
TEXTS = {path.stem: path.read_text(encoding="utf-8") for path in GUIDES.glob("*.md")}
PLANS = {
    name: match[1]
    for name, text in TEXTS.items()
    if (match := re.search(r"as\s+it\s+is.*?```toml\n(.*?)```", text, re.DOTALL))
}
"""The plan after the words `as it is`, by guide."""
EMULATED = {"lab"}


def run_plan(home: Path, folder: Path, name: str, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "plan.toml").write_text(PLANS[name])
    rankbench = str(Path(sys.executable).with_name("rankbench"))
    around = [rankbench, "lab", "--nodes", "2", "--"] if name in EMULATED else []
    environment = {**os.environ, "RANKBENCH_HOME": str(home)}
    command = [*around, rankbench, "run", "plan.toml", *options]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_most_guides_have_a_plan_that_runs_as_it_is() -> None:
    assert len(PLANS) > 7


@pytest.mark.parametrize("name", sorted(PLANS.keys() - EMULATED))
def test_a_plan_of_a_guide_is_accepted(home: Path, tmp_path: Path, name: str) -> None:
    ran = run_plan(home, tmp_path, name, "--dry-run")
    assert ran.returncode == 0, ran.stderr
    cases = re.search(r"^cases +(\d+)", ran.stdout, re.MULTILINE)
    assert cases
    assert int(cases[1]) > 0


@pytest.mark.thorough
@pytest.mark.parametrize("name", sorted(PLANS))
def test_a_plan_of_a_guide_runs(home: Path, tmp_path: Path, name: str) -> None:
    ran = run_plan(home, tmp_path, name, "--ignore-failures")
    assert ran.returncode == 0, ran.stderr
    assert "plan: done in" in ran.stdout


TUTORIAL = (GUIDES.parent / "tutorial" / "my-program.md").read_text(encoding="utf-8")


@pytest.mark.thorough
def test_the_tutorial_on_programs_runs_as_it_is(home: Path, tmp_path: Path) -> None:
    """Its program is built with each library, measured and recorded; its calls are measured from the record."""
    for language, name in (("c", "solver.c"), ("toml", "plan.toml")):
        (code,) = re.findall(rf"```{language}\n(.*?)```", TUTORIAL, re.DOTALL)
        (tmp_path / name).write_text(code)
    environment = {**os.environ, "RANKBENCH_HOME": str(home), "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
    program, calls = re.findall(r"^    (rankbench run .*)$", TUTORIAL, re.MULTILINE)
    answers = []
    for command in (program, calls):
        ran = subprocess.run(command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr
        answers.append(" ".join(ran.stdout.split()))
    assert "recording the calls of openmpi" in answers[0]
    assert "program-solver" in answers[0]
    assert "sendrecv" in answers[1]
