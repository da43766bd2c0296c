"""How libraries are tuned: one file for each family, with the functions of the contract below. This file finds them.

FAMILIES: names of the families. IN_LAUNCH: whether settings can change within a launch (else each is a candidate).
`variants(operation, variables)` yields the ways in which the library can make an operation. `handover(rules, ranks)`
makes the library's own file of rules. `can_split(operation)` shows whether that file can name several variants by size.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Protocol, cast

from rankbench import units
from rankbench.libraries import tuners
from rankbench.model import RankbenchError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rankbench.model import Handover, Library, Rule, Variable, Variant


class Tuner(Protocol):
    """The contract of a file."""

    FAMILIES: tuple[str, ...]
    IN_LAUNCH: bool

    def list_variants(self, operation: str, variables: Mapping[str, Variable]) -> Iterator[Variant]:
        """Yield the ways of the library to make an operation, less its own choice."""

    def can_split(self, operation: str) -> bool:
        """Return whether several variants of an operation can be used, each for a range of sizes."""

    def make_handover(self, rules: Sequence[Rule], ranks: int) -> Handover:
        """Return what makes the library follow rules in communicators of so many ranks."""


@functools.cache
def list_tuners() -> dict[str, Tuner]:
    """Return the tuner of each family that has one."""
    modules = cast("Iterable[Tuner]", units.modules(tuners).values())
    return {family: module for module in modules for family in module.FAMILIES}


def find_tuner(library: Library) -> Tuner:
    """Return the tuner of a library. Raises RankbenchError where its family has none."""
    if library.family not in list_tuners():
        raise RankbenchError(
            f"{library.name}: no tuner for {library.family} (there are: {', '.join(sorted(list_tuners()))})"
        )
    return list_tuners()[library.family]
