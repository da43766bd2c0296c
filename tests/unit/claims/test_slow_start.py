"""The finding on a library whose MPI_Init takes much longer than that of another."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import msgspec
import pytest
from fakes import verdicts
from wording import WORDING

from rankbench.analysis.claims.findings import slow_start
from rankbench.analysis.questions.view import CampaignView
from rankbench.language import render
from rankbench.model import LaunchStatus, Library, Usage


@pytest.fixture
def view(tmp_path: Path) -> CampaignView:
    return verdicts.evaluate(tmp_path, lambda _name, _case: 1.0, launches=4, cases=verdicts.LINE)


def set_starts(view: CampaignView, **start_s: float) -> CampaignView:
    """Return a view whose candidates start in these times, a little longer with each launch."""
    launches = [
        msgspec.structs.replace(launch, spent_s={"init": start_s.get(launch.candidate, 0.05) + 0.001 * launch.block})
        for launch in view.launches
    ]
    return dataclasses.replace(view, launches=launches)


def find_texts(view: CampaignView) -> list[tuple[str, str]]:
    return [(render(finding.title), render(finding.text)) for finding in slow_start.find(view)]


def test_a_candidate_that_starts_late_in_all_launches_is_reported(view: CampaignView) -> None:
    ((title, text),) = find_texts(set_starts(view, alpha=0.02, beta=1.05))
    assert title == "beta starts slowly"
    assert text == WORDING


def test_starts_that_overlap_or_are_close_are_not_reported(view: CampaignView) -> None:
    assert find_texts(set_starts(view, alpha=0.02, beta=0.5)) == []
    slow = set_starts(view, alpha=0.02, beta=1.05, gamma=1.05)
    assert len(find_texts(slow)) == 2
    stalled = [
        msgspec.structs.replace(launch, spent_s={"init": 2.0}) if launch.candidate == "alpha" else launch
        for launch in slow.launches[:2]
    ]
    assert find_texts(dataclasses.replace(slow, launches=[*stalled, *slow.launches[2:]])) == []


def test_few_or_failed_launches_show_nothing(view: CampaignView) -> None:
    slow = set_starts(view, alpha=0.02, beta=1.05)
    assert find_texts(dataclasses.replace(slow, launches=[each for each in slow.launches if each.block < 3])) == []
    failed = [msgspec.structs.replace(launch, status=LaunchStatus.CRASHED) for launch in slow.launches]
    assert find_texts(dataclasses.replace(slow, launches=failed)) == []
    assert find_texts(dataclasses.replace(slow, launches=[])) == []


def add_usage(view: CampaignView, unusable: str, *candidates: str) -> CampaignView:
    """Return a view of Open MPI libraries with these unusable transports."""
    usage = [Usage(candidate=name, placement="socket", uses={"unusable transports": unusable}) for name in candidates]
    libraries = [
        msgspec.structs.replace(library, family="openmpi") if isinstance(library, Library) else library
        for library in view.campaign.libraries
    ]
    campaign = msgspec.structs.replace(view.campaign, usage=usage, libraries=libraries)
    return dataclasses.replace(view, campaign=campaign)


@pytest.mark.parametrize(("unusable", "known"), [("uct, ofi", True), ("uct", False)])
def test_the_reason_is_given_where_the_check_shows_it(view: CampaignView, unusable: str, known: bool) -> None:
    ((_, text),) = find_texts(set_starts(add_usage(view, unusable, "beta"), alpha=0.02, beta=1.05))
    assert text.endswith("elsewhere: mpirun --mca btl ^ofi.") == known


def test_a_known_reason_is_reported_although_all_start_late(view: CampaignView) -> None:
    late = set_starts(view, alpha=1.02, beta=1.05, gamma=1.04)
    assert find_texts(late) == []
    ((title, text),) = find_texts(add_usage(late, "ofi", "beta"))
    assert title == "beta starts slowly"
    assert text == WORDING
