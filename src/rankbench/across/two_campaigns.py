"""Two campaigns compared, an older and a newer one, with remarks on what limits unpaired comparisons. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import polars as pl

from rankbench.across import conditions
from rankbench.across.conditions import Match, Probes
from rankbench.across.intervals import format_interval, join_differences
from rankbench.analysis.claims.conclusion import FEW_LAUNCHES
from rankbench.analysis.evaluation import evaluate
from rankbench.analysis.questions import case_labels
from rankbench.analysis.questions.view import CampaignView, select_judgeable
from rankbench.analysis.statistics import CONFIDENCE, FALSE_DISCOVERIES, states
from rankbench.analysis.statistics.decision import Estimate, Family, decide
from rankbench.analysis.statistics.references import Levels, by_case
from rankbench.analysis.statistics.unpaired import FEWEST_LAUNCHES, Unpaired
from rankbench.analysis.statistics.unpaired_levels import compare_at_levels, compute_far_share
from rankbench.language import NOTHING, Text, clauses, end_sentence, say
from rankbench.model import Campaign, Case, Plan, RankbenchError, Record
from rankbench.store import Store

CONTRADICTION = "contradiction"
"""Kind of the finding, and of the remark, on samples that contradict estimates."""
APART = 0.1
"""Difference in the share of far visits from which on it is reported."""
EXTREMES = 3
"""Largest changes that are named in either direction."""


class Remark(Record, frozen=True):
    """Something that a reader of unpaired values must know, and what to do about it."""

    kind: str
    text: Text
    advice: Text = NOTHING


class LevelChange(Record, frozen=True):
    """The same while cores were near each other, or far, of launches that met both."""

    name: str
    """`near` or `far`."""
    old_launches: int
    new_launches: int
    ratio: float
    low: float
    high: float
    p_adjusted: float


class Change(Record, frozen=True, kw_only=True, omit_defaults=True):
    """What one candidate takes now over what it took then, in one case: above 1 it is slower now.

    A lone launch on a side bounds nothing: `high` is infinite then, and JSON leaves it out.
    """

    case: str
    title: str
    old: str
    new: str
    old_launches: int
    new_launches: int
    old_ns: float
    new_ns: float
    """Typical values: medians over launches. Of quantity `memory` they are bytes."""
    ratio: float
    low: float
    high: float = math.inf
    p_value: float
    p_adjusted: float
    """Adjusted over all cases and candidates (Benjamini and Hochberg, 1995)."""
    different: bool
    """False is `~`: not distinguishable, or below the practical threshold."""
    error: float = 0.0
    """Standard error of the ratio's logarithm."""
    degrees: float = 0.0
    """Degrees of freedom of that error; 0 where it is not known."""
    rounding: float = 0.0
    """How far the ratio's logarithm may be from the truth besides, since tools printed the values rounded."""
    explained: bool = False
    """Whether the raw probes of the machine, without MPI, differ as much between the campaigns."""
    memory: bool = False
    """Whether it is of memory and not of time."""
    levels: list[LevelChange] | None = None
    """Of a machine that was near and far: at each level that both campaigns met. The ratio is then their mean."""

    apart: str = ""
    """Where no launches of both were in the same state, what each met: `far then, near now`. Such times say nothing
    of the library."""

    @property
    def unexplained(self) -> bool:
        """Return whether it is a change that the machine's state does not explain."""
        return self.different and not self.explained


class CampaignComparison(Record, frozen=True):
    """Two campaigns compared."""

    old: str
    new: str
    old_created: str
    new_created: str
    threshold: float
    matches: list[Match]
    probes: Probes
    changes: list[Change]
    """By candidate and case, in the new campaign's order."""
    remarks: list[Remark]
    sentences: list[Text]


class CampaignPair(NamedTuple):
    """Two campaigns, evaluated in the same way, and their comparison."""

    then: CampaignView
    now: CampaignView
    comparison: CampaignComparison


