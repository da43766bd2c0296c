"""Which candidate for an application: what its calls come to with each of them. Pure.

The time of a mix is the sum over its calls of how often each is made times what it takes. Between two measured sizes a
time is interpolated on logarithmic axes; below the smallest it is that of the smallest; above the largest it grows with
the size. Candidates are compared by the ratio of two sums in which each call's ratio is the one paired within blocks.
Of the interval each call brings its own half-width, weighted by its share of the time: as if all erred together, since
figures of one launch do. So the interval is rather too wide than too narrow.

It is an estimate of communication that nothing disturbs: an application's waiting for each other is not in it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from rankbench.language import say
from rankbench.quantities import format_ratio, format_size
from rankbench.verdict import naming
from rankbench.verdict.evidence import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankbench.model import Calls, Case
    from rankbench.verdict.evidence import Evidence

MAIN_SHARE = 0.1
"""A call with a smaller share of the time is not named in a sentence."""
NAMED = 3


class Part(NamedTuple):
    """A call of the mix and what stands for it."""

    calls: Calls
    cases: list[tuple[Case, float]]
    """Measured cases and the weight of each in the logarithm of the time."""
    scale: float = 1.0
    """By how much a size beyond the largest that was measured takes longer."""

    @property
    def how(self) -> str:
        """Return where the time comes from."""
        if self.scale != 1:
            return say("from {size:size}, in proportion", size=self.cases[0][0].size_bytes)
        if len(self.cases) > 1:
            sizes = [format_size(case.size_bytes) for case, _ in self.cases]
            return say("between {sizes:and}", sizes=sizes)
        near = self.cases[0][0].size_bytes
        return say("measured" if near == self.calls.size_bytes else "as {size:size}", size=near)


class Standing(NamedTuple):
    """What the whole mix takes with one candidate, and against the best one."""

    candidate: str
    time_ns: float
    ratio: float
    low: float
    high: float
    different: bool


class Mix(NamedTuple):
    """What a mix comes to in one placement."""

    placement: str
    parts: list[Part]
    missing: list[Calls]
    """Calls of operations that were not measured there."""
    standings: list[Standing]
    """Best first; candidates that have no figure for some call are in none."""
    without: dict[str, str]
    """Candidates that have none, and the first call that they lack."""
    shares: dict[tuple[str, int], float]
    """By candidate and place of a part, its share of the time."""


def mixes(evidence: Evidence, calls: Sequence[Calls]) -> Iterator[Mix]:
    """Yield what the calls come to in each placement in which any of them was measured."""
    for placement in evidence.campaign.plan.placements:
        lines = {call: line(evidence, call, placement.name) for call in calls}
        parts = [part(call, cases) for call, cases in lines.items() if cases]
        if parts:
            missing = [call for call, cases in lines.items() if not cases]
            yield summed(evidence, placement.name, parts, missing)


def line(evidence: Evidence, call: Calls, placement: str) -> list[Case]:
    """Return the cases that differ in size only and stand for a call, in the order of sizes: the plainest there are."""
    fitting = [
        one.case
        for one in evidence.times
        if (one.case.operation, one.case.placement) == (call.operation, placement)
        and one.case.quantity == "time"
        and call.form in {"", one.case.form}
    ]
    lines: dict[str, list[Case]] = {}
    for case in fitting:
        lines.setdefault(naming.line_key(case), []).append(case)

    def plainness(cases: list[Case]) -> tuple[bool, int]:
        operation = evidence.operation[call.operation]
        return cases[0].form != operation.form, len(naming.unusual(cases[0], operation))

    plainest = min(lines.values(), key=plainness) if lines else []
    return sorted(plainest, key=lambda case: case.size_bytes)


def part(call: Calls, cases: Sequence[Case]) -> Part:
    """Return what stands for a call among cases of rising size."""
    below = [case for case in cases if case.size_bytes <= call.size_bytes]
    above = [case for case in cases if case.size_bytes >= call.size_bytes]
    if not below:
        return Part(call, [(cases[0], 1.0)])
    low = below[-1]
    if not above:
        return Part(call, [(low, 1.0)], call.size_bytes / low.size_bytes if low.size_bytes else 1.0)
    high = above[0]
    if low is high or not low.size_bytes:
        return Part(call, [(low if low is high else high, 1.0)])
    weight = math.log(call.size_bytes / low.size_bytes) / math.log(high.size_bytes / low.size_bytes)
    return Part(call, [(low, 1 - weight), (high, weight)])


def summed(evidence: Evidence, placement: str, parts: list[Part], missing: list[Calls]) -> Mix:
    """Return what the parts come to with each candidate."""
    times: dict[str, list[float]] = {}
    without: dict[str, str] = {}
    for name in evidence.names:
        own = [time_ns(evidence, one, name) for one in parts]
        lacking = [one for one, time in zip(parts, own, strict=True) if time is None]
        if lacking:
            without[name] = told(lacking[0].calls)
        else:
            times[name] = [time for time in own if time is not None]
    best = min(times, key=lambda name: sum(times[name]), default="")
    standings = sorted(
        (standing(evidence, parts, best, name, times) for name in times),
        key=lambda one: (one.candidate != best, one.ratio),
    )
    shares = {(name, place): time / sum(own) for name, own in times.items() for place, time in enumerate(own)}
    return Mix(placement, parts, missing, standings, without, shares)


def time_ns(evidence: Evidence, one: Part, candidate: str) -> float | None:
    """Return what a part takes with a candidate, all its calls together; nothing where a case of it has no figure."""
    log = 0.0
    for case, weight in one.cases:
        summary = evidence.summary.get((case.key, candidate))
        if summary is None or not summary.launches or not summary.typical_ns > 0:
            return None
        log += weight * math.log(summary.typical_ns)
    return one.calls.calls * one.scale * math.exp(log)


def standing(evidence: Evidence, parts: list[Part], best: str, name: str, times: dict[str, list[float]]) -> Standing:
    """Return how a candidate stands to the best one."""
    total = sum(times[name])
    if name == best:
        return Standing(name, total, 1.0, 1.0, 1.0, different=False)
    rivals = len(times) - 1
    ratios, halves = zip(*(paired(evidence, one, best, name, rivals) for one in parts), strict=True)
    terms = [time * math.exp(log) for time, log in zip(times[best], ratios, strict=True)]
    log = math.log(sum(terms) / sum(times[best]))
    half = sum(term * width for term, width in zip(terms, halves, strict=True)) / sum(terms)
    low, high = math.exp(log - half), math.exp(log + half)
    threshold = evidence.campaign.plan.threshold
    different = low > 1 + threshold or high < 1 / (1 + threshold)
    return Standing(name, total, math.exp(log), low, high, different)


def paired(evidence: Evidence, one: Part, base: str, other: str, rivals: int) -> tuple[float, float]:
    """Return the logarithm of the ratio of a part, and half the width of its interval, one of so many at once."""
    log = half = 0.0
    for case, weight in one.cases:
        log += weight * math.log(evidence.ratio(case.key, base, other))
        half += weight * evidence.pairs.half_width(case.key, base, other, rivals, evidence.campaign.plan.confidence)
    return log, half


# --- in words ---------------------------------------------------------------------------------------------------------


def told(call: Calls) -> str:
    """Return a call in words: `allreduce 8 B`."""
    form = f" {call.form}" if call.form else ""
    size = f" {format_size(call.size_bytes)}" if call.size_bytes else ""
    return f"{call.operation}{form}{size}"


def sentences(evidence: Evidence, mix: Mix) -> Iterator[str]:
    """Say which candidate the mix is fastest with, by how much, what it is made of, and what is not in it."""
    several = len(evidence.campaign.plan.placements) > 1
    if not mix.standings:
        yield say(
            "No candidate has figures for all calls of the mix at {placement}."
            if several
            else "No candidate has figures for all calls of the mix.",
            placement=mix.placement,
        )
    else:
        yield from answer(mix, several=several)
        yield made_of(mix)
    if mix.missing:
        yield say(
            "Not in it, since nothing that stands for it {n:of was|were} measured at {placement}: {calls:and}."
            if several
            else "Not in it, since nothing that stands for it {n:of was|were} measured: {calls:and}.",
            n=len(mix.missing),
            placement=mix.placement,
            calls=map(told, mix.missing),
        )
    for name, call in mix.without.items():
        yield say("{name} has no figure for {call}, and is left out.", name=name, call=call)


def answer(mix: Mix, *, several: bool) -> Iterator[str]:
    """Say who is best, and how the others stand to it; where, if there are several placements."""
    best, *others = mix.standings
    level = [one.candidate for one in others if not one.different]
    behind = [one for one in others if one.different]
    fastest = say(
        "For these calls at {placement}, {name} takes least: {time:time} in all"
        if several
        else "For these calls, {name} takes least: {time:time} in all",
        placement=mix.placement,
        name=best.candidate,
        time=best.time_ns,
    )
    yield (
        say("{fastest}; it cannot be told from {level:and}.", fastest=fastest, level=level) if level else f"{fastest}."
    )
    if behind:
        ratios = [
            say(
                "{name} takes {ratio:ratio} ({interval}) as long",
                name=one.candidate,
                ratio=one.ratio,
                interval=interval(one),
            )
            for one in behind
        ]
        yield f"{listed(ratios)}."


def interval(one: Standing) -> str:
    """Return the interval of the ratio to the best."""
    return f"{format_ratio(one.low)[:-1]}–{format_ratio(one.high)}"


def made_of(mix: Mix) -> str:
    """Say which calls most of the time of the best goes to."""
    best = mix.standings[0].candidate
    order = sorted(range(len(mix.parts)), key=lambda place: -mix.shares[best, place])
    main = [place for place in order if mix.shares[best, place] >= MAIN_SHARE][:NAMED] or order[:1]
    parts = [
        say("{share:.0%} of it is {call}", share=mix.shares[best, place], call=told(mix.parts[place].calls))
        for place in main
    ]
    rest = len(mix.parts) - len(main)
    if rest:
        parts.append(say("{n:count other call} {n:of takes|take} the rest", n=rest))
    return f"{listed(parts)}."
