"""Candidates of a block that are launched at the same time."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import fakes
import pytest
from wording import refuses

from rankbench import plan

NAMES = ["a", "b", "c", "d", "e", "f", "g"]
PLAN = 'candidates = ["mpich"]\noperations = ["bcast"]\ntogether = '


def count_meetings(names: list[str], most: int, blocks: int, seed: int) -> Counter[tuple[str, str]]:
    """Return how often every two candidates are in one group."""
    counts = Counter(dict.fromkeys(combinations(names, 2), 0))
    for block in range(1, blocks + 1):
        groups = plan.draw_launch_groups(seed, block, names, most)
        assert sorted(groups) == names
        sizes = Counter(groups.values())
        assert max(sizes.values()) <= most
        assert max(sizes.values()) - min(sizes.values()) <= 1
        assert len(sizes) == -(-len(names) // most)
        counts.update(pair for pair in list(counts) if groups[pair[0]] == groups[pair[1]])
    return counts


@pytest.mark.parametrize(("count", "most", "blocks"), [(3, 2, 3), (4, 2, 3), (3, 2, 30), (4, 2, 30)])
@pytest.mark.parametrize("seed", range(5))
def test_every_two_candidates_are_launched_together_equally_often(
    count: int, most: int, blocks: int, seed: int
) -> None:
    assert len(set(count_meetings(NAMES[:count], most, blocks, seed).values())) == 1


@pytest.mark.parametrize(("count", "most"), [(5, 2), (5, 3), (6, 2), (6, 3), (7, 3), (7, 2)])
@pytest.mark.parametrize("blocks", [5, 20, 60])
@pytest.mark.parametrize("seed", range(3))
def test_every_two_candidates_are_launched_together_about_equally_often(
    count: int, most: int, blocks: int, seed: int
) -> None:
    """With numbers of blocks or candidates for which equal numbers are impossible."""
    counts = count_meetings(NAMES[:count], most, blocks, seed).values()
    assert max(counts) - min(counts) <= 3


def test_groups_of_a_block_do_not_depend_on_earlier_blocks() -> None:
    late = plan.draw_launch_groups(5, 9, tuple(NAMES), 2)
    assert [plan.draw_launch_groups(5, block, NAMES, 2) for block in range(1, 10)][-1] == late
    assert plan.draw_launch_groups(6, 9, NAMES, 2) != late


@pytest.mark.parametrize("most", [0, 7, 64])
def test_all_candidates_are_one_group_if_they_fit(most: int) -> None:
    assert set(plan.draw_launch_groups(1, 1, NAMES, most).values()) == {0}


@pytest.mark.parametrize("text", ["true", "false", "2", "64"])
def test_together_is_a_switch_or_a_number(text: str) -> None:
    together = plan.parse_plan(PLAN + text, "plan.toml", fakes.make_machine()).together
    assert str(together).lower() == text


@pytest.mark.parametrize("text", ["1", "0", "65", "2.0", "'two'"])
def test_wrong_values_of_together_are_refused(text: str) -> None:
    with refuses():
        plan.parse_plan(PLAN + text, "plan.toml", fakes.make_machine())
