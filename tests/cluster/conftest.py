"""The libraries of the tests with real MPI, and the core built for one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest
from mpi.conftest import WHEELS, home, reach

from rankbench import build, libraries

if TYPE_CHECKING:
    from pathlib import Path

    from rankbench.model import Library

__all__ = ["WHEELS", "Core", "core", "home", "reach"]


class Core(NamedTuple):
    """The core built for one library."""

    library: Library
    binary: Path


@pytest.fixture(scope="package", params=WHEELS)
def core(request: pytest.FixtureRequest, home: Path, reach: list[Library]) -> Core:
    """Return the core for each wheel."""
    library = libraries.choose(request.param, [one for one in reach if one.source == "pypi"])
    return Core(library, build.build(library, home).binary)
