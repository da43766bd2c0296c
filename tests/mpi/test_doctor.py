"""The check of candidates with real libraries set up wrongly: its messages and remedies."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from rankbench import build, launch, libraries
from rankbench.campaign import doctor
from rankbench.campaign.doctor import Check
from rankbench.model import Library, Placement

from .conftest import WHEELS, run_rankbench

PAIR = Placement(name="pair", nodes=1, ranks_per_node=2, binding="none")
SSH = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
echo "ssh: connect to host $1 port 22: No route to host" >&2
exit 255
"""


def check_library(library: Library, home: Path, folder: Path, placement: Placement = PAIR) -> Check:
    return doctor.check(library, build.build(library, home), placement, folder)


def choose_library(family: str, reach: list[Library]) -> Library:
    return libraries.choose(family, [library for library in reach if library.source == "pypi"])


@pytest.mark.parametrize("family", WHEELS)
def test_more_ranks_than_cores_are_flagged(family: str, reach: list[Library], home: Path, tmp_path: Path) -> None:
    cores = launch.machine().cores
    crowd = msgspec.structs.replace(PAIR, ranks_per_node=2 * cores)
    report = check_library(choose_library(family, reach), home, tmp_path, crowd)
    host = report.ranks[0].host
    assert (report.works, report.flags) == (
        True,
        (
            f"{2 * cores} ranks share {cores} cores of {host}: times show how a library waits, and may be a "
            "thousand times longer; do not compare them",
        ),
    )


@pytest.mark.parametrize("family", WHEELS)
def test_an_unreachable_host_is_named(family: str, reach: list[Library], home: Path, tmp_path: Path) -> None:
    shell = tmp_path / "shell"
    shell.write_text(SSH)
    shell.chmod(0o755)
    far = msgspec.structs.replace(
        PAIR, nodes=2, ranks_per_node=1, hosts=["192.0.2.1", "192.0.2.2"], remote_shell=str(shell)
    )
    report = check_library(choose_library(family, reach), home, tmp_path, far)
    advice = "fix the network or the firewall, or use other hosts: --hosts"
    texts = [f": host 192.0.2.{number} cannot be reached; {advice}" for number in (1, 2)]
    assert not report.works
    assert report.reason[report.reason.index(":") :] in texts


def test_a_library_under_a_foreign_launcher_is_refused(reach: list[Library], home: Path, tmp_path: Path) -> None:
    library, other = choose_library("openmpi", reach), choose_library("mpich", reach)
    swapped = msgspec.structs.replace(library, launcher=other.launcher)
    assert check_library(swapped, home, tmp_path).reason == (
        f"{other.launcher} started worlds of 1 instead of one world of 2 ranks: it belongs to another library; use the "
        "library's own mpiexec"
    )


def test_the_requirements_of_open_mpi_on_root_are_explained(reach: list[Library], home: Path, tmp_path: Path) -> None:
    library = choose_library("openmpi", reach)
    strict = {name: value for name, value in library.environment.items() if "ROOT" not in name}
    plain = msgspec.structs.replace(library, environment=strict)
    reason = (
        "exit code 1: Open MPI refuses to run as root; be another user or set OMPI_ALLOW_RUN_AS_ROOT=1 "
        "and ..._CONFIRM=1"
    )
    check_result = doctor.check(plain, build.build(library, home), PAIR, tmp_path / "check")
    assert check_result.reason == (reason if os.geteuid() == 0 else "")


def test_the_command_checks_every_library(home: Path) -> None:
    process = run_rankbench("doctor", *WHEELS, home=home)
    assert process.returncode == 0, process.stdout + process.stderr
    rows = [line.split()[:4] for line in process.stdout.splitlines() if line.startswith(WHEELS)]
    assert {row[0].rpartition("-")[0] for row in rows} == set(WHEELS)
    assert {row[3] for row in rows} <= {"works", "works,"}
