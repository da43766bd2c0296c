"""The effect of rank placement on a candidate, with the reason as far as it was measured.

Why: Three reasons can be checked against measurements: a cache line handed over without MPI takes longer by as
much; one core copies at the same bandwidth; a jump comes at another size, as a protocol switch does. Where none
is confirmed, the finding says so.

What to do: Place ranks that communicate most where the times are best.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankbench.analysis.questions import case_labels, measures, placements
from rankbench.analysis.questions.measures import Measure
from rankbench.analysis.questions.placements import Jump
from rankbench.analysis.questions.places import CACHES
from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.statistics import FEWEST_BLOCKS
from rankbench.language import Text, say, sentences
from rankbench.model import Case, Comparison, Finding, Launch, Operation, Summary
from rankbench.quantities import format_rate

TITLE = "Placements"
FOLLOWS = (0.5, 1.5)
"""A ratio explains another if the quotient of their logarithms is within these."""
LINES = (0.5, 4.0)
"""Cache lines that a small message hands over, one way: half of one, since a probe's median may be, to four."""
COPIES = (0.5, 2.0)
"""A bandwidth is that of a copying core if their quotient is within these."""
WIDEST = 1.25
"""Upper over lower end of an interval above which nothing is concluded."""
LARGE_BYTES = 1 << 16
"""Messages from this size on can be limited by copying."""
MEGA = 1e6


@dataclass(frozen=True)
class Line:
    """One operation of one candidate at two placements, in all sizes that both have."""

    view: CampaignView
    candidate: str
    near: str
    far: str
    cases: dict[int, dict[str, Case]]
    """By size and placement."""
    ratios: dict[int, Comparison]
    """By size: the time at the far placement over that at the near one."""
    shared: dict[str, set[str] | None]
    """By placement: what the ranks share."""
    jumps: dict[str, list[Jump]]
    """By placement: jumps along the sizes."""

    @cached_property
    def operation(self) -> Operation:
        """Return the operation."""
        return self.view.operations[self.cases[min(self.cases)][self.near].operation]

    @cached_property
    def ranks(self) -> list[int]:
        """Return the ranks that take part."""
        return list_partners(self.cases[min(self.cases)][self.near], self.operation)

    @cached_property
    def in_one_host(self) -> bool:
        """Return whether the ranks are known to be on one host at both placements."""
        return all(placements.one_host(self.shared[place]) for place in (self.near, self.far))

    def launches(self, placement: str) -> list[Launch]:
        """Return the candidate's launches at a placement."""
        return list_launches(self.view, self.candidate, placement)

    def summary(self, size_bytes: int, placement: str) -> Summary:
        """Return what was measured in one size at one placement."""
        return self.view.summary_of[self.cases[size_bytes][placement].key, self.candidate]

    def measure(self, size_bytes: int) -> Measure:
        """Return how values of one size are reported."""
        summary = self.summary(size_bytes, self.near)
        case = self.cases[size_bytes][self.near]
        return measures.choose_measure(case, self.operation, summary.moved_bytes, summary.moved_messages)

    @cached_property
    def exchange(self) -> Comparison | None:
        """Return the ratio of a cache line's time far over near, where both were measured."""
        launches = [*self.launches(self.near), *self.launches(self.far)]
        machine, threshold = self.view.campaign.machine, self.view.campaign.plan.threshold
        comparisons = placements.exchange_effects(launches, self.ranks, machine, threshold)
        return next(
            (comparison for comparison in comparisons if (comparison.base, comparison.other) == (self.near, self.far)),
            None,
        )

    @cached_property
    def exchanges_ns(self) -> list[float]:
        """Return the typical time of a cache line at the near and at the far placement."""
        machine, ranks = self.view.campaign.machine, self.ranks
        return [
            float(np.nanmedian([placements.exchange_ns(launch, ranks, machine) for launch in self.launches(place)]))
            for place in (self.near, self.far)
        ]


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield one finding per candidate and operation that was measured at several places."""
    same = placements.list_same_cases(view.campaign)
    lines: dict[str, dict[int, str]] = {}
    for key, cases in same.items():
        if all(takes_part(view, case) for case in cases.values()):
            case_ = placements.remove_placement(next(iter(cases.values())))
            lines.setdefault(case_labels.make_line_key(case_), {})[case_.size_bytes] = key
    if not lines:
        return
    effects = placements.placement_effects(view.judged_values, view.campaign)
    ratios = {
        (effect.candidate, effect.line, effect.ratio.base, effect.ratio.other): effect.ratio for effect in effects
    }
    for keys in lines.values():
        by_size = {size: same[keys[size]] for size in sorted(keys)}
        for name in view.candidates:
            lines_ = [line for line in compare_placements(view, name, by_size, keys, ratios) if shows_anything(line)]
            if lines_:
                yield make_finding(lines_)


def takes_part(view: CampaignView, case: Case) -> bool:
    """Return whether a case is a time with its usual start, and not part of a map or a scale."""
    usual = view.usual_of[case.key] == case
    apart = case.key in view.pair_cases or case.key in view.over_nodes
    return usual and case.quantity == "time" and not apart


def compare_placements(
    view: CampaignView,
    candidate: str,
    cases: Mapping[int, dict[str, Case]],
    keys: Mapping[int, str],
    ratios: Mapping[tuple[str, str, str, str], Comparison],
) -> Iterator[Line]:
    """Yield the nearest placement, whose ranks share most, against each of the others."""
    if not cases:
        return
    first = next(iter(cases.values()))
    names = [
        placement.name
        for placement in view.campaign.plan.placements
        if any(placement.name in case for case in cases.values())
    ]
    ranks = list_partners(next(iter(first.values())), view.operations[next(iter(first.values())).operation])
    shared = {
        name: placements.find_shared_kinds(list_launches(view, candidate, name), ranks, view.campaign.machine)
        for name in names
    }
    jumps = {name: placements.find_jumps(view.judged_values, list_keys(cases, name), candidate) for name in names}
    near = max(names, key=lambda name: len(shared[name] or ()))
    for far in (name for name in names if name != near):
        both = {size: case for size, case in cases.items() if {near, far} <= case.keys()}
        comparisons = {size: ratio for size in both if (ratio := find_ratio(ratios, candidate, keys[size], near, far))}
        yield Line(view, candidate, near, far, {size: both[size] for size in comparisons}, comparisons, shared, jumps)


def list_keys(cases: Mapping[int, dict[str, Case]], placement: str) -> dict[int, str]:
    """Return the keys of the cases at one placement, by size."""
    return {size: case[placement].key for size, case in cases.items() if placement in case}


def find_ratio(
    ratios: Mapping[tuple[str, str, str, str], Comparison], candidate: str, key: str, near: str, far: str
) -> Comparison | None:
    """Return the ratio of far to near, whichever of the two the plan names first."""
    if comparison := ratios.get((candidate, key, near, far)):
        return comparison
    back = ratios.get((candidate, key, far, near))
    return back and placements.invert(back)


def list_partners(case: Case, operation: Operation) -> list[int]:
    """Return the ranks that take part in a case."""
    return list(case_labels.find_ends(case, operation)) if operation.between_two else list(range(case.ranks))


def list_launches(view: CampaignView, candidate: str, placement: str) -> list[Launch]:
    """Return a candidate's launches at a placement that reported where ranks ran."""
    return [
        launch
        for launch in view.launches
        if (launch.candidate, launch.placement) == (candidate, placement) and launch.ranks
    ]


