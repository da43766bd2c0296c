"""Tables of overlap, of memory, and between all pairs of ranks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fakes import kinds
from wording import WORDING, find_lines

from rankbench.analysis.evaluation import evaluate
from rankbench.analysis.questions.view import CampaignView
from rankbench.report import latex, markdown, write_html
from rankbench.report.tables import Table, results
from rankbench.report.tables.matrix import tables as matrix_tables
from rankbench.report.tables.overlap import tables as overlap_tables


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> CampaignView:
    return evaluate(kinds.make_store(tmp_path_factory.mktemp("results") / "kinds"))


def list_texts(table: Table) -> list[list[str]]:
    return [[cell.text for cell in row] for row in table.rows]


def test_overlap_has_its_own_table(view: CampaignView) -> None:
    (table,) = overlap_tables(view)
    assert table.caption == WORDING
    assert list_texts(table) == [
        ["8 B", "alpha", "504 ns", "420 ns", "420 ns", "80%"],
        ["8 B", "beta", "1.01 µs", "504 ns", "504 ns", "0%"],
        ["64 KiB", "alpha", "16.9 µs", "14.1 µs", "14.1 µs", "80%"],
        ["64 KiB", "beta", "33.9 µs", "16.9 µs", "16.9 µs", "0%"],
    ]


def test_memory_has_its_own_units_and_its_growth(view: CampaignView) -> None:
    table = next(table for table in results.latex(view) if "quantity=memory" in table.caption)
    assert table.columns == ["message size", "alpha", "beta", "least (×: next)"]
    assert table.rows[0][1].text == "1.51 MiB"
    assert table.rows[0][1].detail == WORDING
    assert list_texts(table)[0][3] == "beta 1.50×"


def test_a_matrix_is_a_table_for_each_candidate_and_no_line(view: CampaignView) -> None:
    campaign_view = view
    alpha, beta = matrix_tables(campaign_view)
    assert alpha.columns == ["from", "to 0", "to 1", "to 2", "to 3"]
    assert list_texts(alpha)[0] == ["0", "", "504 ns", "504 ns", "5.04 µs"]
    assert list_texts(beta)[3] == ["3", "10.1 µs", "1.01 µs", "1.01 µs", ""]
    assert beta.caption == WORDING
    assert not [table for table in results.latex(campaign_view) if "pingpong" in table.caption]


def test_markdown_and_latex_have_all_tables(view: CampaignView) -> None:
    for text in (markdown(view), latex(view)):
        for caption in (
            "overlap of communication and computation",
            "memory that the library holds",
            "pingpong 8 B, beta",
        ):
            assert caption in text


def test_the_page_has_sections_of_overlap_and_pairs(view: CampaignView, tmp_path: Path) -> None:
    write_html(tmp_path / "report.html", view)
    html = re.sub(r"<script.*?</script>", "", (tmp_path / "report.html").read_text(encoding="utf-8"), flags=re.S)
    overlap = html[html.index('<section id="overlap"') : html.index('<section id="pairs"')]
    assert find_lines(overlap, "Overlap is 1 -") == WORDING
    assert 'data-table="overlap" data-number="0"' in overlap
    pairs = html[html.index('<section id="pairs"') : html.index('<section id="ranks"')]
    assert 'data-plot="matrix" data-key="pingpong.blocking.8.byte.1x4.none"' in pairs
    every_curve = html[html.index('<section id="curves"') : html.index('<section id="overlap"')]
    assert "put.blocking.vector.1x4.window" in every_curve
    assert "pingpong" not in every_curve


def test_a_page_of_pairs_alone_has_no_empty_sections(tmp_path: Path) -> None:
    write_html(tmp_path / "report.html", evaluate(kinds.make_store(tmp_path / "made", kinds.PAIRS)))
    html = re.sub(r"<script.*?</script>", "", (tmp_path / "report.html").read_text(encoding="utf-8"), flags=re.S)
    sections = re.findall(r'<section id="(\w+)"', html)
    assert sections == [
        "verdict", "sentences", "findings", "case", "candidates", "pairs", "ranks", "provenance", "method", "reproduce",
    ]  # fmt: skip
    links = re.findall(r'<a href="#(\w+)">', html[: html.index("</nav>")])
    assert set(links) <= set(sections)
