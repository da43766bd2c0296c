"""The core is built with each library's own wrapper. These tests come first: the others use the builds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpi.conftest import WHEELS
from mpi.test_libraries import PAIR, choose_wheel
from rankbench import build
from rankbench.campaign import doctor

if TYPE_CHECKING:
    from rankbench.model import Library


@pytest.mark.parametrize("family", WHEELS)
def test_the_binary_is_linked_to_its_own_library(family: str, home: Path, reach: list[Library], tmp_path: Path) -> None:
    library = choose_wheel(family, reach)
    check = doctor.check(library, build.build(library, home), PAIR, tmp_path)
    assert {Path(rank.libmpi).is_relative_to(library.prefix) for rank in check.ranks} == {True}
    assert library.abi.startswith("libmpi.so.")
