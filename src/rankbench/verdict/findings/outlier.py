"""One library is several times slower than every other one in one call.

Why: That is more often a poor default than the hardware.

What to do: Try other algorithms or transports of this library for these sizes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankbench.language import say
from rankbench.model import CaseVerdict, Comparison, Finding
from rankbench.verdict.wording import sized

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankbench.verdict.view import CampaignView

TITLE = "Far behind"
FAR = 3.0


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield, per operation and candidate, the sizes at which its time is surely three times that of any other."""
    for title, verdicts in view.lines():
        for name in view.candidates:
            gaps = [(one, _gap(view, one, name)) for one in verdicts]
            behind = [(one, gap) for one, gap in gaps if gap and gap.low >= FAR]
            if behind:
                yield _finding(title, name, behind)


def _gap(view: CampaignView, verdict: CaseVerdict, name: str) -> Comparison | None:
    """Return the comparison with the second slowest candidate, if this one is the slowest and no winner."""
    if len(verdict.ranking) < 2 or verdict.ranking[-1] != name or name in verdict.winners:
        return None
    return view.comparisons.of(verdict.case.key, verdict.ranking[-2], name)


def _finding(title: str, name: str, behind: list[tuple[CaseVerdict, Comparison]]) -> Finding:
    worst = max((gap for _, gap in behind), key=lambda gap: gap.ratio)
    return Finding(
        kind="outlier",
        title=say("{name} is far behind in {title}", name=name, title=title),
        text=say(
            "In {where}, {name} takes up to {worst:ratio} ({low:ratio} to {high:ratio}) as long as the slowest other "
            "candidate.",
            where=sized(title, [one.case for one, _ in behind]),
            name=name,
            worst=worst.ratio,
            low=worst.low,
            high=worst.high,
        ),
        advice=say("Try other algorithms or transports of this library for these sizes before giving it up."),
        cases=[one.case.key for one, _ in behind],
        severity="warning",
    )
