"""Campaigns by jobs of a real Slurm on emulated nodes: from `submit` to the end, cancelled, and with a lost node."""

from __future__ import annotations

import re
import shlex
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from fakes import mark_thorough

from rankbench import lab, store
from rankbench.lab import CommandResult, Cores, Lab, LabRequest, slurm
from rankbench.store import Store

pytestmark = pytest.mark.needs("namespaces", "ip", "slurmctld", "munged")

PLAN = """
candidates = ["mpich", "openmpi", "intel-mpi"]
operations = ["pingpong", "allreduce"]
sizes = "8,1K"
samples = 5
start = "barrier"
case_limit = "60s"
placements = ["1x2", "2x1"]
stop = { blocks = 1 }
control = false
[job]
scheduler = "slurm"
time = "10m"
exclusive = true
"""
RANKBENCH = Path(sys.executable).with_name("rankbench")
LIBRARIES = {"mpich", "openmpi", "intel"}
COMPILER = re.compile(r"(^|-)(cc|gcc|c99|c89|clang|tcc|mpi\w*)([-.\d].*)?$")


@pytest.fixture(scope="module")
def nodes(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    folder = tmp_path_factory.mktemp("slurm") / "lab"
    with lab.up(LabRequest(nodes=2, slurm=Cores(1, 2), shared=(home,)), folder, limit_s=600) as running:
        yield running


def run_rankbench(nodes: Lab, home: Path, *words: str | Path) -> CommandResult:
    """Run a command of rankbench on the head."""
    return nodes.run([RANKBENCH, *words], {"RANKBENCH_HOME": str(home), "COLUMNS": "1000"})


def submit(nodes: Lab, home: Path, name: str, text: str, *options: str) -> CommandResult:
    """Submit a plan. All files are in the folder that all nodes share."""
    plan = nodes.folder / f"{name}.toml"
    plan.write_text(text)
    return run_rankbench(nodes, home, "submit", plan, "--results", nodes.folder, *options)


def list_hosts(results: Store) -> set[tuple[str, str, tuple[str, ...]]]:
    """Return the hosts of each library's launches, by placement."""
    return {
        (launch.candidate.partition("-")[0], launch.placement, tuple(rank.host for rank in launch.ranks))
        for launch in results.launches()
    }


@pytest.mark.parametrize("launcher", [mark_thorough("mpiexec"), "srun"])
def test_a_submitted_campaign_runs_to_its_end(nodes: Lab, home: Path, launcher: str) -> None:
    check_campaign(nodes, home, launcher)


@pytest.mark.thorough
@pytest.mark.parametrize(("plugin", "cores"), [("task/affinity", Cores(1, 2)), ("task/none", Cores(2, 4))])
def test_a_campaign_runs_at_sites_of_another_kind(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plugin: str, cores: Cores
) -> None:
    """Slurm binds each step, or the nodes have other cores than the host that submits."""
    configuration = slurm.configuration
    monkeypatch.setattr(slurm, "configuration", lambda *of: configuration(*of).replace("task/none", plugin))
    with lab.up(LabRequest(nodes=2, slurm=cores, shared=(home,)), tmp_path / "lab", limit_s=600) as nodes:
        assert plugin in nodes.run(["scontrol", "show", "config"]).printed
        for launcher in ("mpiexec", "srun"):
            check_campaign(nodes, home, launcher)


def check_campaign(nodes: Lab, home: Path, launcher: str) -> None:
    """Check each library by its own launcher or by Slurm's, on one node and on two, whose network must be used."""
    sent = nodes.bytes_sent("n2")
    process = submit(nodes, home, launcher, PLAN, "--launcher", launcher, "--wait")
    assert process.exit_code == 0, process.printed
    results = store.open(nodes.folder / launcher)
    assert {launch.status.value for launch in results.launches()} == {"ok"}
    # On a busy machine Slurm can fail to start a step beside others; it is then run alone, and the log has the reason.
    assert 3 in {launch.together for launch in results.launches()}, (
        nodes.folder / launcher / "job/output.log"
    ).read_text()
    assert set(results.cases()["status"]) == {"ok"}
    assert list_hosts(results) == {
        (library, *where) for library in LIBRARIES for where in (("1x2", ("n1", "n1")), ("2x1", ("n1", "n2")))
    }
    numbers = {launch.job for launch in results.launches()}
    assert len(numbers) == 1
    assert all(number.isdigit() for number in numbers)
    programs = {Path(launch.command[0]).name for launch in results.launches()}
    assert programs == {launcher}
    crossed = sum(
        row["taken"] * row["size_bytes"] for row in results.cases().filter(placement="2x1").iter_rows(named=True)
    )
    assert nodes.bytes_sent("n2") - sent > crossed


SUMS = """
candidates = ["intel-mpi"]
operations = ["allreduce"]
sizes = "8"
samples = 10
placements = ["1x2"]
control = false
sums = true
stop = { blocks = 1 }
job = { scheduler = "slurm", time = "10m" }
"""


@pytest.mark.thorough
def test_a_job_compares_the_bits_of_sums(nodes: Lab, home: Path) -> None:
    """Behind its timed launches."""
    process = submit(nodes, home, "sums", SUMS, "--wait")
    assert process.exit_code == 0, process.printed
    rows = store.open(nodes.folder / "sums").sum_rows()
    assert {row.operation for row in rows} == {"allreduce", "reduce", "reduce_scatter_block", "scan"}
    assert not any(row.on_ranks for row in rows)
    assert len([*(nodes.folder / "sums/job/sums").glob("*/*/ending")]) == 3


@pytest.mark.thorough
def test_a_run_within_a_job_uses_its_nodes(nodes: Lab, home: Path) -> None:
    """In a batch script, which starts on the first of them."""
    words = [
        *(str(RANKBENCH), "run", "mpich", "openmpi", "--operations", "pingpong", "--sizes", "8", "--samples", "10"),
        *("--placements", "1x2,2x1", "--blocks", "1", "--in-job", "--results", str(nodes.folder), "--name", "inside"),
    ]
    log = nodes.folder / "inside.log"
    options = ["--wait", "--nodes=2", "--exclusive", "--mem=0", f"--output={log}", "--time=10"]
    variables = {"RANKBENCH_HOME": str(home), "COLUMNS": "1000"}
    ended = nodes.run(["sbatch", *options, "--wrap", shlex.join(words)], variables)
    assert ended.exit_code == 0, log.read_text()
    results = store.open(nodes.folder / "inside")
    assert set(results.cases()["status"]) == {"ok"}
    places = {(placement, hosts) for _, placement, hosts in list_hosts(results)}
    assert places == {("1x2", ("n1", "n1")), ("2x1", ("n1", "n2"))}
    refused = run_rankbench(nodes, home, "run", *words[2:])
    assert refused.exit_code == 2
    assert "--in-job: " in refused.printed


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["doctor", "mpich"], "nodes"),
        (["verify", "mpich", "--clocks", "--runs", "2", "--wait", "0.05"], "2 ranks on n1 (CPU "),
        (["tune", "mpich", "--operations", "bcast", "--sizes", "8", "--blocks", "3", "--placements", "2x1"], "bcast"),
    ],
    ids=["doctor", "verify", "tune"],
)
def test_a_command_within_a_job_uses_its_nodes(words: list[str], says: str, nodes: Lab, home: Path) -> None:
    log = nodes.folder / f"{words[0]}.log"
    options = ["--wait", "--nodes=2", "--exclusive", "--mem=0", f"--output={log}", "--time=10"]
    script = f"cd {nodes.folder}; {shlex.join([str(RANKBENCH), *words, '--in-job'])}"
    ended = nodes.run(["sbatch", *options, "--wrap", script], {"RANKBENCH_HOME": str(home), "COLUMNS": "1000"})
    assert ended.exit_code == 0, log.read_text()
    assert says in log.read_text()


