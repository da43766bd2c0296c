"""Jobs of a scheduler: a script is submitted, asked after and cancelled by the scheduler's own commands."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING, NamedTuple

from rankbench.model import RankbenchError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rankbench.launch.schedulers import JobState, Scheduler

PATIENCE_S = 60.0


class Answer(NamedTuple):
    """How a scheduler's command ended and what it printed."""

    exit_code: int
    said: str

    @property
    def first_line(self) -> str:
        """Return the first line that says something."""
        return next((line.strip() for line in self.said.splitlines() if line.strip()), "it said nothing")


def submit(scheduler: Scheduler, script: Path) -> str:
    """Submit a script; return the job's number."""
    command = scheduler.submit if scheduler.by_input else (*scheduler.submit, str(script))
    answer = ask(command, script if scheduler.by_input else None)
    number = re.search(scheduler.number, answer.said)
    if answer.exit_code or not number:
        advice = (way for said, way in scheduler.refusals.items() if said in answer.said)
        raise RankbenchError(
            f"{scheduler.title} did not take {script}: {answer.first_line}; "
            f"{next(advice, 'mend [job] in the plan, or give options')}"
        )
    return number[1]


def state(scheduler: Scheduler, number: str) -> JobState:
    """Return where a job stands. Raises RankbenchError where the scheduler does not answer."""
    answer = ask(scheduler.question(number))
    found = scheduler.state(answer.exit_code, answer.said)
    if not found:
        raise RankbenchError(f"{scheduler.title} does not tell where job {number} stands: {answer.first_line}")
    return found


def cancel(scheduler: Scheduler, number: str) -> None:
    """End a job."""
    answer = ask(scheduler.cancellation(number))
    if answer.exit_code:
        raise RankbenchError(f"{scheduler.title} does not end job {number}: {answer.first_line}")


def ask(command: Sequence[str], script: Path | None = None) -> Answer:
    """Run a scheduler's command; a script may be its standard input."""
    try:
        done = subprocess.run(
            command,
            input=script.read_text(encoding="utf-8") if script else "",
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            timeout=PATIENCE_S,
            check=False,
        )
    except OSError as error:
        raise RankbenchError(f"{command[0]}: cannot be run ({error.strerror}); is this a node that submits?") from None
    except subprocess.TimeoutExpired:
        raise RankbenchError(f"{command[0]}: gave no answer in {PATIENCE_S:g} s") from None
    return Answer(done.returncode, done.stdout)
