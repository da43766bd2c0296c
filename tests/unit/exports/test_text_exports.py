"""Markdown and LaTeX are those of the report; JUnit has a test case for each case and candidate."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import msgspec
from fakes.campaigns import make_campaign
from wording import WORDING

from rankbench import report
from rankbench.exports import EvaluatedCampaign
from rankbench.exports.formats import junit, latex, markdown
from rankbench.language import render
from rankbench.model import CaseStatus, Summary


def test_markdown_and_latex_are_those_of_the_report(plain: EvaluatedCampaign, tmp_path: Path) -> None:
    (text,) = markdown.write(plain, tmp_path / "x.md")
    (tables,) = latex.write(plain, tmp_path / "x.tex")
    assert text.read_text(encoding="utf-8") == report.markdown(plain.view)
    assert tables.read_text(encoding="utf-8") == report.latex(plain.view)


def test_junit_has_a_test_case_for_each_case_and_candidate(plain: EvaluatedCampaign, tmp_path: Path) -> None:
    (path,) = junit.write(plain, tmp_path / "x.xml")
    root = ElementTree.parse(path).getroot()
    (suite,) = root
    for element in (root, suite):
        totals = {"name": "plain", "tests": "27", "failures": "1", "errors": "0", "skipped": "0"}
        assert totals.items() <= element.attrib.items()
    cases = suite.findall("testcase")
    assert len({(case.get("classname"), case.get("name")) for case in cases}) == 27
    (failed,) = [case for case in cases if len(case)]
    assert (failed.get("classname"), failed.get("name"), failed.get("time")) == ("beta", "barrier", "0.000000")
    (failure,) = failed
    assert failure.get("message") == WORDING
    assert failure.text == WORDING
    sentence = suite.findtext("system-out") or ""
    assert sentence.splitlines()[0] == render(plain.view.verdict.conclusion[0].text)


def count_outcomes(plain: EvaluatedCampaign, **changes: object) -> tuple[str, str, str]:
    case = plain.store.campaign.cases[0]
    summary: Summary = msgspec.structs.replace(plain.view.summaries_of[case.key][0][1], **changes)
    check = junit.check(plain.view, case, summary)
    return check.outcome, render(check.text), render(check.advice)


def test_failed_and_skipped_cases_are_distinguished(plain: EvaluatedCampaign) -> None:
    assert count_outcomes(plain) == ("passed", "", "")
    assert count_outcomes(plain, launches=0, failures={CaseStatus.LACKING: 6}) == ("skipped", WORDING, "")
    doubted = "clocks differ by too much"
    assert count_outcomes(plain, launches=0, uncertain=6, doubt=doubted) == ("skipped", doubted, "")
    flaky = count_outcomes(plain, launches=5, failures={CaseStatus.HUNG: 1})
    assert flaky == ("failed", WORDING, WORDING)


def test_junit_of_memory_needs_no_time(every_kind: EvaluatedCampaign) -> None:
    checks = [check for check in junit.checks(every_kind.view) if "quantity=memory" in check.case]
    assert [(check.outcome, check.measured_s) for check in checks] == [("passed", 0.0)] * 4


def test_cases_of_several_placements_are_distinguished(tmp_path: Path) -> None:
    measured = EvaluatedCampaign(make_campaign(tmp_path / "c", launches=1, samples=10, placements=("socket", "core")))
    names = {render(check.title) for check in junit.checks(measured.view)}
    assert {"barrier at socket", "barrier at core"} <= names