# --- in words ---------------------------------------------------------------------------------------------------------


def make_finding(lines: list[Line]) -> Finding:
    """Return the finding on one candidate and operation: the nearest placement against all others."""
    first = lines[0]
    title = case_labels.name_line(first.cases[min(first.cases)][first.near], first.operation)
    ends = [(line, size) for line in lines for size in sorted({min(line.cases), max(line.cases)})]
    keys = [line.cases[size][place].key for line, size in ends for place in (line.near, line.far)]
    return Finding(
        kind="placement",
        title=say("{name}: effect of the placement on {title}", name=first.candidate, title=title),
        text=sentences(sentence for line in lines for sentence in describe_line(line)),
        advice=say(
            "Place ranks that communicate most where the values are best. Measure again where the reason is not known."
        ),
        cases=list(dict.fromkeys(keys)),
        severity="note",
    )


def describe_line(line: Line) -> Iterator[Text]:
    """Yield how the far placement compares with the near one, and why if that is known."""
    small, large = min(line.ratios), max(line.ratios)
    ratios = [describe_ratio(line, size) for size in dict.fromkeys((small, large))]
    yield say("{far} against {near}: {ratios:and}.", far=line.far, near=line.near, ratios=ratios)
    yield explain_small(line, small)
    if large > small:
        yield from describe_protocols(line)
        yield from explain_copying(line, large)


