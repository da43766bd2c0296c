"""LSF of IBM, 10 and later."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from rankbench.launch import schedulers
from rankbench.launch.topology import read_text
from rankbench.model import Job

PHASES: tuple[tuple[str, schedulers.Phase], ...] = (
    ("PEND|PSUSP|WAIT|PROV", "queued"),
    ("RUN|USUSP|SSUSP|UNKWN", "running"),
    (".*", "ended"),
)
ENDINGS: tuple[tuple[str, schedulers.Ending], ...] = (
    (r"TERM_(?:FORCE_)?(?:OWNER|ADMIN)\b.*", "cancelled"),
    (r"TERM_(?:RUNLIMIT|DEADLINE|WINDOW)\b.*", "time"),
    (r"TERM_(?:MEMLIMIT|SWAP)\b.*", "memory"),
    (r"TERM_PREEMPT\b.*", "preempted"),
)


class Scheduler(schedulers.Scheduler):
    """Jobs by bsub, which reads its options from a script only where that comes by standard input."""

    name = "lsf"
    title = "LSF"
    submit = ("bsub",)
    query = ("bjobs", "-noheader", "-o", "stat exit_reason")
    cancel = ("bkill",)
    by_input = True
    number = r"[0-9]+"
    printed = rf"Job <({number})> is submitted"
    job_id = "${LSB_JOBID:-}"
    variables = "LSB_"
    node_file = "LSB_DJOB_HOSTFILE"
    lost = """timeout 20 bhosts -w "${node[@]}" | awk '/unreach|unavail/ { print $1 }'"""
    environment = MappingProxyType(
        {"I_MPI_HYDRA_BOOTSTRAP": "lsf", "OMPI_MCA_plm_rsh_agent": "blaunch", "PRTE_MCA_plm_ssh_agent": "blaunch"}
    )
    lacks = ("tasks_per_socket", "contiguous", "memory")

    def directives(self, job: Job, name: str, log: str) -> list[str]:
        """Slots are asked for, so many on a node; time is in hours and minutes."""
        minutes = -(-round(job.time_s) // 60)
        options = schedulers.options(
            ("-J ", name),
            ("-o ", log),
            ("-r", True),
            ("-n ", job.nodes * job.tasks_per_node),
            ("-R ", f'"span[ptile={job.tasks_per_node}]"'),
            ("-W ", minutes and f"{minutes // 60}:{minutes % 60:02}"),
            ("-q ", job.partition),
            ("-P ", job.account),
            ("-m ", job.nodelist and f'"{" ".join(schedulers.list_hosts(job))}"'),
            ("-x", job.exclusive),
        )
        return [f"#BSUB {option}" for option in [*options, *job.options]]

    def read_job(self, environment: Mapping[str, str]) -> schedulers.AllocatedJob | None:
        """Short lists are in a variable, too."""
        listed = read_text(Path(environment.get("LSB_DJOB_HOSTFILE", os.devnull))) or environment.get("LSB_HOSTS", "")
        number = environment.get("LSB_JOBID", "")
        return schedulers.AllocatedJob(number, listed.split()) if number and listed.split() else None

    def state(self, exit_code: int, text: str) -> schedulers.JobState | None:
        """A dash stands for no reason."""
        if exit_code == 0 and text.split():
            word, *reason = text.split()
            sentence = " ".join(reason).strip("- ")
            phase, ending = schedulers.match_phase(PHASES, word), schedulers.match_ending(ENDINGS, sentence)
            return schedulers.JobState(phase, f"{word} ({sentence})" if sentence else word, ending)
        if "is not found" in text:
            return schedulers.JobState("ended", "no longer known to LSF")
        return None

    def draining(self, node: str, reason: str) -> list[str]:
        """Close it, with a comment."""
        return ["badmin", "hclose", "-C", reason, node]
