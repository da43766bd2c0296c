"""What a job's script does on the nodes of its job, run by bash with stand-in schedulers."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from fakes import scheduler

from rankbench.launch import schedulers
from rankbench.launch.script import FOLDER, FUNCTIONS, LOG, Script, render_head
from rankbench.model import Job

REMOTE = ("flux", "pbs")
"""Schedulers whose own command starts processes on nodes."""
QUERIES = {"slurm": "sinfo", "pbs": "pbsnodes", "lsf": "bhosts", "flux": "flux resource"}
RSH_VARIABLES = {
    "HYDRA_LAUNCHER_EXEC", "I_MPI_HYDRA_BOOTSTRAP_EXEC", "OMPI_MCA_plm_rsh_agent", "PRTE_MCA_plm_ssh_agent",
}  # fmt: skip


def run_in_job(place: Path, kind: str, commands: str, *setup: str) -> subprocess.CompletedProcess[str]:
    """Run bash in a job on four nodes, after the head of its script, and with its functions."""
    campaign, folder = place / "campaign", place / "scheduler"
    (campaign / FOLDER).mkdir(parents=True, exist_ok=True)
    environment = os.environ | (
        {"PATH": f"{folder}:{os.environ['PATH']}"} if folder.exists() else scheduler.install(kind, folder)
    )
    values = Script(
        campaign=campaign,
        question="Which?",
        job=Job(scheduler=kind, nodes=4, tasks_per_node=2, setup=[*setup]),
        lines=[],
        blocks=[],
        remote_shell="",
        silence_s=60,
        threshold=0.03,
        mpi_variables=[],
    )
    head = "\n".join(render_head(values, schedulers.find_schedulers()[kind]))
    return subprocess.run(
        ["bash", "-c", f"exec 5>&1\n{head}\n. {FUNCTIONS}\nwrite_remote_shell\n{{ {commands}; }} >&5"],
        env=environment | scheduler.make_environment(kind, folder, "101", 2),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("kind", REMOTE)
def test_one_program_in_the_place_of_ssh_runs_commands_on_nodes(tmp_path: Path, kind: str) -> None:
    """Options of ssh are dropped; a command may be one word, as of PRRTE, or several, as of hydra."""
    process = run_in_job(
        tmp_path, kind,
        '"$HYDRA_LAUNCHER_EXEC" -x a2 echo one two; '
        "\"$PRTE_MCA_plm_ssh_agent\" a3 'export WORD=\"b  c\"; echo \"$WORD\" | tr b d'; "
        '"$I_MPI_HYDRA_BOOTSTRAP_EXEC" -q -l user a4 false || echo failed; '
        '"$OMPI_MCA_plm_rsh_agent" nowhere true || echo unknown',
    )  # fmt: skip
    assert process.stdout == "one two\nd  c\nfailed\nunknown\n", process.stderr
    assert [path.name for path in (tmp_path / "campaign" / FOLDER).iterdir() if "rsh" in path.name] == ["rsh"]


@pytest.mark.parametrize("kind", REMOTE)
def test_a_plan_can_change_how_launchers_reach_nodes(tmp_path: Path, kind: str) -> None:
    """Its lines come after those of the scheduler."""
    process = run_in_job(tmp_path, kind, "env", "export HYDRA_LAUNCHER=rsh I_MPI_HYDRA_BOOTSTRAP=slurm")
    variables = dict(line.split("=", 1) for line in process.stdout.splitlines() if "=" in line)
    assert {variables[name] for name in RSH_VARIABLES} == {str(tmp_path / "campaign/job/rsh")}
    assert (variables["HYDRA_LAUNCHER"], variables["I_MPI_HYDRA_BOOTSTRAP"]) == ("rsh", "slurm")


def test_pbs_decides_no_number_of_threads(tmp_path: Path) -> None:
    """It sets OMP_NUM_THREADS in each job. A plan may set it all the same."""
    printing = 'echo "${OMP_NUM_THREADS:-none} ${NCPUS:-none}"'
    assert run_in_job(tmp_path, "pbs", printing).stdout == "none none\n"
    assert run_in_job(tmp_path, "pbs", printing, "export OMP_NUM_THREADS=3").stdout == "3 none\n"


@pytest.mark.parametrize("kind", sorted(QUERIES))
def test_lost_nodes_are_found_by_one_query(tmp_path: Path, kind: str) -> None:
    """A server of PBS calls a node without power busy for a while: it is the node that does not answer."""
    assert run_in_job(tmp_path, kind, "list_lost_nodes").stdout == ""
    (tmp_path / "scheduler/lost").write_text("a2")
    (tmp_path / "scheduler/calls").unlink()
    assert run_in_job(tmp_path, kind, "list_lost_nodes").stdout == "a2\n"
    calls = (tmp_path / "scheduler/calls").read_text().splitlines()
    assert sum(call.startswith(QUERIES[kind]) for call in calls) == 1


def test_a_job_of_pbs_that_is_being_ended_loses_no_nodes(tmp_path: Path) -> None:
    """Then nothing can be started anywhere, not even on the node of the script."""
    run_in_job(tmp_path, "pbs", ":")
    (tmp_path / "scheduler/pbs_tmrsh").write_text("#!/bin/sh\nexit 1\n")
    assert run_in_job(tmp_path, "pbs", "list_lost_nodes").stdout == ""


@pytest.mark.parametrize(
    ("nodes", "lost", "names"),
    [("n1.site n2.site", "n2", "n2.site"), ("n1 n2", "n2.site", "n2"), ("10.0.0.1 10.0.0.2", "10.0.0.2", "10.0.0.2"),
     ("n1 n2", "n22 n", ""), ("n1 n2", "", "")],
)  # fmt: skip
def test_a_lost_node_is_known_with_and_without_its_domain(nodes: str, lost: str, names: str) -> None:
    script = f"campaign=.; node=({nodes}); . {FUNCTIONS}; printf '%s\\n' {lost} | find_nodes"
    process = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert process.stdout.split() == names.split()


@pytest.mark.parametrize("kind", sorted(schedulers.find_schedulers()))
def test_the_log_of_a_job_is_written_while_it_runs(tmp_path: Path, kind: str) -> None:
    """Not by the scheduler, which may show it only at the end."""
    if kind == "ssh":
        pytest.skip("no scheduler writes its log")
    run_in_job(tmp_path, kind, "say begun >&2; say again >&2")
    assert [line.split()[-1] for line in (tmp_path / "campaign" / FOLDER / LOG).read_text().splitlines()] == [
        "begun", "again",
    ]  # fmt: skip
    lines = schedulers.find_schedulers()[kind].directives(Job(nodes=1), "plan", "/job/scheduler.log")
    assert any(line.endswith("/job/scheduler.log") for line in lines)
