"""What looking at figures more than once costs. Pure: numbers of blocks in, factors out.

A campaign that may end at several looks has several chances to be misled, and shares the 5 % that it may err among them
before it begins (the spending of Lan and DeMets, Biometrika 70, 1983, with fixed shares). Half of them is for the last
look, at which whatever is hard to tell is told, and the other half is shared evenly by those before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

LAST = 0.5
"""The share of what a campaign may err that is for its last look."""


def price(looks: Sequence[int], blocks: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return by what factor p-values are multiplied after so many blocks; 1 where a campaign looks once.

    What ended before the last look pays what was asked there: blocks beyond the last look but one count as the last's.
    """
    if len(looks) < 2:
        return np.ones_like(blocks)
    return np.where(blocks > looks[-2], 1 / LAST, (len(looks) - 1) / (1 - LAST))
