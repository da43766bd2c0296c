"""Verdicts of campaigns without scatter, evaluated from a store: their texts and values are exact."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from fakes import campaigns
from fakes.campaigns import Truth
from rankbench.analysis import evaluation
from rankbench.analysis.claims import judge, make_draft
from rankbench.analysis.questions.view import CampaignView
from rankbench.model import Campaign, Case, CaseStatus, CaseVerdict, Comparison, Launch, Summary, Verdict

CANDIDATES = ("alpha", "beta", "gamma")
LINE = campaigns.make_cases(lines=[("allreduce", "blocking")], sizes=(8, 1024, 65536))
"""One operation at three sizes."""


def evaluate(
    folder: Path,
    factor: Callable[[str, Case], float | CaseStatus],
    *,
    candidates: Sequence[str] = CANDIDATES,
    cases: Sequence[Case] | None = None,
    launches: int = 6,
    control: bool = False,
) -> CampaignView:
    """Evaluate a campaign in which a candidate takes a case's time times its factor, or ends with a status."""

    def make_truth(candidate: str, case: Case) -> Truth:
        outcome = factor(candidate, case)
        if isinstance(outcome, CaseStatus):
            return Truth(noise=0, spread=0, status=outcome)
        return Truth(noise=0, spread=0, factor=outcome)

    store = campaigns.make_campaign(
        folder / "made", make_truth, launches, candidates=candidates, cases=cases, control=control, samples=10
    )
    return evaluation.evaluate(store)


def make_constant(factors: Mapping[str, float]) -> Callable[[str, Case], float]:
    """Return factors of candidates that are the same in every case."""
    return lambda candidate, _case: factors.get(candidate, 1.0)


def judge_again(
    view: CampaignView,
    *,
    summaries: Sequence[Summary] | None = None,
    comparisons: Sequence[Comparison] | None = None,
    control: Sequence[Comparison] = (),
    launches: Sequence[Launch] | None = None,
    **changes: object,
) -> Verdict:
    """Judge a view's summaries, or others, without its values, and with changes to the campaign's record."""
    record = msgspec.structs.replace(view.campaign, **changes)
    launches = view.launches if launches is None else list(launches)
    summaries = view.summaries if summaries is None else summaries
    comparisons = view.verdict.comparisons if comparisons is None else comparisons
    verdict = make_draft(record, launches, summaries, comparisons, control)
    return judge(CampaignView(campaign=record, launches=launches, verdict=verdict))


def change_verdict(view: CampaignView, **changes: object) -> CampaignView:
    """Return a view with changes to its verdict's cases, summaries or comparisons."""
    return dataclasses.replace(view, verdict=msgspec.structs.replace(view.verdict, **changes))


def make_view(
    campaign: Campaign,
    cases: Sequence[CaseVerdict] = (),
    summaries: Sequence[Summary] = (),
    comparisons: Sequence[Comparison] = (),
    launches: Sequence[Launch] = (),
) -> CampaignView:
    """Return the view of a campaign with these results only."""
    verdict = Verdict(
        conclusion=[],
        cases=list(cases),
        summaries=list(summaries),
        comparisons=list(comparisons),
        control=[],
        findings=[],
        blocks=len({launch.block for launch in launches}),
    )
    return CampaignView(campaign=campaign, launches=list(launches), verdict=verdict)
