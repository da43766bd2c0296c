"""Schedulers: one file each, a class `Scheduler` that derives from the contract below.

A scheduler knows how a job script requests nodes and finds out which it got, and how jobs are submitted and queried.
It runs no commands itself.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, Protocol

from rankbench import units
from rankbench.launch import schedulers
from rankbench.model import Job, RankbenchError

Phase = Literal["queued", "running", "ended"]


Ending = Literal["", "cancelled", "time", "node", "memory", "preempted"]


class JobState(NamedTuple):
    """The state of a job."""

    phase: Phase
    reason: str
    """The scheduler's own word for the state, and its reason."""
    ending: Ending = ""
    """What ended the job, where this word says so; empty: it does not, or the job has not ended."""


class AllocatedJob(NamedTuple):
    """A job whose variables are set in a shell."""

    number: str
    nodes: list[str]


class Scheduler(Protocol):
    """The contract of a scheduler."""

    name: str
    title: str
    submit: tuple[str, ...]
    """The command that submits a script, given by path or on standard input, and prints the job's number."""
    by_input: bool = False
    """Whether the script is given on standard input."""
    query: tuple[str, ...]
    """The command that queries a job, whose number follows."""
    cancel: tuple[str, ...]
    """The command that ends a job, whose number follows."""
    number: str
    """Pattern of a job's number. It never begins with a dash: commands would take the number for an option."""
    printed: str
    """Pattern of the output of a submission; its group is the job's number."""
    job_id: str
    """Bash expression for the job's number, within the job."""
    end_ranks: str = ":"
    """Bash that ends, within the job, processes that a launcher left on other nodes."""
    lost: str = ":"
    """Bash that asks once for all nodes, and prints names of nodes that are known to be lost, also while the job is
    being ended.
    """
    answers: str = ":"
    """Bash that succeeds unless node `$1` is known not to answer; works also while the job is being ended."""
    ready: str = ":"
    """Bash that succeeds unless the job's nodes are known not to start ranks yet."""
    variables: str = ""
    """How the names of the variables begin that a job has in its environment; empty: nothing reads them here."""
    environment: Mapping[str, str] = {}
    """Variables with which launchers start their processes on other nodes by the scheduler."""
    remote_start: str = ""
    """Bash that runs the shell command `$*` on node `$host` of the job; empty: launchers need no help for that."""
    node_file: str = ""
    """The variable with the path of a list of the job's nodes: the first word of each line is one, perhaps again."""
    on_node: str = '"$remote_shell" "$1" "$2"'
    """Bash that runs the shell command `$2` on node `$1` of the job, where `remote_start` is empty."""
    job_variables: tuple[str, ...] = ()
    """Variables that the scheduler sets in each job and that ranks must not see."""
    time_signals: tuple[str, ...] = ()
    """Signals that the job's script receives only because its time is over."""
    messages: tuple[tuple[str, Ending], ...] = ()
    """Patterns of what it writes into a job's output when it ends the job, and why that was."""
    refusals: Mapping[str, str] = {}
    """Messages of the scheduler about scripts that it refuses, and what to do."""
    lacks: tuple[str, ...] = ()
    """Fields of `Job` without an option of this scheduler."""

    def directives(self, job: Job, name: str, log: str) -> list[str]:
        """Return the lines at the head of a script that request nodes; `log` is the file for its output."""
        ...

    def nodes(self, job: Job) -> str:  # noqa: ARG002 - used by those that override it
        """Return bash that sets the array `node` to the names of the job's nodes, each once."""
        return f"""mapfile -t node < <(awk '!seen[$1]++ {{ print $1 }}' "${self.node_file}")"""

    def read_job(self, environment: Mapping[str, str]) -> AllocatedJob | None:  # noqa: ARG002 - by those that override it
        """Return the job whose variables these are; None: they are of no job, or its nodes are not known."""
        return None

    def state(self, exit_code: int, text: str) -> JobState | None:
        """Return the job's state from the output of `query`; None: the scheduler does not answer."""
        ...

    def draining(self, node: str, reason: str) -> list[str]:  # noqa: ARG002 - used by those that override it
        """Return the command by which an administrator takes a node out of use after its jobs; empty: there is none."""
        return []


