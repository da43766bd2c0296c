"""Two campaigns of real libraries, and both libraries measured again side by side."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from mpi.conftest import run_rankbench
from rankbench import store

DOCS = Path(__file__).parents[2] / "docs"
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


@pytest.mark.thorough
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


def test_two_libraries_are_compared_from_python(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The example of the documentation, with fewer blocks; either library may be faster.

    On a busy machine no launch of a case may count.
    """
    monkeypatch.setenv("RANKBENCH_HOME", str(home))
    monkeypatch.chdir(tmp_path)
    example, _ = re.findall(r"```python\n(.*?)```", (DOCS / "howto" / "python.md").read_text(), re.DOTALL)
    names: dict[str, Any] = {}
    assert 'blocks="5"' in example
    exec(example.replace('blocks="5"', 'blocks="2"'), names)
    printed = capsys.readouterr().out.splitlines()
    assert printed[:-1] == names["result"].conclusion
    assert names["compared"].comparisons.keys() <= {check.case for check in names["gate"].checks}
    assert 1 <= len(names["gate"].checks) <= 5  # Sizes.
    assert names["slower"] == [
        case for case, ratio in names["compared"].comparisons.items() if ratio.different and ratio.ratio > 1
    ]
    assert len(store.open(names["result"].folder).launches()) == 6
