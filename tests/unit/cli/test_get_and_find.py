"""The commands `get` and `find` over stand-in libraries."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fakes import library as fake
from fakes import modules
from wording import WORDING, find_lines, refuses

from rankbench import libraries
from rankbench.cli.commands.find import find, short
from rankbench.cli.commands.get import get
from rankbench.cli.display import console
from rankbench.model import Library


@pytest.fixture(autouse=True)
def no_other_library_in_reach(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def make_search(home: Path, prefixes: Sequence[Path] = (), named: Sequence[str] = ()) -> libraries.Search:
        return libraries.Search(
            home=home, prefixes=tuple(prefixes), modules=tuple(named), system=(), shells=list_shells()
        )

    def list_shells() -> tuple[Path, ...]:
        return (tmp_path / "modules/init/bash",) if (tmp_path / "modules").exists() else ()

    monkeypatch.setenv("RANKBENCH_HOME", str(tmp_path))
    monkeypatch.setattr(libraries, "make_search", make_search)
    monkeypatch.setattr(console, "width", 100)


def test_find_prints_a_table_then_paths_then_reasons(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, dead = fake.make(tmp_path / "good", "9.9"), fake.make(tmp_path / "dead", "9.8", dead=True)
    find(prefix=[good, dead])
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines[0].split() == ["name", "library", "source", "ABI", "compiler", "works"]
    assert lines[2].split() == ["mpich-9.9", "MPICH", "9.9", "prefix", "?", "fake", "1.0", "yes"]
    assert lines[3].split() == ["mpich-9.8", "MPICH", "9.8", "prefix", "?", "fake", "1.0", "no"]
    assert lines[4:] == WORDING


def test_a_library_whose_core_cannot_be_built_is_a_row(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prefix = fake.make(tmp_path / "broken", "9.9")
    (prefix / "lib/program").unlink()
    find(prefix=[prefix])
    (row,) = find_lines(capsys.readouterr().out, "the core does not compile: ")
    assert row.startswith("mpich-9.9 does not work: ")


def test_find_prints_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    find(prefix=[fake.make(tmp_path / "good", "9.9")], format_="json")
    entries: list[dict[str, Any]] = msgspec.json.decode(capsys.readouterr().out)
    assert entries[0]["library"]["launcher"] == f"{tmp_path}/good/bin/mpiexec"
    assert entries[0]["check"]["works"]
    assert entries[0]["check"]["facts"]["ranks"] == 2


def make_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    prefix = fake.make(tmp_path / "good", "9.9")
    files = dict.fromkeys(names, f'export PATH="{prefix}/bin:$PATH"\n') | {"impi/2021": ""}
    modules.use(monkeypatch, tmp_path / "modules", files)


def test_modules_are_listed_and_untried_ones_mentioned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [f"a-compiler-with-a-long-name/{number}" for number in range(3)]
    make_site(tmp_path, monkeypatch, *names)
    find(modules=[" ".join(names)], no_check=True)
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines[2].split() == ["mpich-9.9", "MPICH", "9.9", "modules", "?", "fake", "1.0"]
    assert lines[4:] == WORDING


def test_find_without_results_mentions_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_site(tmp_path, monkeypatch)
    with refuses():
        find()


def test_find_without_checks_builds_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    find(prefix=[fake.make(tmp_path / "good", "9.9")], no_check=True, format_="json")
    assert msgspec.json.decode(capsys.readouterr().out)[0]["check"] is None
    assert not (tmp_path / "builds").exists()


def test_find_without_results_names_the_command_that_installs() -> None:
    with refuses():
        find()


def test_get_reports_installed_libraries(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fake.make(tmp_path / "libraries/mpich-9.9", "9.9")
    get(["mpich", "mpich==9.9"])
    assert capsys.readouterr().out == WORDING


def test_libraries_are_installed_concurrently_and_reported_in_their_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    both = threading.Barrier(2, timeout=60)

    def install(name: str, home: Path, folder: Path | None) -> Library:
        assert folder is None
        both.wait()  # Neither thread passes alone.
        prefix = str(home / name)
        return Library(f"{name}-1.0", name, "1.0", "pypi", prefix, f"{prefix}/bin/mpicc", f"{prefix}/bin/mpiexec")

    monkeypatch.setattr(libraries, "install", install)
    get(["openmpi", "mpich"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:3] for line in lines[:2]] == [
        ["openmpi-1.0", "installed", "after"],
        ["mpich-1.0", "installed", "after"],
    ]
    assert [line.split()[-1] for line in lines[:2]] == [str(tmp_path / "openmpi"), str(tmp_path / "mpich")]


def test_get_checks_every_name_before_it_installs(tmp_path: Path) -> None:
    with refuses():
        get(["mpich", "mpihc"])
    assert not (tmp_path / "libraries").exists()


COMPILERS = [
    ("cc (Debian 12.2.0-14+deb12u1) 12.2.0", "cc 12.2.0"),
    ("Intel(R) oneAPI DPC++/C++ Compiler 2024.1.0 (2024.1.0.20240308)", "Intel(R) 2024.1.0"),
    ("Debian clang version 14.0.6", "clang 14.0.6"),
    ("unheard of", "unheard of"),
    ("", "none"),
]


@pytest.mark.parametrize(("line", "compiler"), COMPILERS)
def test_compilers_are_named_by_program_and_version(line: str, compiler: str) -> None:
    assert short(line) == compiler
