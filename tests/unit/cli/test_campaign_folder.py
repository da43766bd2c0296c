"""A campaign is stored below the folder of results, whatever its name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from wording import WORDING, find_lines, refuses

from rankbench.workflows.locations import campaign_folder

PLAN = 'question = "?"\ncandidates = ["mpich"]\noperations = ["barrier"]\nplacements = ["1x2"]\n'


@pytest.mark.parametrize("name", ["../evil", "/evil", "a/b", "..", ".", ".hidden", "", "a\nb", "a\x1b[2J", "a\0"])
def test_names_that_are_paths_or_hidden_are_refused(name: str) -> None:
    with refuses():
        campaign_folder(Path("results"), name)


@pytest.mark.parametrize("name", ["study", "2 nodes", "a..b", "größe-8"])
def test_other_names_are_folders_below_the_results(name: str) -> None:
    assert campaign_folder(Path("results"), name) == Path("results", name)


@pytest.mark.parametrize("command", ["run", "submit", "import"])
def test_every_command_with_a_name_refuses_a_path(tmp_path: Path, command: str) -> None:
    (tmp_path / "plan.toml").write_text(PLAN)
    scheduler = ["--scheduler", "slurm"] if command == "submit" else []
    process = subprocess.run(
        [sys.executable, "-m", "rankbench", command, "plan.toml", *scheduler, "--name", "../evil"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (process.returncode, process.stdout) == (2, "")
    assert find_lines(process.stderr, "rankbench: --name '../evil': a") == WORDING
    assert [path.name for path in tmp_path.iterdir()] == ["plan.toml"]
