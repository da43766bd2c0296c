"""Lines: cases that differ in size only, as curves show them. What runs along the sizes is asked of these."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rankbench.verdict import naming

if TYPE_CHECKING:
    from rankbench.model import Case, CaseVerdict
    from rankbench.verdict.evidence import Evidence


class Line(NamedTuple):
    """The cases of one line by size, each size once."""

    key: str
    """As `naming.line_key` gives it."""
    verdicts: dict[int, CaseVerdict]

    @property
    def cases(self) -> dict[int, Case]:
        """Return the cases by size."""
        return {size: one.case for size, one in self.verdicts.items()}

    @property
    def keys(self) -> dict[int, str]:
        """Return the keys of the cases by size; nothing may be sent in some, which lie on no logarithmic axis."""
        return {size: one.case.key for size, one in self.verdicts.items() if size}


def lines(evidence: Evidence, fewest: int) -> list[Line]:
    """Return the lines with so many sizes or more, in the plan's order.

    Their figures are plain times, and ranks have a core each. What is between every two ranks is told as a matrix.
    """
    found: dict[str, list[CaseVerdict]] = {}
    for one in evidence.main:
        case = one.case
        if case.quantity == "time" and case.key not in evidence.pairs_of_ranks and not evidence.short_of_cores(case):
            found.setdefault(naming.line_key(case), []).append(one)
    return [
        Line(key, {one.case.size_bytes: one for one in sorted(verdicts, key=lambda one: one.case.size_bytes)})
        for key, verdicts in found.items()
        if len(verdicts) >= fewest
    ]
