"""Stop rules: what ends a campaign before its last block. Every module of this folder is one.

A unit has ORDER (its place in a list of all), NAME (its word in a plan), AMOUNT (what follows the word: a `share`,
`seconds`, or nothing), HELP (its words in such a list), LOOKS (whether it depends on results, which are evaluated
after few blocks only), COSTS_ERROR (whether these interim analyses need a correction), and
`decide(progress, amount) -> Decision`: whether the campaign ends, and why. It may have BY_CASE (cases end one by one,
and `drop` is allowed), BASELINE (False: the rule allows none) and MOST_BLOCKS (the bound where a plan names none).
Rules belong to the room of the plan, which validates their names; results come with the progress.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, Protocol

from rankbench import units

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from rankbench.language import Words
    from rankbench.model import Look


class Decision(NamedTuple):
    """Whether to stop, and why; or what is still undecided."""

    stop: bool
    reason: Words
    look: Look | None = None
    """The interim analysis that selects the cases of the next blocks, if cases end one by one."""


class Answer(Protocol):
    """Who has the lowest time over all cases, and against whom that is certain."""

    @property
    def best(self) -> str:
        """The candidate with the lowest time."""

    @property
    def cases(self) -> Sequence[str]:
        """Keys of the cases of which all have values."""

    @property
    def settled(self) -> Sequence[str]:
        """Rivals that are compared with certainty."""

    @property
    def open(self) -> Sequence[str]:
        """The other rivals."""


class Progress(Protocol):
    """A campaign after a block. Results are computed when they are first used, since that takes time."""

    @property
    def block_s(self) -> Sequence[float]:
        """Duration of each block so far."""

    @property
    def blocks_min(self) -> int:
        """Least number of blocks."""

    def look(self) -> Look:
        """Return which cases are decided, given up and open."""

    def answer(self) -> Answer | None:
        """Return who has the lowest time over all cases; None: no two candidates share a case."""

    def half_widths(self) -> list[float]:
        """Return half the width of each interval, relative to its typical value."""


@cache
def list_rules() -> list[ModuleType]:
    """Return all rules in their order."""
    return sorted(units.modules(sys.modules[__name__]).values(), key=lambda unit: int(unit.ORDER))


def find_rule(name: str) -> ModuleType:
    """Return the rule with this name. Raises ValueError if there is none."""
    unit = next((unit for unit in list_rules() if name == unit.NAME), None)
    if unit is None:
        raise ValueError(name)
    return unit


def format_help() -> str:
    """Return the notation of all rules, in words."""
    *others, last = (unit.HELP for unit in list_rules())
    return f"{', '.join(others)} or {last}"