@pytest.mark.thorough
def test_a_job_builds_where_the_host_that_submits_has_no_compiler(nodes: Lab, home: Path) -> None:
    """The core is built on a node of the job, whose module has a compiler."""
    new_home, tools = nodes.folder / "home", nodes.folder / "tools"
    new_home.mkdir()
    (new_home / "libraries").symlink_to(home / "libraries")
    tools.mkdir()
    for tool in Path("/usr/bin").iterdir():
        if not COMPILER.search(tool.name):
            (tools / tool.name).symlink_to(tool)
    variables = {"RANKBENCH_HOME": str(new_home), "COLUMNS": "1000", "PATH": f"{tools}:/usr/sbin:/sbin"}
    plan = nodes.folder / "without.toml"
    plan.write_text(PLAN)
    refused = nodes.run([RANKBENCH, "submit", plan, "--results", nodes.folder], variables)
    assert refused.exit_code == 2
    assert "cc: not found" in refused.printed
    assert refused.printed.strip().endswith("rankbench run --in-job")
    words = [str(RANKBENCH), "run", str(plan), "--in-job", "--results", str(nodes.folder), "--name", "within"]
    log = nodes.folder / "within.log"
    options = ["--wait", "--nodes=2", "--exclusive", "--mem=0", f"--output={log}", "--time=10"]
    wrapped = f"PATH=$PATH:/usr/bin {shlex.join(words)}"
    ended = nodes.run(["sbatch", *options, "--wrap", wrapped], variables)
    assert ended.exit_code == 0, log.read_text()
    assert set(store.open(nodes.folder / "within").cases()["status"]) == {"ok"}
    assert len([*(new_home / "builds").glob("*/rankbench-core")]) == len(LIBRARIES)


SOCKET = """
candidates = ["mpich", "intel-mpi"]
operations = ["allreduce"]
sizes = "8"
placements = ["socket"]
job = {{ scheduler = "slurm", nodes = 2, time = "10m"{shape} }}
"""


