"""Which candidate for an application: the total time of its calls with each of them. Pure.

The time of a mix is the sum over its calls of how often each is made times what it takes. Between two measured sizes a
time is interpolated on logarithmic axes; below the smallest it is that of the smallest; above the largest it grows with
the size. The best candidate has the smallest sum of times that agree with the ratios paired within blocks; the others
are compared with it by the ratios of these sums, for all rivals at once (Bonferroni). The error of such a ratio comes
from how far blocks are off (`verdict.block_ratios`). The ratio at a size between two is that of the whole line, drawn
together (`statistics.shrinkage`). A size that was not measured adds what the ratio changes between its neighbours.
Where more than a tenth of the time is extrapolated far, no candidate is recommended.

It is an estimate of communication that nothing disturbs: an application's waiting for each other is not in it.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, get_args

import msgspec

from rankbench.analysis.questions import case_labels
from rankbench.analysis.questions.block_ratios import (
    Group,
    Overall,
    count_slower,
    decide_overall,
    describe_distance,
    estimate_logs,
    judge_rival,
)
from rankbench.analysis.questions.extremes import shrink_along_sizes
from rankbench.analysis.questions.interim import find_penalty
from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.questions.wording import describe_share, format_plan_sizes
from rankbench.analysis.statistics.decision import Estimate
from rankbench.language import NOTHING, Text, list_parts, say
from rankbench.model import Calls, Case, Operation, Placement
from rankbench.quantities import format_size

MAIN_SHARE = 0.1
"""A call with a smaller share of the time is not named in a sentence."""
NAMED = 3
SECOND_NS = 1e9
PAIR = 2
FAR = 2.0
"""A size that is extrapolated by a larger factor is a guess."""
MESSAGES = {"pingping": 1, "exchange": 2, "halo": 4}
"""Operations of messages to several partners at once, and the messages of each rank."""
MOST_GUESSED = 0.1
"""Share of the time that may be a guess where a candidate is recommended."""


class Part(NamedTuple):
    """A call of the mix and the cases that represent it."""

    calls: Calls
    cases: list[tuple[Case, float]]
    """Measured cases and the weight of each in the logarithm of the time."""
    scale: float = 1.0
    """By how much a size beyond the largest that was measured takes longer."""
    neighbour: Case | None = None
    """The measured size next to the one that is extrapolated from."""
    line: Sequence[Case] = ()
    """All cases that differ from these in size only, where a size between two is interpolated."""

    @property
    def stretch(self) -> float:
        """Return the factor in size by which the time is extrapolated; 1 where it is measured or interpolated."""
        if len(self.cases) > 1:
            return 1.0
        near, wanted = (max(size, 1) for size in (self.cases[0][0].size_bytes, self.calls.size_bytes))
        return max(near / wanted, wanted / near)

    @property
    def how(self) -> Text:
        """Return the origin of the time."""
        if self.scale != 1:
            return say("from {size:size}, in proportion", size=self.cases[0][0].size_bytes)
        if len(self.cases) > 1:
            first, last = (case.size_bytes for case, _ in self.cases)
            return say("between {first:size} and {last:size}", first=first, last=last)
        near = self.cases[0][0].size_bytes
        return say("measured" if near == self.calls.size_bytes else "as {size:size}", size=near)


class Totals(NamedTuple):
    """Times of parts with each candidate that has values for all of them, in ns."""

    parts: Sequence[Part]
    times: dict[str, list[float]]

    def weigh(self, base: str, other: str) -> dict[str, float]:
        """Return weights of cases by which the mean log ratio of two candidates is that of their totals.

        Of each part it is the logarithmic mean of its shares of both totals (Sato, Review of Economics and Statistics
        58, 1976; Vartia, Scandinavian Journal of Economics 78, 1976). They sum to 1.
        """
        shares = [[time / sum(self.times[name]) for time in self.times[name]] for name in (base, other)]
        means = [average_logarithmically(*both) for both in zip(*shares, strict=True)]
        weights: dict[str, float] = {}
        for part, mean in zip(self.parts, means, strict=True):
            for case, weight in part.cases:
                weights[case.key] = weights.get(case.key, 0.0) + weight * mean / sum(means)
        return weights


class MixResult(NamedTuple):
    """The total of one candidate, and its ratio to the best one."""

    candidate: str
    time_ns: float
    ratio: float
    low: float
    high: float
    outcome: Group | Literal["best"]
    slower_blocks: int = 0
    """Blocks in which it was slower than the best one."""
    blocks: int = 0

    @property
    def overall(self) -> Overall:
        """Return the ratio to the best one."""
        return Overall(self.ratio, self.low, self.high, self.slower_blocks, self.blocks)


class Mix(NamedTuple):
    """The totals of a mix at one placement."""

    placement: str
    parts: list[Part]
    missing: list[Calls]
    """Calls of operations that were not measured there."""
    standings: list[MixResult]
    """Best first; candidates that have no value for some call are in none."""
    without: dict[str, str]
    """Candidates that have none, and the first call that they lack."""
    shares: dict[tuple[str, int], float]
    """By candidate and place of a part, its share of the time."""

    @property
    def names(self) -> list[str]:
        """Return the calls of the parts in words."""
        return name_calls([part.calls for part in self.parts])


def sum_mixes(view: CampaignView, calls: Sequence[Calls]) -> Iterator[Mix]:
    """Yield the totals at each placement where any of the calls was measured.

    Calls of a recorded program belong to the placements of as many ranks, if there are any, and those on its
    communicators of fewer ranks to placements of that number.
    """
    ranks = max((call.ranks for call in calls), default=0)
    places = view.campaign.plan.placements
    for placement in [place for place in places if place.ranks == ranks] or places:
        lines = [choose_called_line(view, call, placement) for call in calls]
        parts = [make_part(single, cases) for call, cases in lines if cases for single in spread_sizes(call, cases)]
        if any(case.placement == placement.name for part in parts for case, _ in part.cases):
            missing = [call for call, cases in lines if not cases]
            yield sum_parts(view, placement.name, count_shares(view, parts), missing)


def choose_called_line(view: CampaignView, call: Calls, placement: Placement) -> tuple[Calls, list[Case]]:
    """Return a call with the cases that represent it; messages to several partners by round trips if need be."""
    fewer = [place.name for place in view.campaign.plan.placements if place.ranks == call.ranks]
    if call.ranks and not fewer and view.campaign.plan.profile:
        return call, []
    name = fewer[0] if fewer and call.ranks != placement.ranks else placement.name
    cases = choose_line(view, call, name)
    if not cases and call.operation in MESSAGES:
        messages = call.calls * int(call.options.get("dimensions", 0)) * 2 or call.calls * MESSAGES[call.operation]
        single = msgspec.structs.replace(call, operation="pingpong", form="", calls=messages)
        if cases := choose_line(view, single, name):
            return single, cases
    return call, cases


def spread_sizes(call: Calls, cases: Sequence[Case]) -> list[Calls]:
    """Return a call for each measured size of a range, which share its number or its time evenly; else the call."""
    if not call.most_bytes:
        return [call]
    within = [case.size_bytes for case in cases if call.size_bytes <= case.size_bytes <= call.most_bytes]
    sizes = within or [call.size_bytes, call.most_bytes]
    return [
        msgspec.structs.replace(
            call, size_bytes=size, most_bytes=0, calls=call.calls / len(sizes), share=call.share / len(sizes)
        )
        for size in sizes
    ]


def count_shares(view: CampaignView, parts: list[Part]) -> list[Part]:
    """Return parts with the number of calls that a second of the application's communication has.

    A share is one of the time with the candidate that the plan names, if it has a value, else of the mean (of
    logarithms) of all that have.
    """
    source = view.campaign.find_candidate(view.campaign.plan.calls_measured_with)
    counted = []
    for part in parts:
        if not part.calls.share:
            counted.append(part)
            continue
        single = part._replace(calls=msgspec.structs.replace(part.calls, calls=1.0))
        all_times = {name: time for name in view.candidates if (time := find_time_ns(view, single, name))}
        times = [all_times[source]] if source in all_times else list(all_times.values())
        number = part.calls.share * SECOND_NS / statistics.geometric_mean(times) if times else part.calls.share
        counted.append(part._replace(calls=msgspec.structs.replace(part.calls, calls=number)))
    return counted


def choose_line(view: CampaignView, call: Calls, placement: str) -> list[Case]:
    """Return the cases that represent a call, by size: those with the fewest unusual options.

    Results of other tools represent the operation that measures the same, those between two ranks at all placements
    where nothing else does.
    """
    measured = [
        timed_verdict.case
        for timed_verdict in view.timed_verdicts
        if timed_verdict.case.quantity == "time" and call.form in {"", timed_verdict.case.form}
    ]
    same = [case for case in measured if case.operation == call.operation and case.placement == placement]
    same = [case for case in same if is_as_called(case, call, view.operations[case.operation])] or same
    others = [case for case in measured if represents(view.operations[case.operation], call)]
    here = [case for case in others if case.placement == placement]
    fitting = same or here or [case for case in others if view.operations[case.operation].ranks_exactly == PAIR]
    lines: dict[str, list[Case]] = {}
    for case in fitting:
        lines.setdefault(f"{case.placement} {case_labels.make_line_key(case)}", []).append(case)

    def plainness(cases: list[Case]) -> tuple[bool, int, int]:
        operation = view.operations[cases[0].operation]
        return cases[0].form != operation.form, len(case_labels.list_unusual(cases[0], operation)), -len(cases)

    plainest = min(lines.values(), key=plainness) if lines else []
    return sorted(plainest, key=lambda case: case.size_bytes)


def is_as_called(case: Case, call: Calls, operation: Operation) -> bool:
    """Return whether a case has the datatype and the options that a call was recorded with, as far as it can."""
    usual = {option.name: option.usual for option in operation.options}
    wanted = {name: value for name, value in call.options.items() if usual.get(name, value) != value}
    datatype = call.datatype if call.datatype in operation.datatypes else operation.datatype
    return (case.datatype, case.options) == (datatype, wanted)


def represents(operation: Operation, call: Calls) -> bool:
    """Return whether an operation of another tool has the time of a call, or half a round trip as `pingpong` has."""
    if not operation.foreign or operation.metric not in {"time", "latency"}:
        return False
    return operation.foreign.counterpart == call.operation and operation.foreign.meaning.trip in {"call", "half"}


def make_part(call: Calls, cases: Sequence[Case]) -> Part:
    """Return what represents a call among cases of rising size; a call without a message has size 0."""
    if not cases[-1].size_bytes:
        return Part(msgspec.structs.replace(call, size_bytes=0), [(cases[-1], 1.0)])
    below = [case for case in cases if case.size_bytes <= call.size_bytes]
    above = [case for case in cases if case.size_bytes >= call.size_bytes]
    if not below:
        return Part(call, [(cases[0], 1.0)], neighbour=next(iter(cases[1:]), None))
    low = below[-1]
    if not above:
        scale = call.size_bytes / low.size_bytes if low.size_bytes else 1.0
        return Part(call, [(low, 1.0)], scale, next(iter(below[-2:-1]), None))
    high = above[0]
    if low is high or not low.size_bytes:
        return Part(call, [(low if low is high else high, 1.0)])
    weight = math.log(call.size_bytes / low.size_bytes) / math.log(high.size_bytes / low.size_bytes)
    return Part(call, [(low, 1 - weight), (high, weight)], line=cases)


def sum_parts(view: CampaignView, placement: str, parts: list[Part], missing: list[Calls]) -> Mix:
    """Return the totals of the parts with each candidate."""
    totals = fit_totals(view, parts)
    without = {
        name: name_call(next(part.calls for part in parts if find_time_ns(view, part, name) is None))
        for name in view.candidates
        if name not in totals.times
    }
    shares = {
        (name, place): time / sum(numbers)
        for name, numbers in totals.times.items()
        for place, time in enumerate(numbers)
    }
    return Mix(placement, parts, missing, compare_totals(view, totals), without, shares)


def find_time_ns(view: CampaignView, part: Part, candidate: str) -> float | None:
    """Return the time of all calls of a part with a candidate; None where a case of it has no value."""
    log = 0.0
    for case, weight in part.cases:
        if not has_value(view, case, candidate):
            return None
        log += weight * math.log(view.summary_of[case.key, candidate].typical_ns)
    return part.calls.calls * part.scale * math.exp(log)


def has_value(view: CampaignView, case: Case, candidate: str) -> bool:
    """Return whether a candidate has a typical time of a case."""
    summary = view.summary_of.get((case.key, candidate))
    return bool(summary and summary.launches and summary.typical_ns > 0)


def fit_totals(view: CampaignView, parts: Sequence[Part]) -> Totals:
    """Return times of the parts by candidate, as near as can be to the ratios paired within blocks.

    Of two candidates they have exactly the paired ratio; of more the ratios agree with each other only nearly, and a
    candidate's time is the mean (of logarithms) of those that its ratios to all of them imply.
    """
    values = {name: [find_time_ns(view, part, name) for part in parts] for name in view.candidates}
    times = {name: [time for time in row if time is not None] for name, row in values.items() if None not in row}
    fitted: dict[str, list[float]] = {name: [] for name in times}
    for place, part in enumerate(parts if times else ()):
        level = statistics.fmean(math.log(time[place]) for time in times.values())
        for name, numbers in fitted.items():
            numbers.append(math.exp(level + statistics.fmean(find_log_ratio(view, part, base, name) for base in times)))
    return Totals(parts, fitted)


def compare_totals(view: CampaignView, totals: Totals) -> list[MixResult]:
    """Return the total of each candidate and its ratio to the lowest one, the lowest first."""
    sums = {name: sum(times) for name, times in totals.times.items()}
    if not sums:
        return []
    best, *others = sorted(sums, key=lambda name: sums[name])
    estimates = [estimate_total(view, totals, best, name) for name in others]
    results = [MixResult(best, sums[best], 1.0, 1.0, 1.0, "best")]
    for name, estimate, decision in zip(
        others, estimates, decide_overall(view, estimates, find_penalty(view), len(others)), strict=True
    ):
        slower, blocks = count_slower(view, best, name, totals.weigh(best, name), estimate.offset)
        group = judge_rival(decision, Overall.of(decision, slower, blocks))
        results.append(MixResult(name, sums[name], decision.ratio, decision.low, decision.high, group, slower, blocks))
    return results


def estimate_total(view: CampaignView, totals: Totals, base: str, other: str) -> Estimate:
    """Return the log ratio of the total of `other` to that of `base`, with the error that blocks give it.

    Where sizes were not measured, they add what is not known of their ratio.
    """
    weighed = totals.weigh(base, other)
    mean = math.log(sum(totals.times[other]) / sum(totals.times[base]))
    estimate = estimate_logs(view, base, other, weighed)
    unknown = sum(
        time / sum(totals.times[other]) * find_uncertainty(view, part, base, other)
        for part, time in zip(totals.parts, totals.times[other], strict=True)
    )
    return estimate._replace(mean=mean, offset=estimate.offset + unknown)


def average_logarithmically(first: float, other: float) -> float:
    """Return the logarithmic mean of two positive numbers."""
    return (first - other) / math.log(first / other) if not math.isclose(first, other, rel_tol=1e-9) else first


def find_log_ratio(view: CampaignView, part: Part, base: str, other: str) -> float:
    """Return the logarithm of the ratio of a part; between two sizes drawn towards those of the whole line."""
    if len(part.cases) > 1 and base != other:
        line = [case for case in part.line if all(has_value(view, case, name) for name in (base, other))]
        return float(shrink_along_sizes(view, line, base, other, [part.calls.size_bytes]).logs[0])
    return sum(weight * math.log(view.ratio(case.key, base, other)) for case, weight in part.cases)


def find_uncertainty(view: CampaignView, part: Part, base: str, other: str) -> float:
    """Return how far the log ratio of a size that was not measured may be from the one that stands for it.

    Of an interpolated size it is the distance to that of the farther neighbour. Of an extrapolated one it is the change
    between the last two measured sizes, or more in proportion where the size is farther away than these are.
    """
    logs = [math.log(view.ratio(case.key, base, other)) for case, _ in part.cases]
    if len(logs) > 1:
        between = find_log_ratio(view, part, base, other)
        return max(abs(log - between) for log in logs)
    if part.stretch == 1 or part.neighbour is None:
        return 0.0
    near = part.cases[0][0].size_bytes
    gap = abs(math.log(max(near, 1) / max(part.neighbour.size_bytes, 1)))
    change = abs(logs[0] - math.log(view.ratio(part.neighbour.key, base, other)))
    return change * max(1.0, math.log(part.stretch) / gap)


# --- in words ---------------------------------------------------------------------------------------------------------


def name_call(call: Calls) -> str:
    """Return a call in words: `allreduce 8 B`."""
    form = f" {call.form}" if call.form not in {"", "blocking"} else ""
    size = f" {format_size(call.size_bytes)}" if call.size_bytes else ""
    most = f" to {format_size(call.most_bytes)}" if call.most_bytes else ""
    return f"{call.operation}{form}{size}{most}"


def name_calls(calls: Sequence[Calls]) -> list[str]:
    """Return calls in words, those of one name with what distinguishes them: `allreduce 8 B, 2 ranks, gap_us=1`."""
    names = [name_call(call) for call in calls]
    alike = [[other for other, name in zip(calls, names, strict=True) if name == wanted] for wanted in names]
    return [
        ", ".join([name, *list_distinctions(call, others)]) if len(others) > 1 else name
        for call, name, others in zip(calls, names, alike, strict=True)
    ]


def list_distinctions(call: Calls, others: Sequence[Calls]) -> Iterator[str]:
    """Yield what a call has that others of its name do not have."""
    if len({other.ranks for other in others}) > 1:
        yield f"{call.ranks} ranks"
    if len({other.datatype for other in others}) > 1 and call.datatype:
        yield call.datatype
    for name in sorted({name for other in others for name in other.options}):
        if len({other.options.get(name, "") for other in others}) > 1 and name in call.options:
            yield f"{name}={call.options[name]}"


def describe_mix(view: CampaignView, mix: Mix) -> Iterator[Text]:
    """Say which candidate has the lowest total, by how much, its main calls, and what is not included."""
    several = len(view.campaign.plan.placements) > 1
    if not mix.standings:
        yield say(
            "No candidate has values for all calls of the mix at {placement}."
            if several
            else "No candidate has values for all calls of the mix.",
            placement=mix.placement,
        )
    elif guess := explain_guess(mix):
        yield guess
    else:
        source = view.campaign.find_candidate(view.campaign.plan.calls_measured_with)
        yield from describe_answer(mix, view.campaign.plan.threshold, source, several=several)
        yield describe_main_calls(mix)
        yield from describe_unmeasured(mix)
    if mix.missing:
        yield say(
            "Not included, because not measured at {placement}: {calls:and}."
            if several
            else "Not included, because not measured: {calls:and}.",
            n=len(mix.missing),
            placement=mix.placement,
            calls=map(name_call, mix.missing),
        )
    for name, call in mix.without.items():
        yield say("{name} has no value for {call} and is not included.", name=name, call=call)


def describe_answer(mix: Mix, within: float, source: str, *, several: bool) -> Iterator[Text]:
    """Say who is best and how the others compare, with the placement if there are several.

    Args:
        mix: the totals.
        within: the practical threshold.
        source: the candidate with which shares of time were measured; empty: all.
        several: whether the campaign has several placements.
    """
    best, *others = mix.standings
    of = {group: [other.candidate for other in others if other.outcome == group] for group in get_args(Group)}
    what = say("these calls at {placement}", placement=mix.placement) if several else say("these calls")
    yield say(
        "No clear winner for {what}: {name} ({total}) is not shown to be more than {within:.0%} faster than "
        "{level:and}."
        if of["open"]
        else "For {what}, {equal:and} are equivalent within {within:.0%}: {total}."
        if of["equivalent"]
        else "For {what}, {name} has the lowest total: {total}; by how much {behind:and} {n:of is|are} slower is not "
        "known."
        if of["behind"]
        else "For {what}, {name} has the lowest total: {total}."
        if others
        else "For {what}, {name} needs {total}.",
        what=what,
        name=best.candidate,
        total=describe_total(mix, source),
        within=within,
        level=of["open"],
        equal=[best.candidate, *of["equivalent"]],
        behind=of["behind"],
        n=len(of["behind"]),
    )
    if others:
        rivals = [describe_distance(other.candidate, other.overall, within) for other in others]
        yield say("Time against {best}: {rivals:,}.", best=best.candidate, rivals=rivals)


def describe_total(mix: Mix, source: str) -> Text:
    """Return the total of the best, and which share of it is extrapolated beyond the measured sizes."""
    best = mix.standings[0]
    if any(part.calls.share for part in mix.parts):
        mean_ns = sum(part.calls.share for part in mix.parts) * SECOND_NS
        return say(
            "{time:time} for calls that take {mean:time} with {source}"
            if source
            else "{time:time} for calls that take {mean:time} on average",
            time=best.time_ns,
            mean=mean_ns,
            source=source,
        )
    share = sum(mix.shares[best.candidate, place] for place, part in enumerate(mix.parts) if part.stretch > 1)
    return say(
        "{time:time} in all, {share} of it extrapolated" if share else "{time:time} in all",
        time=best.time_ns,
        share=describe_share(share),
    )


def describe_main_calls(mix: Mix) -> Text:
    """Say which calls take most of the time with the best."""
    best = mix.standings[0].candidate
    order = sorted(range(len(mix.parts)), key=lambda place: -mix.shares[best, place])
    main = [place for place in order if mix.shares[best, place] >= MAIN_SHARE][:NAMED] or order[:1]
    parts = [
        say("{share} is {call}", share=describe_share(mix.shares[best, place]), call=mix.names[place]) for place in main
    ]
    rest = len(mix.parts) - len(main)
    if rest:
        parts.append(say("{n:count other call} {n:of takes|take} the rest", n=rest))
    return say("Of the time with {best}, {parts}.", best=best, parts=list_parts(parts))


def explain_guess(mix: Mix) -> Text:
    """Return why no candidate is recommended, where too much of the time is a guess; else nothing."""
    far = [place for place, part in enumerate(mix.parts) if part.stretch > FAR]
    by_name = {
        standing.candidate: sum(mix.shares[standing.candidate, place] for place in far) for standing in mix.standings
    }
    name = max(by_name, key=lambda candidate: by_name[candidate], default="")
    if by_name.get(name, 0.0) <= MOST_GUESSED:
        return NOTHING
    far.sort(key=lambda place: -mix.shares[name, place])
    return say(
        "No recommendation: {share:.0%} of the total of {name} is extrapolated: {calls:and}. Measure {n:of it|them}: "
        'sizes = "..., {sizes:,}".',
        share=by_name[name],
        name=name,
        calls=[describe_origin(mix.parts[place]) for place in far],
        n=len(far),
        sizes=format_plan_sizes(mix.parts[place].calls.size_bytes for place in far),
    )


def describe_unmeasured(mix: Mix) -> Iterator[Text]:
    """Say what share of the time of the best is extrapolated or interpolated."""
    best = mix.standings[0].candidate
    places = sorted(range(len(mix.parts)), key=lambda place: -mix.shares[best, place])
    for how, stretched in ((say("extrapolated"), True), (say("interpolated"), False)):
        matching = [
            place
            for place in places
            if (mix.parts[place].stretch > 1) == stretched and (stretched or len(mix.parts[place].cases) > 1)
        ]
        if matching:
            yield say(
                "{share} of the total is {how}: {calls:and}.",
                share=describe_share(sum(mix.shares[best, place] for place in matching)),
                how=how,
                calls=[describe_origin(mix.parts[place]) for place in matching],
            )


def describe_origin(part: Part) -> Text:
    """Return a call and the sizes that its time comes from: `pingpong from 4 KiB to 1 MiB`."""
    if len(part.cases) > 1:
        return say("{call} {how}", call=name_call(part.calls), how=part.how)
    name = name_call(msgspec.structs.replace(part.calls, size_bytes=0))
    return say(
        "{name} from {near:size} to {size:size}",
        name=name,
        near=part.cases[0][0].size_bytes,
        size=part.calls.size_bytes,
    )
