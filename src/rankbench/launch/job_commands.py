"""Submits, queries and cancels jobs by the scheduler's own commands."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import msgspec

from rankbench import files, processes
from rankbench.launch import schedulers
from rankbench.launch.schedulers import JobState, Scheduler
from rankbench.model import RankbenchError, Record

PATIENCE_S = 60.0
SUBMITTED = "submitted.jsonl"
BEGUN, STOPPED = "begun", "stopped"
"""Written by a job's script when it begins, with its number, and when it ends early."""


class Submitted(Record, frozen=True):
    """A submitted job: a line of `submitted.jsonl`."""

    scheduler: str
    number: str
    at: str


class Answer(NamedTuple):
    """Exit code and output of a scheduler's command."""

    exit_code: int
    output: str

    @property
    def first_line(self) -> str:
        """Return the first line that is not empty."""
        return next((line.strip() for line in self.output.splitlines() if line.strip()), "it said nothing")


def submit(scheduler: Scheduler, script: Path) -> str:
    """Submit a script; return the job's number. Raises RankbenchError if the scheduler refuses it."""
    command = scheduler.submit if scheduler.by_input else (*scheduler.submit, str(script))
    answer = run_command(command, script if scheduler.by_input else None)
    number = re.search(scheduler.printed, answer.output)
    if answer.exit_code or not number:
        advice = (way for text, way in scheduler.refusals.items() if text in answer.output)
        raise RankbenchError(
            f"{scheduler.title} did not take {script}: {answer.first_line}; "
            f"{next(advice, 'correct [job] in the plan, or give options')}"
        )
    return number[1]


def query_state(scheduler: Scheduler, number: str) -> JobState:
    """Return the state of a job. Raises RankbenchError if the scheduler does not answer."""
    answer = run_command([*scheduler.query, number])
    job_state = scheduler.state(answer.exit_code, answer.output)
    if not job_state:
        raise RankbenchError(f"{scheduler.title} does not report the state of job {number}: {answer.first_line}")
    return job_state


def cancel(scheduler: Scheduler, number: str) -> None:
    """End a job. Raises RankbenchError if the scheduler does not end it."""
    answer = run_command([*scheduler.cancel, number])
    if answer.exit_code:
        raise RankbenchError(f"{scheduler.title} does not end job {number}: {answer.first_line}")


def has_begun(folder: Path) -> bool:
    """Return whether the script of the last submitted job began: the last that did is none of an earlier job."""
    begun, submitted = folder / BEGUN, folder / SUBMITTED
    number = begun.read_text(encoding="utf-8", errors="replace").strip() if begun.exists() else ""
    lines = submitted.read_text(encoding="utf-8", errors="replace").splitlines() if submitted.exists() else []
    return bool(number) and (f'"{number}"' in "".join(lines[-1:]) or f'"{number}"' not in "".join(lines[:-1]))


def remember(folder: Path, scheduler: str, number: str) -> None:
    """Append a job to the list of submitted jobs in the campaign's folder."""
    line = Submitted(scheduler=scheduler, number=number, at=datetime.now(UTC).isoformat(timespec="seconds"))
    files.append(folder / SUBMITTED, msgspec.json.encode(line) + b"\n")


def read_last(folder: Path) -> Submitted | None:
    """Return the last submitted job. Raises RankbenchError if its line is damaged.

    The list may come from elsewhere with its campaign, and the number becomes an argument of commands.
    """
    path = folder / SUBMITTED
    try:
        lines = path.read_bytes().splitlines() if path.exists() else []
    except OSError as error:
        raise RankbenchError(f"{path}: cannot be read ({error.strerror})") from None
    return check_line(lines[-1], f"{path}:{len(lines)}") if lines else None


def check_line(line: bytes, where: str) -> Submitted:
    """Return the job of a line. Raises RankbenchError if it cannot exist; `where` is file and line number."""
    try:
        job = msgspec.json.decode(line, type=Submitted)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise RankbenchError(f"{where}: damaged ({error}); remove this line") from None
    scheduler = schedulers.find_schedulers().get(job.scheduler)
    if not scheduler:
        raise RankbenchError(
            f"{where}: no scheduler {job.scheduler!r}; known are {', '.join(schedulers.find_schedulers())}"
        )
    if not re.fullmatch(scheduler.number, job.number):
        raise RankbenchError(f"{where}: {job.number!r} is not a job number of {scheduler.title}; remove this line")
    return job


def run_command(command: Sequence[str], script: Path | None = None) -> Answer:
    """Run a scheduler's command; a script may be its standard input.

    Raises RankbenchError if it cannot be run or does not answer.
    """
    try:
        text = script.read_text(encoding="utf-8") if script else ""
        process = processes.run(command, text=text, limit_s=PATIENCE_S, joins_errors=True)
    except OSError as error:
        raise RankbenchError(f"{command[0]}: cannot be run ({error.strerror}); is this a submit node?") from None
    except subprocess.TimeoutExpired:
        raise RankbenchError(f"{command[0]}: did not answer within {PATIENCE_S:g} s") from None
    return Answer(process.returncode, process.stdout)
