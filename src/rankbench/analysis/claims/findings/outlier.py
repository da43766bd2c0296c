"""One library is several times slower than every other one in one call.

Why: That is more often a poor default than the hardware.

What to do: Try other algorithms or transports of this library for these sizes; `rankbench tune` searches for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

import numpy as np

from rankbench.analysis.claims.advice import advise_tuning
from rankbench.analysis.questions.extremes import Extremes, decide_selected, make_estimate
from rankbench.analysis.questions.interim import list_interim_looks
from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.questions.wording import add_sizes
from rankbench.analysis.statistics.contrasts import SURE
from rankbench.analysis.statistics.decision import Family, decide
from rankbench.analysis.statistics.looks import Penalty
from rankbench.language import say, sentences
from rankbench.model import Case, Comparison, Finding

TITLE = "Far behind"
FAR = 3.0


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield, per operation and candidate, the sizes at which it is significantly three times slower than any other.

    That is one family of tests over all cases, against a ratio of three (`decision`).
    """
    gaps = list(_find_gaps(view))
    plan, blocks = view.campaign.plan, np.array([gap.ratio.blocks for gap in gaps])
    decisions = decide(
        [make_estimate(gap.ratio) for gap in gaps],
        FAR - 1,
        plan.confidence,
        penalty=Penalty(list_interim_looks(plan), blocks),
        family=Family("fdr", SURE),
        one_sided=True,
    )
    certain = [gap for gap, decision in zip(gaps, decisions, strict=True) if decision.different]
    for (title, name), group in groupby(certain, key=lambda gap: (gap.title, gap.name)):
        yield _make_finding(view, title, name, list(group), len(gaps))


class Gap(NamedTuple):
    """How far the slowest candidate of a case is from the slowest of the others."""

    title: str
    name: str
    case: Case
    ratio: Comparison


def _find_gaps(view: CampaignView) -> Iterator[Gap]:
    """Yield a comparison for each case whose slowest candidate is not a winner, by line and candidate."""
    for title, verdicts in view.lines():
        for name in view.candidates:
            for verdict in verdicts:
                if len(verdict.ranking) > 1 and verdict.ranking[-1] == name and name not in verdict.winners:
                    ratio = view.comparisons.find(verdict.case.key, verdict.ranking[-2], name)
                    if ratio:
                        yield Gap(title, name, verdict.case, ratio)


def _make_finding(view: CampaignView, title: str, name: str, behind: list[Gap], among: int) -> Finding:
    extremes = Extremes(view)
    farthest = max(behind, key=lambda gap: extremes.rank(gap.case.key, gap.ratio.base, name, among))
    worst, rival = decide_selected(view, farthest.ratio, among), farthest.ratio.base
    return Finding(
        kind="outlier",
        title=say(
            "{name} {name:of is|are} far behind in {where}",
            name=name,
            where=say("{title} ({worst:ratio})", title=title, worst=worst.ratio),
        ),
        text=say(
            "In {where}, {name} is {worst:ratio} slower than {rival} ({low:ratio} to {high:ratio})."
            if len(behind) == 1
            else "In {where}, {name} is up to {worst:ratio} slower than {rival} ({low:ratio} to {high:ratio}).",
            where=add_sizes(title, [gap.case for gap in behind]),
            name=name,
            rival=say("the second slowest, {rival}", rival=rival) if len(view.candidates) > 2 else rival,
            worst=worst.ratio,
            low=worst.low,
            high=worst.high,
        ),
        advice=sentences(
            [
                say("Try other algorithms or transports of this library for these sizes."),
                *advise_tuning(view, {name: [gap.case for gap in behind]}),
            ]
        ),
        cases=[gap.case.key for gap in behind],
        severity="warning",
    )
