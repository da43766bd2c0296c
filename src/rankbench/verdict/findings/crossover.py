"""Sizes at which the fastest library changes, one finding per operation and form."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from rankbench.model import Finding
from rankbench.verdict.evidence import listed, size_range

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankbench.model import CaseVerdict
    from rankbench.verdict.evidence import Evidence

TITLE = "Crossovers"


def find(evidence: Evidence) -> Iterator[Finding]:
    """Yield the operations whose clear winner changes along the sizes; cases without a clear winner are passed over."""
    for title, verdicts in evidence.lines():
        clear = [one for one in verdicts if len(one.winners) == 1 and len(one.ranking) > 1]
        reigns = [list(group) for _, group in groupby(clear, key=lambda one: one.winners)]
        if len(reigns) > 1:
            yield _finding(title, reigns)


def _finding(title: str, reigns: list[list[CaseVerdict]]) -> Finding:
    spans = [f"{reign[0].winners[0]}{size_range([one.case for one in reign])}" for reign in reigns]
    ends = [one.case.key for reign in reigns for one in (reign[0], reign[-1])]
    return Finding(
        kind="crossover",
        title=f"{title}: the fastest depends on the size",
        text=f"In {title}, the fastest is {listed(spans)}.",
        advice="Let the sizes that your application sends decide; measure more sizes to find the exact points.",
        cases=list(dict.fromkeys(ends)),
        severity="note",
    )
