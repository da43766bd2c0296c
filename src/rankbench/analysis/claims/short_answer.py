"""The short answer: who is fastest overall, the rivals, sizes and states that matter, worst cases and wins. Pure."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from rankbench.analysis.questions.block_ratios import Overall, describe_distance
from rankbench.analysis.questions.cuts import Part
from rankbench.analysis.questions.extremes import Extremes, decide_selected
from rankbench.analysis.questions.interim import find_penalty
from rankbench.analysis.questions.mix import describe_main_calls, name_call, sum_mixes
from rankbench.analysis.questions.near_and_far import FAR, NEAR, State, compare_states
from rankbench.analysis.questions.overall import Answer, find_answer, group_libraries, weigh_cases
from rankbench.analysis.questions.printed_digits import find_rounded, find_unit_share
from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.statistics.looks import Penalty
from rankbench.language import Text, Words, say, sentences
from rankbench.model import CaseVerdict, Claim

MOST_PLACES = 4
"""Placements of which each has an answer of its own."""


def claim_short_answer(
    view: CampaignView, answer: Answer | None, judged: list[CaseVerdict], parts: tuple[Part, Part] | None
) -> Iterator[Claim]:
    """Yield the sentences of the cases that are compared; at most seven of them are brief."""
    if not answer:
        yield Claim(text=say("No clear winner overall: too few values to compare."), cases=[], brief=True)
        yield _claim_wins(view, judged)
        return
    if not answer.is_representative:
        yield _claim_first(view, answer, judged, recommended=False)
        yield from _claim_main_calls(view, answer)
        yield _claim_wins(view, judged)
        return
    penalty = find_penalty(view)
    both = compare_states(view, answer, penalty)
    places = answer_places(view, answer, judged, penalty)
    if parts:
        yield Claim(text=_describe_cut(parts), cases=[key for part in parts for key in part.cases], brief=True)
    if places:
        yield Claim(text=_describe_places(places), cases=answer.cases, brief=True)
    reversed_ = any(ratio.low < 1 for state in both for ratio in state.ratios.values())
    recommended = not parts and not places and not reversed_ and _is_first(view, answer, judged)
    yield _claim_first(view, answer, judged, recommended=recommended)
    yield from _claim_rivals(view, answer)
    yield from _claim_absent(view, answer, judged)
    yield from _claim_main_calls(view, answer)
    for state in both:
        yield Claim(text=_describe_state(view, state), cases=answer.cases, brief=True)
    yield from _claim_rounding(view, judged)
    if len(judged) > 1:
        yield _claim_wins(view, judged, parts)
        yield from _claim_worst(view, answer, judged)


def _claim_main_calls(view: CampaignView, answer: Answer) -> Iterator[Claim]:
    """Say which calls take most of the time."""
    mixes = [placed for placed in sum_mixes(view, view.campaign.plan.calls) if placed.standings]
    if len(mixes) == 1:
        yield Claim(text=describe_main_calls(mixes[0]), cases=answer.cases, brief=True)


def _claim_first(view: CampaignView, answer: Answer, judged: list[CaseVerdict], *, recommended: bool) -> Claim:
    """Say who has the lowest time over all cases, as far as that is certain."""
    over, within = _describe_cases(view, answer, judged), view.campaign.plan.threshold
    state = _find_only_state(view, answer)
    if all(view.short_of_cores(verdict.case) for verdict in judged):
        text = say(
            "No recommendation: in all cases ranks or threads share cores, so that values show how libraries wait. "
            "{best} has the lowest overall time {over}.",
            best=answer.best, over=over,
        )  # fmt: skip
    elif not answer.is_representative:
        text = say(
            "No recommendation {over}: {share:.0%} of the time of these calls is not decided.",
            over=over, share=answer.undecided,
        )  # fmt: skip
    elif not answer.ratios:
        text = say("Only {best} has values {over}.", best=answer.best, over=over)
    elif answer.open:
        text = say(
            "No clear winner {over}: {best} is not shown to be more than {within:.0%} faster than {rivals:and}.",
            over=over, rivals=answer.open, within=within, best=answer.best,
        )  # fmt: skip
    elif answer.equivalent:
        names = [name for name in view.candidates if name in {answer.best, *answer.equivalent}]
        text = say("{names:and} are equivalent within {within:.0%} {over}.", names=names, over=over, within=within)
    elif answer.behind:
        text = say(
            "{best} has the lowest overall time {over}; by how much {rivals:and} {n:of is|are} slower is not known.",
            best=answer.best, over=over, rivals=answer.behind, n=len(answer.behind),
        )  # fmt: skip
    elif recommended and state:
        text = say(
            "Use {best} while cores are {level} ({blocks} of {all} blocks): lowest overall time {over}. While they are "
            "{other} too few blocks were measured ({few}); more blocks would show it.",
            best=answer.best, over=over, level=state.name, blocks=state.blocks, all=state.all_blocks,
            other=NEAR if state.name == FAR else FAR, few=state.other_blocks,
        )  # fmt: skip
    elif recommended and len(judged) == 1:
        text = say("Use {best}: fastest in the only case.", best=answer.best)
    elif recommended:
        text = say("Use {best}: lowest overall time {over}.", best=answer.best, over=over)
    else:
        text = say("{best} has the lowest overall time {over}.", best=answer.best, over=over)
    keys = [verdict.case.key for verdict in judged if verdict.winners == [answer.best]]
    evidence = keys if answer.is_certain else answer.cases
    return Claim(text=text, cases=evidence, brief=True, outcome=view.outcome(keys))


def _is_first(view: CampaignView, answer: Answer, judged: list[CaseVerdict]) -> bool:
    """Return whether every other library is slower, or lacks a call, and none wins as many single cases."""
    leader = group_libraries(view)
    wins = Counter(_list_leaders(leader, verdict)[0] for verdict in judged if _wins_alone(leader, verdict))
    first, out = leader[answer.best], {leader[name] for name in answer.lacking}
    known = {leader[name] for name in answer.slower} | out
    return (
        answer.is_certain
        and {*leader.values()} - {first} <= known
        and wins[first] > max((count for name, count in wins.items() if name not in {first, *out}), default=0)
    )


def _list_leaders(leader: Mapping[str, str], verdict: CaseVerdict) -> list[str]:
    """Return the libraries of the winners of a case, each by its first candidate."""
    return list(dict.fromkeys(leader[name] for name in verdict.winners))


def _wins_alone(leader: Mapping[str, str], verdict: CaseVerdict) -> bool:
    return len(_list_leaders(leader, verdict)) == 1


class OnlyState(NamedTuple):
    """The one level of the reference that an answer rests on."""

    name: str
    blocks: int
    other_blocks: int
    """Blocks of the other level, too few to compare."""
    all_blocks: int


def _find_only_state(view: CampaignView, answer: Answer) -> OnlyState | None:
    """Return the level that all cases with levels are compared at; nothing where both are, or there are none."""
    blocks = {NEAR: 0, FAR: 0}
    measured = set()
    for key in answer.cases:
        for comparison in view.comparisons_of.get(key, ()):
            for level in comparison.levels:
                blocks[level.name] = max(blocks[level.name], level.blocks)
                measured |= {level.name} if level.enough else set()
    if len(measured) != 1:
        return None
    (name,) = measured
    return OnlyState(name, blocks[name], blocks[NEAR if name == FAR else FAR], view.verdict.blocks)


# --- placements -------------------------------------------------------------------------------------------------------


def answer_places(
    view: CampaignView, answer: Answer, judged: list[CaseVerdict], penalty: Penalty
) -> list[tuple[Text, Answer]]:
    """Return the answer within a node and across nodes, or else at each of a few placements; nothing where the same
    candidate is certainly fastest at all of them, none is at any nor over all, or there is one place.
    """
    nodes = {placement.name: placement.nodes for placement in view.campaign.plan.placements}
    both = len({nodes[verdict.case.placement] > 1 for verdict in judged}) > 1
    groups: dict[str, list[CaseVerdict]] = {}
    for verdict in judged:
        place = verdict.case.placement
        where = f"at {place}" if not both else "across nodes" if nodes[place] > 1 else "within a node"
        groups.setdefault(where, []).append(verdict)
    if not 1 < len(groups) <= MOST_PLACES:
        return []
    answers = [
        (say("{where}", where=where), find_answer(view, penalty, verdicts, len(groups)))
        for where, verdicts in groups.items()
    ]
    known = [(where, of_place) for where, of_place in answers if of_place]
    same = all(of_place.best == answer.best and of_place.is_certain for _, of_place in known)
    certain = answer.is_certain or any(of_place.is_certain for _, of_place in known)
    return [] if same or not certain or len(known) < 2 else known


def _describe_places(places: Sequence[tuple[Text, Answer]]) -> Text:
    """Say who is fastest at each place, and by how much."""
    parts = []
    for where, answer in places:
        text = (
            "{where} {best} is fastest ({rivals:;})"
            if answer.is_certain
            else "{where} {names:and} are equivalent ({rivals:;})"
            if answer.equivalent and not answer.open and not answer.behind
            else "{where} no clear winner ({best} lowest; {rivals:;})"
        )
        rivals = [
            say("{name} {ratio:ratio}", name=name, ratio=ratio.mean) for name, ratio in _sort_ratios(answer.ratios)
        ]
        parts.append(say(text, where=where, best=answer.best, names=[answer.best, *answer.equivalent], rivals=rivals))
    decided = any(answer.is_certain or answer.equivalent for _, answer in places)
    return say(
        "It depends on where ranks run: {parts:,}." if decided else "No place is decided: {parts:,}.", parts=parts
    )


def _describe_cases(view: CampaignView, answer: Answer, judged: list[CaseVerdict]) -> Text:
    """Return over which cases, of which candidates where some have too few values, and how cases weigh."""
    leader, beside = group_libraries(view), _list_apart(view)
    names = [name for name in view.candidates if name in answer.names]
    if len(answer.cases) < len(judged) or {leader[name] for name in names} < {*leader.values()}:
        over = say(
            "over the {n} of {all:count case} with values of {names:and}",
            n=len(answer.cases), all=len(judged), names=names,
        )  # fmt: skip
    elif len(judged) == 1 and not beside:
        return say("in the only case")
    elif beside:
        over = say("over {n} of {all:count case}", n=len(judged), all=len(judged) + len(beside))
    else:
        over = say("over all {n:count case}", n=len(judged))
    called = {call.operation for call in view.campaign.plan.calls}
    if called & {view.case_of[key].operation for key in answer.cases}:
        mixes = list(sum_mixes(view, view.campaign.plan.calls))
        missing = dict.fromkeys(name_call(call) for placed in mixes for call in placed.missing)
        return say(
            "for the plan's calls ({n} of {all:count case}; not measured: {missing:and})"
            if missing
            else "for the plan's calls ({n} of {all:count case})",
            n=len(weigh_cases(view, answer.cases)),
            all=len(judged),
            missing=missing,
        )
    several = len({view.case_of[key].operation for key in answer.cases}) > 1
    return say("{over} (operations weigh equally)", over=over) if several else over


def _claim_rivals(view: CampaignView, answer: Answer) -> Iterator[Claim]:
    """Say how the time of each rival compares over all cases, what settings change, and what is left out and why."""
    within = view.campaign.plan.threshold
    if answer.ratios:
        rivals = _list_distances(answer.ratios, within)
        text = say("Time against {best}: {rivals:,}.", best=answer.best, rivals=rivals)
        yield Claim(text=text, cases=answer.cases, brief=True)
    if answer.variants:
        variants = _list_distances(answer.variants, within)
        text = say("The same library with other settings: {variants:,}.", variants=variants)
        yield Claim(text=text, cases=answer.cases, brief=True)
    for name, key in answer.lacking.items():
        verdict = view.verdict_of[key]
        text = say(
            "Not {name}: {reason} in {case} ({share:.0%} of the time of the plan's calls).",
            name=name,
            reason=verdict.failures.get(name, say("no value")),
            case=view.full_title(verdict.case),
            share=find_share(view, key),
        )
        yield Claim(text=text, cases=[key], brief=True)


def find_share(view: CampaignView, key: str) -> float:
    """Return the share of a case in the time of the plan's calls: as the plan states it, else as it was measured."""
    stated = [call.share for call in view.campaign.plan.calls]
    if not all(stated):
        return weigh_cases(view, list(view.case_of))[key]
    parts = [part for placed in sum_mixes(view, view.campaign.plan.calls) for part in placed.parts]
    return sum(part.calls.share * weight for part in parts for case, weight in part.cases if case.key == key)


