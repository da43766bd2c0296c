"""Sites for submitting campaigns: a folder with a plan, two stand-in libraries and a stand-in scheduler."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from fakes import library, scheduler
from rankbench import store
from rankbench.store import Store

MAIN = "from rankbench.cli import job_status, main; job_status.POLL_S = (0.1, 0.3); main()"
"""Queries jobs more often than a real scheduler should be queried."""
PREFIXES = ["--prefix", "9.1", "--prefix", "9.2", "--seed", "5"]


class Ending(NamedTuple):
    """The exit code and output of a command."""

    exit_code: int
    printed: str


class Site(NamedTuple):
    """A folder with a plan, two libraries and a scheduler."""

    place: Path
    kind: str
    environment: dict[str, str]

    def start(self, command: str, *options: str) -> subprocess.Popen[str]:
        """Start a command of rankbench."""
        return subprocess.Popen(
            [sys.executable, "-c", MAIN, command, *options],
            cwd=self.place,
            env=os.environ | {"RANKBENCH_HOME": str(self.place / "home"), "COLUMNS": "1000"} | self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )

    def run(self, command: str, *options: str) -> Ending:
        """Run a command of rankbench to its end."""
        process = self.start(command, *options)
        text, _ = process.communicate()
        return Ending(process.returncode, text)

    def submit(self, *options: str) -> Ending:
        """Submit the plan."""
        hosts = ["--hosts", ",".join(scheduler.NODES)] if self.kind == "ssh" else []
        return self.run("submit", "plan.toml", "--scheduler", self.kind, *PREFIXES, *hosts, *options)

    @property
    def campaign(self) -> Path:
        """Return the folder of the campaign."""
        return self.place / "results/plan"

    def open_results(self) -> Store:
        """Return the results."""
        return store.open(self.campaign)

    def wait_for(self, pattern: str, count: int = 1, content: str = "") -> None:
        """Wait until the job has written so many files of a pattern, with this content."""
        while sum(content in path.read_text() for path in (self.campaign / "job").glob(pattern)) < count:
            time.sleep(0.01)

    def wait_for_end(self) -> str:
        """Wait until the job has ended; return the last output of `status`."""
        while scheduler.is_running(self.kind, self.place / "scheduler", "101"):  # Calling rankbench takes a second.
            time.sleep(0.01)
        while True:
            text = self.run("status", "results/plan").printed
            if f"job {scheduler.NUMBERS.get(self.kind, scheduler.NUMBER)} of" not in text:
                return text
            time.sleep(0.05)


def make_site(place: Path, kind: str, plan: str, **behaviour: object) -> Site:
    """Make a site whose second library is slower by half, or has the given behaviour."""
    (place / "plan.toml").write_text(plan)
    library.make(place / "9.1", "9.1")
    library.make(place / "9.2", "9.2", factor=1.5, **behaviour)
    return Site(place, kind, scheduler.install(kind, place / "scheduler"))


def list_rows(results: Store) -> list[tuple[object, ...]]:
    """Return the result of each case of each candidate in each block, sorted."""
    table = results.cases().select("block", "candidate", "case", "status", "reason").rows()
    return sorted(((*row[:-1], re.sub(r"code -?\d+", "code N", row[-1])) for row in table), key=str)
