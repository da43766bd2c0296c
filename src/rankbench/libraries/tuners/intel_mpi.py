"""Intel MPI: presets of `I_MPI_ADJUST_<OPERATION>` by number, read at the start of a launch, and their ranges by size.

How many presets there are, the variables themselves say (`range: 0-32`). What a number means is not published.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

from rankbench.model import Handover, Variant

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankbench.model import Rule, Variable

FAMILIES = ("intel-mpi",)
IN_LAUNCH = False


def list_variants(operation: str, variables: Mapping[str, Variable]) -> Iterator[Variant]:
    """Yield the presets."""
    alias = f"I_MPI_ADJUST_{operation.upper().replace('-', '_')}"
    texts = (
        variable.description
        for variable in variables.values()
        if re.search(rf"@Alias:# {alias}(?!\w)", variable.description)
    )
    match = next((found for text in texts if (found := re.search(r"range: (\d+)-(\d+)", text))), None)
    for number in range(max(int(match[1]), 1), int(match[2]) + 1) if match else ():
        yield Variant(name=f"preset-{number}", settings={alias: str(number)}, algorithm=str(number))


def can_split(operation: str) -> bool:  # noqa: ARG001 - the same for all
    """A variable lists presets with ranges of bytes."""
    return True


def make_handover(rules: Sequence[Rule], ranks: int) -> Handover:
    """Return the variables with ranges of bytes and the number of ranks, as in `5:0-16384@2-2;1:16385-65536@2-2`."""
    settings = {}
    for _, own in groupby(rules, lambda rule: rule.operation):
        ranges = list(own)
        name = next(iter(ranges[0].variant.settings))
        settings[name] = ";".join(
            f"{range_.variant.algorithm}:{range_.first_bytes}-{range_.last_bytes}@{ranks}-{ranks}" for range_ in ranges
        )
    return Handover(settings=settings)
