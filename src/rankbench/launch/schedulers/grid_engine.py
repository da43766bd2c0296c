"""Grid Engine and its heirs (Son of Grid Engine, Univa, Altair)."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from rankbench.launch import schedulers
from rankbench.launch.topology import read_text
from rankbench.model import Job

QRSH = "qrsh -inherit -nostdin -V"
ENVIRONMENT = "-pe "
"""Sites name their parallel environments; one in the plan's options takes the place of `mpi`."""
NOT_IN_NAMES = r"[\s/:@*?\\]"
EXECD_PORT = "${SGE_EXECD_PORT:-$(getent services sge_execd | awk '{ print $2 + 0 }')}"
"""Where its own commands look for a node's daemon, in this order."""


class Scheduler(schedulers.Scheduler):
    """Jobs by qsub, with as many slots as all ranks of the largest placement."""

    name = "grid-engine"
    title = "Grid Engine"
    submit = ("qsub", "-terse")
    # All jobs of everybody: of one that has ended, qstat itself would say nothing but an error.
    query = ("bash", "-c", 'qstat -u "*" && echo "looked for $0"')
    cancel = ("qdel",)
    number = r"[0-9]+"
    printed = rf"(?m)^({number})$"
    job_id = "${JOB_ID:-}"
    node_file = "PE_HOSTFILE"
    variables = "SGE_"
    answers = f"""timeout 15 qping -info "$1" "{EXECD_PORT}" execd 1
    [ $? != 124 ]"""
    environment = MappingProxyType(
        {"I_MPI_HYDRA_BOOTSTRAP": "sge", "OMPI_MCA_plm_rsh_agent": QRSH, "PRTE_MCA_plm_ssh_agent": QRSH}
    )
    on_node = f'{QRSH} "$1" "$2"'
    lacks = ("tasks_per_socket", "contiguous", "memory")
    refusals = MappingProxyType({
        'unknown resource "exclusive"': "this site has no resource of this name for exclusive nodes; use "
        "--no-exclusive to share them, or your site's option in job.options",
    })  # fmt: skip

    def directives(self, job: Job, name: str, log: str) -> list[str]:
        """How many slots are on a node is the parallel environment's to say."""
        named = any(option.startswith(ENVIRONMENT) for option in job.options)
        called = re.sub(NOT_IN_NAMES, "_", name)
        hosts = "|".join(schedulers.list_hosts(job))
        options = schedulers.options(
            ("-N ", called if called[:1].isalpha() else f"r{called}"),
            ("-S /bin/bash", True),
            ("-j y", True),
            ("-o ", log),
            ("-r y", True),
            ("-notify", True),
            (f"{ENVIRONMENT}mpi ", 0 if named else job.nodes * job.tasks_per_node),
            ("-l h_rt=", job.time_s and schedulers.clock_time(job.time_s)),
            ("-q ", job.partition),
            ("-P ", job.account),
            ("-l h=", hosts and f"'{hosts}'"),
            ("-l exclusive=true", job.exclusive),
        )
        return [f"#$ {option}" for option in [*options, *job.options]]

    def read_job(self, environment: Mapping[str, str]) -> schedulers.AllocatedJob | None:
        """Each line of the file begins with a node."""
        lines = read_text(Path(environment.get("PE_HOSTFILE", os.devnull))).splitlines()
        nodes = [line.split()[0] for line in lines if line.split()]
        number = environment.get("JOB_ID", "")
        return schedulers.AllocatedJob(number, nodes) if number and nodes else None

    def state(self, exit_code: int, text: str) -> schedulers.JobState | None:
        """The fifth word of a job's line is its state; a job that is not there has ended."""
        number = text.rpartition("looked for ")[2].strip()
        if exit_code or not number:
            return None
        words = next((line.split() for line in text.splitlines() if line.split()[:1] == [number]), None)
        if not words:
            return schedulers.JobState("ended", "no longer in the queue")
        advice = f" (an error keeps it: qstat -j {number} shows which)" if "E" in words[4] else ""
        return schedulers.JobState("running" if set(words[4]) & set("rtd") else "queued", words[4] + advice)

    def draining(self, node: str, reason: str) -> list[str]:  # noqa: ARG002 - it takes no reason
        """Disable all queues on it."""
        return ["qmod", "-d", f"*@{node}"]
