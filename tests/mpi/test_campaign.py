"""A small campaign over the three real libraries, killed without warning and continued."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from rankbench import store
from rankbench.model import Campaign

PLAN = """
candidates = CANDIDATES
operations = ["pingpong", "allreduce", "alltoall.persistent"]
sizes = "8,64K"
placements = ["1x2"]
start = "barrier"
samples = 5
case_limit = "60s"
[stop]
blocks = BLOCKS
"""
PLAN_OF_THREE = PLAN.replace("CANDIDATES", '["mpich", "openmpi", "intel-mpi"]').replace("BLOCKS", "1")
PLAN_OF_ONE = PLAN.replace("CANDIDATES", '["mpich"]').replace("BLOCKS", "2")
LAUNCHES = 2 * 2
"""Launches of one library and its control."""
RANKBENCH = str(Path(sys.executable).with_name("rankbench"))


def start(place: Path, home: Path) -> subprocess.Popen[str]:
    """Start the campaign in a process group of its own; all its processes carry the place in their environment."""
    return subprocess.Popen(
        [RANKBENCH, "run", "plan.toml"],
        cwd=place,
        env=os.environ | {"RANKBENCH_HOME": str(home), "MARK": str(place)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        start_new_session=True,
    )


def run_to_end(place: Path, home: Path) -> str:
    """Run the campaign to its end and return the printed text."""
    process = start(place, home)
    text, _ = process.communicate()
    assert process.returncode == 0, text
    return text


def list_running(place: Path) -> list[str]:
    """Return the commands of the campaign's processes that still run."""
    commands = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            marked = f"MARK={place}\0".encode() in (folder / "environ").read_bytes()
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if marked and command:
            commands.append(command)
    return commands


def assert_sound(place: Path, blocks: int) -> None:
    """Assert that each candidate has each case once per block, with as many samples as its row says."""
    results = store.open(place / "results/plan")
    rows = Counter(results.cases().select("block", "candidate", "case").iter_rows())
    names = [candidate.name for candidate in results.campaign.candidates]
    keys = [case.key for case in results.campaign.cases]
    assert rows == Counter((block, name, key) for block in range(1, blocks + 1) for name in names for key in keys)
    assert [launch.number for launch in results.launches()] == list(range(1, blocks * len(names) + 1))
    columns = ("launch", "case", "series", "index")
    samples = Counter(results.samples().select(columns).collect().iter_rows())
    assert max(samples.values()) == 1
    rows_taken = results.cases().select("launch", "case", "taken").iter_rows()
    counts = {(launch, case): count for launch, case, count in rows_taken}
    stored = Counter((launch, case) for launch, case, _, _ in samples)
    assert {key: stored[key] for key in counts} == counts


def find_twin(campaign: Campaign) -> str:
    return next(candidate.control_of for candidate in campaign.candidates if candidate.control_of)


def test_a_campaign_killed_at_a_random_moment_is_completed_without_loss(tmp_path: Path, home: Path) -> None:
    (tmp_path / "plan.toml").write_text(PLAN_OF_ONE)
    launches = tmp_path / "results/plan/launches"
    process = start(tmp_path, home)
    wanted = random.randrange(1, LAUNCHES)
    while len(list(launches.glob("*.json"))) < wanted:
        assert process.poll() is None
        time.sleep(0.01)
    time.sleep(random.random() * 0.3)
    before = {path: path.read_bytes() for path in launches.glob("*.json")}
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    while list_running(tmp_path):
        time.sleep(0.05)
    run_to_end(tmp_path, home)
    assert {path: path.read_bytes() for path in before} == before
    assert_sound(tmp_path, 2)
    assert list_running(tmp_path) == []


def test_each_library_is_measured_and_loaded_in_its_launch(tmp_path: Path, home: Path) -> None:
    (tmp_path / "plan.toml").write_text(PLAN_OF_THREE)
    text = run_to_end(tmp_path, home)
    # The plan's start is not one of ping-pong, and other programs may have left shared memory behind.
    expected = ("pingpong: one rank alone times it", "of shared memory")
    notes = [line for line in text.splitlines() if line.startswith("note:")]
    assert [line for line in notes if not any(words in line for words in expected)] == []
    results = store.open(tmp_path / "results/plan")
    assert_sound(tmp_path, 1)
    assert set(results.cases()["status"]) <= {"ok", "lacking"}
    inside = {launch.candidate: launch.facts.library_version for launch in results.launches() if launch.facts}
    words = {"mpich": "MPICH Version", "openmpi": "Open MPI v", "intel": "Intel(R) MPI Library"}
    for name, version in inside.items():
        assert words[name.partition("-")[0]] in version
    assert {launch.facts.ranks for launch in results.launches() if launch.facts} == {2}
    assert find_twin(results.campaign).startswith("mpich-")
