"""Tunes a library: measures its settings against each other, chooses rules, writes them in its format, proves them.

Every step is an ordinary campaign, so that what it measured can be read, shown and resumed like any other. Commands run
the campaigns; nothing is measured here.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from rankbench.model import Variant

DEFAULT = "default"
TUNED = "tuned"
SCREENING_BLOCKS = 3
FEWEST_BLOCKS = 3
"""Blocks after which a time limit may end a step."""
LEAST_CHECKED = 1000
"""Calls of the tuned library whose data a proof checks for each rule: an algorithm may be wrong in few of its calls."""


class Task(NamedTuple):
    """A tuning: its library, operations and variants."""

    library: str
    """The library as a plan names it."""
    operations: list[str]
    sizes_bytes: list[int]
    placements: dict[str, int]
    """Placements with different numbers of ranks; a rule holds for one number of ranks."""
    threshold: float
    variants: dict[str, list[Variant]]
    """Variants of each operation, without the library's own choice."""
    reach: Mapping[str, object] = MappingProxyType({})
    """Keys of the plans about nodes and placement, such as `hosts`."""
    options: Mapping[str, str] = MappingProxyType({})
    """Options of all operations: how the application calls them."""
    reproducible: bool = False
    """Whether the bits of sums must be the same in all calls, launches and placements."""
    forced: frozenset[str] = frozenset()
    """Operations whose sums change bits by default, so that a rule is needed for every size, a slower one, too."""

    @property
    def in_launch(self) -> bool:
        """Whether settings change within a launch; else each set of them is a candidate."""
        return not any(variant.at_start for variants in self.variants.values() for variant in variants)

    @property
    def variant_count(self) -> int:
        """Number of variants of all operations."""
        return sum(map(len, self.variants.values()))
