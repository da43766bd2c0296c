"""The gate: what is slower than it was, or than another candidate, or works no more: a check of each value. Pure.

A check fails where a candidate is slower by more than the threshold of the gate: the p-value of that is at most 5%,
adjusted, with three launches or blocks. Between campaigns the interval must lie beyond the threshold, too; within one
the outcome is that of its tables. It fails too where a candidate lost a value that was there. It passes where the
interval lies below the threshold, and is skipped where it spans it. It is improved, not only passed, where the
candidate is faster by more than the threshold. A failed one may be accepted (`acceptance`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, get_args

from rankbench.across import conditions
from rankbench.across.intervals import format_interval
from rankbench.across.two_campaigns import CampaignComparison, CampaignPair, Change, list_common_cases, title_case
from rankbench.analysis.evaluation.scales import describe_result
from rankbench.analysis.questions.placements import invert
from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.statistics import FEWEST_BLOCKS
from rankbench.analysis.statistics.decision import above
from rankbench.analysis.statistics.unpaired import FEWEST_LAUNCHES
from rankbench.language import NOTHING, Text, Words, say
from rankbench.model import BROKEN, Case, CaseStatus, Comparison, Level, RankbenchError, Record, Summary

UNPAIRED = 0.05
"""Least threshold between campaigns unless another is said: what a day does is in no interval."""
SMALLEST_P = 0.001
Outcome = Literal["passed", "improved", "failed", "skipped", "accepted"]
"""Improved: it is significantly faster, by more than the threshold. Accepted: a regression of an accepted case."""
Relation = Literal["", "faster", "slower", "equivalent", "undecided", "depends"]
"""What the new one is: the words of a case's verdict, of two. Empty: there are no two times."""


class Check(Record, frozen=True):
    """What became of one case of one candidate."""

    case: str
    title: str
    candidate: str
    outcome: Outcome
    text: Text
    advice: Text = NOTHING
    measured_s: float = 0.0
    """For how long it was timed."""
    relation: Relation = ""
    """Within a campaign that of its tables."""
    ratio: float | None = None
    """Of times, new over old; nothing where a case has no two times, or one ratio at each level of the reference."""
    low: float | None = None
    high: float | None = None
    """Its interval; `high` is nothing where launches are too few for one."""
    p_adjusted: float | None = None
    """Of the hypothesis that the ratio is within the threshold, adjusted over all checks."""
    least: float | None = None
    """Of what is slower: the ratio that it certainly has, the lower end of the interval; of several levels the worst.
    """


class Ruling(NamedTuple):
    """An outcome, why, and what to do."""

    outcome: Outcome
    text: Text
    advice: Text = NOTHING
    relation: Relation = ""
    ratio: Ratio | None = None
    """What it rests on, if that is one ratio."""
    least: float | None = None
    """As of a check."""


class Ratio(NamedTuple):
    """What a check rests on."""

    ratio: float
    low: float
    high: float
    p_adjusted: float
    enough: bool
    """Whether there are launches, or blocks, enough to call anything different."""
    memory: bool
    rounding: float = 0.0
    """How far its logarithm may be off since tools printed the values rounded."""

    @property
    def is_rounded(self) -> bool:
        """Most of its interval comes from the rounding of printed values."""
        return self.rounding > 0 and self.ratio * math.exp(2 * self.rounding) > self.high

    @property
    def text(self) -> Text:
        """Return `1.31× (1.25–1.38×)`."""
        known = format_interval(self.low, self.high) if math.isfinite(self.high) else say("no interval")
        return say("{ratio:ratio} ({known})", ratio=self.ratio, known=known)


# --- then and now -----------------------------------------------------------------------------------------------------


def check_campaign(pair: CampaignPair) -> list[Check]:
    """Return the checks of a campaign against an older one: of everything that had a value then.

    Raises RankbenchError if nothing is in common.
    """
    then, now, comparison = pair.then, pair.now, pair.comparison
    shared = {case.key for case in list_common_cases(then.campaign, now.campaign)}
    if not shared or not comparison.matches:
        what = "case" if comparison.matches else "candidate"
        raise RankbenchError(f"{comparison.new} has no {what} in common with {comparison.old}; nothing to gate")
    changes = {(change.case, change.old): change for change in comparison.changes}
    partners = {match.old: match.new for match in comparison.matches}
    checks = []
    for case, name, summary in list_measured(then, conditions.candidates(then.campaign)):
        current = summary_of(now, case, partners.get(name, "")) if case.key in shared else None
        ruling = rule_change(summary, current, changes.get((case.key, name)), comparison, matched=name in partners)
        checks.append(check(now if current else then, case, partners.get(name, name), ruling, current))
    return checks


