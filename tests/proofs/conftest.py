"""A proof has one of three verdicts, which are listed at the end: holds, does not hold, cannot be decided here.

What proofs print, such as tables, precedes the list.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest
from mpi.conftest import WHEELS, home, reach
from mpi.test_core import core

from proofs.judging import UndecidedError

__all__ = ["WHEELS", "core", "home", "reach"]

UNDECIDED = "cannot be decided here"
VERDICTS = {"passed": "holds", "failed": "does not hold", "skipped": UNDECIDED}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(call: pytest.CallInfo[None]) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A proof that cannot decide has neither passed nor failed."""
    report = yield
    if call.excinfo and isinstance(call.excinfo.value, UndecidedError):
        report.outcome, report.longrepr = "skipped", (report.location[0], 0, str(call.excinfo.value))
    if report.when == "call":
        report.user_properties.append(("verdict", VERDICTS[report.outcome]))
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what the proofs measured, then the list of claims, each with its verdict and its basis."""
    reports = [
        entry for stat in terminalreporter.stats.values() for entry in stat if isinstance(entry, pytest.TestReport)
    ]
    for report in reports:
        if report.when == "call" and report.capstdout.count("\n") > 1:
            terminalreporter.section(report.location[2].removeprefix("test_"))
            terminalreporter.write_line(report.capstdout.rstrip())
    terminalreporter.section("claims")
    for report in reports:
        verdict = dict(report.user_properties).get("verdict")
        if verdict:
            claim = Path(report.location[0]).stem.removeprefix("test_").replace("_", "-")
            text = report.longrepr[2] if isinstance(report.longrepr, tuple) else find_last_line(report)
            terminalreporter.write_line(f"{verdict:<20} {claim}: {report.location[2].removeprefix('test_')}: {text}")


def find_last_line(report: pytest.TestReport) -> str:
    """Return the last printed line of a proof, or the reason of its failure."""
    crash = getattr(report.longrepr, "reprcrash", None)
    lines = (crash.message if crash else report.capstdout).strip().splitlines()
    return str(lines[0 if crash else -1]) if lines else ""
