"""Memory and disk that the samples of a plan need, estimated before anything is measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from rankbench.model import FILLED, Case, Operation, Plan
from rankbench.plan import notation
from rankbench.plan.options import count_dimensions, parse_extents
from rankbench.quantities import format_memory

MOMENT_BYTES, SAMPLE_BYTES = 40, 56
"""Of a round on each rank; of a round on rank 0, of one that a rank hands over, and of the library's copy: `core.h`."""
STREAM_BYTES, STORED_BYTES, READ_BYTES = 8, 5, 90
"""Of a sample and series: as text in the stream, in Parquet, and as numbers while it is read; about."""

LARGE_BYTES = 1 << 30
"""Memory or disk from which a run reports what it needs."""
ROWS_JUDGED, JUDGED_BYTES = 2_000_000, 250
"""Rows of samples that are judged at once, and what each takes, about."""


class Footprint(NamedTuple):
    """What one launch of a candidate, with all its cases, takes at most, and all launches leave."""

    samples: int
    """Of a case."""
    rank_bytes: int
    """Memory of rank 0, for the samples of one pass; of other ranks no more."""
    stream_bytes: int
    read_bytes: int
    """Memory of rankbench, beside the core."""
    stored_bytes: tuple[int, int]
    """Disk after the fewest and the most blocks; with a time limit after the fewest."""
    blocks: int
    """The most blocks that count."""
    judged_bytes: int
    """Memory of rankbench for all of them at most, which it reads by launches, or by candidates' cases."""

    @property
    def memory_bytes(self) -> int:
        """Most memory of rankbench, beside the ranks."""
        return max(self.judged_bytes, self.read_bytes)

    @property
    def is_large(self) -> bool:
        """Return whether memory or disk may run short because of it."""
        return max(self.memory_bytes, self.rank_bytes, self.stored_bytes[1] + self.stream_bytes) >= LARGE_BYTES

    def __str__(self) -> str:
        """Return it as one line."""
        disk_bytes = self.stored_bytes[1] + self.stream_bytes
        return (
            f"up to {self.samples} samples a case: at most {format_memory(disk_bytes)} of disk, "
            f"{format_memory(self.memory_bytes)} of memory and {format_memory(self.rank_bytes)} on each rank after "
            f"{self.blocks} blocks"
        )


def estimate_footprint(plan: Plan, cases: Sequence[Case], operations: Sequence[Operation]) -> Footprint:
    """Return the memory and disk that the samples of a plan need at most."""
    known = {operation.name: operation for operation in operations}
    samples = plan.sampling.tries or plan.sampling.good * (FILLED if plan.sampling.fill_s else 1)
    in_memory = any(case.quantity == "memory" or known[case.operation].once for case in cases)
    at_once = samples if in_memory else math.ceil(samples / plan.sampling.passes)
    bytes_by_series: dict[tuple[str, str], int] = {}
    for case in cases:
        launch = (case.placement, case.launch_group)
        bytes_by_series[launch] = bytes_by_series.get(launch, 0) + samples * count_series(
            plan, case, known[case.operation]
        )
    # With a time limit the number of blocks is unknown, and the most that a plan allows never fit into it.
    timed = not math.isinf(notation.find_time_limit_s(plan.stop.until))
    blocks = plan.stop.blocks_min, plan.stop.blocks_min if timed else plan.stop.blocks_max
    rows = [samples * max(1, count_series(plan, case, known[case.operation]) - 1) * blocks[1] for case in cases]
    candidates = len(plan.candidates) + plan.control
    all_bytes = candidates * STORED_BYTES * sum(bytes_by_series.values())
    most = max(bytes_by_series.values(), default=0)
    return Footprint(
        samples=samples,
        rank_bytes=at_once * (MOMENT_BYTES + 3 * SAMPLE_BYTES),
        stream_bytes=STREAM_BYTES * most,
        read_bytes=READ_BYTES * most,
        stored_bytes=(blocks[0] * all_bytes, blocks[1] * all_bytes),
        blocks=blocks[1],
        judged_bytes=JUDGED_BYTES * min(candidates * sum(rows), max(ROWS_JUDGED, *rows)),
    )


def count_series(plan: Plan, case: Case, operation: Operation) -> int:
    """Return how many series of samples a case has: of all ranks, and of each ring or each rank."""
    if plan.every_rank and not operation.between_two:
        return 1 + case.ranks
    return 1 + (count_rings(case, operation) if operation.rings else 0)


def count_rings(case: Case, operation: Operation) -> int:
    """Return the largest number of rings of a grid; one made by MPI_Dims_create is taken as a cube."""
    extents, dimensions = parse_extents(operation, case.options), count_dimensions(operation, case.options)
    if extents:
        return math.prod(extents) // min(extents)
    return math.ceil(math.pow(case.ranks, (dimensions - 1) / dimensions))
