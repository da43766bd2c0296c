"""The findings on settings that a library ignores, and on algorithms that were set but not used."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import msgspec
import pytest
from fakes import verdicts
from wording import WORDING, find_lines

from rankbench.analysis.claims.conclusion import conclude
from rankbench.analysis.claims.findings import fallback, ignored
from rankbench.analysis.questions.view import CampaignView
from rankbench.language import render
from rankbench.model import Usage

REPORT = "Allreduce ring cannot be applied."


@pytest.fixture
def view(tmp_path: Path) -> CampaignView:
    return verdicts.evaluate(tmp_path, lambda _name, _case: 1.0, cases=verdicts.LINE)


def change_settings(view: CampaignView, **settings: str) -> CampaignView:
    candidates = [
        msgspec.structs.replace(candidate, settings=settings if candidate.name == "beta" else {})
        for candidate in view.campaign.candidates
    ]
    return dataclasses.replace(view, campaign=msgspec.structs.replace(view.campaign, candidates=candidates))


def test_an_unused_algorithm_is_reported_with_its_setting_and_cases(view: CampaignView) -> None:
    summaries = [
        msgspec.structs.replace(summary, fallback=REPORT if summary.candidate == "beta" else "")
        for summary in view.summaries
    ]
    view = change_settings(view, X_ALLREDUCE_INTRA_ALGORITHM="ring", X_BCAST_ALGORITHM="tree", EAGER="8")
    (finding,) = fallback.find(view.with_verdict(msgspec.structs.replace(view.verdict, summaries=summaries)))
    assert render(finding.title) == WORDING
    assert render(finding.text) == WORDING
    assert len(finding.cases) == 3
    assert list(fallback.find(view)) == []


def test_ignored_settings_are_reported_once_per_candidate(view: CampaignView) -> None:
    usage = [
        Usage(candidate="beta", placement=place, uses={}, ignored=["/x is ignored: line 1", *more])
        for place, more in (("socket", []), ("nodes", ["Y is ignored"]))
    ]
    usage.append(Usage(candidate="alpha", placement="socket", uses={"transports": "sm"}))
    campaign = msgspec.structs.replace(view.campaign, usage=usage)
    (finding,) = ignored.find(dataclasses.replace(view, campaign=campaign))
    assert render(finding.text) == WORDING
    assert list(ignored.find(view)) == []


def test_the_short_answer_names_a_setting_that_a_candidate_ran_without(view: CampaignView) -> None:
    usage = Usage(candidate="beta", placement="socket", uses={}, ignored=["XY is unknown to the library"])
    campaign = msgspec.structs.replace(view.campaign, usage=[usage])
    brief = [render(claim.text) for claim in conclude(dataclasses.replace(view, campaign=campaign)) if claim.brief]
    assert find_lines(brief, "beta ran without some") == WORDING
    assert not any("ran without" in render(claim.text) for claim in conclude(view))
