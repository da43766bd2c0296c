"""Makes `fakes` importable in every test. No example has a time limit, and no store waits for the disk.

What tests need and the machine lacks is reported once, at the end.
"""

from __future__ import annotations

import functools
import os
import shutil
import signal
import subprocess
import sys
import zlib
from collections import Counter
from collections.abc import Generator, Iterator

import pytest
from hypothesis import HealthCheck, settings
from wording import WORDING

from rankbench import language

# Examples have no time limit: a short stall of the machine is no failure. They are the same in each run.
UNHURRIED = settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("some", UNHURRIED, max_examples=30)
settings.register_profile("thorough", UNHURRIED, max_examples=100)
# A shell that puts a suite into the background lets it ignore Ctrl-C, and programs under test would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
# A sentence with an empty field is a defect wherever a test meets it.
language.refuses_empty = True
# Tests start the program hundreds of times; as for users, each start reads compiled modules.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# Test processes run side by side, and their tables are small.
os.environ.setdefault("POLARS_MAX_THREADS", "1")
# pytest-xdist sets it in its processes, but tests of printed text expect no such setting.
os.environ.pop("COLUMNS", None)

LAUNCHING = ("tests/mpi", "tests/cluster")
"""Folders of tests that launch ranks."""
SKIP_REASON = "the machine lacks "


@functools.cache
def lacks(need: str) -> bool:
    """Report whether the machine lacks a program, or the right to make namespaces."""
    path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
    if need != "namespaces":
        return shutil.which(need, path=path) is None
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    command = [shutil.which("unshare", path=path) or "false", *user, "--net", "--mount", "--pid", "--fork", "true"]
    return subprocess.run(command, capture_output=True, check=False).returncode != 0


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that writes what texts are compared with."""
    parser.addoption("--renew-wording", action="store_true", help="write the entries in tests/golden/wording")


def pytest_configure(config: pytest.Config) -> None:
    """Try fewer examples unless thorough tests run."""
    settings.load_profile("some" if config.option.markexpr else "thorough")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave one variant of each test that launches ranks or is costly, as one library; the others are thorough.

    Which one depends on the name of the test, so that each library has its share of them.
    """
    WORDING.note_tests(items)
    variants: dict[str, list[pytest.Item]] = {}
    for item in items:
        if is_costly(item) and not item.get_closest_marker("thorough"):
            variants.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for same in variants.values():
        _, *others = sorted(same, key=lambda item: zlib.crc32(item.nodeid.encode()))
        for item in others:
            item.add_marker("thorough")


def is_costly(item: pytest.Item) -> bool:
    """Return whether `make test` runs only one variant of a test."""
    launches = item.nodeid.startswith(LAUNCHING) and not item.get_closest_marker("each_library")
    return launches or item.get_closest_marker("costly") is not None


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose needs the machine lacks. Checked late: system packages are installed beside the first tests."""
    needs = [need for mark in item.iter_markers("needs") for need in mark.args]
    if missing := ", ".join(filter(lacks, needs)):
        pytest.skip(SKIP_REASON + missing)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Compare a test's texts with its entry, and the whole entry if it passes."""
    WORDING.begin(item)
    yield
    WORDING.end()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print one line with the number of skipped tests and the reasons."""
    reasons: Counter[str] = Counter()
    for report in terminalreporter.stats.get("skipped", []):
        _, wanted, missing = str(report.longrepr).partition(SKIP_REASON)
        reasons.update([missing.rstrip("')")] if wanted else [])
    if reasons:
        summary = "; ".join(f"{count} for want of {missing}" for missing, count in sorted(reasons.items()))
        terminalreporter.write_line(f"not run on this machine: {summary}")


@pytest.fixture(autouse=True, scope="session")
def _no_fsync() -> Iterator[None]:
    """Skip fsync: stores are written thousands of times, and no test simulates a power failure."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _handle: None)
        yield


@pytest.fixture(autouse=True, scope="session")
def _name_the_temporary_folder(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Texts with paths below it are compared, whatever its place."""
    WORDING.base = str(tmp_path_factory.getbasetemp())