def _claim_absent(view: CampaignView, answer: Answer, judged: list[CaseVerdict]) -> Iterator[Claim]:
    """Say which candidates are not compared because they have values in too few cases, and why."""
    for name in view.candidates:
        missing = [verdict for verdict in judged if name not in verdict.ranking]
        if name in answer.names or name in answer.variants or name in answer.lacking or not missing:
            continue
        text = say(
            "Not {name}: it has values in {n} of {all:count case} ({case}: {reason}).",
            name=name,
            n=len(judged) - len(missing),
            all=len(judged),
            case=view.full_title(missing[0].case),
            reason=missing[0].failures.get(name, say("no value")),
        )
        yield Claim(text=text, cases=[verdict.case.key for verdict in missing], brief=True)


def _list_distances(ratios: dict[str, Overall], within: float) -> list[Text]:
    return [describe_distance(name, ratio, within) for name, ratio in _sort_ratios(ratios)]


def _sort_ratios(ratios: dict[str, Overall]) -> list[tuple[str, Overall]]:
    return sorted(ratios.items(), key=lambda item: item[1].mean)


def _claim_rounding(view: CampaignView, judged: list[CaseVerdict]) -> Iterator[Claim]:
    """Say in how many cases candidates are not distinguishable because values were printed rounded."""
    keys = [verdict.case.key for verdict in judged if find_rounded(view, verdict)]
    if keys:
        text = say(
            "Not distinguishable because of rounding in {n} of {all:count case}: a unit of the last printed digit is "
            "up to {share:.1%} of the value.",
            n=len(keys), all=len(judged), share=find_unit_share(view, keys),
        )  # fmt: skip
        yield Claim(text=text, cases=keys, brief=True)


