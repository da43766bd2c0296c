"""Without start synchronisation by a clock, the ratio of two candidates differs from the ratio with it.

Why: Ranks leave a barrier at different moments, and how different depends on the library. Tools that time after
a barrier count that as time of the call.

What to do: Use the result with the start `window`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

import polars as pl

from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.statistics.contrasts import Claim, Contrast, compare_within_launches, judge
from rankbench.language import say, sentences
from rankbench.model import Case, Finding

TITLE = "Starts that mislead"


class Shift(NamedTuple):
    """A ratio of two candidates that is significantly larger with another start."""

    case: Case
    """With the other start."""
    usual: Case
    base: str
    other: str
    shift: Contrast
    """The ratio with the other start over that with the usual one."""


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield a warning per start without a common time that changes ratios of candidates."""
    pairs = [
        (case_verdict.case, view.usual_of[case_verdict.case.key])
        for case_verdict in view.case_verdicts
        if view.campaign.scheduled(view.usual_of[case_verdict.case.key])
        and not view.campaign.scheduled(case_verdict.case)
    ]
    shifts = sorted(find_shifts(view, pairs), key=lambda shift: shift.case.start)
    for start, group in groupby(shifts, key=lambda shift: shift.case.start):
        yield _make_finding(view, start, list(group), sum(case.start == start for case, _ in pairs))


def find_shifts(view: CampaignView, pairs: list[tuple[Case, Case]]) -> Iterator[Shift]:
    """Yield the ratios that a start significantly makes larger, by more than the threshold, in either direction.

    Each start's effect is taken within the launches of one candidate, and those of two are paired within blocks.
    """
    planned = view.campaign.plan
    claims = [Claim(case.key, (usual.key,), 1 + planned.threshold) for case, usual in pairs]
    frame = compare_within_launches(view.judged_values.filter(pl.col("candidate").is_in(view.candidates)), claims)
    both = frame.join(frame, on=["claim", "block"], suffix="_other").filter(
        pl.col("candidate") != pl.col("candidate_other")
    )
    logs = both.with_columns(log=pl.col("log_other") - pl.col("log"))
    for contrast in judge(logs, ["claim", "candidate", "candidate_other"], planned.confidence):
        if contrast.sure:
            number, base, other = contrast.key
            case, usual = pairs[number]
            yield Shift(case, usual, base, other, contrast)


def reverses(view: CampaignView, shift: Shift) -> bool:
    """Return whether the slower candidate is the faster one with the other start."""
    slower = view.comparisons.slower
    return slower(shift.usual.key, shift.other, shift.base) and slower(shift.case.key, shift.base, shift.other)


def _make_finding(view: CampaignView, start: str, shifts: list[Shift], tested: int) -> Finding:
    usual = shifts[0].usual.start
    worst = max(shifts, key=lambda shift: (reverses(view, shift), shift.shift.ratio))
    changed = list(dict.fromkeys(shift.case.key for shift in shifts))
    winners = {shift.case.key for shift in shifts if reverses(view, shift)}
    ratios = [math.nan if ratio is None else ratio for ratio in _list_ratios(view, worst)]
    another = say(
        "In {n} of {all:count case} start {start} changes the ratio of two candidates against {usual} significantly; "
        "in {turned} of them the other candidate seems faster."
        if winners
        else "In {n} of {all:count case} start {start} changes the ratio of two candidates against {usual} "
        "significantly.",
        n=len(changed),
        all=tested,
        start=start,
        usual=usual,
        turned=len(winners),
    )
    most = say(
        "The largest change is in {case}: {other} needs {ratio:ratio} the time of {base} with {usual} and "
        "{start_ratio:ratio} with {start} (a factor of {shift:ratio}, {low:ratio} to {high:ratio}).",
        case=view.full_title(worst.usual),
        other=worst.other,
        ratio=ratios[0],
        base=worst.base,
        usual=usual,
        start_ratio=ratios[1],
        start=start,
        shift=worst.shift.ratio,
        low=worst.shift.low,
        high=worst.shift.high,
    )
    return Finding(
        kind="misleading_starts",
        title=say("{start:of Start|Starts} {start} {start:of misleads|mislead}", start=start),
        text=sentences([another, most]),
        advice=say(
            "Trust {usual}: ranks leave a barrier at different moments, depending on the library, and that counts as "
            "time of the call.",
            usual=usual,
        ),
        cases=[worst.case.key, *(key for key in changed if key != worst.case.key)],
        severity="warning",
        plot="starts",
    )


def _list_ratios(view: CampaignView, shift: Shift) -> list[float | None]:
    return [view.comparisons.ratio(case.key, shift.base, shift.other) for case in (shift.usual, shift.case)]
