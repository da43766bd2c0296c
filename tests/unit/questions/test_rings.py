"""Rings of known truth: the time of each ring, the cost of a hop, and cases that share a line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest
from fakes import campaigns, torus
from wording import WORDING

from rankbench.analysis.questions import rings
from rankbench.analysis.questions.rings import HopCost
from rankbench.language import render
from rankbench.store import Store


def estimate_costs(store: Store) -> list[HopCost]:
    return rings.estimate_hop_costs(store.campaign, store.rank_samples(), store.cases())


def test_every_edge_rank_has_a_row(tmp_path: Path) -> None:
    store = torus.make_store(tmp_path / "made", directions=("right", "down"))
    frame = rings.tabulate_rings(store.campaign, store.rank_samples(), store.cases())
    assert frame.select("placement", "direction", "edge", "candidate").rows()[:4] == [
        ("1x1", "right", 0, "alpha"),
        ("1x1", "right", 0, "beta"),
        ("1x1", "down", 0, "alpha"),
        ("1x1", "down", 0, "beta"),
    ]
    three = frame.filter(placement="1x9", candidate="alpha")
    assert three.select("direction", "edge", "grid", "hops").rows() == [
        *(("right", edge, "3x3", 3) for edge in (0, 3, 6)),
        *(("down", edge, "3x3", 3) for edge in (0, 1, 2)),
    ]
    row = three.row(0, named=True)
    assert row["typical_ns"] == pytest.approx(1300, rel=0.02)
    assert row["low_ns"] <= row["typical_ns"] <= row["high_ns"]
    assert row["coverage"] == pytest.approx(0.969, abs=0.001)
    assert (row["launches"], row["samples"], row["discarded"], row["start"]) == (6, 2400, 0, "none")
    assert row["min_ns"] < row["p10_ns"] < row["median_ns"] < row["p90_ns"] < row["p99_ns"] < row["max_ns"]
    assert (row["nodes"], row["oversubscribed"]) == (1, False)


def test_a_hop_has_its_true_cost_and_rings_of_one_rank_are_left_out(tmp_path: Path) -> None:
    alpha, beta = estimate_costs(torus.make_store(tmp_path / "made"))
    assert (alpha.hops, alpha.blocks, render(alpha.basis)) == ([2, 3], 6, WORDING)
    assert [alpha.cost_ns, beta.cost_ns] == pytest.approx([400, 800], rel=0.05)
    assert alpha.low_ns < 400 < alpha.high_ns
    assert not alpha.oversubscribed
    assert not alpha.between_nodes


@pytest.mark.thorough
def test_the_interval_covers_the_truth_in_about_95_of_100_campaigns(tmp_path: Path) -> None:
    store = torus.make_store(tmp_path / "made", ((1, 4), (1, 9), (1, 16)), launches=60, samples=10, spread=0.02)
    samples, cases, hits = store.rank_samples(), store.cases(), 0
    for first in range(1, 61, 6):
        part = samples.filter(pl.col("block").is_between(first, first + 5))
        hits += sum(
            hop_cost.low_ns <= torus.HOP_NS[hop_cost.candidate] <= hop_cost.high_ns
            for hop_cost in rings.estimate_hop_costs(store.campaign, part, cases)
        )
    assert 17 <= hits <= 20


@pytest.mark.parametrize(
    "placements", [((1, 1), (1, 4)), ((1, 9),), ((1, 4), (1, 16)), ((1, 1), (1, 4), (1, 9), (1, 16))]
)
def test_the_basis_of_the_cost_is_reported(tmp_path: Path, placements: Sequence[tuple[int, int]]) -> None:
    costs = estimate_costs(torus.make_store(tmp_path / "made", placements))
    assert sorted({render(cost.basis) for cost in costs}) == WORDING


def test_with_one_length_a_hop_is_its_share_of_the_round(tmp_path: Path) -> None:
    """The rounds of the fakes take 100 ns in addition to their hops."""
    alpha, _ = estimate_costs(torus.make_store(tmp_path / "made", ((1, 1), (2, 2))))
    assert alpha.cost_ns == pytest.approx(400 + 100 / 2, rel=0.05)
    assert alpha.low_ns < alpha.cost_ns < alpha.high_ns


def test_rings_of_one_rank_have_no_cost(tmp_path: Path) -> None:
    assert estimate_costs(torus.make_store(tmp_path / "made", ((1, 1),))) == []


def test_oversubscribed_rings_are_distinguished(tmp_path: Path) -> None:
    store = torus.make_store(tmp_path / "made", ((1, 1), (1, 4), (1, 9), (1, 16)), cores=9)
    enough, short = (cost for cost in estimate_costs(store) if cost.candidate == "alpha")
    assert (enough.hops, enough.oversubscribed) == ([2, 3], False)
    assert (short.hops, short.oversubscribed) == ([2, 3, 4], True)
    frame = rings.tabulate_rings(store.campaign, store.rank_samples(), store.cases())
    assert dict(frame.select("placement", "oversubscribed").unique().rows()) == {
        "1x1": False,
        "1x4": False,
        "1x9": False,
        "1x16": True,
    }


def test_rings_over_nodes_share_no_line_with_those_of_one_node(tmp_path: Path) -> None:
    hop_costs = estimate_costs(torus.make_store(tmp_path / "made", ((1, 4), (1, 9), (2, 2), (4, 4))))
    rows = [(cost.candidate, cost.between_nodes, cost.hops) for cost in hop_costs]
    assert sorted(rows) == [
        ("alpha", False, [2, 3]),
        ("alpha", True, [2, 4]),
        ("beta", False, [2, 3]),
        ("beta", True, [2, 4]),
    ]


def test_a_single_block_has_no_interval(tmp_path: Path) -> None:
    alpha = estimate_costs(torus.make_store(tmp_path / "made", launches=1))[0]
    assert alpha.blocks == 1
    assert math.isnan(alpha.low_ns)


def test_the_second_mode_of_each_ring_is_found(tmp_path: Path) -> None:
    store = torus.make_store(tmp_path / "made", ((1, 4),))
    modes = rings.find_ring_modes(store.rank_samples(), store.cases())
    key = store.campaign.cases[0].key
    assert [len(modes[key, "alpha", edge]) for edge in ("0", "2")] == [1, 1]
    for edge in ("0", "2"):
        second = modes[key, "beta", edge][1]
        assert (round(second.mode.ratio, 1), second.appearances, render(second.pattern.text)) == (2.0, 6, "scattered")
        assert second.mode.share == pytest.approx(0.03, abs=0.01)


def test_without_rings_there_are_no_costs(tmp_path: Path) -> None:
    store = campaigns.make_campaign(tmp_path / "made", launches=1)
    assert rings.tabulate_rings(store.campaign, store.rank_samples(), store.cases()).is_empty()
    assert estimate_costs(store) == []
    assert rings.find_ring_modes(store.rank_samples(), store.cases()) == {}
