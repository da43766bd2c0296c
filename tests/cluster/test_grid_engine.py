"""Campaigns by jobs of a real Grid Engine on emulated nodes: from `submit` to the end, and deleted before."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster.grid_engine import Engine
from rankbench import lab, store
from rankbench.lab import CommandResult, LabRequest
from rankbench.store import Store

pytestmark = pytest.mark.needs("namespaces", "ip", "sge_qmaster", "sge_execd", "qconf")

PLAN = """
question = "Which library on these nodes?"
candidates = ["mpich", "openmpi"]
operations = ["pingpong", "allreduce"]
sizes = "8,1K"
samples = 5
start = "barrier"
case_limit = "60s"
placements = ["1x2", "2x1"]
binding = "none"
stop = { blocks = 1 }
control = false
[job]
time = "10m"
partition = "lab"
"""
RANKBENCH = Path(sys.executable).with_name("rankbench")
LIBRARIES = {"mpich", "openmpi"}


@pytest.fixture(scope="module")
def engine(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder = tmp_path_factory.mktemp("grid_engine") / "lab"
    with lab.up(LabRequest(nodes=2, shared=(home,)), folder, limit_s=600) as running:
        engine = Engine(running)
        engine.start(slots=2)
        yield engine


def run_rankbench(engine: Engine, home: Path, *words: str | Path) -> CommandResult:
    """Run a command of rankbench on the head."""
    return engine.nodes.run([RANKBENCH, *words], engine.environment | {"RANKBENCH_HOME": str(home), "COLUMNS": "1000"})


def submit(engine: Engine, home: Path, folder: Path, *options: str, text: str = PLAN) -> CommandResult:
    """Submit the plan of a campaign. All files are in the folder that all nodes share."""
    plan = folder.with_suffix(".toml")
    plan.write_text(text)
    return run_rankbench(
        engine, home, "submit", plan, "--results", folder.parent, "--scheduler", "grid-engine", *options
    )


def list_hosts(results: Store) -> set[tuple[str, str, tuple[str, ...]]]:
    """Return the hosts of each library's launches, by placement; the job's nodes are counted from 1."""
    nodes = {
        launch.folder: (results.folder / launch.folder / "nodes").read_text().split() for launch in results.launches()
    }
    assert {frozenset(names) for names in nodes.values()} == {frozenset({"n1", "n2"})}
    return {
        (
            launch.candidate.partition("-")[0],
            launch.placement,
            tuple(f"node {nodes[launch.folder].index(rank.host) + 1}" for rank in launch.ranks),
        )
        for launch in results.launches()
    }


def find_leftovers(engine: Engine, node: str) -> str:
    """Return the files of running processes of cores on a node."""
    return engine.nodes.on(node, ["sh", "-c", "grep -ls '[r]ankbench-core' /proc/[0-9]*/cmdline || true"])


@pytest.mark.thorough
def test_a_submitted_campaign_runs_to_its_end(engine: Engine, home: Path) -> None:
    """Each library on one node and on two, whose network is used; refused if a job cannot have exclusive nodes."""
    folder = engine.nodes.folder / "my campaigns" / "2 nodes"
    folder.parent.mkdir()
    refused = submit(engine, home, folder)
    assert (refused.exit_code, refused.printed.splitlines()[-1]) == (
        2,
        f"rankbench: Grid Engine did not take {folder}/job/job.sh: Unable to run job: unknown resource "
        '"exclusive"; this site has no resource of this name for exclusive nodes; use --no-exclusive to share them, '
        "or your site's option in job.options",
    )
    engine.offer_exclusive_use()
    sent = engine.nodes.bytes_sent("n2")
    process = submit(engine, home, folder, "--wait")
    assert process.exit_code == 0, process.printed
    results = store.open(folder)
    assert {launch.status.value for launch in results.launches()} == {"ok"}
    assert set(results.cases()["status"]) == {"ok"}
    places = (("1x2", ("node 1", "node 1")), ("2x1", ("node 1", "node 2")))
    assert list_hosts(results) == {(library, *where) for library in LIBRARIES for where in places}
    (number,) = {launch.job for launch in results.launches()}
    assert f"job {number} of Grid Engine on 2 nodes" in process.printed.splitlines()
    crossed = sum(
        row["taken"] * row["size_bytes"] for row in results.cases().filter(placement="2x1").iter_rows(named=True)
    )
    assert engine.nodes.bytes_sent("n2") - sent > crossed


@pytest.mark.thorough
def test_a_deleted_job_continues_in_the_next_one(engine: Engine, home: Path) -> None:
    """The job is warned before it is killed, and leaves nothing on the nodes."""
    text = PLAN.replace("blocks = 1", "blocks = 3").replace('["mpich", "openmpi"]', '["mpich"]')
    folder = engine.nodes.folder / "deleted"
    assert submit(engine, home, folder, "--no-exclusive", text=text).exit_code == 0
    while len(list(folder.glob("job/launches/*/done"))) < 2:
        time.sleep(0.05)
    (number,) = re.findall(r"(?m)^ *(\d+) .* deleted ", engine.execute("qstat"))
    engine.execute("qdel", number)
    followed = run_rankbench(engine, home, "status", folder, "--wait")
    assert (followed.exit_code, followed.printed.splitlines()[-2:]) == (
        1,
        [
            f"its job ended by SIGUSR2 (no longer in the queue); log: {folder}/job/output.log",
            "next: submit it again; it continues where it stopped",
        ],
    )
    assert [find_leftovers(engine, node) for node in engine.nodes.nodes] == ["", ""]
    before = {launch.number: launch.started for launch in store.open(folder).launches()}
    assert 2 <= len(before) < 6
    process = submit(engine, home, folder, "--no-exclusive", "--wait", text=text)
    assert process.exit_code == 0, process.printed
    results = store.open(folder)
    after = {launch.number: launch.started for launch in results.launches()}
    assert len(after) == 6
    assert {number: after[number] for number in before} == before
    assert {launch.status.value for launch in results.launches()} == {"ok"}
    (again,) = re.findall(r"(?m)^job (\d+) of Grid Engine on 2 nodes$", process.printed)
    assert {launch.job for launch in results.launches()} == {number, again}
