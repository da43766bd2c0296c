"""The nodes of the job in which a command runs, in place of named hosts."""

from __future__ import annotations

from typing import NamedTuple

from rankbench import files
from rankbench.launch import allocation
from rankbench.model import RankbenchError
from rankbench.workflows.locations import home


class JobNodes(NamedTuple):
    """Where ranks run."""

    hosts: str
    """Names, with commas between them."""
    remote_shell: str
    """The program that starts processes there."""


def find_job_nodes() -> JobNodes:
    """Return the nodes of this process's job, and what starts ranks there.

    Raises RankbenchError where no job is known.
    """
    if not allocation.find_job():
        raise RankbenchError(
            "--in-job: this runs in no job whose nodes are known; start it by salloc, sbatch or the like, name nodes "
            "by --hosts, or let `rankbench submit` write the job"
        )
    job = allocation.use_job(files.make_folder(home()))
    return JobNodes(",".join(job.hosts), job.remote_shell)
