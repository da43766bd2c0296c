"""The answer on one page and one slide, and as the figure of the overall answer."""

from __future__ import annotations

import dataclasses
import itertools
import re
import struct
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import msgspec
import pytest
from fakes import campaign_views, campaigns, evaluations
from wording import WORDING, find_lines

from rankbench.analysis.claims.conclusion import conclude
from rankbench.analysis.claims.standings import list_standings
from rankbench.analysis.questions.view import CampaignView
from rankbench.language import render
from rankbench.model import Case
from rankbench.plots.kinds import overall
from rankbench.report import summary, write_figures, write_page, write_slide

NAMES = ("alpha", "beta", "gamma")


def double(candidate: str, case: Case) -> float:
    """Return times of which beta's are twice alpha's, and of which gamma has only those of small messages."""
    if candidate == "gamma" and case.size_bytes > 64:
        return float("nan")
    return (500 + case.size_bytes / 4) * (2 if candidate == "beta" else 1)


@pytest.fixture(scope="module")
def view() -> CampaignView:
    draft = campaign_views.make_view(double, candidates=NAMES)
    return draft.with_verdict(msgspec.structs.replace(draft.verdict, conclusion=conclude(draft)))


def test_standings_have_every_candidate_with_its_ratio_or_the_reason(view: CampaignView) -> None:
    (standings,) = list_standings(view)
    best, beta, gamma = standings.rows
    assert (best.name, best.overall and best.overall.mean) == ("alpha", 1.0)
    assert beta.overall is not None
    assert beta.overall.low <= 2 <= beta.overall.high
    assert gamma.overall is None
    assert render(gamma.reason) == WORDING


def test_the_bars_are_those_of_the_answer(view: CampaignView) -> None:
    drawn = overall.chart(view)
    assert drawn is not None
    rows = drawn.datasets["rows"]
    assert [row["row"] for row in rows] == ["\nalpha", "\nbeta", "\ngamma"]
    assert rows[0]["words"] == "1.00×"
    assert re.fullmatch(r"[12]\.\d+× \(1\.9\d–2\.\d+×\)", rows[1]["words"])
    assert "ratio" not in rows[2]
    assert drawn.title == "Overall time, best = 1"


def test_figures_have_the_overall_answer(view: CampaignView, tmp_path: Path) -> None:
    names = {path.name for path in write_figures(tmp_path, view, ["svg"], ["overall"])}
    assert "overall-campaign.svg" in names


def test_a_page_is_a4_and_a_slide_is_16_to_9(view: CampaignView, tmp_path: Path) -> None:
    write_page(tmp_path / "summary.pdf", view)
    write_slide(tmp_path / "summary.png", view)
    page, slide = (tmp_path / "summary.pdf").read_bytes(), (tmp_path / "summary.png").read_bytes()
    assert re.search(rb"/MediaBox\s*\[\s*0 0 595 842\s*\]", page)
    assert page.count(b"/Type /Page\n") + page.count(b"/Type/Page/") == 1 or page.count(b"/MediaBox") == 1
    assert struct.unpack(">II", slide[16:24]) == (1920, 1080)


@pytest.mark.parametrize("sheet", [summary.PAGE, summary.SLIDE], ids=["page", "slide"])
@pytest.mark.parametrize("words", [1, 40], ids=["short", "long"])
def test_a_sheet_holds_question_answer_charts_validity_and_checksum(
    view: CampaignView, sheet: summary.Sheet, words: int
) -> None:
    plan = msgspec.structs.replace(view.campaign.plan, question="Which <MPI>? " * words)
    planned = dataclasses.replace(view, campaign=msgspec.structs.replace(view.campaign, plan=plan))
    root = ElementTree.fromstring(summary.compose(planned, sheet))
    space = "{http://www.w3.org/2000/svg}"
    text = " ".join(line.text or "" for line in root.findall(f"{space}text"))
    answer = render(view.verdict.conclusion[0].text)
    assert "Known here" not in text
    for part in (plan.question.strip(), answer, summary.describe_scope(planned), summary.digest(planned)):
        assert part in text
    boxes = [
        [float(picture.attrib[name]) for name in ("x", "y", "width", "height")]
        for picture in root.findall(f"{space}svg")
    ]
    assert len(boxes) == 2
    for x, y, width, height in boxes:
        assert min(x, y) >= sheet.margin
        assert x + width <= sheet.width - sheet.margin + 1
        assert y + height <= sheet.height - sheet.margin
    for first, second in itertools.pairwise(boxes):
        assert first[0] + first[2] <= second[0] + 1 or first[1] + first[3] <= second[1] + 1


def test_a_sheet_warns_of_known_wrong_data(view: CampaignView) -> None:
    best = view.campaign.get_candidate("alpha").library
    campaign = msgspec.structs.replace(view.campaign, known_wrong={best: ["scan.blocking"]})
    draft = dataclasses.replace(view, campaign=campaign)
    warned = draft.with_verdict(msgspec.structs.replace(draft.verdict, conclusion=conclude(draft)))
    assert find_lines(summary.compose(warned, summary.SLIDE), "delivers wrong data in") == WORDING


def test_the_checksum_is_that_of_the_campaign() -> None:
    view = evaluations.make_evaluation()
    assert summary.digest(view) == summary.digest(evaluations.make_evaluation())
    other = dataclasses.replace(view, launches=view.launches[:-1])
    assert len({summary.digest(view), summary.digest(other)}) == 2
    assert re.fullmatch("[0-9a-f]{12}", summary.digest(view))


def test_a_campaign_without_an_answer_has_a_page_without_bars(tmp_path: Path) -> None:
    alone = campaign_views.make_view(double, candidates=NAMES[:1], cases=campaigns.make_cases())
    assert list_standings(alone) == []
    write_page(tmp_path / "summary.pdf", alone)
    assert (tmp_path / "summary.pdf").read_bytes().startswith(b"%PDF")
