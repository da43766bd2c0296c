"""Campaigns to export."""

from __future__ import annotations

import pytest
from fakes import campaigns, kinds
from fakes.campaigns import Truth

from rankbench.exports import EvaluatedCampaign
from rankbench.model import Case, CaseStatus


def make_truth(candidate: str, case: Case) -> Truth:
    """Return the truth: beta takes half as long again and crashes in barriers; some samples are late."""
    crashed = candidate == "beta" and case.operation == "barrier"
    ends = (0.5, 1.0) if case.operation == "allreduce" else ()
    return Truth(
        factor=1.5 if candidate == "beta" else 1.0,
        late_share=0.1,
        rank_ends=ends,
        status=CaseStatus.CRASHED if crashed else CaseStatus.OK,
    )


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory) -> EvaluatedCampaign:
    """Return a campaign of times and bandwidths, with an A/A twin, failures and late samples."""
    return EvaluatedCampaign(
        campaigns.make_campaign(tmp_path_factory.mktemp("plain") / "plain", make_truth, 6, samples=40)
    )


@pytest.fixture(scope="session")
def every_kind(tmp_path_factory: pytest.TempPathFactory) -> EvaluatedCampaign:
    """Return a campaign with message rates, overlap and memory."""
    wanted = [*kinds.PUTS, *kinds.RATES, *kinds.OVERLAPS, *kinds.MEMORY]
    return EvaluatedCampaign(kinds.make_store(tmp_path_factory.mktemp("kinds") / "kinds", wanted))
