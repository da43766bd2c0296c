"""The findings on libraries that print much."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import msgspec
import pytest
from fakes import verdicts
from wording import WORDING

from rankbench.analysis.claims.findings import output
from rankbench.analysis.questions.view import CampaignView
from rankbench.campaign.launching import drop_network_bytes
from rankbench.language import render
from rankbench.model import CaseResult, CaseStatus


@pytest.fixture
def view(tmp_path: Path) -> CampaignView:
    return verdicts.evaluate(tmp_path, lambda _name, _case: 1.0, cases=verdicts.LINE)


def test_launches_that_print_much_are_reported_with_a_repeated_line(view: CampaignView) -> None:
    log = "g 0\nonce\n[n1:17] warn 4\nother\n[n1:99] warn 5\n[n1:99] warn 6\n"
    loud, *rest = view.launches
    launches = [msgspec.structs.replace(loud, output_bytes=11 << 20, log=log), *rest]
    (finding,) = output.find(dataclasses.replace(view, launches=launches))
    assert render(finding.title) == WORDING
    assert render(finding.text) == WORDING


def test_little_output_is_no_finding(view: CampaignView) -> None:
    launches = [msgspec.structs.replace(launch, output_bytes=10 << 20) for launch in view.launches]
    assert list(output.find(dataclasses.replace(view, launches=launches))) == []


def test_cases_with_output_in_timed_calls_are_one_finding(view: CampaignView) -> None:
    summaries = [
        msgspec.structs.replace(summary, printed_bytes=summary.candidate == "beta" and number + 1)
        for number, summary in enumerate(view.summaries)
    ]
    (finding,) = output.find(view.with_verdict(msgspec.structs.replace(view.verdict, summaries=summaries)))
    assert len(finding.cases) == 3
    assert render(finding.text) == WORDING


@pytest.mark.parametrize(("came_out", "expected"), [(12, [5, 7]), (11, [0, 0])])
def test_bytes_sent_to_the_network_are_not_output(view: CampaignView, came_out: int, expected: list[int]) -> None:
    case = next(iter(view.case_of.values()))
    results = [CaseResult(case=case, status=CaseStatus.OK, printed_bytes=count) for count in (5, 7)]
    assert [result.printed_bytes for result in drop_network_bytes(results, came_out)] == expected


@pytest.mark.parametrize("log", ["", "a", "a\na\nb", "a\nb\n\n\n"])
def test_only_entire_lines_count_as_repeated(log: str) -> None:
    assert output.find_repeated(log) == ""
