"""Recorded output of real libraries about themselves."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from rankbench import libraries
from rankbench.libraries import inspection

HERE = Path(__file__).parent
LIBRARIES = sorted((HERE / "libraries").iterdir())


def read_text(folder: Path, name: str) -> str:
    file = folder / f"{name}.txt"
    return file.read_text("utf-8") if file.exists() else ""


def read_expected(folder: Path) -> tuple[str, str]:
    record = msgspec.json.decode((folder / "expected.json").read_bytes())
    return record["family"], record["version"]


def test_every_recorded_library_is_tested() -> None:
    assert len(LIBRARIES) == 12


@pytest.mark.parametrize("folder", LIBRARIES, ids=lambda folder: folder.name)
def test_a_library_is_recognised_by_its_tools(folder: Path) -> None:
    identity = inspection.judge(read_text(folder, "wrapper"), read_text(folder, "launcher"))
    assert identity
    assert (identity[0].name, identity[1]) == read_expected(folder)


@pytest.mark.parametrize(
    "file", sorted((HERE / "libraries").glob("*/[io]*.txt")), ids=lambda file: f"{file.parent.name}-{file.stem}"
)
def test_a_library_is_recognised_in_a_launch_and_by_its_other_tools(file: Path) -> None:
    identity = libraries.recognise(file.read_text("utf-8"))
    assert identity
    assert (identity[0].name, identity[1]) == read_expected(file.parent)


def test_a_foreign_launcher_does_not_change_the_library() -> None:
    identity = inspection.judge(
        read_text(HERE / "libraries" / "debian-mpich-4.0.2", "wrapper"),
        read_text(HERE / "libraries" / "openmpi-4.1.8", "launcher"),
    )
    assert identity
    assert (identity[0].name, identity[1]) == ("mpich", "4.0.2")
