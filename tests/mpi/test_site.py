"""A site without network, whose Python may be too old, is installed from a folder that was collected elsewhere."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.thorough, pytest.mark.needs("namespaces")]

COLLECT = Path(__file__).parents[2] / "tools" / "wheelhouse"
ALONE = ("unshare", "--net")


def run(*command: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command with some variables changed."""
    return subprocess.run(command, env=os.environ | variables, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that was collected by this Python."""
    folder = tmp_path_factory.mktemp("site") / "collected"
    result = run(COLLECT, folder, "mpich", PYTHON=sys.executable)
    assert result.returncode == 0, result.stderr
    return folder


def test_it_installs_rankbench_and_a_library_without_network(collected: Path, tmp_path: Path) -> None:
    installed = run(*ALONE, "sh", collected / "install", tmp_path / "rb")
    assert installed.returncode == 0, installed.stderr
    places = {"RANKBENCH_HOME": str(tmp_path / "home"), "RANKBENCH_RESULTS": str(tmp_path / "results")}
    for words in (
        ("get", "mpich", "--from", collected / "wheels"),
        ("run", "mpich", "--operations", "pingpong", "--sizes", "8", "--blocks", "1"),
        ("report",),
    ):
        result = run(*ALONE, tmp_path / "rb/bin/rankbench", *words, **places)
        assert result.returncode == 0, result.stderr


def test_a_missing_python_is_named(collected: Path, tmp_path: Path) -> None:
    for tool in ("sh", "dirname", "mkdir"):
        (tmp_path / tool).symlink_to(shutil.which(tool) or tool)
    refused = run("sh", collected / "install", tmp_path / "rb", PATH=str(tmp_path))
    assert refused.returncode == 2
    assert refused.stderr.startswith(f"install: no python{sys.version_info.major}.{sys.version_info.minor} here (")


def test_no_folder_of_others_is_written(tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    refused = run(COLLECT, tmp_path)
    assert (refused.returncode, refused.stderr) == (2, f"wheelhouse: {tmp_path}: is not empty; name a new folder\n")
