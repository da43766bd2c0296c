"""Rounds of a tournament."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from rankbench.fleet import tournament


def list_pairs(order: list[int]) -> list[tuple[int, int]]:
    return [(min(pair), max(pair)) for pair in zip(order[::2], order[1::2], strict=True)]


@pytest.mark.parametrize("nodes", range(2, 12))
def test_in_all_rounds_each_node_meets_every_other_once(nodes: int) -> None:
    rounds = tournament.draw_rounds(nodes, nodes, np.random.default_rng(nodes))
    assert all(len(set(order)) == len(order) == nodes // 2 * 2 for order in rounds)
    assert sorted(pair for order in rounds for pair in list_pairs(order)) == [*combinations(range(nodes), 2)]


def test_fewer_rounds_have_other_pairs_each() -> None:
    rounds = tournament.draw_rounds(64, 6, np.random.default_rng(1))
    pairs = [pair for order in rounds for pair in list_pairs(order)]
    assert len(rounds) == 6
    assert len(set(pairs)) == len(pairs) == 6 * 32


@pytest.mark.parametrize("nodes", [4, 7, 8, 20])
def test_suspects_meet_nodes_that_are_none(nodes: int) -> None:
    suspects = {0, 2}
    for seed in range(20):
        order = tournament.draw_mixed(nodes, suspects, [], np.random.default_rng(seed))
        assert len(set(order)) == len(order) == nodes // 2 * 2
        assert (0, 2) not in list_pairs(order)


def test_wanted_links_are_in_the_round() -> None:
    order = tournament.draw_mixed(10, {1, 4, 7, 8}, [(4, 1), (7, 8)], np.random.default_rng(2))
    assert order[:4] == [4, 1, 7, 8]
    assert sorted(order) == [*range(10)]


def test_links_of_one_round_share_no_node() -> None:
    links = [(0, 1), (1, 2), (2, 3), (4, 5), (0, 5)]
    packed = list(tournament.pack_links(links, 2))
    assert sorted(link for part in packed for link in part) == sorted(links)
    assert all(len(part) <= 2 and len({node for link in part for node in link}) == 2 * len(part) for part in packed)


def test_suspects_are_dealt_over_groups() -> None:
    order = tournament.draw_mixed_groups(12, [3, 5, 9], 4, np.random.default_rng(4))
    groups = [order[place : place + 4] for place in range(0, 12, 4)]
    assert sorted(order) == [*range(12)]
    assert all(len({3, 5, 9} & set(group)) == 1 for group in groups)
