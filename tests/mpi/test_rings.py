"""Rings with real libraries: measuring ranks, idle ranks, descriptions of the grid, and many rounds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from fakes import mark_thorough

from mpi.conftest import run_rankbench
from mpi.test_core import core
from rankbench import plan, store

if TYPE_CHECKING:
    from mpi.test_core import Core

__all__ = ["core"]
ROWS = ("ring", "ring-neighbor", "ring-put")
ROUNDS = 300_000
"""Enough for their memory to exceed a library's own variation between launches: 4 MiB in Intel MPI."""
LIBRARY_BYTES = 16 << 20
"""Memory of a library's own for messages of many samples: Intel MPI uses 14 MB more of its shared memory."""


def list_edge_ranks(record: dict[str, Any]) -> list[int]:
    """Return the ranks that have samples of their own."""
    return [series["rank"] for series in record["series"] if series["rank"] >= 0]


@pytest.mark.parametrize("operation", [*ROWS[:2], *map(mark_thorough, ROWS[2:])])
def test_the_first_rank_of_each_ring_measures(core: Core, operation: str, tmp_path: Path) -> None:
    """Four ranks as 2x2 and as a line, and with two of them idle beside a grid of two, also while data are renewed."""
    variants = (
        {"direction": "right"},
        {"direction": "down"},
        {"grid": "4"},
        {"grid": "4", "direction": "0-"},
        {"grid": "2"},
        {"grid": "2", "samples": 200},
    )
    case = {"operation": operation, "bytes": 64, "samples": 5, "limit_s": 20}
    records = core.run_job(tmp_path, 4, [case | variant for variant in variants])
    assert [
        (record["status"], record["ranks"], record["grid"], record["hops"], list_edge_ranks(record))
        for record in records
    ] == [
        ("ok", 4, [2, 2], 2, [0, 2]),
        ("ok", 4, [2, 2], 2, [0, 1]),
        ("ok", 4, [4], 4, [0]),
        ("ok", 4, [4], 4, [0]),
        ("ok", 2, [2], 2, [0]),
        ("ok", 2, [2], 2, [0]),
    ]
    for record in records:
        slowest, *rings = record["series"]
        assert slowest["time_ns"] == [max(times) for times in zip(*(ring["time_ns"] for ring in rings), strict=True)]
        assert set(slowest["last_rank"]) <= set(list_edge_ranks(record))


def test_a_displacement_makes_more_and_shorter_rings(core: Core, tmp_path: Path) -> None:
    case = {"operation": "ring", "bytes": 4, "samples": 3, "limit_s": 20, "grid": "4"}
    records = core.run_job(tmp_path, 4, [case | {"displacement": count} for count in (2, 3, 4)])
    assert [(record["status"], record["hops"], list_edge_ranks(record)) for record in records] == [
        ("ok", 2, [0, 1]),
        ("ok", 4, [0]),
        ("ok", 1, [0, 1, 2, 3]),
    ]


def test_ranks_reordered_by_the_library_are_reported(core: Core, tmp_path: Path) -> None:
    """Most libraries keep all ranks; otherwise each rank has one place."""
    case = {"operation": "ring", "bytes": 4, "samples": 3, "limit_s": 20, "reorder": "yes", "shift": "timed"}
    (record,) = core.run_job(tmp_path, 4, [case])
    assert (record["status"], record["options"]) == ("ok", {"shift": "timed", "reorder": "yes"})
    assert record["order"] == [] or sorted(record["order"]) == [0, 1, 2, 3]


def read_memory_bytes(stream: Path) -> int:
    """Return the peak memory of rank 0's process."""
    return int(json.loads(stream.read_text().splitlines()[-1])["rank_0_memory_bytes"])


@pytest.mark.thorough
def test_many_rounds_need_the_estimated_memory_and_disk(core: Core, home: Path, tmp_path: Path) -> None:
    """Two rings with as many rounds; memory, stream and stored samples are at most as estimated, and not far less."""
    file = tmp_path / "rings.toml"
    file.write_text(
        f'candidates = ["{core.library.family}"]\noperations = ["ring"]\nsizes = 4\nplacements = ["1x2"]\n'
        f'samples = {{ good = {ROUNDS}, passes = 1 }}\ncase_limit = "60s"\ncontrol = false\nstop = {{ blocks = 1 }}\n'
    )
    process = run_rankbench("run", str(file), "--results", str(tmp_path), home=home)
    assert process.returncode == 0, process.stdout + process.stderr
    results = store.open(tmp_path / "rings")
    record = results.campaign
    footprint = plan.estimate_footprint(record.plan, record.cases, record.operations)
    disk, memory = footprint.stored_bytes[1] + footprint.stream_bytes, footprint.rank_bytes
    counts = results.rank_samples().group_by("series").agg(pl.len()).collect()
    assert dict(counts.iter_rows()) == {0: ROUNDS, 1: ROUNDS}
    assert results.cases().select("taken", "valid", "grid", "hops").rows() == [(ROUNDS, ROUNDS, "2x1", 1)]
    stream = results.folder / "work" / "stream.jsonl"
    samples = results.folder / "samples" / "000001.parquet"
    assert disk / 4 < stream.stat().st_size + samples.stat().st_size <= disk
    core.measure(tmp_path, 2, "--op", "ring", "--sizes", "4", "--samples", "10")
    more = read_memory_bytes(stream) - read_memory_bytes(tmp_path / "stream")
    assert memory / 4 < more <= memory + LIBRARY_BYTES
