"""The real command `lab`: campaigns between nodes, rates and delays, power failures, Slurm, and no leftovers."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fakes import mark_thorough

from cluster.nodes import Delay, Lab, list_processes, measure_one_way_ns
from rankbench import build, lab, libraries, store
from rankbench.cli.commands.lab import ran
from rankbench.lab import Cores, LabRequest
from rankbench.model import Library

if TYPE_CHECKING:
    from cluster.study import Core

pytestmark = pytest.mark.needs("namespaces", "ip", "slurmctld", "munged")

RANKBENCH = str(Path(sys.executable).with_name("rankbench"))
MESSAGE_BYTES = 65536
SAMPLES = 20
PLAN = f"""
candidates = ["mpich", "openmpi", "intel-mpi"]
operations = ["pingpong"]
sizes = {MESSAGE_BYTES}
samples = {SAMPLES}
case_limit = "1s"
stop = {{ blocks = 1 }}
control = false
"""


def run_rankbench(
    folder: Path, home: Path, *arguments: str | Path, before: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    """Run the command in a folder as a user does."""
    return subprocess.run(
        [*before, RANKBENCH, *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "RANKBENCH_HOME": str(home), "RANKBENCH": RANKBENCH},
        capture_output=True,
        text=True,
        check=False,
    )


# --- campaigns --------------------------------------------------------------------------------------------------------

RUN_AND_COUNT = """
$RANKBENCH run plan.toml || exit
for node in "$@"; do echo "$node $(cat /sys/class/net/v-$node/statistics/rx_bytes)"; done >counters
"""
"""Runs a plan as without a lab, and prints the traffic at the head's end of each node's link."""


@pytest.mark.parametrize("count", [2, mark_thorough(4)])
@pytest.mark.thorough
def test_a_campaign_between_nodes_uses_their_links(count: int, home: Path, tmp_path: Path) -> None:
    """Each of the two nodes sends half of the data of a ping-pong."""
    nodes = [f"n{number}" for number in range(1, count + 1)]
    (tmp_path / "plan.toml").write_text(PLAN + f'placements = ["{count}x1"]\n')
    script = ["--", "sh", "-c", RUN_AND_COUNT, "sh", *nodes]
    process = run_rankbench(tmp_path, home, "lab", "--nodes", str(count), *script)
    assert process.returncode == 0, process.stdout + process.stderr
    assert process.stderr == f"lab: head, {', '.join(nodes)}; links as fast as the machine is; no delay added\n"
    results = store.open(tmp_path / "results" / "plan")
    launches = [(launch.candidate.partition("-")[0], launch.status.value) for launch in results.launches()]
    assert sorted(launches) == [("intel", "ok"), ("mpich", "ok"), ("openmpi", "ok")]
    assert all([rank.host for rank in launch.ranks] == nodes for launch in results.launches())
    crossed = dict(line.split() for line in (tmp_path / "counters").read_text().splitlines())
    assert min(int(crossed[node]) for node in ("n1", "n2")) >= len(launches) * SAMPLES * MESSAGE_BYTES


@pytest.mark.thorough
@pytest.mark.parametrize("family", ["mpich", "openmpi", "intel-mpi"])
def test_data_and_clocks_are_tested_between_nodes(family: str, home: Path, tmp_path: Path) -> None:
    """What the ranks of one node do in shared memory crosses links here."""
    words = ("lab", "--nodes", "2", "--", RANKBENCH, "verify", family)
    clocks = run_rankbench(tmp_path, home, *words, "--clocks", "--runs", "3", "--wait", "0.05", "--format", "json")
    assert clocks.returncode == 0, clocks.stdout + clocks.stderr
    (study,) = json.loads(clocks.stdout)
    assert {rank["host"] for rank in study["study"]["stream"]["ranks"]} == {"n1", "n2"}
    data = run_rankbench(tmp_path, home, *words, "--ranks", "2", "--clock", "tsc")
    assert f"{family}-" in data.stdout
    assert "Data, in messages of 8 B, 1000 B and 64 KiB" in data.stdout
    assert "not run" not in data.stdout
    uneven = run_rankbench(tmp_path, home, *words, "--ranks", "3")
    assert uneven.returncode == 1
    assert "--ranks 3: not a multiple of 2 hosts, which have equal numbers of ranks" in uneven.stdout


FAILING_POWER = """
$RANKBENCH run plan.toml &
until grep -q '"record":"case"' results/plan/work/stream.jsonl 2>/dev/null; do
    kill -0 $! || exit 9
    sleep 0.05
