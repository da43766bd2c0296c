"""A campaign over several nodes from the command line: ranks run where requested, or there are no figures."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster.nodes import FAKES, CommandResult, Lab, run_launch, start_nodes
from rankbench import libraries, store
from rankbench.model import LaunchStatus, Library

pytestmark = pytest.mark.needs("namespaces", "ip")

PLAN = """
candidates = ["mpich", "openmpi", "intel-mpi"]
operations = ["ring"]
sizes = 4
placements = ["1x2", "2x1", "2x2"]
binding = "none"
samples = 5
case_limit = "60s"
stop = { blocks = 1 }
control = false
[options]
direction = ["right", "down"]
"""
RANKBENCH = Path(sys.executable).with_name("rankbench")


@pytest.fixture(scope="module")
def pair(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with start_nodes(tmp_path_factory.mktemp("pair") / "nodes", (0, 0), shared=[home], limit_s=600) as nodes:
        yield nodes


def run_plan(nodes: Lab, home: Path, name: str, text: str, remote_shell: Path) -> CommandResult:
    """Run a plan from the head; all files are in the folder that all nodes share."""
    plan = nodes.folder / f"{name}.toml"
    plan.write_text(text)
    over = ["--hosts", ",".join(nodes.nodes), "--remote-shell", str(remote_shell)]
    return nodes.run([RANKBENCH, "run", plan, "--results", nodes.folder, *over], {"RANKBENCH_HOME": str(home)})


@pytest.mark.thorough
def test_rings_are_measured_within_and_between_nodes(pair: Lab, home: Path) -> None:
    process = run_plan(pair, home, "rings", PLAN, pair.remote_shell)
    assert process.exit_code == 0, process.printed
    results = store.open(pair.folder / "rings")
    assert {
        (launch.candidate.partition("-")[0], launch.placement, launch.status.value) for launch in results.launches()
    } == {
        (library, placement, "ok") for library in ("mpich", "openmpi", "intel") for placement in ("1x2", "2x1", "2x2")
    }
    # The nodes share this machine's cores, and ranks that share cores do not sleep while others measure.
    places = {place.name: place for place in results.campaign.plan.placements}
    for launch in results.launches():
        place = places[launch.placement]
        shared = results.campaign.oversubscribed(place.ranks_per_node, place.nodes)
        assert launch.together == (1 if shared else 3)
        hosts = [rank.host for rank in launch.ranks]
        assert hosts == {"1x2": ["n1", "n1"], "2x1": ["n1", "n2"], "2x2": ["n1", "n1", "n2", "n2"]}[launch.placement]
    cases = results.cases()
    assert set(cases.select("placement", "options", "status", "grid", "hops").rows()) == {
        (placement, f"direction={direction}" if direction == "down" else "", "ok", grid, hops)
        for placement, grid, lengths in (("1x2", "2x1", (1, 2)), ("2x1", "2x1", (1, 2)), ("2x2", "2x2", (2, 2)))
        for direction, hops in zip(("right", "down"), lengths, strict=True)
    }


def test_ranks_that_are_all_on_one_node_give_no_values(pair: Lab, home: Path) -> None:
    """With a remote shell that always connects to the first node."""
    shell = pair.folder / "astray.sh"
    shell.write_text(
        f'#!/bin/sh\nwhile [ "${{1#-}}" != "$1" ]; do shift; done\nshift\nexec "{pair.remote_shell}" n1 "$@"\n'
    )
    shell.chmod(0o755)
    text = PLAN.replace('"mpich", "openmpi", "intel-mpi"', '"mpich"').replace('"1x2", "2x1", "2x2"', '"2x1"')
    process = run_plan(pair, home, "astray", text, shell)
    assert process.exit_code == 2
    assert process.printed.splitlines()[-1] == (
        "rankbench: no candidate works here; mpich-5.0.2 on 2x1: not as asked: ranks 0 and 1 are on host n1, "
        "two nodes were asked for"
    )


def test_files_that_killed_ranks_leave_on_other_nodes_are_removed(
    pair: Lab, home: Path, reach: list[Library], tmp_path: Path
) -> None:
    """MPICH leaves its shared memory on each node: its launcher kills all ranks there where one of them dies."""
    mpich = libraries.choose("mpich", [library for library in reach if library.source == "pypi"])
    program = pair.folder / "dies"
    subprocess.run([mpich.wrapper, FAKES / "dies.c", "-o", program, f"-Wl,-rpath,{mpich.prefix}/lib"], check=True)
    assert run_launch(pair, mpich, 4, [program, pair.folder]).exit_code
    files = [list_segments(pair, node) for node in pair.nodes]
    assert all(files), files
    text = 'candidates = ["mpich"]\nplacements = ["2x2"]\nbinding = "none"\ncontrol = false\nstop = { blocks = 1 }\n'
    text += f'[program]\nrun = "{program} {pair.folder}"\ncopies = false\n'
    process = run_plan(pair, home, "dies-of-plan", text, pair.remote_shell)
    assert process.exit_code == 1, process.printed
    (launch,) = store.open(pair.folder / "dies-of-plan").launches()
    assert launch.status is LaunchStatus.CRASHED, launch
    assert [list_segments(pair, node) for node in pair.nodes] == [[], []]


def list_segments(nodes: Lab, node: str) -> list[str]:
    """Return the files that MPICH made on a node."""
    return nodes.on(node, ["sh", "-c", "ls /dev/shm | grep mpich_ || true"]).split()