def check_missing(pair: CampaignPair) -> list[Check]:
    """Return a check for each candidate or case that is missing in the newer campaign."""
    shared = {case.key for case in list_common_cases(pair.then.campaign, pair.now.campaign)}
    partners = {match.new for match in pair.comparison.matches}
    return [check for check in check_campaign(pair) if check.case not in shared or check.candidate not in partners]


def rule_change(
    old: Summary, new: Summary | None, change: Change | None, now: CampaignComparison, *, matched: bool
) -> Ruling:
    """Return the ruling on a value of the older campaign."""
    if not matched:
        advice = say(
            "Name its successor with --match {name}=NAME, or gate against a newer campaign.", name=old.candidate
        )
        return Ruling("failed", say("{name} is no longer in {campaign}", name=old.candidate, campaign=now.new), advice)
    if loss := find_loss(old, new, now.new):
        return loss
    if change is None:
        return Ruling("skipped", say("its times are too short for the clock"))
    if change.levels is not None:
        return rule_by_level(
            [
                LevelRatio(
                    level.name, Ratio(level.ratio, level.low, level.high, level.p_adjusted, enough=True, memory=False)
                )
                for level in change.levels
            ],
            now.threshold,
            say("its time in {old}", old=now.old),
        )
    ratio = Ratio(
        change.ratio,
        change.low,
        change.high,
        change.p_adjusted,
        min(change.old_launches, change.new_launches) >= FEWEST_LAUNCHES,
        change.memory,
        change.rounding,
    )
    finding = say(
        "needs {ratio} its memory in {old}" if ratio.memory else "takes {ratio} its time in {old}",
        ratio=ratio.text,
        old=now.old,
    )
    ruled = rule(ratio, now.threshold, finding)
    if ruled.outcome == "failed" and change.explained:
        why = say(
            "{ratio} is no more than the raw probes of the machine differ, without MPI, between the two campaigns",
            ratio=ratio.text,
        )
        both = say("Measure both libraries in one campaign, and gate with --candidate and --against-candidate.")
        return Ruling("skipped", why, both, ratio=ratio)
    return ruled


# --- within a campaign ------------------------------------------------------------------------------------------------


def check_candidate(view: CampaignView, new: str, old: str) -> list[Check]:
    """Return the checks of one candidate against another of the same campaign, paired within blocks.

    Comparisons test against the threshold of the evaluation; cases of which only the new one has values are skipped.
    Raises RankbenchError if the other has no values.
    """
    threshold = view.campaign.plan.threshold
    checks = []
    for case, _, summary in list_measured(view, [old]):
        current = summary_of(view, case, new)
        comparison = _comparison(view, case, new, old)
        ruling = find_loss(summary, current, view.campaign.name, say("({name} has values)", name=old))
        if not ruling and comparison is None:
            ruling = Ruling("skipped", say("no block has both {new} and {old}", new=new, old=old), advise_more())
        if not ruling and comparison:
            memory = case.quantity == "memory"
            enough = comparison.blocks >= FEWEST_BLOCKS
            ends = comparison.low, comparison.high
            ratio = Ratio(comparison.ratio, *ends, comparison.p_adjusted, enough, memory, comparison.rounding)
            finding = say(
                "needs {ratio} the memory of {old}" if memory else "takes {ratio} the time of {old}",
                ratio=ratio.text,
                old=old,
            )
            ruling = (
                _skip_reversal(comparison)
                if comparison.reverses
                else rule_as_tables(comparison, ratio, threshold, finding)
            )
            ruling = ruling._replace(relation=name_relation(comparison), ratio=None if comparison.reverses else ratio)
        if ruling:
            checks.append(check(view, case, new, ruling, current))
    if not checks:
        raise RankbenchError(f"{old} has no values in campaign {view.campaign.name}; nothing to gate")
    known = {case.key for case, _, _ in list_measured(view, [old])}
    alone = Ruling("skipped", say("{old} has no right values here", old=old), advise_more())
    return checks + [
        check(view, case, new, alone, summary)
        for case, _, summary in list_measured(view, [new])
        if case.key not in known
    ]


def name_relation(comparison: Comparison) -> Relation:
    """Return what the other candidate of a comparison is, as the tables say it."""
    if comparison.reverses:
        return "depends"
    if comparison.different:
        return "slower" if comparison.ratio > 1 else "faster"
    return "equivalent" if comparison.alike else "undecided"


