"""Variables of a scheduler's job, set in a shell where it does not run: launchers follow them, and hang."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from rankbench import files
from rankbench.launch import schedulers
from rankbench.launch.topology import read_text
from rankbench.model import Placement, RankbenchError


def refuse_left_over_job(
    placements: Iterable[Placement],
    environment: Mapping[str, str] = os.environ,
    host: str = "",
    root: Path = Path("/"),
) -> None:
    """Raise RankbenchError if variables of a job are set here, and launches would not run on its nodes.

    Launches by srun, and those on hosts that are all of the job, use the job as intended. So does everything that the
    scheduler itself started, whatever the names of its nodes.
    """
    used = [placement for placement in placements if placement.launcher == "mpiexec"]
    names = [shorten(name) for placement in used for name in placement.hosts or [host or platform.node()]]
    for scheduler in schedulers.find_schedulers().values():
        job = scheduler.read_job(environment)
        if not job or is_started_by(job, root):
            continue
        if not {*names} <= {*map(shorten, job.nodes)}:
            where = "this host is not one of its nodes"
            if all(placement.hosts for placement in used):
                where = "not all hosts of the launches are its nodes"
            raise RankbenchError(
                f"{scheduler.variables}* variables of job {job.number} are set here, but {where}: unset them, or submit"
            )


def is_started_by(job: schedulers.AllocatedJob, root: Path = Path("/")) -> bool:
    """Return whether the scheduler started this process within a job, as it does on nodes only."""
    return f"job_{job.number}" in read_text(root / "proc/self/cgroup")


def find_job(
    environment: Mapping[str, str] = os.environ,
) -> tuple[schedulers.Scheduler, schedulers.AllocatedJob] | None:
    """Return the job in which this process runs, and its scheduler; None: it runs in none whose nodes are known."""
    for scheduler in schedulers.find_schedulers().values():
        if job := scheduler.read_job(environment):
            return scheduler, job._replace(nodes=list(dict.fromkeys(job.nodes)))
    return None


def find_number(environment: Mapping[str, str] = os.environ) -> str:
    """Return the number of the job in which this process runs; empty: it runs in none whose nodes are known."""
    job = find_job(environment)
    return job[1].number if job else ""


class JobNodes(NamedTuple):
    """Where launches of this process run within its job."""

    hosts: list[str]
    """Empty: the job has one node, which is this machine, or there is no job."""
    remote_shell: str = ""
    """The program that launchers call as they call ssh; empty: they need none."""


def use_job(folder: Path) -> JobNodes:
    """Return the nodes of the job in which this runs, with what starts ranks on them, written into `folder`.

    Launches inherit the variables with which launchers use the scheduler; those that are set already stay.
    """
    job = find_job()
    if not job:
        return JobNodes([])
    scheduler, allocated = job
    os.environ.update({name: value for name, value in scheduler.environment.items() if name not in os.environ})
    is_here = is_started_by(allocated) or shorten(platform.node()) in map(shorten, allocated.nodes)
    if len(allocated.nodes) < 2 and is_here:
        return JobNodes([])
    return JobNodes(allocated.nodes, write_remote_shell(scheduler, folder / f"{scheduler.name}-rsh"))


def write_remote_shell(scheduler: schedulers.Scheduler, path: Path) -> str:
    """Write the program that launchers call as they call ssh, within a job; empty: they need none."""
    if not scheduler.remote_start:
        return ""
    files.write(path, REMOTE_SHELL.format(start=scheduler.remote_start))
    path.chmod(0o755)
    return str(path)


REMOTE_SHELL = """#!/bin/bash
while [ "${{1#-}}" != "$1" ]; do
    case $1 in -[bcDEeFIiJLlmOopQRSWw]) shift ;; esac
    shift
done
host=$1
shift
{start}
"""
"""As `write_remote_shell` of functions.sh writes it: options of ssh, a node, a command for a shell."""


def shorten(name: str) -> str:
    """Return the name of a host without user and domain."""
    return name.rpartition("@")[2].partition(".")[0]
