"""How libraries are tuned: one file for each family, with the functions of the contract below. This file finds them.

FAMILIES: names of the families. HAS_OWN_CHOICE: whether rules can leave sizes to the library's own choice. EAGER: the
values to try of variables that say up to which size messages are sent at once.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol, cast

from rankbench import units
from rankbench.model import Handover, Library, RankbenchError, Rule, Variable, Variant
from rankbench.tuning import tuners

POINT_TO_POINT = {"pingpong", "exchange", "sendrecv", "bandwidth"}
"""Operations that depend on the eager limit."""

COLLECTIVES = (
    "allgather", "allgatherv", "allreduce", "alltoall", "alltoallv", "alltoallw", "barrier", "bcast", "exscan",
    "gather", "gatherv", "reduce", "reduce_scatter", "reduce_scatter_block", "scan", "scatter", "scatterv",
)  # fmt: skip
OPERATIONS = (*COLLECTIVES, *sorted(POINT_TO_POINT))


class Target(NamedTuple):
    """The library for which a tuning file is written."""

    libmpi: str
    """Path of the library's file; empty: unknown."""
    variables: Mapping[str, Variable]
    version: str = ""


class Tuner(Protocol):
    """The contract of a file."""

    FAMILIES: tuple[str, ...]
    HAS_OWN_CHOICE: bool
    EAGER: Mapping[str, tuple[str, ...]]

    def list_variants(self, operation: str, variables: Mapping[str, Variable]) -> Iterator[Variant]:
        """Yield the library's algorithms of a collective operation, without its own choice."""

    def vary_parameters(
        self, operation: str, variant: Variant, variables: Mapping[str, Variable], ranks: int
    ) -> Iterator[Variant]:
        """Yield a variant with other parameters of its algorithm that have an effect with this number of ranks."""

    def can_split(self, operation: str, variant: Variant, target: Target) -> bool:
        """Return whether a rule can use the variant for a range of sizes."""

    def make_handover(self, rules: Sequence[Rule], target: Target) -> Handover:
        """Return settings and files that make the library follow rules, sorted by operation, ranks and bytes."""


@functools.cache
def list_tuners() -> dict[str, Tuner]:
    """Return the tuner of each family that has one."""
    modules = cast("Iterable[Tuner]", units.modules(tuners).values())
    return {family: module for module in modules for family in module.FAMILIES}


def find_tuner(library: Library) -> Tuner:
    """Return the tuner of a library. Raises RankbenchError if its family has none."""
    if library.family not in list_tuners():
        names = ", ".join(sorted(list_tuners()))
        raise RankbenchError(f"{library.name}: no tuner for {library.family} (there are: {names})")
    return list_tuners()[library.family]


def list_variants(tuner: Tuner, operation: str, variables: Mapping[str, Variable]) -> list[Variant]:
    """Return the variants of an operation: algorithms of a collective, eager limits of a point-to-point operation."""
    if operation not in POINT_TO_POINT:
        return [*tuner.list_variants(operation, variables)]
    texts = [f"{variable.name} {variable.description} " for variable in variables.values()]
    return [
        Variant(
            name=f"{name.lower().replace('_', '-')}-{value}", settings={name: value}, algorithm=value, at_start=True
        )
        for name, values in tuner.EAGER.items()
        if any(f"{name} " in text for text in texts)
        for value in values
    ]


def suggest_operation(wrong: str, tuner: Tuner, variables: Mapping[str, Variable]) -> str:
    """Return the tail of an error line for an operation that a library does not list: those that it lists."""
    names = [name for name in sorted(OPERATIONS) if list_variants(tuner, name, variables)]
    return units.suggestion(wrong, names)
