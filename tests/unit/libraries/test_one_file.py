"""A new family and a new source are one file each: copied into their folders, they are found and used."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rankbench import libraries
from rankbench.libraries import families, sources
from rankbench.model import Placement

LAM = '''
"""LAM/MPI."""
from rankbench.libraries import families
from rankbench.model import CommandLine


class Family(families.Family):
    """LAM."""

    name, title, packages, precedence = "lam", "LAM/MPI", (), 5
    versions = (r"^LAM (\\\\S+)/MPI",)

    def make_launch_line(self, library, placement, settings, program):
        return CommandLine(arguments=[library.launcher, "-np", str(placement.ranks), *program])
'''.replace("\\\\", "\\")
ATTIC = '''
"""Libraries from the attic."""
from rankbench.libraries import sources

TITLE = "the attic"
PRECEDENCE = 1


def find(search):
    return [sources.make_installation(wrapper, "attic") for wrapper in search.home.glob("attic/*/bin/mpicc")]
'''


@pytest.fixture
def two_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for package, name, text in ((families, "lam", LAM), (sources, "attic", ATTIC)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / f"{name}.py").write_text(text, "utf-8")
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])
    families.list_families.cache_clear()
    yield
    families.list_families.cache_clear()
    for name in ("families.lam", "sources.attic"):
        del sys.modules[f"rankbench.libraries.{name}"]


@pytest.mark.usefixtures("two_files")
def test_a_new_family_and_a_new_source_are_found(tmp_path: Path) -> None:
    tools = tmp_path / "attic/lam/bin"
    tools.mkdir(parents=True)
    for name in ("mpicc", "mpirun"):
        (tools / name).write_text('#!/bin/sh\necho "LAM 7.1.4/MPI 2 C++"\n', "utf-8")
        (tools / name).chmod(0o755)
    (library,) = libraries.find(libraries.Search(home=tmp_path, system=()))
    assert (library.name, library.source) == ("lam-7.1.4", "attic")
    family = libraries.find_family(library)
    command = family.make_launch_line(
        library, Placement(name="p", nodes=1, ranks_per_node=2, binding="none"), {}, ["x"]
    )
    assert command.arguments == [f"{tools}/mpirun", "-np", "2", "x"]