def shows_anything(line: Line) -> bool:
    """Return whether any size shows a difference, or that there is none: one block alone shows neither."""
    return not all(map(is_uncertain, line.ratios.values()))


def describe_ratio(line: Line, size_bytes: int) -> Text:
    """Return the ratio in one size with its interval: `3.00× the time at 8 B (2.95× to 3.05×)`."""
    ratio = line.ratios[size_bytes]
    interval = say("{low:ratio} to {high:ratio}" if ratio.blocks > 1 else "one block", low=ratio.low, high=ratio.high)
    return say(
        "{ratio:ratio} the time at {size:size} ({interval})" if size_bytes else "{ratio:ratio} the time ({interval})",
        ratio=ratio.ratio,
        size=size_bytes,
        interval=interval if ratio.different else say("{interval}, not distinguishable", interval=interval),
    )


def explain_small(line: Line, size_bytes: int) -> Text:
    """Return whether measurements without MPI explain the ratio of small messages."""
    if None in (line.shared[line.near], line.shared[line.far]):
        return say("Ranks ran on different CPUs in different launches, so the reason is not known.")
    if not line.in_one_host:
        return say(
            "Between hosts messages cross the network, which was not measured without MPI, so its share is not known."
        )
    if is_uncertain(line.ratios[size_bytes]):
        return say("This is too uncertain to look for a reason.")
    if line.exchange is None:
        return say(
            "Handing over a cache line between these CPUs was not measured without MPI, so it is not known whether "
            "the machine is the reason."
        )
    explain = explain_slower if line.ratios[size_bytes].different else explain_equal
    return explain(line, size_bytes, line.exchange)


def is_uncertain(ratio: Comparison) -> bool:
    """Return whether a ratio shows neither a difference nor that there is none."""
    return not ratio.different and (ratio.blocks < FEWEST_BLOCKS or ratio.high > WIDEST * ratio.low)


def explain_slower(line: Line, size_bytes: int, raw: Comparison) -> Text:
    """Return whether the machine explains a difference."""
    without = say(
        "Without MPI, handing over a cache line between these CPUs takes {ratio:ratio} the time", ratio=raw.ratio
    )
    if is_explained(line, size_bytes, raw):
        only = list_caches(line)
        return say(
            "{without}: the machine explains it (at {near} the CPUs share {caches:and}, at {far} they do not)."
            if only
            else "{without}: the machine explains it.",
            without=without,
            near=line.near,
            far=line.far,
            caches=only,
        )
    return say(
        "{without}, which is too uncertain to show whether the machine is the reason."
        if is_uncertain(raw)
        else "{without}, which is no difference: the distance between the CPUs is not the reason. The reason is not "
        "known."
        if not raw.different
        else "{without}, which is the opposite: the machine is not the reason. The reason is not known."
        if (line.ratios[size_bytes].ratio > 1) != (raw.ratio > 1)
        else "{without}, which does not explain the difference. What the library does differently there is not known.",
        without=without,
    )


def is_explained(line: Line, size_bytes: int, raw: Comparison) -> bool:
    """Return whether the library's time changes as that of a cache line does: by its ratio, or by a few lines."""
    ratio = line.ratios[size_bytes].ratio
    if not raw.different or (ratio > 1) != (raw.ratio > 1):
        return False
    near_ns, far_ns = line.exchanges_ns
    added_ns = line.summary(size_bytes, line.near).typical_ns * (ratio - 1)
    lines = added_ns / (far_ns - near_ns) if far_ns != near_ns else math.inf
    share = math.log(ratio) / math.log(raw.ratio)
    return FOLLOWS[0] <= share <= FOLLOWS[1] or LINES[0] <= lines <= LINES[1]


def list_caches(line: Line) -> list[Text]:
    """Return which caches the CPUs share at the near placement only."""
    near, far = (line.shared[place] or set() for place in (line.near, line.far))
    return [say("an {name} cache", name=name) for name in CACHES if name in near - far]


