"""Campaigns by jobs of a real Flux and a real OpenPBS on emulated nodes without ssh, where these are installed."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster.flux import Instance
from cluster.openpbs import Server
from rankbench import lab, store
from rankbench.lab import CommandResult, LabRequest
from rankbench.launch import job_commands
from rankbench.launch.resources import SEGMENTS, SHM
from rankbench.store import Store

PLAN = """
candidates = ["mpich", "openmpi", "intel-mpi"]
operations = ["pingpong", "allreduce"]
sizes = "8,1K"
samples = 5
start = "barrier"
case_limit = "60s"
placements = ["1x2", "2x1", "4x1"]
binding = "none"
stop = { blocks = 1 }
control = false
[job]
time = "10m"
"""
SHORT = PLAN.replace(', "openmpi", "intel-mpi"', "").replace('["1x2", "2x1", "4x1"]', '["2x1"]')
LONG = SHORT.replace('"8,1K"', '"8:32K:x2"').replace("samples = 5", "samples = 1000000").replace("60s", "20s")
RANKBENCH = Path(sys.executable).with_name("rankbench")
PLACES = {"1x2": ["n1", "n1"], "2x1": ["n1", "n2"], "4x1": ["n1", "n2", "n3", "n4"]}
LIBRARIES = {"mpich", "openmpi", "intel"}


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(Instance, marks=pytest.mark.needs("namespaces", "ip", "flux"), id="flux"),
        pytest.param(Server, marks=pytest.mark.needs("namespaces", "ip", "pbs_server"), id="pbs"),
    ],
)
def site(
    request: pytest.FixtureRequest, home: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Instance | Server]:
    folder = tmp_path_factory.mktemp("site") / "lab"
    with lab.up(LabRequest(nodes=4, shared=(home,)), folder, limit_s=600) as running:
        started: Instance | Server = request.param(running)
        started.start(slots=2)
        yield started


def run_rankbench(site: Instance | Server, home: Path, *words: str | Path) -> CommandResult:
    """Run a command of rankbench on the head, whose programs find no ssh."""
    environment = {"RANKBENCH_HOME": str(home), "COLUMNS": "1000", "RANKBENCH_REMOTE_SHELL": "/bin/false"}
    return site.nodes.run([RANKBENCH, *words], {**site.environment, **environment})


def submit(site: Instance | Server, home: Path, name: str, text: str, *options: str) -> CommandResult:
    """Submit a plan. All files are in the folder that all nodes share."""
    plan = site.nodes.folder / f"{name}.toml"
    plan.write_text(text)
    words: list[str | Path] = ["submit", plan, "--results", site.nodes.folder, "--scheduler", site.scheduler]
    return run_rankbench(site, home, *words, *options)


def follow(site: Instance | Server, home: Path, name: str) -> list[str]:
    """Wait until the job of a campaign has ended; return the lines of its status."""
    return run_rankbench(site, home, "status", site.nodes.folder / name, "--wait").printed.splitlines()


def find_number(site: Instance | Server, name: str) -> str:
    """Return the number of a campaign's last job."""
    submitted = job_commands.read_last(site.nodes.folder / name / "job")
    assert submitted
    return submitted.number


def wait_for(site: Instance | Server, name: str, pattern: str, count: int, content: str = "") -> None:
    """Wait until a job has written so many files of a pattern that have this content."""
    folder = site.nodes.folder / name / "job"
    while sum(content in path.read_text() for path in folder.glob(pattern)) < count:
        time.sleep(0.1)


def find_leftovers(site: Instance | Server) -> list[str]:
    """Return what is left on the nodes some seconds after the end of a job: processes of cores, files of libraries."""
    shared = " ".join(f"{SHM}/{pattern}" for pattern in SEGMENTS)
    words = ["sh", "-c", f"grep -ls '[r]ankbench-core' /proc/[0-9]*/cmdline; ls -d {shared} 2>/dev/null || true"]
    entries = ["unknown"]
    for _ in range(50):
        entries = [f"{node} {line}" for node in site.nodes.nodes for line in site.nodes.on(node, words).splitlines()]
        if not entries:
            break
        time.sleep(0.2)
    return entries