@functools.cache
def find_schedulers() -> dict[str, Scheduler]:
    """Return every scheduler by name."""
    modules = units.modules(schedulers).values()
    instances: list[Scheduler] = [module.Scheduler() for module in modules]
    return {scheduler.name: scheduler for scheduler in sorted(instances, key=lambda scheduler: scheduler.name)}


def find_scheduler(job: Job) -> Scheduler:
    """Return the scheduler of a job. Raises RankbenchError if it lacks an option of the job."""
    if not job.scheduler:
        raise RankbenchError(
            f"no scheduler is named, by --scheduler or in [job]; known are {', '.join(find_schedulers())}"
        )
    if job.scheduler not in find_schedulers():
        raise RankbenchError(
            f'no scheduler "{job.scheduler}"{units.suggestion(job.scheduler, list(find_schedulers()))}'
        )
    scheduler = find_schedulers()[job.scheduler]
    lacking = [field for field in scheduler.lacks if getattr(job, field)]
    if lacking:
        raise RankbenchError(
            f"job.{lacking[0]}: not translated for {scheduler.title}; leave it out, or put your site's option into "
            "job.options"
        )
    return scheduler


def list_hosts(job: Job) -> list[str]:
    """Return the nodes that a job names: `n1,n2` and `n[1-2]` are the same ones, with the zeros of `n[01-02]`."""
    names = (expand_name(part) for part in re.findall(r"(?:[^,\[]|\[[^\]]*\])+", job.nodelist))
    return [name.strip() for expanded in names for name in expanded if name.strip()]


def expand_name(name: str) -> list[str]:
    """Return the names that the ranges in brackets of one stand for."""
    match = re.fullmatch(r"(.*?)\[([\d,-]+)\](.*)", name)
    if not match:
        return [name]
    ranges = [part.partition("-") for part in match[2].split(",")]
    numbers = [
        f"{number:0{len(low)}}" for low, _, high in ranges if low for number in range(int(low), int(high or low) + 1)
    ]
    return [match[1] + number + rest for number in numbers for rest in expand_name(match[3])]


def clock_time(seconds: float) -> str:
    """Return a time in the notation of job scripts: `1:30:00`."""
    total_s = max(60, round(seconds))
    return f"{total_s // 3600}:{total_s // 60 % 60:02}:{total_s % 60:02}"


def job_name(name: str) -> str:
    """Return a job name that every scheduler accepts: without blanks, beginning with a letter."""
    called = re.sub(r"[^\w.+-]", "_", name)
    return called if called[:1].isalpha() else f"r{called}"


def options(*pairs: tuple[str, object]) -> list[str]:
    """Return the options that have a value: `--nodes=` and 4 give `--nodes=4`, True gives the name alone.

    Values with blanks are quoted, unless they are already.
    """
    return [option if value is True else f"{option}{quote_value(str(value))}" for option, value in pairs if value]


def quote_value(value: str) -> str:
    """Return a value, quoted if it has blanks. Raises RankbenchError if it contains quotes, too."""
    if " " not in value or value[0] == value[-1] in "\"'":
        return value
    if '"' in value:
        raise RankbenchError(f"{value}: no scheduler takes blanks together with quotes; use another name or folder")
    return f'"{value}"'


def match_phase(patterns: Sequence[tuple[str, Phase]], word: str) -> Phase:
    """Return the phase of the first pattern that a state's name fits."""
    return next(phase for pattern, phase in patterns if re.fullmatch(pattern, word))


def match_ending(patterns: Sequence[tuple[str, Ending]], word: str) -> Ending:
    """Return what ended a job, by the first pattern that its state's name fits; empty: none fits."""
    return next((ending for pattern, ending in patterns if re.fullmatch(pattern, word)), "")