def rule_as_tables(comparison: Comparison, ratio: Ratio, threshold: float, finding: Text) -> Ruling:
    """Return the ruling on a comparison whose outcome is that of the tables, which test against the same threshold.

    What is different by the test fails, though the interval of the ratio may reach below the threshold: to ask for the
    whole interval as well would leave open what the tables call slower.
    """
    if comparison.different:
        return _fail(ratio, threshold, finding) if comparison.ratio > 1 else Ruling("passed", finding)
    if comparison.alike or ratio.high <= 1 + threshold:
        return Ruling("passed", finding)
    return _leave_open(ratio, threshold, levels=comparison.shown_levels)


def _comparison(view: CampaignView, case: Case, new: str, old: str) -> Comparison | None:
    """Return new over old, turned where it was made the other way round; the A/A twin may be one of them."""
    comparisons: list[Comparison] = [*view.comparisons_of.get(case.key, ()), *view.verdict.control]
    for comparison in comparisons:
        if comparison.case == case.key and (comparison.base, comparison.other) == (old, new):
            return comparison
        if comparison.case == case.key and (comparison.base, comparison.other) == (new, old):
            return invert(comparison)
    return None


def _skip_reversal(comparison: Comparison) -> Ruling:
    """Return that no single ratio stands for a case, since the faster one depends on the level of the reference."""
    near, far = (
        say("{ratio:ratio} ({interval})", ratio=level.ratio, interval=format_interval(level.low, level.high))
        for level in comparison.levels
    )
    return Ruling(
        "skipped",
        say(
            "takes {near} the time of {old} while cores are near, {far} while they are far",
            near=near,
            far=far,
            old=comparison.base,
        ),
        say("Check which state is usual where your programs run."),
    )


# --- both -------------------------------------------------------------------------------------------------------------


def list_measured(view: CampaignView, names: list[str]) -> Iterator[tuple[Case, str, Summary]]:
    """Yield every case and candidate that works and has values."""
    for case in view.campaign.cases:
        for name in names:
            summary = summary_of(view, case, name)
            if summary and summary.launches and CaseStatus.WRONG_DATA not in summary.failures:
                yield case, name, summary


def summary_of(view: CampaignView, case: Case, name: str) -> Summary | None:
    """Return the summary of a case and candidate."""
    return next((summary for _, summary in view.summaries_of.get(case.key, ()) if summary.candidate == name), None)


def check(view: CampaignView, case: Case, name: str, ruling: Ruling, summary: Summary | None) -> Check:
    """Return the check that a ruling makes of a case and candidate."""
    timed = summary and summary.launches and case.quantity != "memory"
    ratio = ruling.ratio
    return Check(
        case=case.key,
        title=title_case(view, case),
        candidate=name,
        outcome="improved" if (ruling.outcome, ruling.relation) == ("passed", "faster") else ruling.outcome,
        text=ruling.text,
        advice=ruling.advice,
        relation=ruling.relation,
        ratio=ratio.ratio if ratio else None,
        low=ratio.low if ratio else None,
        high=ratio.high if ratio and math.isfinite(ratio.high) else None,
        p_adjusted=ratio.p_adjusted if ratio else None,
        least=ruling.least,
        measured_s=summary.samples * summary.mean_ns / 1e9 if summary and timed else 0.0,
    )


def find_loss(old: Summary, new: Summary | None, campaign: str, remark: Text = NOTHING) -> Ruling | None:
    """Return what is wrong with a case that worked: not there, without values, or now and then not working."""
    if new is None:
        missing = say("not measured in {campaign}", campaign=campaign)
        return Ruling(
            "failed",
            say("{fate} {remark}", fate=missing, remark=remark) if remark else missing,
            say("Run the complete older plan."),
        )
    if new.doubt:
        doubted = say("not judged: {doubt}", doubt=new.doubt)
        return Ruling("skipped", doubted, say("Use larger messages or the start `barrier`."))
    broken = {status for status in new.failures if status in BROKEN}
    known = {status for status in old.failures if status in BROKEN}
    if not new.launches or CaseStatus.WRONG_DATA in broken or broken - known:
        ending = describe_result(new, counts=False)
        return Ruling(
            "failed",
            say("{fate} {remark}", fate=ending, remark=remark) if remark else ending,
            say("See `rankbench show` and the launch's log."),
        )
    return None


class LevelRatio(NamedTuple):
    """What a check rests on while cores are near, or far."""

    name: str
    ratio: Ratio


