"""Intel MPI: presets of `I_MPI_ADJUST_<OPERATION>` by number, read at the start of a launch, and their ranges by size.

How many presets there are, the variables themselves say (`range: 0-32`). What a number means is not published.

Ranges as 2021.18 reads them (by trial; the documentation says more): a preset serves all sizes up to its last one, so
lower ends do not count; the last preset also serves all larger sizes. A range with numbers of ranks (`@2-2`) makes the
last preset serve all sizes, and `-1`, the library's own choice, anywhere in a list makes it drop the whole list. So a
list has a preset for every size, and no size can be left to the library.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from rankbench.model import Handover, RankbenchError, Rule, Variable, Variant
from rankbench.tuning.tuners import Target

FAMILIES = ("intel-mpi",)
HAS_OWN_CHOICE = False
LARGEST = 2**31 - 1
EAGER = {
    "I_MPI_SHM_CELL_FWD_SIZE": ("16384", "131072"),
    "I_MPI_SHM_EAGER_THRESHOLD": ("16384", "131072"),
}
"""Variables of eager limits."""


def list_variants(operation: str, variables: Mapping[str, Variable]) -> Iterator[Variant]:
    """Yield the presets."""
    alias = f"I_MPI_ADJUST_{operation.upper().replace('-', '_')}"
    texts = (
        variable.description
        for variable in variables.values()
        if re.search(rf"@Alias:# {alias}(?!\w)", variable.description)
    )
    numbers = next((match for text in texts if (match := re.search(r"range: (\d+)-(\d+)", text))), None)
    for number in range(max(int(numbers[1]), 1), int(numbers[2]) + 1) if numbers else ():
        yield Variant(name=f"preset-{number}", settings={alias: str(number)}, algorithm=str(number), at_start=True)


def vary_parameters(
    operation: str,  # noqa: ARG001 - the contract's
    variant: Variant,  # noqa: ARG001
    variables: Mapping[str, Variable],  # noqa: ARG001
    ranks: int,  # noqa: ARG001
) -> Iterator[Variant]:
    """Yield nothing: the parameters of presets are not documented, and presets differ in them."""
    yield from ()


def can_split(operation: str, variant: Variant, target: Target) -> bool:  # noqa: ARG001 - the same for all
    """A variable lists presets with ranges of bytes."""
    return True


def make_handover(rules: Sequence[Rule], target: Target) -> Handover:  # noqa: ARG001 - the same for all libraries
    """Return the variables with ranges of bytes that cover all sizes, as in `5:0-16384;1:16385-2147483647`.

    Raises RankbenchError where the rules are for several numbers of ranks and differ.
    """
    settings = {}
    for operation, group in groupby(rules, lambda rule: rule.operation):
        by_ranks = [format_ranges(list(ranges)) for _, ranges in groupby(group, lambda rule: rule.ranks)]
        if len({text for _, text in by_ranks}) > 1:
            raise RankbenchError(
                f"{operation}: Intel MPI cannot have other presets for other numbers of ranks; tune one placement"
            )
        name, settings[name] = by_ranks[0]
    return Handover(settings=settings)


def format_ranges(rules: Sequence[Rule]) -> tuple[str, str]:
    """Return the variable of an operation and its value: each preset holds up to the first size of the next."""
    name = next(iter(rules[0].variant.settings))
    if len(rules) == 1:
        return name, rules[0].variant.algorithm
    first = [0, *(rule.first_bytes for rule in rules[1:])]
    last = [*(number - 1 for number in first[1:]), LARGEST]
    return name, ";".join(
        f"{rule.variant.algorithm}:{low}-{high}" for rule, low, high in zip(rules, first, last, strict=True)
    )
