"""The libraries of the tests with real MPI, and the core built for one of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from mpi.conftest import WHEELS, home, reach

from cluster.study import Core
from rankbench import build, libraries
from rankbench.model import Library

__all__ = ["WHEELS", "core", "home", "reach"]


@pytest.fixture(scope="package", params=WHEELS)
def core(request: pytest.FixtureRequest, home: Path, reach: list[Library]) -> Core:
    """Return the core for each wheel."""
    library = libraries.choose(request.param, [library for library in reach if library.source == "pypi"])
    return Core(library, build.build(library, home).binary)
