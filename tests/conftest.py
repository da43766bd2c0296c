"""Its presence lets every test import `fakes`; and what holds for all: no example has a time limit, no store a disk.

What tests need that the machine lacks is reported once, in the end.
"""

from __future__ import annotations

import functools
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Iterator

# Examples may take as long as the machine likes: one that was held up for a moment is no failure. They never change.
UNHURRIED = settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("some", UNHURRIED, max_examples=30)
settings.register_profile("thorough", UNHURRIED, max_examples=100)
# A shell that puts a suite into the background lets it ignore Ctrl-C, and programs under test would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
# Programs under test are started by the hundred, and are not to be compiled anew by each, as they are for no user.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# Processes of tests stand beside each other, and their tables are small.
os.environ.setdefault("POLARS_MAX_THREADS", "1")
# pytest-xdist sets it in its processes, where tests that read what is printed expect none.
os.environ.pop("COLUMNS", None)

WANTED = "the machine lacks "


@functools.cache
def lacks(need: str) -> bool:
    """Report whether the machine lacks a program, or the right to make namespaces."""
    path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
    if need != "namespaces":
        return shutil.which(need, path=path) is None
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    command = [shutil.which("unshare", path=path) or "false", *user, "--net", "--mount", "--pid", "--fork", "true"]
    return subprocess.run(command, capture_output=True, check=False).returncode != 0


def pytest_configure(config: pytest.Config) -> None:
    """Try fewer examples where what is thorough is left out."""
    settings.load_profile("some" if config.option.markexpr else "thorough")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave out what cannot run here. That is seen late: the system's packages are installed beside the first tests."""
    needs = [need for mark in item.iter_markers("needs") for need in mark.args]
    if missing := ", ".join(filter(lacks, needs)):
        pytest.skip(WANTED + missing)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in one line how many tests could not run, and why."""
    reasons: Counter[str] = Counter()
    for report in terminalreporter.stats.get("skipped", []):
        _, wanted, missing = str(report.longrepr).partition(WANTED)
        reasons.update([missing.rstrip("')")] if wanted else [])
    if reasons:
        summary = "; ".join(f"{count} for want of {missing}" for missing, count in sorted(reasons.items()))
        terminalreporter.write_line(f"not run on this machine: {summary}")


@pytest.fixture(autouse=True, scope="session")
def _files_need_not_outlive_the_machine() -> Iterator[None]:
    """Stores are written by the thousand, and whether a disk has them after a power failure no test could see."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _handle: None)
        yield
