"""Schedulers: one file each, a class `Scheduler` that derives from the contract below.

A scheduler knows how a job script asks for nodes and learns which it got, how it is submitted and asked after. Nothing
is run here.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from rankbench import units
from rankbench.launch import schedulers
from rankbench.model import RankbenchError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankbench.model import Job

Phase = Literal["queued", "running", "ended"]


class JobState(NamedTuple):
    """Where a job stands."""

    phase: Phase
    reason: str
    """The scheduler's own word for it, and why."""


class Scheduler(Protocol):
    """What the rest of rankbench asks of a scheduler."""

    name: str
    title: str
    submit: tuple[str, ...]
    """The command that takes the path of a script, or the script itself on standard input, and prints a number."""
    by_input: bool = False
    """Whether the script is handed over on standard input."""
    number: str
    """Pattern of a job's number. It never begins with a dash: commands would take the number for an option."""
    printed: str
    """Pattern of what a submission prints; the group is the job's number."""
    job_id: str
    """Bash for the job's number, within the job."""
    end_ranks: str = ":"
    """Bash that ends, within the job, what the end of a launcher leaves on other nodes."""
    answers: str
    """Bash that ends well unless the node `$1` is known not to answer, also while the job is being ended."""
    ready: str = ":"
    """Bash that ends well unless the job's nodes are known to take no ranks yet."""
    environment: Mapping[str, str] = {}
    """What launchers need set to start their parts on other nodes in the scheduler's way."""
    refusals: Mapping[str, str] = {}
    """What it says of a script that it does not take, and what to do then."""
    lacks: tuple[str, ...] = ()
    """Fields of `Job` that this scheduler has no option for."""

    def directives(self, job: Job, name: str, log: str) -> list[str]:
        """Return the lines at the head of a script that ask for nodes; `log` takes what the script prints."""
        ...

    def nodes(self, job: Job) -> str:
        """Return bash that makes an array `node` of the names of the job's nodes, each once."""
        ...

    def question(self, number: str) -> list[str]:
        """Return the command that shows where a job stands."""
        ...

    def state(self, exit_code: int, text: str) -> JobState | None:
        """Return where the job stands by what that command printed; nothing where the scheduler does not answer."""
        ...

    def cancellation(self, number: str) -> list[str]:
        """Return the command that ends a job."""
        ...


@functools.cache
def find_schedulers() -> dict[str, Scheduler]:
    """Return every scheduler by name."""
    modules = units.modules(schedulers).values()
    instances: list[Scheduler] = [module.Scheduler() for module in modules]
    return {scheduler.name: scheduler for scheduler in sorted(instances, key=lambda scheduler: scheduler.name)}


def find_scheduler(job: Job) -> Scheduler:
    """Return the scheduler of a job, if it can do what the job asks of it."""
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
            f"job.{lacking[0]}: {scheduler.title} has no option for it; leave it out, or give what your site has in "
            "job.options"
        )
    return scheduler


def clock_time(seconds: float) -> str:
    """Return hours, minutes and seconds, as job scripts have them: `1:30:00`."""
    total_s = max(60, round(seconds))
    return f"{total_s // 3600}:{total_s // 60 % 60:02}:{total_s % 60:02}"


def job_name(name: str) -> str:
    """Return the name of a job as every scheduler takes it: no blank in it, a letter first."""
    called = re.sub(r"[^\w.+-]", "_", name)
    return called if called[:1].isalpha() else f"r{called}"


def options(*pairs: tuple[str, object]) -> list[str]:
    """Return the options that have a value, `--nodes=` and 4 as `--nodes=4`; one that is true has only its name.

    A value with blanks is put in quotes, as all schedulers read them, unless it is so already.
    """
    return [option if value is True else f"{option}{quote_value(str(value))}" for option, value in pairs if value]


def quote_value(value: str) -> str:
    """Return a value, in quotes where it has blanks. Raises RankbenchError where it has quotes of its own as well."""
    if " " not in value or value[0] == value[-1] in "\"'":
        return value
    if '"' in value:
        raise RankbenchError(f"{value}: no scheduler takes blanks together with quotes; use another name or folder")
    return f'"{value}"'


def match_phase(patterns: Sequence[tuple[str, Phase]], word: str) -> Phase:
    """Return the phase of the first pattern that a state's name fits."""
    return next(phase for pattern, phase in patterns if re.fullmatch(pattern, word))
