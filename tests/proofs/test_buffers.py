"""Cold buffers come from memory, and fresh pages cost their first touch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from proofs.judging import check_median

if TYPE_CHECKING:
    from pathlib import Path

    from mpi.test_core import Core

CASE = {"operation": "pack", "bytes": 65536, "samples": 30, "limit_s": 3}
FRESH_PAGES = CASE | {"operation": "bcast"}


def find_minimum(record: dict[str, Any]) -> float:
    """Return the shortest of a case's samples: other work of the machine only adds time."""
    return float(min(record["series"][0]["time_ns"]))


def measure_ratio(core: Core, tmp_path: Path, case: dict[str, object], **other: str) -> float:
    """Return the shortest time of another case relative to that of the usual one, in turns within one launch."""
    records = core.run_job(tmp_path, 2, [case, case | other] * 3)
    return min(map(find_minimum, records[1::2])) / min(map(find_minimum, records[::2]))


def test_cold_buffers_are_slower_than_warm_ones(core: Core, tmp_path: Path) -> None:
    """Data that come from memory and not from a cache: 2.8 to 3.3 times is observed for a copy within a rank."""
    check_median(lambda: measure_ratio(core, tmp_path, CASE, cache="cold"), 1.5, 20)


def test_fresh_pages_cost_their_first_touch(core: Core, tmp_path: Path) -> None:
    """Pages of receive buffers; those of send buffers have been written to. 5 to 10 times is observed."""
    check_median(lambda: measure_ratio(core, tmp_path, FRESH_PAGES, pages="untouched"), 3, 100)
