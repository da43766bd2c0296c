"""Messages take as long as in a program when they are measured with the gaps between its calls."""

from __future__ import annotations

import statistics
from pathlib import Path

import pytest
from mpi.test_core import Core, list_valid
from mpi.test_record import compile_program
from mpi.test_record import run as record

from proofs.judging import check_median
from rankbench.model.program_records import encode
from rankbench.profiles.record import read

GAP_US = 25
LOOP = {"operation": "pingping", "form": "nonblocking", "bytes": 2048, "samples": 1000}


def test_the_time_in_a_program_is_that_of_calls_with_its_gaps(
    core: Core, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = str(compile_program(core.library, "gaps", tmp_path))
    ratios_of_loop = []

    def compare() -> float:
        """Return the time of a message in a program over that of the same case, without waiting."""
        run, _ = record(core.library, home, tmp_path, monkeypatch, program, str(GAP_US))
        (call,) = read(encode(run).decode(), "record.json").calls
        in_program_ns = (call.seconds - call.waiting_s) / call.calls * 1e9
        records = core.run_job(tmp_path, 2, [LOOP, LOOP | call.options] * 3)
        loop_ns, gap_ns = (
            statistics.median(value for entry in records[place::2] for value in list_valid(entry, "time_ns"))
            for place in (0, 1)
        )
        ratios_of_loop.append(in_program_ns / loop_ns)
        return in_program_ns / gap_ns

    try:
        check_median(compare, 0.75, 1.33)
    finally:
        print(f"over the time without gaps: {statistics.median(ratios_of_loop):.2f}")
