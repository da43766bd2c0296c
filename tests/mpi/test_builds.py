"""The core is built with each library's own wrapper. These tests come first: the others use the builds."""

from __future__ import annotations

from pathlib import Path

import pytest

from mpi.conftest import WHEELS
from mpi.test_libraries import PAIR, choose_wheel
from rankbench import build
from rankbench.campaign import doctor
from rankbench.model import Library


@pytest.mark.each_library
@pytest.mark.parametrize("family", WHEELS)
def test_the_binary_has_no_warnings_and_its_own_library(
    family: str, home: Path, reach: list[Library], tmp_path: Path
) -> None:
    library = choose_wheel(family, reach)
    binary = build.build(library, home)
    warnings = binary.binary.with_name(build.WARNINGS)
    assert not warnings.exists(), warnings.read_text("utf-8")
    check = doctor.check(library, binary, PAIR, tmp_path)
    assert {Path(rank.libmpi).is_relative_to(library.prefix) for rank in check.ranks} == {True}
    assert library.abi.startswith("libmpi.so.")