def explain_equal(line: Line, size_bytes: int, raw: Comparison) -> Text:
    """Return why the nearer placement is not faster."""
    near_ns, far_ns = line.exchanges_ns
    call_ns, ratio = line.summary(size_bytes, line.near).typical_ns, line.ratios[size_bytes]
    more_ns = abs(far_ns - near_ns)
    lost = more_ns < call_ns * (ratio.high - ratio.low) / 2
    return say(
        "{near} is not faster than {far}: without MPI, handing over a cache line between these CPUs takes "
        "{ratio:ratio} the time at {far}, which is too uncertain to show why."
        if is_uncertain(raw)
        else "{near} is not faster than {far}: without MPI, handing over a cache line between these CPUs takes the "
        "same time at both ({ratio:ratio})."
        if not raw.different
        else "{near} is not faster than {far}: without MPI, handing over a cache line between these CPUs takes "
        "{ratio:ratio} the time at {far}, but {more:time} are too little to see in a call of {call:time}."
        if lost
        else "{near} is not faster than {far}: without MPI, handing over a cache line between these CPUs takes "
        "{ratio:ratio} the time at {far}, which the call does not show. The reason is not known.",
        near=line.near,
        far=line.far,
        ratio=raw.ratio,
        more=more_ns,
        call=call_ns,
    )


def describe_protocols(line: Line) -> Iterator[Text]:
    """Yield jumps between sizes of both placements that only one of them has."""
    steps = {
        place: {jump[:2]: jump for jump in line.jumps[place] if line.cases.keys() >= {*jump[:2]}}
        for place in (line.near, line.far)
    }
    alone = {
        place: [jump for step, jump in steps[place].items() if step not in steps[other]]
        for place, other in ((line.near, line.far), (line.far, line.near))
    }
    texts = [
        say("{place} jumps {jumps:and}", place=place, jumps=[describe_jump(line, jump) for jump in jumps])
        for place, jumps in alone.items()
        if jumps
    ]
    if texts:
        yield say(
            "Along the sizes, {jumps:and}: the library probably switches its protocol at different sizes, which "
            "explains the ratios in between."
            if len(texts) > 1
            else "Along the sizes, {jumps:and}, the other does not: probably a switch of protocol, or a full cache.",
            jumps=texts,
        )


def describe_jump(line: Line, jump: Jump) -> Text:
    """Return a jump by what a reader sees grow: `from 8 KiB to 16 KiB (2.90×)`, of a bandwidth `(bandwidth 0.69×)`."""
    first, last = (line.measure(size) for size in (jump.smaller_bytes, jump.larger_bytes))
    return say(
        "from {smaller:size} to {larger:size} ({what} {factor:ratio})"
        if first.per_second
        else "from {smaller:size} to {larger:size} ({factor:ratio})",
        smaller=jump.smaller_bytes,
        larger=jump.larger_bytes,
        factor=last.grow(first, jump.factor, jump.larger_bytes / jump.smaller_bytes),
        what=first.name,
    )


def explain_copying(line: Line, size_bytes: int) -> Iterator[Text]:
    """Yield whether copying by one core limits large messages, where the placement makes no difference to them."""
    ratio = line.ratios[size_bytes]
    if ratio.different or is_uncertain(ratio) or not line.in_one_host or size_bytes < LARGE_BYTES:
        return
    equal = say("At {size:size} the two are equally fast", size=size_bytes)
    launches = [*line.launches(line.near), *line.launches(line.far)]
    cache_bytes = max((launch.facts.last_level_cache_bytes for launch in launches if launch.facts), default=0)
    core = placements.measure_copying(launches)
    if not cache_bytes or size_bytes <= cache_bytes:
        yield say(
            "{equal}; messages may fit into the last-level cache of {cache:size}, so it is not known whether copying "
            "is the limit."
            if cache_bytes
            else "{equal}; messages may fit into a cache of unknown size, so it is not known whether copying is the "
            "limit.",
            equal=equal,
            cache=cache_bytes,
        )
    elif not math.isfinite(core):
        yield say("{equal}; the copy bandwidth of a core was not measured, so the reason is not known.", equal=equal)
    else:
        yield compare_copying(line, size_bytes, core, equal)


def compare_copying(line: Line, size_bytes: int, core: float, equal: Text) -> Text:
    """Return how the bandwidth of messages that no cache holds compares with that of a copying core."""
    typical_ns, measure = line.summary(size_bytes, line.near).typical_ns, line.measure(size_bytes)
    rate = measure.value(typical_ns) * MEGA if measure.kind == "bandwidth" else size_bytes / typical_ns * 1e9
    rates = say(
        "{equal}, at {rate} MB/s. Without MPI, a core copies {core} MB/s while all others copy too",
        equal=equal,
        rate=format_rate(rate / MEGA),
        core=format_rate(core / MEGA),
    )
    return say(
        "{rates}. No cache holds such messages, so copying is probably the limit, wherever the other core is."
        if COPIES[0] <= rate / core <= COPIES[1]
        else "{rates}. Copying alone does not explain this; the reason is not known.",
        rates=rates,
    )
