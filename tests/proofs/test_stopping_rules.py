"""Each start gives the requested number of samples, and a case ends by the rule that applies first."""

from __future__ import annotations

import statistics
from pathlib import Path

import fakes
import pytest
from mpi.test_core import Core

from proofs.judging import repeat


@pytest.mark.parametrize("start", [start.name for start in fakes.read_description().starts])
@repeat
def test_every_start_gives_the_requested_samples(core: Core, start: str, tmp_path: Path) -> None:
    """Only MPIPerf's rules have stages of a fixed length, so there may be a few more samples.

    Two processors with the time of only one give few rounds per second that begin at agreed times.
    """
    arguments = ["--op", "allreduce,pingpong", "--sizes", "8", "--start", start, "--samples", "33", "--limit", "100"]
    scheduled = next(entry.scheduled for entry in core.description.starts if entry.name == start)
    for record in core.measure(tmp_path, 2, *arguments):
        (series,) = record["series"]
        discarded = record["late"] + (record["overrun"] if start == "window-mpiperf" else 0)
        print(f"{start}, {record['operation']}: {record['valid']} valid of {record['taken']}, {discarded} discarded")
        assert 33 <= record["valid"] < (41 if start == "window-mpiperf" else 34)
        assert record["stopped"] == "samples"
        assert record["taken"] == record["valid"] + discarded == len(series["time_ns"])
        assert (record["late"] == 0) or scheduled
        compared = scheduled or record["operation"] == "allreduce"
        assert len(series["skew_ns"]) == (record["taken"] if compared else 0)
        assert all(skew_ns >= 0 for skew_ns in series["skew_ns"])


@pytest.mark.parametrize(
    ("rule", "stopped"),
    [
        (["--samples", "40"], "samples"),
        (["--samples", "100000", "--tries", "70"], "tries"),
        (["--samples", "100000", "--rse", "0.5", "--least", "20"], "rse"),
        (["--samples", "100000", "--interval", "0.5", "--least", "20"], "interval"),
        (["--samples", "100000000", "--limit", "0.5"], "time"),
    ],
)
@repeat
def test_a_case_ends_by_the_rule_that_applies_first(core: Core, rule: list[str], stopped: str, tmp_path: Path) -> None:
    limit = [] if "--limit" in rule else ["--limit", "60"]
    (record,) = core.measure(tmp_path, 2, "--op", "wait-up", "--start", "none", *rule, *limit)
    print(f"{' '.join(rule)}: {record['valid']} valid of {record['taken']} taken, ended by {record['stopped']}")
    assert record["stopped"] == stopped
    assert record["valid"] >= 20
    assert record["taken"] == 70 or stopped != "tries"
    assert record["valid"] == 40 or stopped != "samples"


@repeat
def test_the_relative_standard_error_that_ends_a_case_is_that_of_its_samples(core: Core, tmp_path: Path) -> None:
    arguments = ["--start", "window-mpiperf", "--samples", "1000", "--rse", "0.01", "--limit", "10"]
    (record,) = core.measure(tmp_path, 2, "--op", "barrier", *arguments)
    (series,) = record["series"]
    bad = {*series["late"], *series["overrun"]}
    valid = [time_ns for index, time_ns in enumerate(series["time_ns"]) if index not in bad]
    error = statistics.stdev(valid) / len(valid) ** 0.5 / statistics.fmean(valid)
    print(f"relative standard error {error:.4f} after {len(valid)} samples, ended by {record['stopped']}")
    assert len(valid) == record["valid"] >= 10
    assert (error <= 0.01) == (record["stopped"] == "rse")


@repeat
def test_differing_clocks_are_synchronised(core: Core, tmp_path: Path) -> None:
    """MPI_Wtime has a different origin on each rank of some libraries; the windows must agree nevertheless."""
    clock = ["--clock", "MPI_Wtime", "--samples", "30", "--limit", "100"]
    (record,) = core.measure(tmp_path, 2, "--op", "allreduce", "--sizes", "8", *clock)
    print(f"{record['valid']} valid of {record['taken']}, offsets known within {record['sync_bound_ns']} ns")
    assert record["valid"] >= 30
    assert 0 < record["sync_bound_ns"] < 1e6
    (series,) = record["series"]
    assert max(series["bound_ns"]) <= record["sync_bound_ns"] <= max(series["bound_ns"]) + 1