def _describe_cut(parts: tuple[Part, Part]) -> Text:
    """Say who is faster below the cut, and who above it."""
    texts = ("up to {size:size} {name} is fastest on average ({rivals:;})", "from {size:size} {name} ({rivals:;})")
    sides = [
        say(
            text,
            size=part.size_bytes,
            name=part.fastest,
            rivals=[
                say(
                    "{name} {ratio:ratio}, {low:bare}–{high:ratio}",
                    name=name,
                    ratio=overall.mean,
                    low=overall.low,
                    high=overall.high,
                )
                for name, overall in _sort_ratios(part.ratios)
            ],
        )
        for text, part in zip(texts, parts, strict=True)
    ]
    return say("It depends on the size: {parts:,}.", parts=sides)


def _describe_state(view: CampaignView, state: State) -> Text:
    """Say how the rivals of the sentence before compare while cores are near each other, or while they are far."""
    return say(
        "Cores far ({share:.0%} of visits): {rivals:,}."
        if state.level == FAR
        else "Cores near ({share:.0%} of visits): {rivals:,}.",
        share=state.share,
        rivals=_list_distances(state.ratios, view.campaign.plan.threshold),
    )


def _claim_worst(view: CampaignView, answer: Answer, judged: list[CaseVerdict]) -> Iterator[Claim]:
    """Say by how much each candidate at worst is slower than the fastest of a case, where that is certain."""
    names = [name for name in view.candidates if name in answer.names]
    compared = [verdict for verdict in judged if verdict.case.key in answer.cases]
    extremes, among = Extremes(view), len(compared) * (len(names) - 1)
    worst = {name: _find_worst_case(extremes, view, compared, name, among) for name in names}
    if not any(worst.values()):
        return
    texts = [
        say(
            "{name} {at}",
            name=name,
            at=describe_worst(view, verdict.case.key, verdict.ranking[0], name, among)
            if verdict
            else say("never significantly slower"),
        )
        for name, verdict in worst.items()
    ]
    regret = {
        name: extremes.log(verdict.case.key, verdict.ranking[0], name) if verdict else 0.0
        for name, verdict in worst.items()
    }
    least = min(names, key=lambda name: regret[name])
    text = say("Largest significant slowdown in a single case: {all:;}.", all=texts)
    if regret[least] + math.log1p(view.campaign.plan.threshold) < regret[answer.best] and not answer.open:
        text = sentences([text, say("{least} has the smallest one.", least=least)])
    yield Claim(text=text, cases=list(dict.fromkeys(verdict.case.key for verdict in worst.values() if verdict)))