def hold(
    old: Store, new: Store, requests: Mapping[str, str] | None = None, threshold: float | None = None
) -> CampaignPair:
    """Compare a campaign with an older one, both evaluated as the newer one's plan says.

    `requests` matches candidates, old to new. The threshold is the newer plan's unless another is given.

    Raises RankbenchError if both are the same.
    """
    if old.folder.resolve() == new.folder.resolve():
        raise RankbenchError(f"{new.folder}: the older and the newer campaign are the same; name two")
    planned = new.campaign.plan
    matched = conditions.match_candidates(old.campaign, new.campaign, requests or {})
    then, now = evaluate(old, planned.estimator, planned.confidence), evaluate(new)
    limit = planned.threshold if threshold is None else threshold
    probes = conditions.compare_probes(then.launches, now.launches)
    all_changes = changes(then, now, matched, limit, probes)
    comparison = CampaignComparison(
        old=old.campaign.name,
        new=new.campaign.name,
        old_created=old.campaign.created,
        new_created=new.campaign.created,
        threshold=limit,
        matches=matched,
        probes=probes,
        changes=all_changes,
        remarks=[
            *_report_other_estimator(old.campaign.plan, planned),
            *list_remarks(then, now, matched, all_changes, probes),
        ],
        sentences=list(list_sentences(all_changes, limit, planned.confidence)),
    )
    return CampaignPair(then, now, comparison)


def changes(
    old: CampaignView, new: CampaignView, matched: Sequence[Match], threshold: float, probes: Probes
) -> list[Change]:
    """Return the ratios of all cases that both campaigns have, by matched candidates."""
    cases = {case.key: case for case in list_common_cases(old.campaign, new.campaign)}
    places = {case.key: place for place, case in enumerate(new.campaign.cases)}
    titles = {key: title_case(new, case) for key, case in cases.items()}
    pairs = [(match.old, match.new) for match in matched]
    of = {name: place for place, name in enumerate(two for _, two in pairs)}
    then, now = select_judgeable(old.launch_values), select_judgeable(new.launch_values)
    levels = _levels(then, now, new.campaign)
    rows = compare_at_levels(
        then.filter(then["case"].is_in(list(cases))),
        now,
        pairs,
        threshold,
        new.campaign.plan.confidence,
        levels=levels,
    )
    return [
        Change(
            case=row.case,
            title=titles[row.case],
            old=row.base,
            new=row.other,
            old_launches=row.launches[0],
            new_launches=row.launches[1],
            old_ns=row.typical_ns[0],
            new_ns=row.typical_ns[1],
            ratio=row.ratio,
            low=row.low,
            high=row.high,
            p_value=row.p_value,
            p_adjusted=row.p_adjusted,
            different=row.different,
            error=row.error,
            degrees=row.degrees,
            rounding=row.rounding,
            explained=row.different
            and at is None  # At one level the machine is the same on both sides.
            and cases[row.case].quantity != "memory"
            and probes.explain(row.ratio),
            memory=cases[row.case].quantity == "memory",
            levels=None if at is None else [_report_level(name, result) for name, result in at.items()],
            apart=_name_states(then, now, row, levels[row.case]) if at == {} else "",
        )
        for row, at in sorted(rows, key=lambda row: (places[row.overall.case], of[row.overall.other]))
    ]


def _levels(then: pl.DataFrame, now: pl.DataFrame, campaign: Campaign) -> dict[str, Levels]:
    """Return the levels of the reference over both campaigns, by case, where it has two."""
    hops = [frame.select("case", "visit_hop_ns") for frame in (then, now) if "visit_hop_ns" in frame.columns]
    return by_case(pl.concat(hops), campaign) if len(hops) == 2 else {}


