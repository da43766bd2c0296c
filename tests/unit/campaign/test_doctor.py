"""The doctor with a stand-in library whose launches go wrong in every way that it must see."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest
from fakes import library as fake

from rankbench import build, libraries
from rankbench.campaign import doctor
from rankbench.model import Library, Placement, RankFact

if TYPE_CHECKING:
    from pathlib import Path

PAIR = Placement(name="pair", nodes=1, ranks_per_node=2, binding="core")


@pytest.fixture
def library(tmp_path: Path) -> Library:
    prefix = fake.make(tmp_path / "library", "9.9")
    (found,) = libraries.find(libraries.Search(home=tmp_path, prefixes=(prefix,), system=()))
    return found


def check(library: Library, tmp_path: Path) -> doctor.Check:
    return doctor.check(library, build.build(library, tmp_path / "home"), PAIR, tmp_path / "check")


def test_good_library_works_and_its_facts_are_kept(library: Library, tmp_path: Path) -> None:
    found = check(library, tmp_path)
    assert (found.works, found.reason) == (True, "")
    assert found.facts
    assert found.facts.ranks == 2
    assert [rank.rank for rank in found.ranks] == [0, 1]


def test_foreign_launcher_is_seen_though_all_exit_well(library: Library, tmp_path: Path) -> None:
    (tmp_path / "library/worlds").touch()
    found = check(library, tmp_path)
    assert not found.works
    assert found.reason == (
        f"{library.launcher} started worlds of 1 instead of one world of 2 ranks: "
        "it belongs to another library; use the library's own mpiexec"
    )


def test_library_that_dies_is_told_by_its_first_line(library: Library, tmp_path: Path) -> None:
    fake.behave(tmp_path / "library", dead=True)
    assert check(library, tmp_path).reason == "exit code 1: fake core: told to be dead"


def test_known_failure_is_explained(library: Library, tmp_path: Path) -> None:
    launcher = tmp_path / "library/bin/mpiexec"
    launcher.write_text("#!/bin/sh\necho 'execvp error on file x (No such file or directory)'; exit 255\n", "utf-8")
    found = check(library, tmp_path)
    assert found.reason == "exit code 255: the launcher cannot find the program; build it again"


def test_silent_end_without_a_stream_is_no_success(library: Library, tmp_path: Path) -> None:
    (tmp_path / "library/bin/mpiexec").write_text("#!/bin/sh\n", "utf-8")
    assert check(library, tmp_path).reason == "exit code 0 but no result: it printed nothing"


def test_launcher_that_is_gone_is_said(library: Library, tmp_path: Path) -> None:
    (tmp_path / "library/bin/mpiexec").unlink()
    assert check(library, tmp_path).reason == f"{library.launcher}: No such file or directory"


def test_unreadable_stream_is_said(library: Library, tmp_path: Path) -> None:
    (tmp_path / "library/bin/mpiexec").write_text(f"#!/bin/sh\necho '{{{{' > {tmp_path}/check/stream.jsonl\n", "utf-8")
    found = check(library, tmp_path)
    assert not found.works
    assert found.reason.startswith(f"{tmp_path}/check/stream.jsonl line 1: not a record of a rankbench stream")


@pytest.mark.parametrize(("family", "version"), [("mpich", "9.8"), ("openmpi", "9.9")])
def test_another_library_inside_is_seen(family: str, version: str, library: Library, tmp_path: Path) -> None:
    made = build.build(library, tmp_path / "home")
    other = msgspec.structs.replace(library, family=family, version=version)
    placement = msgspec.structs.replace(PAIR, binding="none")
    skip = f'while [ "$1" != {made.binary} ]; do shift; done'
    (tmp_path / "library/bin/mpiexec").write_text(f'#!/bin/sh\n{skip}\nFAKE_RANKS=2 exec "$@"\n', "utf-8")
    found = doctor.check(other, made, placement, tmp_path / "check")
    assert found.reason == (
        f"inside the launch it is another library: MPICH Version: 9.9 ({tmp_path}/library/lib/libmpi.so.12); "
        "unset LD_LIBRARY_PATH or let it lead to this library first"
    )


def test_wrong_data_is_said(library: Library, tmp_path: Path) -> None:
    launcher = tmp_path / "library/bin/mpiexec"
    launcher.write_text(launcher.read_text("utf-8").replace('exec "$@"', '"$@"; exit 3'), "utf-8")
    assert check(library, tmp_path).reason == "data sent between neighbouring ranks came back wrong"


def rank(number: int, cpus: str) -> RankFact:
    return RankFact(rank=number, host="n1", cpu=0, cpus=cpus, clock="", libmpi="")


@pytest.mark.parametrize(
    ("cpus", "reason"),
    [
        (["0", "1"], ""),
        (["0,8", "1,9"], ""),
        (["0", "0-3"], "rank 1 may run on CPUs 0-3 and is not bound to one core"),
        ([""], "rank 0 may run on CPUs  and is not bound to one core"),
        (["0,1", "2"], "rank 0 may run on CPUs 0,1 and is not bound to one core"),
        (["0", "1", "8"], "ranks 0 and 2 are bound to the same core (CPUs 0 and 8)"),
    ],
)
def test_binding(cpus: list[str], reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for cpu in range(16):
        siblings = tmp_path / f"cpu{cpu}/topology/thread_siblings_list"
        siblings.parent.mkdir(parents=True)
        siblings.write_text(f"{cpu % 8},{cpu % 8 + 8}\n", "ascii")
    monkeypatch.setattr(doctor, "CPU_FOLDER", tmp_path)
    assert doctor.wrong_binding(PAIR, [rank(number, text) for number, text in enumerate(cpus)]) == reason


def test_binding_none_asks_nothing() -> None:
    assert doctor.wrong_binding(msgspec.structs.replace(PAIR, binding="none"), [rank(0, "0-7"), rank(1, "0-7")]) == ""


def test_versions_are_equal_as_far_as_both_are_told() -> None:
    assert doctor.same_version("2021.18", "2021.18.1")
    assert not doctor.same_version("2021.18", "2021.1")
