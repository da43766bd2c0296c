"""The short answer: who is fastest overall, the rivals, sizes and states that matter, worst cases and wins. Pure."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from rankbench.language import Text, Words, end_sentence, say, sentences
from rankbench.model import Claim
from rankbench.verdict.cuts import find_cut
from rankbench.verdict.extremes import Extremes, decide_selected
from rankbench.verdict.interim import find_penalty
from rankbench.verdict.states import FAR, compare_states

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankbench.model import CaseVerdict
    from rankbench.verdict.cuts import Part
    from rankbench.verdict.overall import Answer, Overall
    from rankbench.verdict.states import State
    from rankbench.verdict.view import CampaignView


def claim_short_answer(view: CampaignView, answer: Answer | None, judged: list[CaseVerdict]) -> Iterator[Claim]:
    """Yield at most five sentences of the cases that are compared."""
    wins = Counter(verdict.winners[0] for verdict in judged if len(verdict.winners) == 1)
    if not answer:
        yield Claim(text=say("No clear winner overall: too few figures to compare."), cases=[], brief=True)
        yield _claim_wins(view, judged, wins)
        return
    penalty = find_penalty(view)
    parts, both = find_cut(view, answer, penalty), compare_states(view, answer, penalty)
    first = max(wins, key=lambda name: wins[name], default="") if wins else ""
    most = wins[answer.best] == wins[first] > 0 and list(wins.values()).count(wins[first]) == 1
    sure = most and not parts and not any(ratio.low < 1 for state in both for ratio in state.ratios.values())
    yield _claim_first(
        view, answer, judged, recommended=sure and set(answer.slower) == set(view.candidates) - {answer.best}
    )
    yield _claim_rivals(view, answer)
    lines = [*([_describe_cut(parts)] if parts else []), *([_describe_states(view, answer.best, both)] if both else [])]
    if lines:
        keys = [key for part in parts or () for key in part.cases] or answer.cases
        yield Claim(text=sentences(lines), cases=keys, brief=True)
    yield from _claim_worst(view, answer, judged)
    yield _claim_wins(view, judged, wins)


def _claim_first(view: CampaignView, answer: Answer, judged: list[CaseVerdict], *, recommended: bool) -> Claim:
    """Say who has the lowest time over all cases, as far as that is certain."""
    over, within = _describe_cases(view, answer, judged), view.campaign.plan.threshold
    if answer.open:
        text = say(
            "No clear winner {over}: {rivals:and} {n:of is|are} not distinguishable from {best}.",
            over=over, rivals=answer.open, n=len(answer.open), best=answer.best,
        )  # fmt: skip
    elif answer.equivalent:
        names = [name for name in view.candidates if name in {answer.best, *answer.equivalent}]
        text = say("{names:and} are equivalent within {within:.0%} {over}.", names=names, over=over, within=within)
    elif recommended:
        text = say("Use {best}: it has the lowest overall time {over}.", best=answer.best, over=over)
    else:
        text = say("{best} has the lowest overall time {over}.", best=answer.best, over=over)
    keys = [verdict.case.key for verdict in judged if verdict.winners == [answer.best]]
    return Claim(text=text, cases=keys, brief=True, outcome=view.outcome(keys))


def _describe_cases(view: CampaignView, answer: Answer, judged: list[CaseVerdict]) -> Text:
    """Return over which cases, of which candidates where some have too few figures, and how cases weigh."""
    names = [name for name in view.candidates if name in answer.names]
    if len(answer.cases) < len(judged) or len(names) < len(view.candidates):
        over = say(
            "over the {n} of {all:count case} with figures of {names:and}",
            n=len(answer.cases), all=len(judged), names=names,
        )  # fmt: skip
    elif len(judged) == 1:
        return say("in the only case")
    else:
        over = say("over all {n:count case}", n=len(judged))
    called = {call.operation for call in view.campaign.plan.calls}
    if called & {view.case_of[key].operation for key in answer.cases}:
        return say("{over} (weighted by the plan's calls)", over=over)
    several = len({view.case_of[key].operation for key in answer.cases}) > 1
    return say("{over} (each operation weighs the same)", over=over) if several else over


def _claim_rivals(view: CampaignView, answer: Answer) -> Claim:
    """Say how the time of each rival compares over all cases."""
    text = say(
        "Against {best}: {rivals:;}.",
        best=answer.best,
        rivals=_list_distances(answer.ratios, view.campaign.plan.threshold),
    )
    return Claim(text=text, cases=answer.cases, brief=True)


def _list_distances(ratios: dict[str, Overall], within: float) -> list[Text]:
    return [describe_distance(name, ratio, within) for name, ratio in _sort_ratios(ratios)]


def _sort_ratios(ratios: dict[str, Overall]) -> list[tuple[str, Overall]]:
    return sorted(ratios.items(), key=lambda item: item[1].mean)


def describe_distance(name: str, ratio: Overall, within: float) -> Text:
    """Return how the time of a candidate compares to that of the one just named."""
    if not ratio.low:
        text = "{name} needs {mean:ratio} the time (too few launches for an interval)"
    elif ratio.low >= 1 / (1 + within) and ratio.high <= 1 + within:
        text = "{name} is equivalent within {within:.0%} ({low:ratio} to {high:ratio})"
    elif ratio.low > 1 + within or ratio.high < 1 / (1 + within):
        text = "{name} needs {mean:ratio} the time ({low:ratio} to {high:ratio})"
    else:
        text = "{name} is not distinguishable ({mean:ratio}, {low:ratio} to {high:ratio})"
    return say(text, name=name, within=within, mean=ratio.mean, low=ratio.low, high=ratio.high)


def _describe_cut(parts: tuple[Part, Part]) -> Text:
    """Say who is faster below the cut, and who above it."""
    texts = ("Up to {size:size} {name} is fastest on average ({rivals:;})", "from {size:size} {name} ({rivals:;})")
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
    return say("{parts:,}.", parts=sides)


def _describe_states(view: CampaignView, best: str, both: list[State]) -> Text:
    """Say how the rivals compare while cores are near each other, and while they are far."""
    texts = [
        say(
            "{level} ({share:.0%} of visits, {n:count block}), against {best}: {rivals:;}",
            level=say("While cores were far") if state.level == FAR else say("While cores were near"),
            best=best,
            share=state.share,
            n=state.blocks,
            rivals=_list_distances(state.ratios, view.campaign.plan.threshold),
        )
        for state in both
    ]
    return sentences(map(end_sentence, texts))


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
    yield Claim(
        text=text, cases=list(dict.fromkeys(verdict.case.key for verdict in worst.values() if verdict)), brief=True
    )


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
        "{ratio:ratio} ({low:ratio} to {high:ratio}: {case})",
        ratio=decision.ratio,
        low=decision.low,
        high=decision.high,
        case=view.full_title(view.case_of[key]),
    )


def _claim_wins(view: CampaignView, judged: list[CaseVerdict], wins: Counter[str]) -> Claim:
    """Say how many cases each candidate wins alone, and how many have no single winner, all cases in total."""
    others = [verdict for verdict in judged if len(verdict.winners) != 1]
    unlike = [other for other in others if other.answered and not other.decided]
    partly = [other for other in others if other.decided_at and not other.answered]
    counts: dict[Words, int] = {name: wins[name] for name in sorted(view.candidates, key=lambda name: -wins[name])}
    counts[say("equivalent")] = sum(other.decided for other in others)
    if unlike:
        counts[say("different near and far")] = len(unlike)
    if partly:
        counts[say("decided only near or only far")] = len(partly)
    counts[say("undecided")] = sum(not other.answered and not other.decided_at for other in others)
    text = say(
        "Fastest in single cases: {counts:,} (of {n:count case}).",
        counts=[say("{name} {number}", name=name, number=number) for name, number in counts.items()],
        n=len(judged),
    )
    keys = [verdict.case.key for verdict in judged if len(verdict.winners) == 1]
    return Claim(text=text, cases=keys, brief=True, outcome=view.outcome(keys))


def count_decided(cases: Sequence[CaseVerdict]) -> Text:
    """Return how many cases are decided, and how many of them depend on the level of the reference.

    A case that is decided at one level and undecided at the other is not counted as decided, but mentioned.
    """
    unlike = sum(case.answered and not case.decided for case in cases)
    single = sum(case.answered and len(case.outcome_by_level) == 1 for case in cases)
    notes = [
        *([say("{n} with different winners near and far", n=unlike)] if unlike else []),
        *([say("{n} only near or only far, since the other was too rare", n=single)] if single else []),
    ]
    text = say("{n} of {all:count case} decided", n=sum(case.answered for case in cases), all=len(cases))
    if notes:
        text = say("{text} ({notes:,})", text=text, notes=notes)
    partly = sum(bool(case.decided_at) and not case.answered for case in cases)
    return say("{text}; {n} more only near or only far.", text=text, n=partly) if partly else end_sentence(text)
