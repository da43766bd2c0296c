"""Sizes at which the fastest library changes."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from rankbench.model import CaseVerdict, Finding
from rankbench.quantities import format_ratio, format_size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankbench.verdict.evidence import Evidence

TITLE = "Crossovers"


def find(evidence: Evidence) -> Iterator[Finding]:
    """Yield the changes between two clear winners along an operation's sizes; cases that tell nothing are passed."""
    for title, verdicts in evidence.lines():
        clear = [one for one in verdicts if len(one.winners) == 1 and len(one.ranking) > 1]
        for before, after in pairwise(clear):
            if before.winners != after.winners:
                yield _finding(title, before, after)


def _finding(title: str, before: CaseVerdict, after: CaseVerdict) -> Finding:
    low, high = format_size(before.case.size_bytes), format_size(after.case.size_bytes)
    return Finding(
        kind="crossover",
        title=f"{title}: the fastest changes between {low} and {high}",
        text=(
            f"In {title}, {before.winners[0]} is fastest at {low} "
            f"(the next takes {format_ratio(before.margin)} as long), "
            f"{after.winners[0]} at {high} ({format_ratio(after.margin)})."
        ),
        advice="Let the sizes that your application sends decide; measure sizes in between to find the point itself.",
        cases=[before.case.key, after.case.key],
        severity="note",
    )
