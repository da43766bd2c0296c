"""The finding on a tool whose fastest candidate is not the core's: planted times and their comparisons."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import msgspec
import pytest
from fakes import campaign_views, reconciliation
from fakes.reconciliation import CORE, OSU, make_case
from fakes.words import render_texts
from wording import WORDING

from rankbench.analysis.claims.findings import tools_disagree
from rankbench.analysis.questions.view import CampaignView
from rankbench.language import Text, render
from rankbench.model import Case, Finding

PAIRS = {"allreduce": "osu-allreduce", "bcast": "osu-bcast"}
SIZES = (8, 1024)
CASES = [
    make_case(by[name], size)
    for core, tool in PAIRS.items()
    for by, name in ((CORE, core), (OSU, tool))
    for size in SIZES
]
AGREE = {"alpha": 1.0, "beta": 1.4}


def make_view(times: Mapping[tuple[str, int], Mapping[str, float]]) -> CampaignView:
    """Return a campaign in which alpha is faster except in these cases."""

    def choose_time_ns(candidate: str, case: Case) -> float:
        return 1000 * times.get((case.operation, case.size_bytes), AGREE)[candidate]

    view = campaign_views.make_view(choose_time_ns, cases=CASES, candidates=("alpha", "beta"), spread=0.001)
    known = reconciliation.make_record(CASES).operations
    return dataclasses.replace(view, campaign=msgspec.structs.replace(view.campaign, operations=known))


def test_a_tool_that_names_the_other_candidate_is_reported() -> None:
    times = {("osu-allreduce", 8): {"alpha": 1.3, "beta": 1.0}, ("osu-bcast", 1024): {"alpha": 1.6, "beta": 1.0}}
    assert [render_texts(finding) for finding in list(tools_disagree.find(make_view(times)))] == [
        Finding(
            kind="tools_disagree",
            title=Text("osu contradicts the core"),
            text=(Text(WORDING)),
            advice=(Text(WORDING)),
            cases=[
                "bcast.blocking.1024.byte.socket.window",
                "osu-bcast.blocking.1024.byte.socket.library-barrier",
                "allreduce.blocking.8.float.socket.window",
                "osu-allreduce.blocking.8.float.socket.library-barrier",
            ],
            severity="warning",
        )
    ]


@pytest.mark.parametrize(
    "times",
    [
        {},
        {("osu-allreduce", 8): {"alpha": 1.0, "beta": 1.0}},
        {("osu-allreduce", 8): {"alpha": 1.0, "beta": 3.0}},
    ],
    ids=["as the core", "equal", "more so"],
)
def test_a_tool_that_names_the_same_or_no_candidate_is_not_reported(
    times: Mapping[tuple[str, int], Mapping[str, float]],
) -> None:
    assert list(tools_disagree.find(make_view(times))) == []


def test_other_datatypes_of_a_contradicting_tool_are_named() -> None:
    cases = [make_case(CORE["allreduce"]), make_case(OSU["osu-allreduce"], datatype="char")]

    def choose_time_ns(candidate: str, case: Case) -> float:
        times = {"alpha": 1300.0, "beta": 1000.0} if case.suite else {"alpha": 1000.0, "beta": 1400.0}
        return times[candidate]

    view = campaign_views.make_view(choose_time_ns, cases=cases, candidates=("alpha", "beta"), spread=0.001)
    known = reconciliation.make_record(cases).operations
    view = dataclasses.replace(view, campaign=msgspec.structs.replace(view.campaign, operations=known))
    (finding,) = tools_disagree.find(view)
    assert render(finding.advice) == WORDING
