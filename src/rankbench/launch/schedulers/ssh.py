"""No scheduler: the script runs here in the background, and launchers reach the plan's hosts by their remote shell."""

from __future__ import annotations

import shlex

from rankbench.launch import schedulers
from rankbench.model import Job

DETACHED = 'script=$0; setsid bash "$script" </dev/null >>"${script%/*}/output.log" 2>&1 & echo $!'
ALIVE = 'grep -q job.sh "/proc/$0/cmdline" 2>/dev/null'
"""Numbers of processes are used again, and one that has ended may keep its number, but not its command line."""


class Scheduler(schedulers.Scheduler):
    """A process of one's own, whose number is the job's."""

    name = "ssh"
    title = "ssh"
    submit = ("bash", "-c", DETACHED)
    query = ("bash", "-c", ALIVE)
    cancel = ("kill", "-TERM")
    number = r"[1-9][0-9]*"
    printed = rf"(?m)^({number})$"
    job_id = "$$"
    answers = 'timeout 10 "$remote_shell" "$1" true'
    lacks = ("partition", "account", "tasks_per_socket", "contiguous", "memory", "options")

    def directives(self, job: Job, name: str, log: str) -> list[str]:  # noqa: ARG002 - nobody reads any
        """Nobody is asked."""
        return []

    def nodes(self, job: Job) -> str:
        """The hosts are those that the plan names."""
        return f"node=({' '.join(map(shlex.quote, schedulers.list_hosts(job)))})"

    def state(self, exit_code: int, text: str) -> schedulers.JobState | None:  # noqa: ARG002 - the code shows it
        """The process is there or not."""
        return schedulers.JobState("ended", "ended") if exit_code else schedulers.JobState("running", "running")
