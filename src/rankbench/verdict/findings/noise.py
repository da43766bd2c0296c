"""Cases in which launches of one candidate differ so much that only large differences can be found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankbench.model import Finding, Summary
from rankbench.quantities import format_ratio
from rankbench.verdict.evidence import Evidence, counted

if TYPE_CHECKING:
    from collections.abc import Iterator

TITLE = "Noise between launches"
WIDE = 1.25
"""Upper over lower end of the interval of the typical value."""
SHARE = 0.2


def find(evidence: Evidence) -> Iterator[Finding]:
    """Yield a warning if the intervals of many cases are wide."""
    known = [one for one in evidence.summaries if one.launches > 1]
    wide = [one for one in known if _width(one) > WIDE]
    if not wide or len(wide) < SHARE * len(known):
        return
    worst = max(wide, key=_width)
    yield Finding(
        kind="noise",
        title="Launches of the same thing differ much",
        text=(
            f"In {counted(len(wide), 'figure')} of {len(known)} the interval spans more than {format_ratio(WIDE)}, "
            f"at most {format_ratio(_width(worst))} ({worst.candidate}, "
            f"{evidence.full_title(evidence.case[worst.case])}). "
            "Comparisons are paired within blocks, which takes out slow drift of the machine, not this."
        ),
        advice="Run more blocks, stop other work, bind ranks to cores; on virtual machines, choose a quieter hour.",
        cases=list(dict.fromkeys(one.case for one in wide)),
        severity="warning",
    )


def _width(summary: Summary) -> float:
    return summary.high_ns / summary.low_ns
