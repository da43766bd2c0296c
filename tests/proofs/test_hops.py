"""A ring of more hops takes longer."""

from __future__ import annotations

from pathlib import Path

from mpi.test_core import Core

from proofs.judging import repeat


@repeat
def test_more_hops_take_longer(core: Core, tmp_path: Path) -> None:
    """The same two ranks: one ring of both, and a ring of each rank alone."""
    case = {"operation": "ring", "bytes": 65536, "samples": 200, "limit_s": 20}
    both, itself = core.run_job(tmp_path, 2, [case | {"grid": "2"}, case | {"grid": "2x1"}])
    assert (both["hops"], itself["hops"]) == (2, 1)
    shortest_us = [min(record["series"][0]["time_ns"]) / 1000 for record in (itself, both)]
    print(f"one hop, to itself {shortest_us[0]:.2f} us; two hops {shortest_us[1]:.2f} us")
    assert min(both["series"][0]["time_ns"]) > min(itself["series"][0]["time_ns"])
