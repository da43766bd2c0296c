"""Tuning a library: its settings measured against each other, rules chosen, written in its own format, and proven.

Every step is an ordinary campaign, so that what it measured can be read, shown and resumed like any other. Commands run
the campaigns (`Run`); nothing is measured here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from rankbench.store import Store

if TYPE_CHECKING:
    from rankbench.model import Rule, Variant

Run = Callable[[str, str], Store]
"""Runs the campaign of a name with the text of a plan, or goes on with it, and returns its store."""
DEFAULT = "default"
TUNED = "tuned"
SCREENING_BLOCKS, BLOCKS = 3, 8


class Task(NamedTuple):
    """What is tuned."""

    library: str
    """As a plan names it."""
    family: str
    operations: list[str]
    sizes_bytes: list[int]
    placement: str
    ranks: int
    threshold: float
    variants: dict[str, list[Variant]]
    """Of each operation, less the library's own choice."""
    in_launch: bool
    """Whether settings change within a launch; else each set of them is a candidate."""


class Selection(NamedTuple):
    """What a search has found."""

    rules: list[Rule]
    gains: dict[tuple[str, int], float]
    """Time with the rule over time by default, by operation and size, of those that have a rule."""
    wrong: dict[str, list[str]]
    """Operations with wrong data, by variant."""
