"""Flux: a batch script runs within an instance of its own, whose nodes are the job's."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from types import MappingProxyType

from rankbench.launch import schedulers
from rankbench.model import Job

PHASES: tuple[tuple[str, schedulers.Phase], ...] = (
    ("DEPEND|PRIORITY|SCHED", "queued"),
    ("RUN|CLEANUP", "running"),
    (".*", "ended"),
)
ENDINGS: tuple[tuple[str, schedulers.Ending], ...] = (("CANCELED", "cancelled"), ("TIMEOUT", "time"))
PATIENCE_S = 20
"""How long an instance may take to answer."""
WARNING_S = 60
"""How long before its end a job is warned, unless its time is too short for that."""


class Scheduler(schedulers.Scheduler):
    """Jobs by `flux batch`."""

    name = "flux"
    title = "Flux"
    variables = "FLUX_"
    submit = ("flux", "batch")
    query = ("flux", "jobs", "--no-header", "--format={state} {result}")
    cancel = ("flux", "cancel")
    number = r"ƒ?[0-9A-Za-z][0-9A-Za-z.]*"
    printed = rf"(?m)^({number})$"
    job_id = "${FLUX_JOB_ID:-$(flux getattr jobid 2>/dev/null)}"
    lost = """local down
    down=$(timeout 20 flux resource status --states=offline --no-header --format={nodelist})
    [ -z "$down" ] || flux hostlist --expand --delimiter=$'\\n' "$down\""""
    environment = MappingProxyType({"I_MPI_HYDRA_BOOTSTRAP": "ssh"})
    remote_start = 'exec flux exec --noinput --rank="$(flux overlay lookup "$host")" /bin/sh -c "$*"'
    time_signals = ("USR1", "ALRM")
    lacks = ("tasks_per_socket", "contiguous", "memory")

    def directives(self, job: Job, name: str, log: str) -> list[str]:
        """Slots are tasks; named nodes are a requirement. Without a signal before it, the end of the time kills."""
        options = schedulers.options(
            ("--job-name=", name),
            ("--output=", log),
            ("--nodes=", job.nodes),
            ("--nslots=", job.nodes * job.tasks_per_node),
            ("--exclusive", job.exclusive),
            ("--time-limit=", job.time_s and f"{max(1, round(job.time_s))}s"),
            (f"--signal=USR1@{WARNING_S}s", job.time_s > 2 * WARNING_S),
            ("--queue=", job.partition),
            ("--bank=", job.account),
            ("--requires=host:", job.nodelist),
        )
        return [f"#FLUX: {option}" for option in [*options, *job.options]]

    def nodes(self, job: Job) -> str:  # noqa: ARG002 - the job's instance shows it
        """The instance that the script runs in knows its hosts."""
        return "mapfile -t node < <(flux hostlist --expand --delimiter=$'\\n' local)"

    def read_job(self, environment: Mapping[str, str]) -> schedulers.AllocatedJob | None:
        """Only the instance of the job knows its nodes."""
        number = environment.get("FLUX_ENCLOSING_ID", "")
        if not number:
            return None
        command = ["flux", "hostlist", "--expand", "local"]
        try:
            listed = subprocess.run(command, env=dict(environment), capture_output=True, text=True, timeout=PATIENCE_S)
        except (OSError, subprocess.TimeoutExpired):
            return None
        nodes = listed.stdout.split()
        return schedulers.AllocatedJob(number, nodes) if listed.returncode == 0 and nodes else None

    def state(self, exit_code: int, text: str) -> schedulers.JobState | None:
        """Of an ended job the result shows more: COMPLETED, FAILED, CANCELED, TIMEOUT."""
        if exit_code == 0 and text.split():
            word, *result = text.split()
            phase = schedulers.match_phase(PHASES, word)
            word = result[0] if result and phase == "ended" else word
            return schedulers.JobState(phase, word, schedulers.match_ending(ENDINGS, word))
        if "unknown" in text or "invalid" in text.lower():
            return schedulers.JobState("ended", "no longer known to Flux")
        return None

    def draining(self, node: str, reason: str) -> list[str]:
        """Drain it by its name."""
        return ["flux", "resource", "drain", node, reason]