def list_hosts(results: Store) -> set[tuple[str, str, tuple[str, ...]]]:
    """Return the hosts of each library's launches, by placement."""
    return {
        (launch.candidate.partition("-")[0], launch.placement, tuple(rank.host for rank in launch.ranks))
        for launch in results.launches()
    }


def test_a_submitted_campaign_runs_to_its_end(site: Instance | Server, home: Path) -> None:
    """Each library on one node, two and four, whose network must be used."""
    sent = site.nodes.bytes_sent("n2")
    process = submit(site, home, "whole", PLAN, "--wait")
    assert process.exit_code == 0, process.printed
    results = store.open(site.nodes.folder / "whole")
    assert {launch.status.value for launch in results.launches()} == {"ok"}
    assert set(results.cases()["status"]) == {"ok"}
    assert list_hosts(results) == {
        (library, *(name, tuple(hosts))) for library in LIBRARIES for name, hosts in PLACES.items()
    }
    number = find_number(site, "whole")
    assert {launch.job for launch in results.launches()} == {number}
    assert f"job {number} of {site.title} on 4 nodes" in process.printed.splitlines()
    crossed = sum(
        row["taken"] * row["size_bytes"] for row in results.cases().filter(placement="2x1").iter_rows(named=True)
    )
    assert site.nodes.bytes_sent("n2") - sent > crossed
    assert find_leftovers(site) == []


@pytest.mark.thorough
def test_a_cancelled_job_continues_in_the_next_one(site: Instance | Server, home: Path) -> None:
    text = SHORT.replace("blocks = 1", "blocks = 5")
    assert submit(site, home, "cancelled", text).exit_code == 0
    wait_for(site, "cancelled", "launches/*/done", 1)
    site.cancel(find_number(site, "cancelled"))
    lines = follow(site, home, "cancelled")
    assert lines[-2].startswith(("its job was cancelled (", "its job ended by SIG"))
    assert lines[-1] == "next: submit it again; it continues where it stopped"
    assert find_leftovers(site) == []
    before = {launch.number: launch.started for launch in store.open(site.nodes.folder / "cancelled").launches()}
    assert 1 <= len(before) < 5
    process = submit(site, home, "cancelled", text, "--wait")
    assert process.exit_code == 0, process.printed
    after = {launch.number: launch.started for launch in store.open(site.nodes.folder / "cancelled").launches()}
    assert len(after) == 5
    assert {number: after[number] for number in before} == before


@pytest.mark.thorough
@pytest.mark.parametrize("history", [False, True])
def test_a_job_that_is_cancelled_in_the_queue_did_not_begin(
    site: Instance | Server, home: Path, *, history: bool
) -> None:
    if isinstance(site, Server):
        site.keep_history(enabled=history)
    elif history:
        pytest.skip("Flux always knows its jobs")
    filling = site.fill()
    name = f"queued-{history}"
    assert submit(site, home, name, SHORT).exit_code == 0
    time.sleep(3)
    site.cancel(find_number(site, name))
    line = follow(site, home, name)[-2]
    site.cancel(filling)
    known = history or not isinstance(site, Server)
    assert line.startswith("its job was cancelled before it began (" if known else "its job did not begin (no longer")


@pytest.mark.thorough
def test_a_job_without_time_left_is_ended_and_says_so(site: Instance | Server, home: Path) -> None:
    assert submit(site, home, "limited", LONG.replace("10m", "1m")).exit_code == 0
    line = follow(site, home, "limited")[-2]
    assert line.startswith(("its job ended because of the time limit", "its job reached its time limit"))
    assert find_leftovers(site) == []


@pytest.mark.thorough
def test_a_node_that_dies_ends_the_job_and_is_named(site: Instance | Server, home: Path) -> None:
    assert submit(site, home, "dies", LONG).exit_code == 0
    wait_for(site, "dies", "launches/*/1/stream.jsonl", 1, '"record":"case"')
    site.nodes.down("n2")
    lines = follow(site, home, "dies")
    site.nodes.up("n2")
    site.start_node("n2")
    results = store.open(site.nodes.folder / "dies")
    assert "n2" in lines[-2]
    (launch,) = results.launches()
    assert "n2" in launch.reason
    assert "ok" in set(results.cases()["status"])