def rule_by_level(levels: Sequence[LevelRatio], threshold: float, than: Words) -> Ruling:
    """Return what is said of a case that has a ratio at each level: it fails at one, passes at all, else is open.

    `than` names the other side, such as `its time in old`.
    """
    rulings = [
        rule(
            level.ratio,
            threshold,
            say(
                "takes {ratio} {than} while cores are near"
                if level.name == "near"
                else "takes {ratio} {than} while cores are far",
                ratio=level.ratio.text,
                than=than,
            ),
        )
        for level in levels
    ]
    faster = next(
        (text for text, level in zip(rulings, levels, strict=True) if level.ratio.high < 1 / (1 + threshold)), None
    )
    slower = next((ruling for ruling in rulings if ruling.outcome == "failed"), None)
    if slower and faster:
        depends = say("{slower}, {faster}", slower=slower.text, faster=faster.text)
        return Ruling("skipped", depends, say("Check which state is usual where your programs run."), "depends")
    for outcome in ("failed", "skipped"):
        if alike := [ruling for ruling in rulings if ruling.outcome == outcome]:
            least = max((ruling.least for ruling in alike if ruling.least), default=None)
            return alike[0]._replace(ratio=None, least=least)
    if not rulings:
        apart = say(
            "too few launches of the campaigns were in the same state: cores were near in one and far in the other"
        )
        return Ruling("skipped", apart, say("Measure both libraries in one campaign: --remeasure."))
    relations = {ruling.relation for ruling in rulings}
    both = relations.pop() if len(relations) == 1 else "undecided"
    return Ruling("passed", say("{levels:and}", levels=[ruling.text for ruling in rulings]), relation=both)


def rule(ratio: Ratio, threshold: float, finding: Text, advice: Text = NOTHING) -> Ruling:
    """Return whether a ratio, in words as well, is certainly beyond the threshold, certainly below it, or neither.

    The p-value of the ratio is that of the same threshold. `advice` is for what is left open.
    """
    if ratio.enough and above(ratio.p_adjusted, ratio.low, threshold):
        return _fail(ratio, threshold, finding)
    if ratio.high <= 1 + threshold:
        return Ruling("passed", finding, relation=rule_not_slower(ratio, threshold), ratio=ratio)
    return _leave_open(ratio, threshold, advice)


def _fail(ratio: Ratio, threshold: float, finding: Text) -> Ruling:
    """Return the ruling on what is slower by more than the threshold."""
    text = say(
        "{found}; adjusted p {p:.3f}, threshold {threshold:g}%"
        if ratio.p_adjusted >= SMALLEST_P
        else "{found}; adjusted p <{least:g}, threshold {threshold:g}%",
        found=finding,
        p=ratio.p_adjusted,
        least=SMALLEST_P,
        threshold=threshold * 100,
    )
    advice = say("If this is intended, accept it with a reason: --accept.")
    return Ruling("failed", text, advice, "slower", ratio, ratio.low)


def _leave_open(ratio: Ratio, threshold: float, advice: Text = NOTHING, *, levels: Sequence[Level] = ()) -> Ruling:
    """Return the ruling on what may or may not be slower by more than the threshold, at each level if there are two."""
    at = [
        say("{ratio:ratio} ({interval}) while cores are {level}", ratio=level.ratio,
            interval=format_interval(level.low, level.high), level=level.name)
        for level in levels
    ]  # fmt: skip
    text = say(
        "{ratio:,}: undecided whether it is more than {threshold:g}% slower in both"
        if at
        else "{ratio}: undecided whether it is more than {threshold:g}% slower",
        ratio=at or ratio.text,
        threshold=threshold * 100,
    )
    if ratio.is_rounded:
        advice = say("More launches do not help: the tool printed too few digits to decide it.")
    return Ruling("skipped", text, advice or advise_more(), "undecided", ratio)


def rule_not_slower(ratio: Ratio, threshold: float) -> Relation:
    """Return the outcome of a ratio that is significantly not above the threshold."""
    if ratio.high < 1 / (1 + threshold):
        return "faster"
    return "equivalent" if ratio.low >= 1 / (1 + threshold) else "undecided"


def advise_more() -> Text:
    """Return the advice for too few launches."""
    return say("Measure more launches: rankbench run --continue CAMPAIGN --more N.")


def counts(checks: list[Check]) -> Mapping[Outcome, int]:
    """Return how many checks came out how."""
    numbers: dict[Outcome, int] = dict.fromkeys(get_args(Outcome), 0)
    for check in checks:
        numbers[check.outcome] += 1
    return numbers
