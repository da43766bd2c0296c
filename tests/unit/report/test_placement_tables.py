"""Tables and curves of the same cases at several placements."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from fakes import kinds, pages, placement_campaigns
from wording import WORDING

from rankbench.analysis.evaluation import evaluate
from rankbench.analysis.questions.view import CampaignView
from rankbench.model import Case, CaseResult, CaseStatus
from rankbench.plots.kinds import placements
from rankbench.report import latex, markdown, write_html
from rankbench.report.tables.placements import tables as placement_tables

FACTORS = {"same-l2": 1.0, "two-sockets": 3.0, "nodes": 25.0}


def make_view(folder: Path, **others: object) -> CampaignView:
    return evaluate(
        placement_campaigns.make_store(
            folder / "made",
            lambda name, place, size: (200 + size / 10) * FACTORS[place] * (2 if name == "beta" else 1),
            names=tuple(FACTORS),
            candidates=("alpha", "beta"),
            operations=("pingpong", "bandwidth"),
            **others,  # type: ignore[arg-type]
        )
    )


@pytest.fixture(scope="module")
def evaluation(tmp_path_factory: pytest.TempPathFactory) -> CampaignView:
    return make_view(tmp_path_factory.mktemp("results"))


@pytest.fixture(scope="module")
def view(evaluation: CampaignView) -> CampaignView:
    return evaluation


def test_placements_are_columns_side_by_side(view: CampaignView) -> None:
    tables = placement_tables(view)
    assert [table.caption for table in tables] == WORDING
    first = tables[0]
    assert first.columns == ["message size", *FACTORS]
    assert [[cell.text for cell in row] for row in first.rows] == [
        ["8 B", "201 ns", "602 ns 3.00×", "5.02 µs 25.0×"],
        ["1 KiB", "302 ns", "904 ns 2.99×", "7.57 µs 25.0×"],
    ]
    near = first.rows[0][1]
    assert near.detail == WORDING
    assert near.case == placement_campaigns.make_case("pingpong", 8, "same-l2").key


def test_a_single_launch_has_no_spread(tmp_path: Path) -> None:
    near, far = placement_tables(make_view(tmp_path, launches=1))[0].rows[0][1:3]
    assert (near.detail, far.detail, far.text[-1]) == ("one launch", "one launch", "~")


def test_cases_without_results_have_no_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    list_turns = placement_campaigns.list_turns
    monkeypatch.setattr(
        placement_campaigns,
        "list_turns",
        lambda *arguments: [key for key in list_turns(*arguments) if key[1] == "alpha"],
    )
    captions = [table.caption for table in placement_tables(make_view(tmp_path))]
    assert [caption.partition(":")[0] for caption in captions] == ["pingpong, alpha", "bandwidth, alpha"]


def test_a_single_placement_has_no_table(tmp_path: Path) -> None:
    assert placement_tables(evaluate(kinds.make_store(tmp_path / "made", kinds.PUTS))) == []


def test_a_failure_at_one_placement_is_reported_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_usual_result = placement_campaigns.make_result

    def make_result(case: Case, typical_ns: float) -> CaseResult:
        if (case.placement, case.size_bytes) == ("nodes", 8):
            return CaseResult(case=case, status=CaseStatus.NOT_AS_ASKED, reason="ranks 0, 1 on one host")
        return make_usual_result(case, typical_ns)

    monkeypatch.setattr(placement_campaigns, "make_result", make_result)
    row = placement_tables(make_view(tmp_path))[0].rows[0]
    assert (row[3].text, row[3].detail) == ("–", "not as asked")


def test_page_markdown_and_latex_have_the_tables(evaluation: CampaignView, tmp_path: Path) -> None:
    assert "**pingpong, alpha: latency by placement**" in markdown(evaluation)
    assert r"\caption{pingpong, alpha: latency by placement}" in latex(evaluation)
    write_html(tmp_path / "report.html", evaluation)
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    section = html[html.index('<section id="places"') : html.index('<section id="provenance"')]
    assert section.count("<details") == 4
    assert pages.list_captions(html, "placements")[0] == "pingpong, alpha: latency by placement"
    assert 'data-plot="placements" data-key="pingpong.blocking.byte..none"' in section
    assert '<a href="#places">Placements</a>' in html


# --- the plot ---------------------------------------------------------------------------------------------------------


def test_candidates_have_panels_side_by_side(view: CampaignView) -> None:
    drawn = {key: chart for key, part in view.parts("places") if (chart := placements.chart(part))}
    assert list(drawn) == ["pingpong.blocking.byte..none", "bandwidth.blocking.byte..none"]
    chart = drawn["pingpong.blocking.byte..none"]
    assert chart.title == "pingpong: latency by placement"
    assert chart.subtitle == WORDING
    points = chart.datasets["points"]
    assert len(points) == 12
    at = {(point["candidate"], point["size"]): point["x"] for point in points}
    assert at == {("alpha", "8 B"): 0.6, ("alpha", "1 KiB"): 7.6, ("beta", "8 B"): 8.8, ("beta", "1 KiB"): 15.8}
    assert [(head["head"], head["border"]) for head in chart.datasets["heads"]] == [("alpha", 0.0), ("beta", 8.2)]
    assert chart.form["usermeta"]["least_width"] == 500


def test_of_many_sizes_only_some_are_labelled(view: CampaignView) -> None:
    (part,) = [part for key, part in view.parts("places") if key.startswith("pingpong")]
    assert placements.make_labels(part, [8, 1024]) == ["8 B", "1 KiB"]
    many = [msgspec.structs.replace(part.cases[0], size_bytes=8 << number) for number in range(13)]
    words = placements.make_labels(part.showing(many), [case.size_bytes for case in many])
    assert [word for word in words if word] == ["8 B", "64 B", "512 B", "4 KiB", "32 KiB"]
    assert placements.panels(["alpha", "beta"], [1, 2, 4]).x(4, 1) == 5.8


def test_a_single_placement_has_no_plot(tmp_path: Path) -> None:
    view = evaluate(kinds.make_store(tmp_path / "made"))
    assert {placements.chart(part) for _, part in view.parts("places")} == {None}
