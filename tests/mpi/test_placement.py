"""Real launchers place ranks as requested, and misplaced ranks have no figures."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import fakes
import msgspec
import pytest
from fakes import mark_thorough

from mpi.conftest import WHEELS, run_rankbench
from rankbench import build, launch, libraries, plan, store
from rankbench.build import Build
from rankbench.campaign import doctor, launching
from rankbench.campaign.history import Turn
from rankbench.launch import topology
from rankbench.model import Candidate, CaseResult, CaseStatus, Launch, LaunchStatus, Library, Machine, Placement
from rankbench.plan.placing import format_ranges

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
"""Debian's libraries besides the wheels: their launchers get other options."""
SWAPPER = """#!{python}
import os, sys
environment = dict(os.environ, I_MPI_PIN_PROCESSOR_LIST="{swapped}")
swap = {{"user:{asked}": "user:{swapped}", "pe-list={places}:ordered": "pe-list={swapped_places}:ordered"}}
os.execve("{launcher}", ["{launcher}", *(swap.get(word, word) for word in sys.argv[1:])], environment)
"""
"""A launcher that gives each of two ranks the core of the other."""


def choose_library(family: str, reach: list[Library]) -> Library:
    """Return a wheel's library, or Debian's library of a family and generation."""
    if family in WHEELS:
        return libraries.choose(family, [library for library in reach if library.source == "pypi"])
    return next(library for library in reach if library.source == "system" and library.name.startswith(family))


def choose_pair(name: str, machine: Machine | None = None) -> Placement:
    """Return two ranks on two cores of a machine, by default this one."""
    planned = plan.parse_plan(PLAN, "plan.toml", machine or launch.machine())
    return next(placement for placement in planned.placements if placement.name == name)


def list_cpus(placement: Placement) -> list[str]:
    """Return the CPUs of each rank as the kernel lists them."""
    return [",".join(map(str, cpus)) for cpus in placement.cpus]


def make_order(library: Library, core: Build, placement: Placement) -> launching.LaunchRequest:
    """Return the order of one launch of a ping-pong."""
    planned = plan.parse_plan(PLAN, "plan.toml", launch.machine())
    cases, _ = plan.expand_plan(planned, fakes.read_description(), launch.machine())
    cases_here = [case for case in cases if case.placement == placement.name]
    turn = Turn(1, library.name, placement.name)
    candidate = Candidate(name=library.name, library=library.name)
    return launching.LaunchRequest(1, turn, 0, candidate, library, placement, planned, core.binary, cases_here)


@pytest.mark.parametrize("name", [mark_thorough("there"), "back"])
@pytest.mark.parametrize("family", [*WHEELS, *SYSTEM])
def test_ranks_run_on_the_listed_cores_in_their_order(
    family: str, name: str, home: Path, reach: list[Library], tmp_path: Path
) -> None:
    library, placement = choose_library(family, reach), choose_pair(name)
    check = doctor.check(library, build.build(library, home), placement, tmp_path)
    assert (check.works, check.reason) == (True, "")
    assert [rank.cpus for rank in check.ranks] == list_cpus(placement)


