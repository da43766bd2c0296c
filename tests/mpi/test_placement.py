"""Real launchers put ranks where they are reported, and what did not happen so gives no number."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import fakes
import msgspec
import pytest
from fakes import thorough

from mpi.conftest import WHEELS, rankbench
from rankbench import build, launch, libraries, plan, store
from rankbench.campaign import doctor, launching
from rankbench.campaign.history import Turn
from rankbench.launch import topology
from rankbench.model import Candidate, CaseStatus, LaunchStatus
from rankbench.plan.placing import format_ranges

if TYPE_CHECKING:
    from rankbench.build import Build
    from rankbench.model import CaseResult, Launch, Library, Machine, Placement

PLAN = """
candidates = ["mpich"]
operations = ["pingpong"]
sizes = "1M"
samples = 100000
case_limit = "5s"
placements = [
    "sockets",
    { name = "there", cores = [0, 1] },
    { name = "back", cores = [1, 0] },
    { name = "apart", cores = [2, 0] },
]
"""
INTERLEAVED = Path(__file__).parents[1] / "recorded" / "topologies" / "small-2x2-interleaved.xml"
SYSTEM = ("openmpi-4", "mpich-4")
"""What Debian has beside the wheels: its launchers are reported otherwise."""
SWAPPER = """#!{python}
import os, sys
environment = dict(os.environ, I_MPI_PIN_PROCESSOR_LIST="{swapped}")
swap = {{"user:{asked}": "user:{swapped}", "pe-list={places}:ordered": "pe-list={swapped_places}:ordered"}}
os.execve("{launcher}", ["{launcher}", *(swap.get(word, word) for word in sys.argv[1:])], environment)
"""
"""A launcher that gives each of two ranks the other one's core."""


def choose_library(family: str, reach: list[Library]) -> Library:
    """Return a wheel's library, or Debian's of a family and generation."""
    if family in WHEELS:
        return libraries.choose(family, [library for library in reach if library.source == "pypi"])
    return next(library for library in reach if library.source == "system" and library.name.startswith(family))


def pair(name: str, machine: Machine | None = None) -> Placement:
    """Return two ranks on two cores of a machine, if not another, this one."""
    planned = plan.parse_plan(PLAN, "plan.toml", machine or launch.machine())
    return next(placement for placement in planned.placements if placement.name == name)


def numbers(placement: Placement) -> list[str]:
    """Return the CPUs of each rank as the kernel lists them."""
    return [",".join(map(str, cpus)) for cpus in placement.cpus]


def order(library: Library, core: Build, placement: Placement) -> launching.LaunchRequest:
    """Return the order of one launch of a ping-pong."""
    planned = plan.parse_plan(PLAN, "plan.toml", launch.machine())
    cases, _ = plan.expand_plan(planned, fakes.description(), launch.machine())
    cases_here = [case for case in cases if case.placement == placement.name]
    turn = Turn(1, library.name, placement.name)
    candidate = Candidate(name=library.name, library=library.name)
    return launching.LaunchRequest(1, turn, 0, candidate, library, placement, planned, core.binary, cases_here)


@pytest.mark.parametrize("name", ["there", "back"])
@pytest.mark.parametrize("family", [*WHEELS, *SYSTEM])
def test_ranks_sit_on_the_cores_that_are_listed_in_that_order(
    family: str, name: str, home: Path, reach: list[Library], tmp_path: Path
) -> None:
    library, placement = choose_library(family, reach), pair(name)
    check = doctor.check(library, build.build(library, home), placement, tmp_path)
    assert (check.works, check.reason) == (True, "")
    assert [rank.cpus for rank in check.ranks] == numbers(placement)