def _name_states(then: pl.DataFrame, now: pl.DataFrame, result: Unpaired, at: Levels) -> str:
    """Return how near cores were in each campaign for a case, by most of its visits: `far then, near now`."""
    sides = []
    for frame, name in ((then, result.base), (now, result.other)):
        hops = frame.filter(case=result.case, candidate=name)["visit_hop_ns"].explode()
        near, far = (hops <= at.nearest_ns).sum(), (hops >= at.farthest_ns).sum()
        sides.append("near" if near > far else "far")
    return f"{sides[0]} then, {sides[1]} now" if sides[0] != sides[1] else f"mostly {sides[0]} in both"


def _report_level(name: str, result: Unpaired) -> LevelChange:
    old, new = result.launches
    return LevelChange(name, old, new, result.ratio, result.low, result.high, result.p_adjusted)


def list_common_cases(old: Campaign, new: Campaign) -> list[Case]:
    """Return the cases that both campaigns have, with as many ranks, in the new one's order."""
    ranks = {case.key: case.ranks for case in old.cases}
    return [case for case in new.cases if ranks.get(case.key) == case.ranks]


def title_case(view: CampaignView, case: Case) -> str:
    """Return the name of a case, with start and placement if these distinguish it."""
    return case_labels.name_variant(
        case,
        view.operations[case.operation],
        start=view.usual_of[case.key] != case,
        placement=len(view.campaign.plan.placements) > 1,
    )


# --- what must be known -----------------------------------------------------------------------------------------------


def _report_other_estimator(then: Plan, now: Plan) -> Iterator[Remark]:
    """Say that the older campaign is not evaluated as its plan says."""
    wanted = [
        say("{estimator}, intervals of {confidence:.0%}", estimator=plan.estimator, confidence=plan.confidence)
        for plan in (then, now)
    ]
    if wanted[0] != wanted[1]:
        yield Remark(
            kind="figures",
            text=say(
                "The plans differ in estimator or confidence ({then} then, {now} now); both are evaluated as the newer "
                "plan says.",
                then=wanted[0],
                now=wanted[1],
            ),
        )


def list_remarks(
    old: CampaignView, new: CampaignView, matched: Sequence[Match], all_changes: Sequence[Change], probes: Probes
) -> Iterator[Remark]:
    """Yield what limits the validity of the ratios: first what holds in this case, last what always holds."""
    yield from _report_contradictions(old, new)
    yield from _machine(old, new)
    yield from _libraries(old, new, matched)
    yield from _rankbench(old, new)
    yield from _plan(old, new)
    yield from _report_missing(old, new, matched)
    yield from _report_state(probes)
    yield from _report_far_shares(old, new, matched)
    yield from _report_few_launches(all_changes)
    yield _control(old, new)
    yield _warn_uncontrolled(all_changes, probes)


def _report_contradictions(old: CampaignView, new: CampaignView) -> Iterator[Remark]:
    for view in (old, new):
        for finding in view.verdict.findings:
            if finding.kind == CONTRADICTION:
                text = say("{campaign}: {text}", campaign=view.campaign.name, text=finding.text)
                yield Remark(kind=CONTRADICTION, text=text, advice=finding.advice)


def _machine(old: CampaignView, new: CampaignView) -> Iterator[Remark]:
    then, now = (conditions.describe_machine(view.campaign) for view in (old, new))
    if differences := conditions.differences(then, now):
        yield Remark(
            kind="machine",
            text=say("The machine is not the same: {differences}.", differences=join_differences(differences)),
            advice=say("To separate libraries from machines, measure both in one campaign on one machine."),
        )


def _libraries(old: CampaignView, new: CampaignView, matched: Sequence[Match]) -> Iterator[Remark]:
    for match in matched:
        differences = conditions.compare_candidates(
            (old.campaign, old.launches, match.old), (new.campaign, new.launches, match.new)
        )
        if differences:
            yield Remark(
                kind="library",
                text=say(
                    "{new} differs from {old}: {differences}.",
                    new=match.new,
                    old=match.old,
                    differences=join_differences(differences),
                ),
                advice=say("A change may come from any of these; change one at a time.")
                if len(differences) > 1
                else NOTHING,
            )