@pytest.fixture
def two_sockets(monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Return a machine of two sockets, the even CPUs on one; launchers that read hwloc's topology get this machine."""
    monkeypatch.setenv("HWLOC_XMLFILE", str(INTERLEAVED))
    monkeypatch.setenv("HWLOC_THISSYSTEM", "1")
    cpus = topology.assemble(topology.parse_xml(INTERLEAVED.read_text()), range(4))
    return msgspec.structs.replace(launch.machine(), cpus=cpus, sockets=2, cores=4)


@pytest.mark.each_library
@pytest.mark.parametrize("family", [*WHEELS, *SYSTEM])
def test_cores_have_the_numbers_of_each_launcher(
    family: str, two_sockets: Machine, home: Path, reach: list[Library], tmp_path: Path
) -> None:
    """Of the four CPUs of the description this machine has the first two, which are 0 and 2 for hwloc."""
    library, placement = choose_library(family, reach), choose_pair("apart", two_sockets)
    assert (placement.cpus, placement.ordinals) == ([[1], [0]], [2, 0])
    check = doctor.check(library, build.build(library, home), placement, tmp_path)
    assert (check.works, check.reason) == (True, "")
    assert [rank.cpus for rank in check.ranks] == ["1", "0"]


@pytest.mark.parametrize("family", WHEELS)
def test_two_sockets_that_are_one_are_refused(
    family: str, two_sockets: Machine, home: Path, reach: list[Library], tmp_path: Path
) -> None:
    library, placement = choose_library(family, reach), choose_pair("sockets", two_sockets)
    check = doctor.check(library, build.build(library, home), placement, tmp_path)
    assert check.reason == "not as asked: ranks 0 and 1 are on one socket, sockets asks for two"


@pytest.mark.parametrize("family", WHEELS)
def test_a_launcher_that_uses_other_cores_gives_no_figures(
    family: str, home: Path, reach: list[Library], tmp_path: Path
) -> None:
    library, placement = choose_library(family, reach), choose_pair("there")
    cpus, places = list_cpus(placement), list(map(str, placement.ordinals))
    launcher = tmp_path / "mpiexec"
    launcher.write_text(SWAPPER.format(
        python=sys.executable, launcher=library.launcher, asked=",".join(cpus), swapped=",".join(cpus[::-1]),
        places=",".join(places), swapped_places=",".join(places[::-1]),
    ))  # fmt: skip
    launcher.chmod(0o755)
    wrong = msgspec.structs.replace(library, launcher=str(launcher))
    core = build.build(library, home)
    ordered = make_order(wrong, core, placement)
    quick = ordered._replace(plan=msgspec.structs.replace(ordered.plan, case_limit_s=0.5))
    made_so, results = launching.make(quick, tmp_path / "work")
    reason = f"not as asked: rank 0 may run on CPUs {cpus[1]}, CPU {cpus[0]} was asked for"
    assert made_so.status == LaunchStatus.OK
    assert [(result.status, result.reason, result.series) for result in results] == [
        (CaseStatus.NOT_AS_ASKED, reason, [])
    ]
    check = doctor.check(wrong, core, placement, tmp_path / "check")
    assert (check.works, check.reason) == (False, reason)


@pytest.mark.thorough
def test_a_setting_that_disables_binding_is_reported_instead_of_values(home: Path, tmp_path: Path) -> None:
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
    process = run_rankbench("run", str(tmp_path / "plan.toml"), "--results", str(tmp_path / "results"), home=home)
    assert process.returncode == 1, process.stderr
    everywhere = format_ranges(os.sched_getaffinity(0))
    reason = (
        f"not as asked: rank 0 may run on CPUs {everywhere}, CPU {list_cpus(choose_pair('there'))[0]} was asked for"
    )
    assert f"note: loose does not work on 1x2: {reason}" in process.stdout
    assert f"loose: could not be measured on 1x2: {reason}" in " ".join(process.stdout.split())
    rows = store.open(tmp_path / "results/plan").cases().select("candidate", "status", "reason", "taken")
    reasons = {(name, status): reason for name, status, reason, _ in rows.iter_rows()}
    assert reasons == {("bound", "ok"): "", ("bound (again)", "ok"): "", ("loose", "not-as-asked"): reason}
    assert rows.filter(candidate="loose")["taken"].to_list() == [0]
    shown = run_rankbench("show", str(tmp_path / "results/plan"), home=home)
    assert f"loose: not-as-asked in 1 launch ({reason.removeprefix('not as asked: ')})" in " ".join(
        shown.stdout.split()
    )


# --- moved during a measurement ---------------------------------------------------------------------------------------


def find_rank(cpus: str, binary: Path, job: Path) -> int:
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


def has_begun(stream: Path) -> bool:
    """Return whether the first case has begun."""
    return stream.exists() and b'{"record":"begin"' in stream.read_bytes()


def move_rank(pid: int, cpus: str) -> None:
    """Move a process during the measurement, after it has used CPU time since the case began."""
    began_s = read_cpu_s(pid)
    while read_cpu_s(pid) < began_s + 0.3:
        time.sleep(0.01)
    subprocess.run(["taskset", "--pid", "--cpu-list", cpus, str(pid)], check=True, capture_output=True)


@pytest.mark.parametrize("family", ["mpich", mark_thorough("openmpi"), mark_thorough("intel-mpi")])
def test_a_rank_moved_during_its_measurement_gives_no_figures(
    family: str, home: Path, reach: list[Library], tmp_path: Path
) -> None:
    library, placement = choose_library(family, reach), choose_pair("there")
    first, other = list_cpus(placement)
    core = build.build(library, home)
    ended: list[tuple[Launch, list[CaseResult]]] = []
    ordered = make_order(library, core, placement)
    runner = threading.Thread(target=lambda: ended.append(launching.make(ordered, tmp_path / "work")))
    runner.start()
    while not has_begun(tmp_path / "work/stream.jsonl"):
        assert runner.is_alive(), ended
        time.sleep(0.01)
    move_rank(find_rank(other, core.binary, tmp_path / "work/job.txt"), first)
    runner.join()
    ((made_so, results),) = ended
    first_of = [cpus.partition(",")[0] for cpus in (first, other)]
    reason = f"not as asked: rank 1 from CPU {first_of[1]} to CPU {first_of[0]} while it was measured"
    assert made_so.status == LaunchStatus.OK
    assert [(row.status, row.reason, row.series) for row in results] == [(CaseStatus.NOT_AS_ASKED, reason, [])]
