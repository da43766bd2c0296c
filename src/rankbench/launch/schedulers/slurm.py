"""Slurm, from 22.05 on: before, steps that share the CPUs of a job may wait for each other's memory."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from rankbench.launch import schedulers
from rankbench.model import SITE_MEMORY, Job

PHASES: tuple[tuple[str, schedulers.Phase], ...] = (
    (r"PENDING|CONFIGURING|REQUEUE\w*|SUSPENDED|RESIZING|SPECIAL_EXIT|RESV_DEL_HOLD", "queued"),
    (r"RUNNING|COMPLETING|STAGE_OUT|SIGNALING|STOPPED", "running"),
    (r".*", "ended"),
)
ENDINGS: tuple[tuple[str, schedulers.Ending], ...] = (
    ("CANCELLED|REVOKED", "cancelled"),
    ("TIMEOUT|DEADLINE", "time"),
    ("NODE_FAIL|BOOT_FAIL", "node"),
    ("OUT_OF_MEMORY", "memory"),
    ("PREEMPTED", "preempted"),
)


NAME = re.compile(r"(?:[^,\[]|\[[^]]*\]|\[)+")
"""A name, or names with numbers in brackets, in a list of nodes."""
NUMBERS = re.compile(r"\[((?:\d+(?:-\d+)?,?)+)\]")


def list_hosts(nodes: str) -> Iterator[str]:
    """Yield the names in a list of nodes as Slurm writes it: `n[01-03,7],login`."""
    for name in NAME.findall(nodes):
        yield from list_numbered(name)


def list_numbered(name: str) -> Iterator[str]:
    """Yield the names that one with numbers in brackets stands for."""
    numbers = NUMBERS.search(name)
    if not numbers:
        yield name
        return
    for part in numbers[1].split(","):
        first, _, last = part.partition("-")
        for number in range(int(first), int(last or first) + 1):
            yield from list_numbered(f"{name[: numbers.start()]}{number:0{len(first)}}{name[numbers.end() :]}")


def memory(job: Job) -> str:
    """Return the memory of a node: exclusive nodes have all CPUs, but not all memory unless it is requested."""
    return "" if job.memory == SITE_MEMORY else job.memory or "0" * job.exclusive


class Scheduler(schedulers.Scheduler):
    """Jobs by sbatch; a preempted one, or one whose node died, is queued again and goes on."""

    name = "slurm"
    title = "Slurm"
    submit = ("sbatch", "--parsable")
    query = ("scontrol", "--oneliner", "show", "job")  # It knows a job for some minutes after its end.
    cancel = ("scancel",)
    number = r"[0-9]+"
    printed = rf"(?m)^({number})(?:;\S+)?$"
    job_id = "${SLURM_JOB_ID:-}"
    variables = "SLURM_"
    lost = """timeout 20 sinfo --noheader --Node --nodes="$(IFS=,; echo "${node[*]}")" --format='%N %T' |
        awk '$2 ~ /down|fail|[*]/ { print $1 }'"""
    end_ranks = """squeue --noheader --steps --jobs "$SLURM_JOB_ID" --format %i | grep -E '\\.[0-9]+$' |
        xargs --no-run-if-empty scancel --signal=KILL"""

    # A node that has just come back may refuse its job's steps, and not every launcher notices.
    ready = """[ -z "${SLURM_RESTART_COUNT:-}" ] ||
        timeout 20 srun --mpi=none --overlap --nodes="${#node[@]}" --ntasks="${#node[@]}" true"""
    environment = MappingProxyType({"I_MPI_HYDRA_BOOTSTRAP": "slurm", "SLURM_OVERLAP": "1"})
    on_node = 'srun --mpi=none --overlap --nodes=1 --ntasks=1 --nodelist="$1" /bin/sh -c "$2"'

    def directives(self, job: Job, name: str, log: str) -> list[str]:
        """The batch shell hears of the end of its time before the end."""
        options = schedulers.options(
            ("--job-name=", name),
            ("--output=", log),
            ("--open-mode=append", True),
            ("--requeue", True),
            ("--signal=B:TERM@30", True),
            ("--nodes=", job.nodes),
            ("--ntasks-per-node=", job.tasks_per_node),
            ("--ntasks-per-socket=", job.tasks_per_socket),
            ("--time=", job.time_s and schedulers.clock_time(job.time_s)),
            ("--partition=", job.partition),
            ("--account=", job.account),
            ("--nodelist=", job.nodelist),
            ("--exclusive", job.exclusive),
            ("--mem=", memory(job)),
            ("--contiguous", job.contiguous),
        )
        return [f"#SBATCH {option}" for option in [*options, *job.options]]

    def nodes(self, job: Job) -> str:  # noqa: ARG002 - the job's environment shows it
        """Names are reported in brackets; scontrol spells them out."""
        return 'mapfile -t node < <(scontrol show hostnames "$SLURM_JOB_NODELIST")'

    def read_job(self, environment: Mapping[str, str]) -> schedulers.AllocatedJob | None:
        """Two names of each variable are in use."""
        number = environment.get("SLURM_JOB_ID") or environment.get("SLURM_JOBID", "")
        nodes = environment.get("SLURM_JOB_NODELIST") or environment.get("SLURM_NODELIST", "")
        return schedulers.AllocatedJob(number, list(list_hosts(nodes))) if number and nodes else None

    def state(self, exit_code: int, text: str) -> schedulers.JobState | None:
        """Report the reason too: Resources, Priority, TimeLimit, NodeDown."""
        if match := re.search(r"\bJobState=(\w+) Reason=(\S+)", text):
            word, reason = match[1], "" if match[2] == "None" else f" ({match[2]})"
            phase, ending = schedulers.match_phase(PHASES, word), schedulers.match_ending(ENDINGS, word)
            return schedulers.JobState(phase, f"{word}{reason}", ending)
        if exit_code and "Invalid job id" in text:
            return schedulers.JobState("ended", "no longer known to Slurm")
        return None

    def draining(self, node: str, reason: str) -> list[str]:
        """Set its state by scontrol."""
        return ["scontrol", "update", f"NodeName={node}", "State=DRAIN", f"Reason={reason}"]
