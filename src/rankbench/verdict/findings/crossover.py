"""Sizes between which the fastest library changes, told only where both sides are sure."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from rankbench.language import say
from rankbench.model import Finding
from rankbench.verdict.evidence import either, sized
from rankbench.verdict.lines import lines
from rankbench.verdict.reigns import Reign, clear, reigns_of, slower

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rankbench.model import Comparison
    from rankbench.verdict.evidence import Evidence

TITLE = "Crossovers"
MOST_TOLD = 3
"""Changes that are told with their ratios; where there are more, winners change to and fro."""


class Change(NamedTuple):
    """One is surely faster than another up to some size, and surely slower from some other size on."""

    before: Comparison
    after: Comparison


def find(evidence: Evidence) -> Iterator[Finding]:
    """Yield the lines whose surely fastest changes along the sizes; sizes at which that is not sure are passed over."""
    for line in lines(evidence, 2):
        sure = [(size, one) for size, one in line.verdicts.items() if clear(evidence, one)]
        reigns, changes = lasting(evidence, reigns_of(sure))
        if changes:
            yield _finding(evidence, reigns, changes)


def lasting(evidence: Evidence, found: Iterable[Reign]) -> tuple[list[Reign], list[Change]]:
    """Return the reigns each of which surely ends the one before it, and the changes between them."""
    reigns: list[Reign] = []
    changes: list[Change] = []
    for reign in found:
        change = change_of(evidence, reigns[-1], reign) if reigns else None
        if change:
            changes.append(change)
        if change or not reigns:
            reigns.append(reign)
    return reigns, changes


def change_of(evidence: Evidence, before: Reign, after: Reign) -> Change | None:
    """Return the change nearest to where two reigns meet: of two winners, each is surely slower on the other's side."""
    for (_, one), (_, two) in product(reversed(before.cases), after.cases):
        for first, second in product(before.names, after.names):
            left, right = (
                slower(evidence, one.case.key, first, second),
                slower(evidence, two.case.key, second, first),
            )
            if left and right:
                return Change(left, right)
    return None


def _finding(evidence: Evidence, reigns: list[Reign], changes: list[Change]) -> Finding:
    title = evidence.title(reigns[0].cases[0][1].case)
    spans = [sized(either(reign.names), [one.case for _, one in reign.cases]) for reign in reigns]
    fastest = say("In {title}, the fastest is {spans:and}.", title=title, spans=spans)
    told = [_told(evidence, change) for change in changes[:MOST_TOLD]]
    more = [say("It changes {n:count time} in all.", n=len(changes))] if len(changes) > MOST_TOLD else []
    ends = [one.case.key for reign in reigns for _, one in (reign.cases[0], reign.cases[-1])]
    return Finding(
        kind="crossover",
        title=say("{title}: the fastest depends on the size", title=title),
        text=" ".join([fastest, *told, *more]),
        advice=say("Let the sizes that your application sends decide; measure more sizes to find the exact points."),
        cases=list(dict.fromkeys(ends)),
        severity="note",
    )


def _told(evidence: Evidence, change: Change) -> str:
    sizes = [evidence.case[one.case].size_bytes for one in change]
    sides = [
        say(
            "at {size:size} {other} takes {ratio:ratio} the time of {base} ({low:ratio} to {high:ratio})",
            size=size,
            other=one.other,
            ratio=one.ratio,
            base=one.base,
            low=one.low,
            high=one.high,
        )
        for size, one in zip(sizes, change, strict=True)
    ]
    return say("It changes between {one:size} and {two:size}: {sides:and}.", one=sizes[0], two=sizes[1], sides=sides)