def test_a_probe_says_which_cores_nodes_have(nodes: Lab, home: Path) -> None:
    """A plan that names a socket needs them; with what the probe prints it is accepted."""
    refused = submit(nodes, home, "socket", SOCKET.format(shape=""), "--write-only")
    assert refused.exit_code == 2
    assert "rankbench submit --probe" in refused.printed
    probed = submit(nodes, home, "socket", SOCKET.format(shape=""), "--probe")
    assert probed.exit_code == 0, probed.printed
    assert "n1, n2: " in probed.printed
    lines = [line.strip() for line in probed.printed.splitlines() if " = " in line]
    assert [line.partition(" = ")[0] for line in lines] == ["sockets", "cores_per_socket", "threads_per_core"]
    assert not [*nodes.folder.glob("socket-nodes*")]
    shape = "".join(f", {line}" for line in lines)
    written = submit(nodes, home, "socket", SOCKET.format(shape=shape), "--write-only")
    assert written.exit_code == 0, written.printed


@pytest.mark.parametrize(("memory", "got"), [(None, "2G"), ("300M", "600M"), ("site", "256M")])
def test_a_job_has_the_memory_of_its_nodes(nodes: Lab, home: Path, memory: str | None, got: str) -> None:
    """As counted by the scheduler: two nodes of 1 GiB, by default with 64 MiB for each CPU."""
    name = f"memory-{memory}"
    assert submit(nodes, home, name, PLAN, *(["--memory", memory] if memory else []), "--write-only").exit_code == 0
    script = nodes.folder / name / "job/job.sh"
    number = nodes.run(["sbatch", "--parsable", "--hold", script]).printed.strip()
    nodes.run(["scontrol", "update", f"JobId={number}", "StartTime=now"])
    nodes.run(["scontrol", "release", number])
    while "JobState=PENDING" in (job := nodes.run(["scontrol", "show", "job", number]).printed):
        time.sleep(0.1)
    nodes.run(["scancel", number])
    assert f"mem={got}," in job


@pytest.mark.thorough
def test_a_cancelled_job_continues_in_the_next_one(nodes: Lab, home: Path) -> None:
    folder = nodes.folder / "cancelled"
    text = PLAN.replace("blocks = 1", "blocks = 4")
    assert submit(nodes, home, "cancelled", text).exit_code == 0
    while len(list(folder.glob("job/launches/*/done"))) < 2:
        time.sleep(0.05)
    (number,) = nodes.run(["squeue", "--noheader", "--format=%i"]).printed.split()
    assert nodes.run(["scancel", number]).exit_code == 0
    followed = run_rankbench(nodes, home, "status", folder, "--wait")
    assert followed.exit_code == 1
    before = {launch.number: launch.started for launch in store.open(folder).launches()}
    assert 2 <= len(before) < 24
    assert followed.printed.splitlines()[-1] == "next: submit it again; it continues where it stopped"
    assert submit(nodes, home, "cancelled", text, "--wait").exit_code == 0
    after = {launch.number: launch.started for launch in store.open(folder).launches()}
    assert len(after) == 24
    assert {number: after[number] for number in before} == before
    assert {launch.job for launch in store.open(folder).launches()} >= {number, str(int(number) + 1)}


@pytest.mark.thorough
def test_a_node_that_dies_in_mid_launch_costs_only_its_launch(nodes: Lab, home: Path) -> None:
    """The launch is a row with the reason and its results so far; the job is queued again and measures the rest."""
    text = PLAN.replace('["1x2", "2x1"]', '["2x1"]').replace('["mpich", "openmpi", "intel-mpi"]', '["mpich"]')
    text = text.replace('"8,1K"', '"8:32K:x2"').replace("samples = 5", "samples = 1000000").replace("60s", "400ms")
    folder = nodes.folder / "dies"
    assert submit(nodes, home, "dies", text).exit_code == 0
    stream = folder / "job/launches/001-mpich_5_0_2_on_2x1/1/stream.jsonl"
    while not stream.exists() or stream.read_text().count('"record":"case"') < 3:
        time.sleep(0.05)
    nodes.down("n2")
    (number,) = nodes.run(["squeue", "--noheader", "--format=%i"]).printed.split()
    while "JobState=PENDING Reason=BeginTime" not in nodes.run(["scontrol", "show", "job", number]).printed:
        time.sleep(0.5)
    assert run_rankbench(nodes, home, "status", folder).printed.splitlines()[-2] == (
        f"job {number} of Slurm: PENDING (BeginTime)"
    )
    nodes.up("n2")
    assert nodes.run(["srun", "--nodes=2", "hostname"]).exit_code == 0  # Both nodes work again.
    nodes.run(["scontrol", "update", f"JobId={number}", "StartTime=now"])
    process = run_rankbench(nodes, home, "status", folder, "--wait")
    assert process.exit_code == 0, process.printed
    results = store.open(folder)
    died, after = results.launches()
    assert "no answer from n2" in died.reason
    # On a node that has just returned Slurm may miss the end of a step, for which the launcher then waits.
    assert (died.status, after.status in {"ok", "hung"}) == ("crashed", True), after.reason
    of_first, of_second = (set(results.cases().filter(launch=number)["case"]) for number in (1, 2))
    assert not of_first & of_second
    assert of_first | of_second == {case.key for case in results.campaign.cases}
    assert len(of_first) > 3
    assert list(results.cases()["status"]).count("crashed") == 1
    assert set(results.samples().collect()["case"]) == set(results.cases().filter(status="ok")["case"])
