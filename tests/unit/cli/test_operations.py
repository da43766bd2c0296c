from __future__ import annotations

import json
from typing import TYPE_CHECKING

import fakes
import msgspec
import pytest
from fakes.library import make

from rankbench import cli

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the prefix of a stand-in library, in a home of its own."""
    monkeypatch.setenv("RANKBENCH_HOME", str(tmp_path / "home"))
    return make(tmp_path / "library", "9.1")


def operations(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.setattr("sys.argv", ["rankbench", "operations", *arguments])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 0


def test_every_operation_and_start_of_the_core_is_listed(
    library: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    operations(monkeypatch, "--prefix", str(library))
    first_words = {line.split()[0] for line in capsys.readouterr().out.splitlines() if line[:1].strip()}
    description = fakes.description()
    assert {operation.name for operation in description.operations} <= first_words
    assert {start.name for start in description.starts} <= first_words


def test_json_is_what_the_core_says(
    library: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    operations(monkeypatch, "--json", "--prefix", str(library))
    assert json.loads(capsys.readouterr().out) == msgspec.to_builtins(fakes.description())


def test_without_a_library_it_says_how_to_get_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("rankbench.libraries.find", lambda _: [])
    monkeypatch.setattr("sys.argv", ["rankbench", "operations"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    assert capsys.readouterr().err == (
        "rankbench: no MPI library found to build the core with; get one: rankbench get mpich\n"
    )
