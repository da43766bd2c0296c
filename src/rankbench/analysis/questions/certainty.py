"""What is certain at 1%: a stricter level than the verdict's, for findings that rest on several cases at once.

Also changes of the fastest along a number that grows, where both sides are certain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from rankbench.analysis.questions.placements import invert
from rankbench.analysis.questions.spans import Run
from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.statistics.contrasts import SURE
from rankbench.analysis.statistics.decision import above
from rankbench.model import CaseVerdict, Comparison


def find_front(view: CampaignView, verdict: CaseVerdict) -> list[str]:
    """Return the candidates that are not certainly slower than the first of a case.

    At 5% a few verdicts of a long line are wrong; lines are not separated because of these.
    """
    key, first = verdict.case.key, verdict.ranking[0]
    return [name for name in verdict.ranking if not find_slowdown(view, key, first, name)]


def find_slowdown(view: CampaignView, case: str, first: str, other: str) -> Comparison | None:
    """Return the comparison by which `other` is certainly slower than `first`, if there is one."""
    comparison = view.comparisons.find(case, first, other)
    return comparison if comparison and is_certain(comparison) else None


def orient_comparison(ratio: Comparison, name: str) -> Comparison | None:
    """Return a comparison with `name` as its `other`, or nothing where it compares two others."""
    if ratio.other == name:
        return ratio
    return invert(ratio) if ratio.base == name else None


def is_certain(ratio: Comparison) -> bool:
    """Return whether `other` is certainly slower than `base`."""
    return ratio.different and above(ratio.p_adjusted, ratio.low, 0.0, SURE)


class Change(NamedTuple):
    """One candidate is certainly faster than another in a case, and certainly slower in a later one."""

    before: Comparison
    after: Comparison


def find_changes(view: CampaignView, runs: Sequence[Run]) -> Iterator[Change]:
    """Yield the certain changes between spans, each with the nearest earlier span since the change before it."""
    first = 0
    for place, run in enumerate(runs):
        changes = (change for before in reversed(runs[first:place]) if (change := find_change(view, before, run)))
        if change := next(changes, None):
            yield change
            first = place


def find_change(view: CampaignView, before: Run, after: Run) -> Change | None:
    """Return the change nearest to where two spans meet: of two winners, each is slower in the other's span."""
    for (_, verdict), (_, later) in product(reversed(before.cases), after.cases):
        for first, second in product(before.names, after.names):
            lead = find_slowdown(view, verdict.case.key, first, second)
            loss = find_slowdown(view, later.case.key, second, first)
            if lead and loss:
                return Change(lead, loss)
    return None