def _rankbench(old: CampaignView, new: CampaignView) -> Iterator[Remark]:
    then, now = (conditions.describe_rankbench(view.campaign, view.launches) for view in (old, new))
    if differences := conditions.differences(then, now):
        yield Remark(
            kind="rankbench",
            text=say("rankbench is not the same: {differences}.", differences=join_differences(differences)),
            advice=say("Measure the older library again with this rankbench."),
        )


def _plan(old: CampaignView, new: CampaignView) -> Iterator[Remark]:
    then, now = (conditions.describe_plan(view.campaign, view.launches) for view in (old, new))
    if differences := conditions.differences(then, now):
        yield Remark(
            kind="method",
            text=say("The method is not the same: {differences}.", differences=join_differences(differences)),
            advice=say("Run the older plan again with the newer library."),
        )


def _report_missing(old: CampaignView, new: CampaignView, matched: Sequence[Match]) -> Iterator[Remark]:
    """Say what has no counterpart: candidates, cases, and cases of the same name with other ranks or starts."""
    then, now = old.campaign, new.campaign
    sides = [(True, then, {match.old for match in matched}), (False, now, {match.new for match in matched})]
    alone = [
        say("{name} (then only)" if earlier else "{name} (now only)", name=name)
        for earlier, of, known in sides
        for name in conditions.candidates(of)
        if name not in known
    ]
    if alone:
        yield Remark(
            kind="candidates",
            text=say("No counterpart was found for {names:and}.", names=alone),
            advice=say("Name counterparts with --match OLD=NEW."),
        )
    shared = {case.key for case in list_common_cases(then, now)}
    only = [sum(case.key not in shared for case in of.cases) for of in (then, now)]
    if any(only):
        lacking = say(
            "{n:count case} of {then} and {m} of {now} have no counterpart",
            n=only[0],
            then=then.name,
            m=only[1],
            now=now.name,
        )
        yield Remark(
            kind="cases",
            text=end_sentence(clauses([lacking, *_explain_near_matches(then, now, shared)])),
            advice=say("Run the same plan to compare all cases."),
        )


def _explain_near_matches(then: Campaign, now: Campaign, shared: set[str]) -> Iterator[Text]:
    """Yield why cases that look like each other have no counterpart."""
    ranks = {case.key: case.ranks for case in then.cases}
    other = [case for case in now.cases if ranks.get(case.key, case.ranks) != case.ranks]
    if other:
        yield say(
            "{n:count case} {n:of has|have} different numbers of ranks ({then} then, {now} now)",
            n=len(other),
            then=ranks[other[0].key],
            now=other[0].ranks,
        )
    starts = [
        {(case.without("start"), case.start) for case in of.cases if case.key not in shared} for of in (then, now)
    ]
    both = {form for form, _ in starts[0]} & {form for form, _ in starts[1]}
    start_names = [sorted({start for form, start in side if form in both}) for side in starts]
    if both and start_names[0] != start_names[1]:
        yield say(
            "{n} differ only in their start ({then:and} then, {now:and} now)",
            n=len(both),
            then=start_names[0],
            now=start_names[1],
        )


def _report_state(probes: Probes) -> Iterator[Remark]:
    ratio = probes.exchange
    if ratio and abs(math.log(ratio)) > math.log(states.ALIKE):
        yield Remark(
            kind="state",
            text=say(
                "The machine was in another state: without MPI, handing a cache line from one CPU to another takes "
                "{ratio:ratio} the earlier time.",
                ratio=ratio,
            ),
            advice=say("This affects small messages of every library; measure again when the machine is as it was."),
        )


