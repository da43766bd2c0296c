"""Cold buffers come from memory, and fresh pages cost what touching them costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from proofs.judging import check_median

if TYPE_CHECKING:
    from pathlib import Path

    from mpi.test_core import Core

CASE = {"operation": "pack", "bytes": 65536, "samples": 30, "limit_s": 3}
INTO_FRESH = CASE | {"operation": "bcast"}


def least_ns(record: dict[str, Any]) -> float:
    """Return the shortest of a case's samples: what else the machine does only adds to it."""
    return float(min(record["series"][0]["time_ns"]))


def ratio(core: Core, tmp_path: Path, case: dict[str, object], **other: str) -> float:
    """Return the shortest time of another case as a multiple of the usual one's, in turns within one launch."""
    records = core.job(tmp_path, 2, [case, case | other] * 3)
    return min(map(least_ns, records[1::2])) / min(map(least_ns, records[::2]))


def test_cold_buffers_are_slower_than_warm_ones(core: Core, tmp_path: Path) -> None:
    """Data that come from memory and not from a cache: 2.8 to 3.3 times is what is seen of a copy within a rank."""
    check_median(lambda: ratio(core, tmp_path, CASE, cache="cold"), 1.5, 20)


def test_fresh_pages_cost_what_touching_them_costs(core: Core, tmp_path: Path) -> None:
    """Pages that are received into; those that are sent from have been written to. 5 to 10 times is what is seen."""
    check_median(lambda: ratio(core, tmp_path, INTO_FRESH, pages="untouched"), 3, 100)
