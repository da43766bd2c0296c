"""The self-tests `clock` and `verify` with real libraries: their promises hold, and errors are found."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from mpi.conftest import WHEELS, run_rankbench

from proofs.judging import check_repeatedly
from rankbench import libraries
from rankbench.model import Library

METHODS = {"linear", "ring", "tree"}


@pytest.fixture(scope="module", params=WHEELS)
def library(request: pytest.FixtureRequest, reach: list[Library]) -> Library:
    return libraries.choose(request.param, [library for library in reach if library.source == "pypi"])


def list_wrong_times(printed: str) -> list[str]:
    """Return the lines on wrong times, but not on rounds discarded because of a busy machine."""
    failures = [line for line in printed.splitlines() if line.startswith(("FAILED", "cannot be verified here"))]
    return [line for line in failures if ": wrong-data: " not in line and "discarded" not in line]


def test_known_times_are_measured_correctly_by_every_clock_and_start(library: Library, home: Path) -> None:
    """Including the aim that ranks which wait up to n microseconds take n, within 1% or 200 ns, on all cores."""

    def verify_library() -> None:
        process = run_rankbench("verify", library.name, home=home)
        for source in ("tsc", "clock_gettime", "MPI_Wtime", "gettimeofday"):
            assert re.search(rf"^{source} .*(window|cannot be used)", process.stdout, re.MULTILINE), source
        wrong = list_wrong_times(process.stdout)
        assert not wrong, "; ".join(wrong)

    check_repeatedly(verify_library)


def test_synchronisation_is_as_accurate_as_stated(library: Library, home: Path, tmp_path: Path) -> None:
    path = tmp_path / "clock.json"
    arguments = ("--runs", "5", "--wait", "0.2", "--all-sources", "--format", "json", "--output", str(path))
    process = run_rankbench("verify", library.name, "--clocks", *arguments, home=home)
    assert (process.returncode, process.stderr) == (0, ""), process.stdout
    (report,) = msgspec.json.decode(path.read_bytes())
    usable = {entry["name"] for entry in report["sources"] if entry["usable"]}
    assert {"clock_gettime", "MPI_Wtime"} <= usable
    assert {(entry["source"], entry["synchronisation"]) for entry in report["accuracies"]} == {
        (source, method) for source in usable for method in METHODS
    }
    known: list[dict[str, Any]] = [entry for entry in report["accuracies"] if entry["error_ns"]]
    assert {entry["synchronisation"] for entry in known if entry["source"] == "clock_gettime"} == METHODS
    assert [entry for entry in known if entry["outside"]] == []
    assert all(entry["bound_ns"]["p50"] > 0 for entry in report["accuracies"])
