"""Changes of the fastest along a number that grows, where both sides are certain at 1%."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from rankbench.model import Comparison
from rankbench.verdict.certainty import find_slowdown
from rankbench.verdict.spans import Run
from rankbench.verdict.view import CampaignView


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