def _find_worst_case(
    extremes: Extremes, view: CampaignView, compared: list[CaseVerdict], name: str, among: int
) -> CaseVerdict | None:
    slower = [verdict for verdict in compared if view.comparisons.slower(verdict.case.key, verdict.ranking[0], name)]
    return max(
        slower, key=lambda verdict: extremes.rank(verdict.case.key, verdict.ranking[0], name, among), default=None
    )


def describe_worst(view: CampaignView, key: str, fastest: str, name: str, among: int) -> Text:
    """Return the ratio of a candidate to the fastest of a case, selected among so many, with its interval; the case."""
    decision = decide_selected(view, view.comparisons[key, fastest, name], among)
    return say(
        "{ratio:ratio} ({low:ratio} to {high:ratio}: {case})" if decision.low > 1 else "{ratio:ratio} ({case})",
        ratio=decision.ratio,
        low=decision.low,
        high=decision.high,
        case=view.full_title(view.case_of[key]),
    )


def _claim_wins(view: CampaignView, judged: list[CaseVerdict], parts: tuple[Part, Part] | None = None) -> Claim:
    """Say how many cases each candidate wins alone, and how many have no single winner, all cases in total.

    Cases that compare differently alone are none of the overall time, but have verdicts, and count here. Where the
    answer depends on the size, the cases of each part are counted.
    """
    beside = _list_apart(view)
    judged = [*judged, *beside]
    keys = [verdict.case.key for verdict in judged if len(verdict.winners) == 1]
    if parts:
        texts = ("up to {size:size} {counts:,} (of {n})", "from {size:size} {counts:,} (of {n})")
        inside = [[verdict for verdict in judged if verdict.case.key in part.cases] for part in parts]
        for verdict in beside:
            inside[verdict.case.size_bytes > parts[0].size_bytes].append(verdict)
        sides = [
            say(text, size=part.size_bytes, counts=_count_wins(view, verdicts, all_names=False), n=len(verdicts))
            for text, part, verdicts in zip(texts, parts, inside, strict=True)
        ]
        if rest := [verdict for verdict in judged if verdict not in itertools.chain(*inside)]:
            sides.append(
                say("without a size {counts:,} (of {n})", counts=_count_wins(view, rest, all_names=False), n=len(rest))
            )
        text = say("Fastest in single cases: {sides:;}.", sides=sides)
    else:
        counts = _count_wins(view, judged, all_names=True)
        text = say("Fastest in single cases: {counts:,} (of {n:count case}).", counts=counts, n=len(judged))
    return Claim(text=text, cases=keys, brief=True, outcome=view.outcome(keys))