@pytest.fixture
def two_sockets(monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Return a machine of two sockets, the even CPUs on one; launchers that ask hwloc take this one for it."""
    monkeypatch.setenv("HWLOC_XMLFILE", str(INTERLEAVED))
    monkeypatch.setenv("HWLOC_THISSYSTEM", "1")
    cpus = topology.assemble(topology.parse_xml(INTERLEAVED.read_text()), range(4))
    return msgspec.structs.replace(launch.machine(), cpus=cpus, sockets=2, cores=4)


@pytest.mark.parametrize("family", [*WHEELS, *SYSTEM])
def test_cores_are_counted_as_each_launcher_counts_them(
    family: str, two_sockets: Machine, home: Path, reach: list[Library], tmp_path: Path
) -> None:
    """Of the four CPUs that the description has, this machine has the first two, which hwloc counts as 0 and 2."""
    library, placement = choose_library(family, reach), pair("apart", two_sockets)
    assert (placement.cpus, placement.ordinals) == ([[1], [0]], [2, 0])
    check = doctor.check(library, build.build(library, home), placement, tmp_path)
    assert (check.works, check.reason) == (True, "")
    assert [rank.cpus for rank in check.ranks] == ["1", "0"]


@pytest.mark.parametrize("family", WHEELS)
def test_sockets_that_are_one_are_not_two(
    family: str, two_sockets: Machine, home: Path, reach: list[Library], tmp_path: Path
) -> None:
    library, placement = choose_library(family, reach), pair("sockets", two_sockets)
    check = doctor.check(library, build.build(library, home), placement, tmp_path)
    assert check.reason == "not as asked: ranks 0 and 1 are on one socket, sockets asks for two"


@pytest.mark.parametrize("family", WHEELS)
def test_a_launcher_that_gives_other_cores_gives_no_number(
    family: str, home: Path, reach: list[Library], tmp_path: Path
) -> None:
    library, placement = choose_library(family, reach), pair("there")
    cpus, places = numbers(placement), list(map(str, placement.ordinals))
    launcher = tmp_path / "mpiexec"
    launcher.write_text(SWAPPER.format(
        python=sys.executable, launcher=library.launcher, asked=",".join(cpus), swapped=",".join(cpus[::-1]),
        places=",".join(places), swapped_places=",".join(places[::-1]),
    ))  # fmt: skip
    launcher.chmod(0o755)
    wrong = msgspec.structs.replace(library, launcher=str(launcher))
    core = build.build(library, home)
    ordered = order(wrong, core, placement)
    quick = ordered._replace(plan=msgspec.structs.replace(ordered.plan, case_limit_s=0.5))
    made_so, results = launching.make(quick, tmp_path / "work")
    reason = f"not as asked: rank 0 may run on CPUs {cpus[1]}, CPU {cpus[0]} was asked for"
    assert made_so.status == LaunchStatus.OK
    assert [(result.status, result.reason, result.series) for result in results] == [
        (CaseStatus.NOT_AS_ASKED, reason, [])
    ]
    check = doctor.check(wrong, core, placement, tmp_path / "check")
    assert (check.works, check.reason) == (False, reason)


def test_a_setting_that_switches_binding_off_is_reported_in_the_place_of_values(home: Path, tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text("""
operations = ["pingpong"]
sizes = "8"
samples = 20
case_limit = "5s"
placements = ["1x2"]
[[candidate]]
library = "intel-mpi"
name = "bound"
[[candidate]]
library = "intel-mpi"
name = "loose"
settings = { I_MPI_PIN = "0" }
[stop]
blocks = 2
""")
    process = rankbench("run", str(tmp_path / "plan.toml"), "--results", str(tmp_path / "results"), home=home)
    assert process.returncode == 0, process.stderr
    everywhere = format_ranges(os.sched_getaffinity(0))
    reason = f"not as asked: rank 0 may run on CPUs {everywhere}, CPU {numbers(pair('there'))[0]} was asked for"
    assert f"note: loose refused on 1x2: {reason}" in process.stdout
    rows = store.open(tmp_path / "results/plan").cases().select("candidate", "status", "reason", "taken")
    reasons = {(name, status): reason for name, status, reason, _ in rows.iter_rows()}
    assert reasons == {("bound", "ok"): "", ("bound (again)", "ok"): "", ("loose", "not-as-asked"): reason}
    assert rows.filter(candidate="loose")["taken"].to_list() == [0]
    shown = rankbench("show", str(tmp_path / "results/plan"), home=home)
    assert f"loose: not-as-asked in 1 ({reason.removeprefix('not as asked: ')})" in " ".join(shown.stdout.split())


# --- moved in mid-run -------------------------------------------------------------------------------------------------


def rank_on(cpus: str, binary: Path, job: Path) -> int:
    """Return the process of the job's rank that is bound to some CPUs."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (folder / "cmdline").read_text().split("\0")
            bound = f"Cpus_allowed_list:\t{cpus}\n" in (folder / "status").read_text()
            if words[0] == str(binary) and str(job) in words and bound:
                return int(folder.name)
    raise AssertionError(f"no rank of {job} is bound to {cpus}")


def read_cpu_s(pid: int) -> float:
    """Return the CPU time that a process has had."""
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def under_way(stream: Path) -> bool:
    """Return whether the first case has begun."""
    return stream.exists() and b'{"record":"begin"' in stream.read_bytes()


def move(pid: int, cpus: str) -> None:
    """Move a process once it is in the midst of measuring, which takes it CPU time from the case's beginning on."""
    began_s = read_cpu_s(pid)
    while read_cpu_s(pid) < began_s + 0.3:
        time.sleep(0.01)
    subprocess.run(["taskset", "--pid", "--cpu-list", cpus, str(pid)], check=True, capture_output=True)


@pytest.mark.parametrize("family", ["mpich", thorough("openmpi"), thorough("intel-mpi")])
def test_a_rank_that_is_moved_while_it_is_measured_gives_no_number(
    family: str, home: Path, reach: list[Library], tmp_path: Path
) -> None:
    library, placement = choose_library(family, reach), pair("there")
    first, other = numbers(placement)
    core = build.build(library, home)
    ended: list[tuple[Launch, list[CaseResult]]] = []
    ordered = order(library, core, placement)
    runner = threading.Thread(target=lambda: ended.append(launching.make(ordered, tmp_path / "work")))
    runner.start()
    while not under_way(tmp_path / "work/stream.jsonl"):
        assert runner.is_alive(), ended
        time.sleep(0.01)
    move(rank_on(other, core.binary, tmp_path / "work/job.txt"), first)
    runner.join()
    ((made_so, results),) = ended
    first_of = [cpus.partition(",")[0] for cpus in (first, other)]
    reason = f"not as asked: rank 1 from CPU {first_of[1]} to CPU {first_of[0]} while it was measured"
    assert made_so.status == LaunchStatus.OK
    assert [(row.status, row.reason, row.series) for row in results] == [(CaseStatus.NOT_AS_ASKED, reason, [])]
