"""Groups: lines whose curves look alike are put together, one of them shown for all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankbench.language import say
from rankbench.model import Group
from rankbench.statistics import resemblance
from rankbench.statistics.shapes import curves
from rankbench.verdict.evidence import either, sized
from rankbench.verdict.lines import Line, lines
from rankbench.verdict.reigns import Reign, front, reigns_of, slower

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankbench.statistics.resemblance import Profile
    from rankbench.statistics.shapes import Curve
    from rankbench.verdict.evidence import Evidence

MOST_NAMED = 8
ALIKE = 1 + 1e-6
"""Of ratios as large as each other, that of the smallest message is told."""


def groups(evidence: Evidence) -> list[Group]:
    """Return the groups of all lines with three sizes or more, the largest first.

    The order of the plan makes no difference to who is in a group with whom.
    """
    asked = sorted(lines(evidence, resemblance.FEWEST_SIZES), key=lambda line: line.key)
    known = [(line, one) for line, one in zip(asked, _profiles(evidence, asked), strict=True) if one]
    far = resemblance.distances([one for _, one in known], evidence.campaign.plan.threshold)
    return [_group(evidence, [known[place][0] for place in group]) for group in resemblance.grouped(far)]


def _profiles(evidence: Evidence, asked: list[Line]) -> list[Profile | None]:
    by_line: list[dict[str, Curve]] = [{} for _ in asked]
    for curve in curves(evidence.figures, [line.keys for line in asked]):
        if curve.candidate in evidence.names:
            by_line[curve.line][curve.candidate] = curve
    winners = [{size: front(evidence, one) for size, one in line.verdicts.items() if one.ranking} for line in asked]
    return [resemblance.profile(own, front) for own, front in zip(by_line, winners, strict=True)]


def _group(evidence: Evidence, together: list[Line]) -> Group:
    titles = [evidence.title(next(iter(line.cases.values()))) for line in together]
    first, others = together[0], titles[1:]
    likeness = [say("So it is, by about as much, in {titles:and}.", titles=_names(others))] if others else []
    return Group(
        lines=[line.key for line in together],
        title=say("{title} and {n} like it", title=titles[0], n=len(others)) if others else titles[0],
        text=" ".join([f"{pattern(evidence, first)}.", *_behind(evidence, first), *likeness]),
        cases=[one.case.key for one in first.verdicts.values()],
    )


def _names(titles: list[str]) -> list[str]:
    more = len(titles) - MOST_NAMED
    return [*titles[:MOST_NAMED], say("{n} more", n=more)] if more > 0 else titles


def pattern(evidence: Evidence, line: Line) -> str:
    """Return in words who is in front in which range of sizes; sizes at which nobody is are bridged, and counted."""
    ranked = [one for one in line.verdicts.values() if one.ranking]
    fronts = {one.case.key: front(evidence, one) for one in ranked}
    told = [(one.case.size_bytes, one) for one in ranked if len(fronts[one.case.key]) < len(one.ranking)]
    if not told:
        return say("No difference can be told at any size")
    reigns = reigns_of(told, lambda one: [name for name in evidence.names if name in fronts[one.case.key]])
    sizes = [one.case.size_bytes for one in ranked]
    return _undecided(", ".join(_span(reign, sizes) for reign in reigns), reigns, sizes)


def _span(reign: Reign, sizes: list[int]) -> str:
    names, first, last = either(reign.names), reign.cases[0][0], reign.cases[-1][0]
    if (first, last) == (sizes[0], sizes[-1]):
        return say("{names} throughout", names=names)
    if first == sizes[0]:
        return say("{names} up to {last:size}", names=names, last=last)
    if last == sizes[-1]:
        return say("{names} from {first:size} on", names=names, first=first)
    return sized(names, [one.case for _, one in reign.cases])


def _undecided(spans: str, reigns: list[Reign], sizes: list[int]) -> str:
    """Return who is in front in which sizes, with where nobody is."""
    outside = set(sizes) - {size for reign in reigns for size, _ in reign.cases}
    if not outside:
        return spans
    before, after = reigns[0].cases[-1][0], reigns[-1].cases[0][0]
    between = len(reigns) == 2 and all(before < size < after for size in outside)
    return say(
        "{spans}; between them no difference"
        if between
        else "{spans}; no difference can be told at {n} of {all:count size}",
        spans=spans,
        n=len(outside),
        all=len(sizes),
    )


def _behind(evidence: Evidence, line: Line) -> Iterator[str]:
    """Say how far behind the fastest each candidate falls at worst."""
    worst: dict[str, tuple[float, int]] = {}
    for size, one in line.verdicts.items():
        for name in one.ranking:
            ratio = evidence.ratio(one.case.key, one.ranking[0], name)
            if slower(evidence, one.case.key, one.ranking[0], name) and ratio > ALIKE * worst.get(name, (1.0, 0))[0]:
                worst[name] = ratio, size
    if worst:
        told = [
            say("{name} {ratio:ratio} at {size:size}", name=name, ratio=worst[name][0], size=worst[name][1])
            for name in evidence.names
            if name in worst
        ]
        yield say("At worst, against the fastest: {told:and}.", told=told)