def _list_apart(view: CampaignView) -> list[CaseVerdict]:
    """Return the verdicts of cases that compare differently alone."""
    apart = {comparison.case for comparison in view.verdict.alone}
    return [verdict for verdict in view.timed_verdicts if verdict.case.key in apart]


def _count_wins(view: CampaignView, judged: list[CaseVerdict], *, all_names: bool) -> list[Text]:
    """Return the number of cases that each candidate wins alone, with `all_names` also of candidates that win none, and
    the number of those without a single winner.
    """
    leader = group_libraries(view)
    wins = Counter(_list_leaders(leader, verdict)[0] for verdict in judged if _wins_alone(leader, verdict))
    others = [verdict for verdict in judged if not _wins_alone(leader, verdict)]
    unlike = [other for other in others if other.answered and not other.decided]
    unknown = [other for other in others if not other.answered]
    partly = sum(bool(other.decided_at) for other in unknown)
    names = list(dict.fromkeys(leader.values()))
    counts: dict[Words, int] = {name: wins[name] for name in sorted(names, key=lambda name: -wins[name])}
    counts |= {
        say("equivalent"): sum(other.decided for other in others),
        say("different near and far"): len(unlike),
    }
    texts = [
        say("{name} {number}", name=name, number=number)
        for name, number in counts.items()
        if number or (all_names and name in names)
    ]
    if unknown:
        text = "undecided {n}, of which {partly} only near or only far" if partly else "undecided {n}"
        texts.append(say(text, n=len(unknown), partly=partly))
    return texts