def _report_far_shares(old: CampaignView, new: CampaignView, matched: Sequence[Match]) -> Iterator[Remark]:
    """Say that cores were far from each other in other shares of the visits than then."""
    then, now = old.judged_values, new.judged_values
    levels = _levels(then, now, new.campaign)
    if not levels:
        return
    sides = ((then, [match.old for match in matched]), (now, [match.new for match in matched]))
    shares = [compute_far_share(side.filter(pl.col("candidate").is_in(names)), levels) for side, names in sides]
    if abs(shares[0] - shares[1]) > APART:
        yield Remark(
            kind="shares",
            text=say(
                "Cores were far apart in {then:.0%} of the visits then and in {now:.0%} now. Typical values "
                "mix both states in these shares; ratios are means over the states that both campaigns met, with the "
                "same shares on both sides.",
                then=shares[0],
                now=shares[1],
            ),
            advice=say(
                "Read ratios near and far apart (`levels` of --format json), or measure both libraries in one campaign."
            ),
        )


def _report_few_launches(all_changes: Sequence[Change]) -> Iterator[Remark]:
    least = [
        min(getattr(change, side) for change in all_changes) if all_changes else 0
        for side in ("old_launches", "new_launches")
    ]
    if all_changes and min(least) < FEW_LAUNCHES:
        yield Remark(
            kind="launches",
            text=say(
                "There are few launches, {then} then and {now} now in the case with the fewest: only large changes can "
                "be detected, and none with fewer than {fewest}."
                if min(least) < FEWEST_LAUNCHES
                else "There are few launches, {then} then and {now} now in the case with the fewest: only large "
                "changes can be detected.",
                then=least[0],
                now=least[1],
                fewest=FEWEST_LAUNCHES,
            ),
            advice=say("Run more blocks."),
        )


def _control(old: CampaignView, new: CampaignView) -> Remark:
    tested = [view.verdict.control for view in (old, new)]
    often = any(
        sum(comparison.different for comparison in control) > FALSE_DISCOVERIES * len(control)
        for control in tested
        if control
    )
    advice = NOTHING if all(tested) else say("`control = true` in the plan shows how far to trust a campaign.")
    return Remark(
        kind="control",
        text=say(
            "Noise check, one candidate measured twice and called different from itself: {then} then and {now} now.",
            then=_report_false_alarms(old),
            now=_report_false_alarms(new),
        ),
        advice=say("This machine varies a lot; trust large changes only.") if often else advice,
    )


def _report_false_alarms(view: CampaignView) -> Text:
    control = view.verdict.control
    wrong = sum(comparison.different for comparison in control)
    return say("in {n} of {all:count case}" if control else "no check", n=wrong, all=len(control))


def _warn_uncontrolled(all_changes: Sequence[Change], probes: Probes) -> Remark:
    marked = sum(change.explained for change in all_changes)
    known = say("The machine's own times, without MPI, are not known for both")
    if texts := list(_report_probes(probes)):
        known = say("Without MPI, {probes:and} the earlier time", probes=texts)
        if marked:
            known = say("{known}; {n:count ratio} (°) {n:of is|are} no larger than that", known=known, n=marked)
    return Remark(
        kind="uncontrolled",
        text=say(
            "The state of the machine between two campaigns is not controlled, and no interval includes it. {known}.",
            known=known,
        ),
        advice=say("Measuring both libraries in one campaign, paired block by block, is the better design."),
    )


def _report_probes(probes: Probes) -> Iterator[Text]:
    if probes.exchange:
        yield say("handing a cache line to another CPU takes {ratio:ratio}", ratio=probes.exchange)
    if probes.copy:
        yield say("copying takes {ratio:ratio}", ratio=probes.copy)


# --- sentences --------------------------------------------------------------------------------------------------------


def list_sentences(all_changes: Sequence[Change], threshold: float, confidence: float = CONFIDENCE) -> Iterator[Text]:
    """Yield how many ratios are above and below 1, the means of the candidates, and the largest changes."""
    if not all_changes:
        yield say("No case has values in both campaigns.")
        return
    for memory in (False, True):
        part = [change for change in all_changes if change.memory == memory]
        if part:
            yield _counts(part, threshold, memory=memory)
            yield from _means(part, memory=memory)
            if above := _extremes(part, lambda change: change.ratio, confidence):
                yield say("Grew most: {names}." if memory else "Slowed down most: {names}.", names=above)
            if below := _extremes(part, lambda change: 1 / change.ratio, confidence):
                yield say("Shrank most: {names}." if memory else "Sped up most: {names}.", names=below)


