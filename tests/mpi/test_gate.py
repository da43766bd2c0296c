"""Two campaigns of real libraries, and both libraries measured again side by side."""

from __future__ import annotations

from pathlib import Path

import pytest

import rankbench
from mpi.conftest import run_rankbench
from rankbench import store
from rankbench.workflows.comparison import CandidatePair

PLAN = """
candidates = ["LIBRARY"]
operations = ["pingpong", "allreduce"]
sizes = "8"
placements = ["1x2"]
start = "barrier"
samples = 5
case_limit = "60s"
[stop]
blocks = 1
until = "blocks"
"""


def test_both_libraries_are_measured_again_in_one_campaign(home: Path, tmp_path: Path) -> None:
    """Either library may be faster: 0 and 1 are both valid exit codes."""
    for name, library in (("old", "openmpi"), ("new", "mpich")):
        (tmp_path / f"{name}.toml").write_text(PLAN.replace("LIBRARY", library))
        ran = run_rankbench("run", str(tmp_path / f"{name}.toml"), "--results", str(tmp_path), home=home)
        assert ran.returncode == 0, ran.stderr
    against = ("--against", str(tmp_path / "old"), "--match", "openmpi=mpich")
    for launches in (3, 3):
        process = run_rankbench("gate", str(tmp_path / "new"), *against, "--remeasure", home=home)
        assert process.returncode in {0, 1}, process.stderr
        assert "2 checks" in process.stdout
        results = store.open(tmp_path / "new-against-old")
        assert len(results.launches()) == launches  # Of both libraries and the control; none the second time.
    families = [candidate.library.rpartition("-")[0] for candidate in results.campaign.candidates]
    assert families == ["openmpi", "mpich", "openmpi"]


def test_two_libraries_are_compared_from_python(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANKBENCH_HOME", str(home))
    result = rankbench.run(
        "mpich", "openmpi", operations="allreduce", sizes="8", ranks=2, samples=5, blocks="2", results=tmp_path
    )
    assert result.decision is not None
    compared = rankbench.compare(result.folder, "mpich", "openmpi")
    assert isinstance(compared, CandidatePair)
    assert len(compared.comparisons) == 1
    gate = rankbench.gate(result.folder, candidate="mpich", against_candidate="openmpi", threshold="900%")
    assert len(gate.checks) == 1
    assert gate.campaign.name == result.folder.name