done
lab-node down n2
ssh n2 true
echo "ssh: $?"
lab-node up n2
ssh n2 hostname
wait $!
"""


@pytest.mark.thorough
def test_a_node_that_fails_in_mid_campaign_costs_only_its_launch(home: Path, tmp_path: Path) -> None:
    """The other node hears nothing from it and waits; the campaign continues after the time limit."""
    text = PLAN.replace('["mpich", "openmpi", "intel-mpi"]', '["mpich"]').replace(f"= {MESSAGE_BYTES}", '= "1:1M:x2"')
    text = text.replace('"1s"', '"0.3s"').replace(f"samples = {SAMPLES}", "samples = 20000")
    (tmp_path / "plan.toml").write_text(text + 'placements = ["2x1"]\nlaunch_limit = "13s"\n')
    process = run_rankbench(tmp_path, home, "lab", "--", "bash", "-c", FAILING_POWER)
    assert process.returncode == 1, process.stdout + process.stderr
    assert "ssh: n2 is down\n" in process.stderr
    assert "ssh: 255\nn2\n" in process.stdout
    results = store.open(tmp_path / "results" / "plan")
    assert [(launch.status.value, launch.reason) for launch in results.launches()] == [
        ("hung", "no sign of life for 13 s"),
        ("ok", ""),
    ]
    statuses = results.cases()["status"].to_list()
    assert (statuses.count("ok"), statuses.count("hung")) == (20, 1)


# --- links ------------------------------------------------------------------------------------------------------------

"""Prints when it had received how many bytes."""
"""Bytes of a frame per payload byte of a stream."""


CONNECT = "import socket; socket.socket().connect_ex(('head', 9))"


@pytest.mark.parametrize("delay", [None, Delay(1_000, 1_000)], ids=["bridge", "delayed"])
def test_a_restarted_node_is_reachable_as_before(delay: Delay | None) -> None:
    with lab.up(LabRequest(nodes=3, delay=delay)) as nodes:
        before = measure_one_way_ns(nodes)
        nodes.down("n2")
        assert nodes.run(["ssh", "n2", "hostname"]).printed == "ssh: n2 is down\n"
        assert nodes.run(["lab-node", "down", "n2"]).printed == "lab-node: n2 is down\n"
        nodes.up("n2")
        assert min(before) > 0
        assert min(measure_one_way_ns(nodes)) > 0
        assert nodes.run(["lab-node", "up", "n2"]).printed == "lab-node: n2 is up\n"
        for node in nodes.nodes:
            nodes.on(node, [sys.executable, "-c", CONNECT])
            known = dict(re.findall(r"(\S+) dev eth0 lladdr (\S+)", nodes.on(node, ["ip", "neigh"])))
            assert known["10.77.0.1"] == "02:00:0a:4d:00:01"


# --- programs of the head ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pair() -> Iterator[Lab]:
    """Two nodes of a Slurm that believes them to be larger than they are."""
    with lab.up(LabRequest(nodes=2, slurm=Cores(2, 4))) as nodes:
        yield nodes


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("ssh", "ssh: usage: ssh [-OPTION...] NODE [COMMAND...]"),
        ("ssh n9 true", "ssh: n9: no such node (allowed: n1 n2)"),
        ("ssh n1 ssh n2 true", "ssh: only the head can reach nodes"),
        ("ssh n1 lab-node down n2", "lab-node: only the head can reach nodes"),
        ("lab-node", "lab-node: usage: lab-node down|up NODE"),
        ("lab-node off n1", "lab-node: usage: lab-node down|up NODE"),
        ("lab-node down n9", "lab-node: n9: no such node (allowed: n1 n2)"),
    ],
)
def test_impossible_commands_are_refused_in_one_line(command: str, says: str, pair: Lab) -> None:
    assert pair.run(command.split()) == (255, f"{says}\n")


@pytest.mark.parametrize("options", ["", "-x", "-o StrictHostKeyChecking=no -p 22 -q", "-l somebody"])
def test_ssh_accepts_the_options_of_ssh(options: str, pair: Lab) -> None:
    assert pair.run(["sh", "-c", f"ssh {options} n2 'hostname; exit 3'"]) == (3, "n2\n")


def test_slurm_reports_the_configured_nodes(pair: Lab) -> None:
    answer = pair.run(["sinfo", "-h", "-N", "-o", "%N %X %Y %c %t"])
    assert answer.printed == "n1 2 4 8 idle\nn2 2 4 8 idle\n"


PMI = {"mpich": "pmi2", "openmpi": "pmix", "intel-mpi": "pmi2"}
"""The PMI library that each family uses with srun."""


def test_srun_starts_one_world_over_nodes(core: Core, pair: Lab) -> None:
    interface = next(Path("/usr/lib").rglob("libpmi2.so.0"))
    environment = {**core.library.environment, "I_MPI_PMI_LIBRARY": str(interface), "I_MPI_PIN": "0"}
    before = pair.bytes_sent("n1")
    started = ["srun", f"--mpi={PMI[core.library.family]}", "-N2", "-n2"]
    process = pair.run([*started, core.binary, "--check"], environment)
    assert process.exit_code == 0, process.printed
    assert "one world of 2 ranks, data right\n" in process.printed
    assert re.findall(r"rank (\d) on (\w+),", process.printed) == [("0", "n1"), ("1", "n2")]
    assert pair.bytes_sent("n1") - before >= MESSAGE_BYTES


def test_one_batch_job_runs_and_another_is_cancelled(pair: Lab, tmp_path: Path) -> None:
    path = pair.folder / "report"
    assert pair.run(["sbatch", "-W", "-N2", "-o", path, "--wrap", "srun hostname"]).exit_code == 0
    assert sorted(path.read_text().split()) == ["n1", "n2"]
    job = pair.run(["sbatch", "--parsable", "-o", path, "--wrap", "sleep 1000"]).printed.strip()
    assert pair.run(["scancel", job]).exit_code == 0
    while "JobState=CANCELLED" not in (report := pair.run(["scontrol", "show", "job", job]).printed):
        assert re.search("JobState=(PENDING|RUNNING|COMPLETING)", report), report
        time.sleep(0.1)


# --- without root -----------------------------------------------------------------------------------------------------

SCRIPT = """
id -u
ssh n2 hostname
srun -N2 -l hostname | sort
mpiexec -hosts n1,n2 -n 2 "$0" --check
"""


def test_a_lab_of_an_ordinary_user_works(home: Path, reach: list[Library], tmp_path: Path) -> None:
    """In a user namespace in which this user is not root and has no capabilities."""
    library = libraries.choose("mpich", [library for library in reach if library.source == "pypi"])
    program = build.build(library, home).binary
    path = f"PATH={library.prefix}/bin:{os.environ['PATH']}"
    user = ("unshare", "--user", "--map-user=1000", "--map-group=1000", "env", path)
    assert subprocess.run([*user, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True, check=False).returncode
    options = ["--delay", "200us", "--rate", "100mbit", "--clocks", "5s", "--slurm"]
    process = run_rankbench(tmp_path, home, "lab", *options, "--", "sh", "-c", SCRIPT, program, before=user)
    assert process.returncode == 0, process.stderr
    lines = process.stdout.splitlines()
    assert lines[:4] == ["0", "n2", "0: n1", "1: n2"]
    assert "one world of 2 ranks, data right" in lines
    assert re.findall(r"rank \d on (\w+),", process.stdout) == ["n1", "n2"]


# --- ends of a lab ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("command", "code"), [("exit 0", 0), ("exit 7", 7), ("kill -9 $$", 137)])
def test_the_exit_code_is_that_of_the_command(command: str, code: int, pair: Lab) -> None:
    """As in a shell if a signal ended the command."""
    assert ran(pair, ["sh", "-c", command]) == code


def test_a_shell_in_the_lab_has_its_prompt_and_variables(home: Path, tmp_path: Path) -> None:
    """The prompt goes to standard error, since there is no terminal."""
    process = subprocess.run(
        [RANKBENCH, "lab", "--nodes", "1"],
        cwd=tmp_path,
        env={**os.environ, "RANKBENCH_HOME": str(home), "HOME": str(tmp_path)},
        input="hostname; echo $RANKBENCH_HOSTS $RANKBENCH_BINDING; pwd\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.stdout.splitlines() == ["head", "n1 none", str(tmp_path)]
    assert "(lab) head:~" in process.stderr


def find_leftovers() -> set[str]:
    """Return possible leftovers of labs on the machine: links, folders, mounts, files of Slurm."""
    links = {path.name for path in Path("/sys/class/net").iterdir()}
    places = [Path("/tmp"), Path("/dev/shm"), Path("/run"), Path("/etc/slurm"), Path("/var/log"), Path("/var/spool")]
    files = {str(path) for place in places if place.exists() for path in place.iterdir()}
    mounts = {line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()}
    return links | {name for name in files if "rankbench-lab" in name or "slurm" in name or "munge" in name} | mounts


REPORT_SCRIPT = """
readlink /proc/self/ns/net /proc/self/ns/pid
dirname "$SLURM_CONF"
ssh n2 "sleep 1000 >/dev/null & echo up"
exec sleep 1000
"""


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGKILL], ids=lambda ending: ending.name)
def test_a_killed_lab_leaves_nothing(ending: signal.Signals, home: Path, tmp_path: Path) -> None:
    before = find_leftovers()
    command = [RANKBENCH, "lab", "--slurm", "--delay", "1ms", "--clocks", "random", "--", "sh", "-c", REPORT_SCRIPT]
    environment = {**os.environ, "RANKBENCH_HOME": str(home)}
    process = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    *spaces, folder, up = (process.stdout.readline().strip() for _ in range(4))
    assert up == "up"
    assert len(list_processes(set(spaces), Path(folder))) > 5
    process.send_signal(ending)
    process.communicate()
    assert process.returncode == (143 if ending == signal.SIGTERM else -ending)
    wait_until_gone(set(spaces), Path(folder))
    assert find_leftovers() == before


def wait_until_gone(spaces: set[str], folder: Path) -> None:
    """Give the system some time, then assert that nothing remains."""
    for _ in range(200):
        if not list_processes(spaces, folder) and not folder.exists():
            return
        time.sleep(0.1)
    assert (list_processes(spaces, folder), folder.exists()) == ([], False)


def test_a_lab_killed_while_it_starts_leaves_nothing(home: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "RANKBENCH_HOME": str(home), "TMPDIR": str(tmp_path)}
    command = [RANKBENCH, "lab", "--nodes", "20", "--", "true"]
    process = subprocess.Popen(command, cwd="/", env=environment, stderr=subprocess.PIPE)
    while not list(tmp_path.glob("rankbench-lab-*/pids/n3")):
        assert process.poll() is None
        time.sleep(0.01)
    (folder,) = tmp_path.glob("rankbench-lab-*")
    process.kill()
    process.communicate()
    wait_until_gone(set(), folder)
    assert list(tmp_path.iterdir()) == []


def test_a_lab_that_ends_leaves_nothing(home: Path, tmp_path: Path) -> None:
    before = find_leftovers()
    script = 'readlink /proc/self/ns/net; dirname "$SLURM_CONF"; sbatch -o /dev/null --wrap "sleep 1000" >&2'
    process = run_rankbench(tmp_path, home, "lab", "--slurm", "--", "sh", "-c", script)
    assert process.returncode == 0, process.stderr
    space, folder = process.stdout.split()
    assert list_processes({space}, Path(folder)) == []
    assert find_leftovers() == before


def test_a_lab_that_does_not_start_reports_the_reason_and_leaves_nothing(home: Path, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    munged = tmp_path / "munged"
    munged.write_text(
        '#!/bin/sh\nfor said; do case $said in --log-file=*) echo no luck >"${said#*=}"; esac; done; exit 1\n'
    )
    munged.chmod(0o755)
    with_it = ("env", f"PATH={tmp_path}:{os.environ['PATH']}", f"TMPDIR={tmp_path}/folder")
    process = run_rankbench(tmp_path, home, "lab", "--slurm", "--", "true", before=with_it)
    assert (process.returncode, process.stdout, process.stderr) == (
        2,
        "",
        "rankbench: lab: nodes do not come up: no luck\n",
    )
    assert list((tmp_path / "folder").iterdir()) == []
