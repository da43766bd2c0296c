"""Fixtures of all unit tests, which must not depend on the machine."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from fakes.unwritten import UnwrittenStore

from rankbench import caching, store
from rankbench.campaign import pinning
from rankbench.launch import resources

EVALUATED = {"claims", "questions", "report", "statistics"}
"""Folders of tests that evaluate campaigns and do not read them from a folder, except for those marked `written`."""
COMMANDS = {
    "compare",
    "compare_campaigns",
    "export",
    "gate",
    "history_command",
    "output_files",
    "report_command",
    "show",
}
ON_ONE_CPU = EVALUATED | {"across", "evaluation", "exports", "plots"} | {f"test_{command}" for command in COMMANDS}
"""Folders and modules of tests that launch nothing: campaigns depend on the number of CPUs."""


@pytest.fixture(autouse=True)
def _each_cpu_is_a_core(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """CPUs 0 and 1, which the stand-in core reports, are threads of one core on many machines."""
    monkeypatch.setattr(pinning, "CPU_FOLDER", tmp_path_factory.getbasetemp() / "no-cpus")


@pytest.fixture(autouse=True)
def _nothing_was_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """What ended programs left in the machine's shared memory is in no printed text."""
    monkeypatch.setattr(resources, "SEGMENTS", ())


@pytest.fixture(autouse=True)
def _evaluated_campaigns_stay_in_memory(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """To write them takes longer than to evaluate them."""
    if request.path.parent.name in EVALUATED and not request.node.get_closest_marker("written"):
        monkeypatch.setattr(store, "create", UnwrittenStore)


@pytest.fixture(autouse=True, scope="module")
def _allowed_cpus(request: pytest.FixtureRequest) -> Iterator[set[int]]:
    """Leave one CPU to modules that launch nothing; none is named for the others.

    Polars has its own thread for each query: to wake it on another CPU takes longer than most queries of tests.
    """
    if ON_ONE_CPU.isdisjoint({request.path.parent.name, request.path.stem}):
        yield set()
        return
    allowed = os.sched_getaffinity(0)
    move_threads({QUIETEST.choose(allowed)})
    yield allowed
    move_threads(allowed)


@pytest.fixture(autouse=True)
def _stays_on_one_cpu(_allowed_cpus: set[int]) -> None:
    """Move to the quietest CPU, in modules that have one only."""
    if _allowed_cpus:
        move_threads({QUIETEST.choose(_allowed_cpus)})


class QuietestCpu:
    """Chooses a CPU for each test: the one before, or another one that was idle longer since."""

    def __init__(self) -> None:
        self._cpu = -1
        self._idle: dict[int, int] = {}

    def choose(self, allowed: set[int]) -> int:
        """Return a CPU."""
        lines = (line.split() for line in Path("/proc/stat").read_text(encoding="ascii").splitlines())
        idle = {int(words[0][3:]): int(words[4]) for words in lines if words[0][:3] == "cpu" and words[0] != "cpu"}
        since = {cpu: idle.get(cpu, 0) - self._idle.get(cpu, 0) for cpu in allowed}
        self._idle = idle
        # By chance: processes that always moved would all go to the same CPU.
        if self._cpu not in allowed or secrets.randbits(1):
            self._cpu = max(sorted(allowed), key=lambda cpu: (since[cpu], cpu == self._cpu))
        return self._cpu


QUIETEST = QuietestCpu()


def move_threads(cpus: set[int]) -> None:
    """Set the CPUs of all threads of this process."""
    for thread in Path("/proc/self/task").iterdir():
        with contextlib.suppress(ProcessLookupError):  # It ended meanwhile.
            os.sched_setaffinity(int(thread.name), cpus)


@pytest.fixture(autouse=True)
def _no_caching(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that calls the program's entry point must not leave cached results to later tests."""
    monkeypatch.setattr(caching, "_folders", [])
