"""The random orders of a block, drawn from the recorded seed: a resumed campaign draws the same again."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankbench.model import Case, Stop

T = TypeVar("T")
CANDIDATES, CASES = 0, 1


def shuffled(items: Sequence[T], seed: int, block: int, what: int) -> list[T]:
    """Return the items in the order that this seed gives this block."""
    order = np.random.default_rng([seed, block, what]).permutation(len(items))
    return [items[index] for index in order]


def block_order(seed: int, block: int, names: Sequence[str]) -> list[str]:
    """Return the candidates in the order in which the block launches them."""
    return shuffled(names, seed, block, CANDIDATES)


def case_order(seed: int, block: int, cases: Sequence[Case]) -> list[Case]:
    """Return the cases in the order in which the block's launches run them, those of a launch group side by side.

    How much memory a call takes depends on what ran before it: those cases keep the order of the plan.
    """
    drawn = shuffled(cases, seed, block, CASES)
    groups = sorted({case.launch_group for case in cases})
    orders = [(group, cases if group == "memory" else drawn) for group in groups]
    return [case for group, order in orders for case in order if case.launch_group == group]


def looks(stop: Stop) -> list[int]:
    """Return the numbers of blocks after which a campaign looks whether it may end: few, growing by half.

    Each look is a chance to be misled by noise, which the comparisons pay for; so there is not one after every block.
    Looks that were made under an earlier rule count as well.
    """
    numbers = [stop.blocks_min]
    while numbers[-1] < stop.blocks_max:
        numbers.append(min(stop.blocks_max, numbers[-1] + max(1, numbers[-1] // 2)))
    return [*stop.past, *(number for number in numbers if number > max(stop.past, default=0))]
