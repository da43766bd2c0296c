"""The random orders of a block, drawn from the recorded seed: a resumed campaign draws the same again."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import combinations
from typing import TypeVar

import numpy as np

from rankbench.model import MEMORY_GROUPS, Case, Stop
from rankbench.plan import notation

T = TypeVar("T")
CANDIDATES, CASES, GROUPS = 0, 1, 2
DRAWS = 100
"""Number of random divisions of a block's candidates; the one whose pairs met least often is chosen."""


def shuffle_items(items: Sequence[T], seed: int, block: int, what: int) -> list[T]:
    """Return the items in the order of this block, drawn from the seed."""
    order = np.random.default_rng([seed, block, what]).permutation(len(items))
    return [items[index] for index in order]


def draw_block_order(seed: int, block: int, names: Sequence[str]) -> list[str]:
    """Return the candidates in the order in which the block launches them."""
    return shuffle_items(names, seed, block, CANDIDATES)


def draw_launch_groups(seed: int, block: int, names: Sequence[str], most: int) -> dict[str, int]:
    """Return for each candidate with which number of a group it is launched: those of one number at the same time.

    Groups have so many at most (0: all); they are as few and as equal as can be. Each block divides candidates anew,
    so that over blocks every two meet about equally often.
    """
    if most == 0 or most >= len(names):
        return dict.fromkeys(names, 0)
    *_, last = _draw_divisions(seed, block, tuple(names), most)
    return {name: number for number, group in enumerate(last) for name in group}


Division = list[list[str]]


@cache
def _recall_divisions(_seed: int, _names: tuple[str, ...], _most: int) -> list[Division]:
    """Return a cache of divisions, each of which depends on those of earlier blocks."""
    return []


def _draw_divisions(seed: int, blocks: int, names: tuple[str, ...], most: int) -> list[Division]:
    """Return the groups of all blocks up to this one."""
    divisions = _recall_divisions(seed, names, most)
    counts = Counter(pair for groups in divisions for pair in _list_pairs(groups))
    for block in range(len(divisions) + 1, blocks + 1):
        generator = np.random.default_rng([seed, block, GROUPS])
        proposals = [
            _split_names([names[index] for index in generator.permutation(len(names))], most) for _ in range(DRAWS)
        ]
        # Each further meeting of a pair costs more, so that no pair meets far more often than others.
        divisions.append(min(proposals, key=lambda groups: _rate_division(counts, groups)))
        counts.update(_list_pairs(divisions[-1]))
    return divisions[:blocks]


def _split_names(names: list[str], most: int) -> Division:
    """Return names in as few groups as possible, of bounded and nearly equal size."""
    count = -(-len(names) // most)
    return [names[number::count] for number in range(count)]


def _rate_division(meetings: Counter[tuple[str, ...]], groups: Division) -> float:
    most = max(meetings.values(), default=0)
    return sum(4.0 ** (meetings[pair] - most) for pair in _list_pairs(groups))


def _list_pairs(groups: Division) -> list[tuple[str, ...]]:
    return [pair for group in groups for pair in combinations(sorted(group), 2)]


def draw_case_order(seed: int, block: int, cases: Sequence[Case]) -> list[Case]:
    """Return the cases in the order in which the block's launches run them, those of a launch group side by side.

    How much memory a call takes depends on what ran before it: those cases keep the order of the plan.
    """
    drawn = shuffle_items(cases, seed, block, CASES)
    groups = sorted({case.launch_group for case in cases})
    orders = [(group, cases if group in MEMORY_GROUPS else drawn) for group in groups]
    return [case for group, order in orders for case in order if case.launch_group == group]


def count_least_blocks(stop: Stop) -> int:
    """Return how many blocks are measured in any case. A limit of time comes before the plan's least number."""
    return stop.blocks_min if math.isinf(notation.find_time_limit_s(stop.until)) else 1


def list_looks(stop: Stop) -> list[int]:
    """Return the numbers of blocks after which a campaign may end: few, each half as much again as the one before.

    Each interim analysis makes the tests stricter, so there is not one after every block. Looks that were made under an
    earlier rule count as well.
    """
    numbers = [stop.blocks_min]
    while numbers[-1] < stop.blocks_max:
        numbers.append(min(stop.blocks_max, numbers[-1] + max(1, numbers[-1] // 2)))
    return [*stop.past, *(number for number in numbers if number > max(stop.past, default=0))]