def _counts(all_changes: Sequence[Change], threshold: float, *, memory: bool) -> Text:
    apart = [change for change in all_changes if change.apart]
    different = [change for change in all_changes if change.different]
    above, explained = sum(change.ratio > 1 for change in different), sum(change.explained for change in different)
    text = say(
        "{above} of {all:count value} {above:of is|are} larger now, {below} smaller"
        if memory
        else "{above} of {all:count value} {above:of is|are} slower now, {below} faster",
        above=above,
        all=len(all_changes),
        below=len(different) - above,
    )
    if len(different) + len(apart) < len(all_changes):
        text = say(
            "{counts}; for {n}, no change above {threshold:g}% can be shown",
            counts=text,
            n=len(all_changes) - len(different) - len(apart),
            threshold=threshold * 100,
        )
    if apart:
        text = say(
            "{counts}; {n} {n:of is|are} not comparable: cores were {states}",
            counts=text,
            n=len(apart),
            states=Counter(change.apart for change in apart).most_common(1)[0][0],
        )
    if explained:
        text = say(
            "{counts}; {n} of these {all} {n:of is|are} no larger than the change of the raw probes",
            counts=text,
            n=explained,
            all=len(different),
        )
    return end_sentence(text)


def _means(all_changes: Sequence[Change], *, memory: bool) -> Iterator[Text]:
    by_pair: dict[tuple[str, str], list[Change]] = {}
    for change in all_changes:
        if not change.apart:
            by_pair.setdefault((change.old, change.new), []).append(change)
    for (old, new), pair in by_pair.items():
        mean = math.exp(sum(math.log(change.ratio) for change in pair) / len(pair))
        text = _report_mean(old, new, mean, len(pair), memory=memory)
        changed = any(change.different for change in pair)
        yield end_sentence(text) if changed else say("{mean}; no case is known to have changed.", mean=text)


def _report_mean(old: str, new: str, mean: float, count: int, *, memory: bool) -> Text:
    if memory:
        return say(
            "{new} needs {mean:ratio} its earlier memory: geometric mean over {n:count case}"
            if old == new
            else "{new} needs {mean:ratio} the memory of {old}: geometric mean over {n:count case}",
            old=old,
            new=new,
            mean=mean,
            n=count,
        )
    return say(
        "{new} takes {mean:ratio} its earlier time: geometric mean over {n:count case}"
        if old == new
        else "{new} takes {mean:ratio} the time of {old}: geometric mean over {n:count case}",
        old=old,
        new=new,
        mean=mean,
        n=count,
    )


def _extremes(all_changes: Sequence[Change], size: Callable[[Change], float], confidence: float) -> Text:
    """Return the largest changes in one direction; their intervals are for as many as they were selected from."""
    changed = sorted(
        (change for change in all_changes if change.unexplained and size(change) > 1), key=size, reverse=True
    )
    if not changed:
        return NOTHING
    return say(
        "{cases:;}" if any("," in change.title + change.new for change in changed[:EXTREMES]) else "{cases:,}",
        cases=[_extreme(change, len(all_changes), confidence) for change in changed[:EXTREMES]],
    )


def _extreme(change: Change, among: int, confidence: float) -> Text:
    """Return a change with an interval that pays for its selection among so many (Bonferroni)."""
    estimate = Estimate(math.log(change.ratio), change.error, change.degrees, change.rounding)
    (decision,) = decide([estimate], 0.0, confidence, family=Family("bonferroni", tests=among))
    return say(
        "{title} of {name} ({ratio:ratio}: {interval}, corrected for the choice)",
        title=change.title,
        name=change.new,
        ratio=change.ratio,
        interval=format_interval(decision.low, decision.high),
    )
