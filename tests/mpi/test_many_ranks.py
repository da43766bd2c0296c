"""What the core itself sends with many ranks, simulated by SimGrid: it grows with the logarithm of their number."""

from __future__ import annotations

from math import log2
from pathlib import Path

import pytest

from mpi import scale
from rankbench import build

pytestmark = [pytest.mark.thorough, pytest.mark.needs("smpicc")]

SIMULATED = (16, 64)


@pytest.fixture(scope="module")
def simulator(tmp_path_factory: pytest.TempPathFactory) -> build.Build:
    return scale.build_simulator(tmp_path_factory.mktemp("simulator"))


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
        assert bytes_per_sample / log2(ranks) == pytest.approx(66, abs=3)


def test_facts_of_ranks_are_sent_as_differences(simulator: build.Build, tmp_path: Path) -> None:
    """Where a rank runs takes 1.4 kB, most of which is the same for ranks of one node."""
    few, many = 16, 256
    few, many = 16, 256
    costs, hosts = {}, {}
    for ranks in (few, many):
        records = [*scale.read_records(scale.simulate(simulator, tmp_path, ranks, "--check"))]
        costs[ranks] = next(scale.read_cost(record) for record in records if record["record"] == "end")
        facts = [record for record in records if record["record"] == "rank"]
        assert [fact["rank"] for fact in facts] == [*range(ranks)]
        hosts[ranks] = {(fact["host"], fact["cpus"], fact["libmpi"]) for fact in facts}
    assert len(hosts[many]) == 1
    assert hosts[few] == hosts[many]
    assert costs[many].rank_0_bytes - costs[few].rank_0_bytes < 200 * (many - few)
    assert costs[many].rank_0_messages < 1.1 * log2(many) / log2(few) * costs[few].rank_0_messages
