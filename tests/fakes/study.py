"""A study of the clocks in the core's format, with known truth: offsets with the given errors."""

from __future__ import annotations

import json
from typing import Any

METHODS = ("linear", "ring", "tree")


def make_records(
    *,
    ranks: int = 3,
    runs: int = 4,
    error_ns: float = 20.0,
    bound_ns: float = 50.0,
    likely_ns: float = 23.0,
    truth_ns: float | None = 0.0,
    sources: tuple[str, ...] = ("tsc",),
) -> list[dict[str, Any]]:
    """Return the records of a study; the error of rank r is r - 1 ns larger than given, and each run adds 1 ns."""
    return [
        make_launch(ranks),
        *(make_rank(rank) for rank in range(ranks)),
        *(make_clock(source, rank) for source in ("tsc", "MPI_Wtime") for rank in range(ranks)),
        *(
            line
            for source in sources
            for method in METHODS
            for run in range(runs)
            for line in (
                make_cost(source, method, run, ranks),
                *(
                    make_offset(source, method, run, rank, truth_ns, error_ns + rank - 1 + run, bound_ns, likely_ns)
                    for rank in range(ranks)
                ),
            )
        ),
        {"record": "end", "cases": 0},
    ]


def encode_records(records: list[dict[str, Any]]) -> str:
    """Return the stream of the records."""
    return "".join(json.dumps(record) + "\n" for record in records)


def make_launch(ranks: int) -> dict[str, Any]:
    """Return the first line."""
    tsc = {"name": "tsc", "usable": True, "reason": "invariant", "resolution_ns": 1, "cost_ns": 11.2}
    return {"record": "launch", "format": 1, "ranks": ranks, "library_version": "MPICH Version: 9.9",
            "mpi_version": "4.1", "core": "0.2.0", "source": "tsc", "source_reason": "finest step",
            "resolution_ns": 1, "cost_ns": 11.2, "synchronisation": "tree", "last_level_cache_bytes": 1 << 25,
            "sources": [tsc]}  # fmt: skip


def make_rank(rank: int) -> dict[str, Any]:
    """Return the record of a rank's place."""
    return {"record": "rank", "rank": rank, "host": "n1", "cpu": rank, "cpus": str(rank), "clock": "one",
            "libmpi": "/lib/libmpi.so.12", "core": rank, "socket": 0, "numa": 0}  # fmt: skip


def make_clock(source: str, rank: int) -> dict[str, Any]:
    """Return a source as seen by a rank: rank 1 cannot use MPI_Wtime, rank 2 reads slowly."""
    usable = (source, rank) != ("MPI_Wtime", 1)
    reason = "invariant; 2300.0 MHz by CPUID" if source == "tsc" else "it steps" if not usable else ""
    return {"record": "clock", "source": source, "rank": rank, "usable": usable, "reason": reason,
            "resolution_ns": 1, "cost_ns": 11.2 + 10 * (rank == 2)}  # fmt: skip


def make_offset(
    source: str,
    method: str,
    run: int,
    rank: int,
    truth_ns: float | None,
    error_ns: float,
    bound_ns: float,
    likely_ns: float,
) -> dict[str, Any]:
    """Return an offset, for rank 0 all zeros.

    Rank r drifts by r thousandths of a ppm in the middle of four runs; the tree is the most certain.
    """
    if not rank:
        truth_ns, error_ns, bound_ns, likely_ns = None if truth_ns is None else 0.0, 0.0, 0.0, 0.0
    spread = {"linear": 2e-4, "ring": 4e-4, "tree": 1e-4}
    drift_ppm = rank * (0.001 + spread[method] * (run - 1.5))
    return {"record": "offset", "source": source, "synchronisation": method, "run": run, "rank": rank,
            "stage": "fresh", "offset_ns": (truth_ns or 0.0) - error_ns, "bound_ns": bound_ns, "likely_ns": likely_ns,
            "drift_ppm": drift_ppm, "truth_ns": truth_ns}  # fmt: skip


def make_cost(source: str, method: str, run: int, ranks: int) -> dict[str, Any]:
    """Return the cost of a synchronisation, as a simple count."""
    return {"record": "synchronisation", "source": source, "synchronisation": method, "run": run,
            "duration_ns": 1000 + run, "rank_0_messages": 200 * (ranks - 1),
            "most_messages": 200 * (ranks - 1), "rank_0_bytes": 1600 * (ranks - 1),
            "most_bytes": 1600 * (ranks - 1)}  # fmt: skip
