"""PBS Professional and OpenPBS."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from rankbench.launch import schedulers
from rankbench.launch.topology import read_text
from rankbench.model import Job

PHASES: tuple[tuple[str, schedulers.Phase], ...] = (("[QHWTSM]", "queued"), ("[REBU]", "running"), (".*", "ended"))
FINISHED, UNKNOWN = 35, 153
"""Exit codes of qstat: of a job in the server's history, and of one that the server does not know."""
SUBSTATES: tuple[tuple[str, schedulers.Ending], ...] = (("91", "cancelled"),)
STATUSES: tuple[tuple[str, schedulers.Ending], ...] = (("-29", "time"), ("-2[67]", "memory"))
"""What the substate of a finished job, and an exit status that PBS makes itself, say about its end."""
MESSAGES: tuple[tuple[str, schedulers.Ending], ...] = (
    (r"PBS: job killed: walltime \d+ exceeded limit", "time"),
    (r"PBS: job killed: \w*mem \d+\w* exceeded limit", "memory"),
)
"""What PBS writes into the output of a job that it ends. Without a history it says no more."""
QUESTION = f'qstat -f "$1"; code=$?; [ $code != {FINISHED} ] || qstat -x -f "$1"; exit $code'
"""Asks for the history only where there is one: by default a server keeps none and refuses `-x`."""

ANSWERS = """! command -v pbs_tmrsh >/dev/null || timeout 20 pbs_tmrsh "$1" /bin/true ||
        ! timeout 20 pbs_tmrsh "${node[0]}" /bin/true"""
"""Asks the node itself: for a minute or more its server calls a dead node busy. A job that is being ended may start
nothing anywhere, not even where its script runs.
"""
REMOTE_START = """command -v pbs_tmrsh >/dev/null || exec ssh "$host" "$*"
printed=$(mktemp "$0.XXXXXX") || printed=/dev/null
pbs_tmrsh "$host" /bin/sh -c 'exec >"$0" 2>&1; eval "$1"' "$printed" "$*" &
trap "kill $!" TERM INT HUP
wait $!
code=$?
cat "$printed"
[ ! -f "$printed" ] || rm -f "$printed"
exit $code"""
"""What pbs_tmrsh starts belongs to the job and needs no ssh. It starts its words without a shell, and what they print
would go to the output of the job instead of its own.
"""


class Scheduler(schedulers.Scheduler):
    """Jobs by qsub, in chunks of a node each."""

    name = "pbs"
    title = "PBS"
    submit = ("qsub",)
    query = ("bash", "-c", QUESTION, "qstat")
    cancel = ("qdel",)
    number = r"[0-9]+(?:\.[\w.-]+)?"
    printed = rf"(?m)^({number})$"
    job_id = "${PBS_JOBID:-}"
    variables = "PBS_"
    node_file = "PBS_NODEFILE"
    lost = """timeout 20 pbsnodes "${node[@]}" |
        awk '/^[^ ]/ { name = $1 } /^ *state = .*(down|stale|unknown)/ { print name }'"""
    answers = ANSWERS
    environment = MappingProxyType({"I_MPI_HYDRA_BOOTSTRAP": "rsh"})
    remote_start = REMOTE_START
    messages = MESSAGES
    job_variables = ("OMP_NUM_THREADS", "NCPUS")
    lacks = ("tasks_per_socket", "contiguous", "memory")

    def directives(self, job: Job, name: str, log: str) -> list[str]:
        """A chunk has one node; where nodes are named, each chunk is on one of them."""
        chunk = f"ncpus={job.tasks_per_node}:mpiprocs={job.tasks_per_node}"
        chunks = [f"1:host={host}:{chunk}" for host in schedulers.list_hosts(job)] or [f"{job.nodes}:{chunk}"]
        options = schedulers.options(
            ("-N ", name[:15]),
            ("-j oe", True),
            ("-o ", log),
            ("-r y", True),
            ("-l select=", "+".join(chunks)),
            ("-l place=scatter", ":excl" if job.exclusive else True),
            ("-l walltime=", job.time_s and schedulers.clock_time(job.time_s)),
            ("-q ", job.partition),
            ("-A ", job.account),
        )
        return [f"#PBS {option}" for option in [*options, *job.options]]

    def read_job(self, environment: Mapping[str, str]) -> schedulers.AllocatedJob | None:
        """A container may not show the file of the job's nodes."""
        nodes = read_text(Path(environment.get("PBS_NODEFILE", os.devnull))).split()
        number = environment.get("PBS_JOBID", "")
        return schedulers.AllocatedJob(number, nodes) if number and nodes else None

    def state(self, exit_code: int, text: str) -> schedulers.JobState | None:
        """The state is a letter. Long values continue on lines that begin with a tab."""
        lines = text.replace("\n\t", "")
        fields = dict(re.findall(r"(?m)^\s*(job_state|substate|Exit_status|comment) = (.+)$", lines))
        if "job_state" in fields:
            phase = schedulers.match_phase(PHASES, fields["job_state"])
            code = f", exit status {fields['Exit_status']}" if phase == "ended" and "Exit_status" in fields else ""
            comment = f" ({fields['comment']})" if "comment" in fields else ""
            ending = schedulers.match_ending(SUBSTATES, fields.get("substate", "")) or schedulers.match_ending(
                STATUSES, fields.get("Exit_status", "")
            )
            return schedulers.JobState(phase, f"{fields['job_state']}{code}{comment}", ending)
        if exit_code in {FINISHED, UNKNOWN} or (exit_code and "Unknown Job" in text):
            return schedulers.JobState("ended", "no longer known to PBS")
        return None

    def draining(self, node: str, reason: str) -> list[str]:
        """Mark it offline, with a comment."""
        return ["pbsnodes", "-o", "-C", reason, node]
