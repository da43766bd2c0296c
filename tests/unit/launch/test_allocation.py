"""Variables of a job that runs elsewhere are refused before a launch; those of a job that is used are not."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import pytest
from wording import refuses

from rankbench.launch.allocation import JobNodes, find_job, find_number, refuse_left_over_job, use_job
from rankbench.launch.schedulers import AllocatedJob
from rankbench.launch.schedulers.slurm import list_hosts
from rankbench.model import Placement, RankbenchError

HERE = Placement(name="socket", nodes=1, ranks_per_node=2, binding="core")
THERE = Placement(name="nodes", nodes=2, ranks_per_node=1, binding="core", hosts=["n1", "me@n2.site"])
SRUN = Placement(name="srun", nodes=1, ranks_per_node=2, binding="core", launcher="srun")
SLURM = {"SLURM_JOB_ID": "4242", "SLURM_JOB_NODELIST": "n[1-2]"}
OLD_SLURM = {"SLURM_JOBID": "4242", "SLURM_NODELIST": "n[1-2]"}
NOT_HERE = "of job 4242 are set here, but this host is not one of its nodes: unset them, or submit"


@pytest.fixture
def job_files(tmp_path: Path) -> Path:
    (tmp_path / "nodes").write_text("n1.site\nn1.site\nn2.site\n", "utf-8")
    return tmp_path / "nodes"


@pytest.mark.parametrize("environment", [SLURM, OLD_SLURM])
def test_variables_of_slurm_are_refused_on_another_host(environment: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(RankbenchError) as error:
        refuse_left_over_job([HERE], environment, "login", tmp_path)
    assert str(error.value) == f"SLURM_* variables {NOT_HERE}"
    refuse_left_over_job([HERE], environment, "n2.site", tmp_path)


def test_variables_of_pbs_and_lsf_are_refused_on_another_host(job_files: Path, tmp_path: Path) -> None:
    pbs = {"PBS_JOBID": "4242", "PBS_NODEFILE": str(job_files)}
    lsf = {"LSB_JOBID": "4242", "LSB_DJOB_HOSTFILE": str(job_files)}
    for environment in (pbs, lsf, {"LSB_JOBID": "4242", "LSB_HOSTS": "n1 n2"}):
        with refuses():
            refuse_left_over_job([HERE], environment, "login", tmp_path)
        refuse_left_over_job([HERE], environment, "n1", tmp_path)


def test_a_job_has_a_number_and_a_shell_without_one_has_none(job_files: Path) -> None:
    assert find_number({"PBS_JOBID": "4242", "PBS_NODEFILE": str(job_files)}) == "4242"
    assert find_number(SLURM) == "4242"
    assert find_number({}) == ""


def test_the_nodes_of_a_job_of_grid_engine_and_flux_are_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hosts").write_text("n1 2 all.q@n1 UNDEFINED\nn2 2 all.q@n2 UNDEFINED\n")
    (tmp_path / "flux").write_text('#!/bin/sh\n[ "$*" = "hostlist --expand local" ] && echo n1 n2\n')
    (tmp_path / "flux").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    variables = dict(os.environ)
    for job in ({"JOB_ID": "17", "PE_HOSTFILE": str(tmp_path / "hosts")}, {"FLUX_ENCLOSING_ID": "17"}):
        known = find_job(variables | job)
        assert known
        assert known[1] == AllocatedJob("17", ["n1", "n2"])
    (tmp_path / "flux").write_text("#!/bin/sh\nexit 1\n")
    assert find_job(variables | {"FLUX_ENCLOSING_ID": "17"}) is None


def test_launchers_start_ranks_on_nodes_of_pbs_by_its_own_command(
    job_files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("I_MPI_HYDRA_BOOTSTRAP", raising=False)
    monkeypatch.setenv("PBS_JOBID", "4242")
    monkeypatch.setenv("PBS_NODEFILE", str(job_files))
    job = use_job(tmp_path)
    assert job.hosts == ["n1.site", "n2.site"]
    assert "pbs_tmrsh" in Path(job.remote_shell).read_text()
    assert os.environ["I_MPI_HYDRA_BOOTSTRAP"] == "rsh"
    monkeypatch.delenv("I_MPI_HYDRA_BOOTSTRAP")
    job_files.write_text("n1.site\nn1.site\n")
    assert use_job(tmp_path).hosts == ["n1.site"]
    job_files.write_text(f"{platform.node()}\n")
    assert use_job(tmp_path) == JobNodes([])
    monkeypatch.delenv("I_MPI_HYDRA_BOOTSTRAP")


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"SLURM_CONF": "/etc/slurm.conf", "SLURM_MPI_TYPE": "pmix"},
        {"SLURM_JOB_ID": "4242"},
        {"PBS_JOBID": "4242", "PBS_NODEFILE": "/gone"},
        {"LSB_JOBID": "4242"},
    ],
)
def test_variables_that_name_no_nodes_are_not_refused(environment: dict[str, str], tmp_path: Path) -> None:
    refuse_left_over_job([HERE], environment, "login", tmp_path)


def test_an_allocation_is_used_from_outside_by_its_hosts_or_by_srun(tmp_path: Path) -> None:
    refuse_left_over_job([THERE, SRUN], SLURM, "login", tmp_path)
    with refuses():
        refuse_left_over_job([THERE], SLURM | {"SLURM_JOB_NODELIST": "n[2-3]"}, "login", tmp_path)


def test_a_process_of_the_job_may_have_any_host_name(tmp_path: Path) -> None:
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text("0::/system.slice/slurmstepd.scope/job_4242/step_0/user\n", "utf-8")
    refuse_left_over_job([HERE], SLURM, "ip-10-0-0-1", tmp_path)


@pytest.mark.parametrize(
    ("nodes", "names"),
    [
        ("n1", ["n1"]),
        ("n[1-2]", ["n1", "n2"]),
        ("n[01-03,7],login", ["n01", "n02", "n03", "n7", "login"]),
        ("a-[9-10]-b,c", ["a-9-b", "a-10-b", "c"]),
        ("r[1-2]n[1-2]", ["r1n1", "r1n2", "r2n1", "r2n2"]),
        ("n[broken", ["n[broken"]),
        ("n[a-b]", ["n[a-b]"]),
        ("", []),
    ],
)
def test_a_list_of_nodes_is_spelt_out(nodes: str, names: list[str]) -> None:
    assert list(list_hosts(nodes)) == names
