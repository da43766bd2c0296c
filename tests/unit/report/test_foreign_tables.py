"""Reports on imported results: their meanings and files, and nothing about a machine or plan."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import msgspec
import pytest
from fakes import campaigns, evaluations, imports, tool_outputs
from wording import WORDING, find_lines

from rankbench import imports as importer
from rankbench.analysis.evaluation import evaluate
from rankbench.analysis.questions.view import CampaignView
from rankbench.foreign.tools import osu
from rankbench.imports import ImportRequest, Source
from rankbench.report import foreign_tables, markdown, write_html
from rankbench.report.tables import Table

OSU = {operation.name: operation for operation in osu.OPERATIONS}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> CampaignView:
    """Return an evaluation of three files of the study, of which one has no results."""
    folder: Path = tmp_path_factory.mktemp("study")
    sources = [Source(tool_outputs.SAMPLES / "study" / f"{name}.out") for name in ("latency", "barrier", "iallreduce")]
    return evaluate(importer.import_files(ImportRequest(sources, ["MPICH", "OpenMPI", "IntelMPI"]), folder / "made"))


@pytest.fixture(scope="module")
def page(study: CampaignView, tmp_path_factory: pytest.TempPathFactory) -> str:
    path: Path = tmp_path_factory.mktemp("page") / "report.html"
    write_html(path, study)
    return path.read_text(encoding="utf-8")


def list_texts(table: Table) -> list[list[str]]:
    return [[cell.text for cell in row] for row in table.rows]


def read_meaning(operation: str) -> str:
    foreign = OSU[operation].foreign
    assert foreign
    return foreign.meaning.text


def list_sections(page: str) -> list[str]:
    return re.findall(r'<section id="([a-z]+)"', page)


# --- tables -----------------------------------------------------------------------------------------------------------


def test_the_value_of_each_benchmark_is_explained(study: CampaignView) -> None:
    table = foreign_tables.list_meanings(study)
    assert table.caption == WORDING
    assert table.columns == ["benchmark", "as the core's", "what its number is", "data"]
    assert list_texts(table) == [
        ["osu-latency", "pingpong", read_meaning("osu-latency"), "not checked"],
        ["osu-barrier", "barrier", read_meaning("osu-barrier"), "not checked"],
    ]
    assert [row[0].detail for row in table.rows] == ["osu_latency", "osu_barrier"]


def test_a_benchmark_without_a_counterpart_has_a_dash(study: CampaignView) -> None:
    record = msgspec.structs.replace(study.campaign, operations=[OSU["osu-latency_mp"]])
    table = foreign_tables.list_meanings(dataclasses.replace(study, campaign=record))
    assert [row[1].text for row in table.rows] == ["–"]


def test_each_file_is_listed_with_its_contents(study: CampaignView) -> None:
    table = foreign_tables.files(study)
    assert table.caption == "Files that were imported"
    assert table.columns == ["file", "printed by", "reports itself", "found"]
    latency, barrier, nothing = list_texts(table)
    folder = tool_outputs.SAMPLES / "study"
    assert latency == [str(folder / "latency.out"), "OSU micro-benchmarks 5.3", "–", "–"]
    assert barrier == [str(folder / "barrier.out"), "OSU micro-benchmarks 5.3", "–", "–"]
    assert nothing[:3] == [str(folder / "iallreduce.out"), "–", "–"]
    assert nothing[3] == WORDING
    assert [row[0].detail for row in table.rows] == [record.sha256[:12] for record in study.campaign.imported]


def test_facts_of_a_file_are_listed_with_it(tmp_path: Path) -> None:
    path = tool_outputs.SAMPLES / "imb" / "IMB-MPI1.PingPong.txt"
    view = evaluate(importer.import_files(ImportRequest([Source(path, "mpich")]), tmp_path / "made"))
    ((_, tool, facts, remarks),) = list_texts(foreign_tables.files(view))
    assert (tool, remarks) == ("Intel MPI Benchmarks 2021.11", "–")
    assert find_lines(facts, "date Fri Nov 20") == WORDING
    assert "command /opt/bench/IMB-MPI1 PingPong -msglog 16 -iter 200 -time 1" in facts


def test_a_campaign_of_the_core_has_neither_meanings_nor_files() -> None:
    view = evaluations.make_evaluation()
    assert foreign_tables.list_meanings(view).rows == foreign_tables.files(view).rows == []


# --- the page ---------------------------------------------------------------------------------------------------------


def test_the_page_of_an_imported_campaign_has_neither_machine_nor_plan(page: str) -> None:
    assert list_sections(page) == [
        "verdict",
        "map",
        "sentences",
        "tables",
        "findings",
        "groups",
        "case",
        "curves",
        "candidates",
        "failures",
        "provenance",
        "method",
    ]
    assert 'href="#reproduce"' not in page
    for words in ("rankbench run plan.toml", "Do it again", "Certainty of starts", "Noise check"):
        assert words not in page
    assert "imported from 3 files ·" in page
    assert find_lines(page, "Valid for the machine") == WORDING


def test_the_page_names_the_source_of_its_values(page: str) -> None:
    sentence = (
        "These results were imported: rankbench did not measure them, and knows only what the files say about the runs."
    )
    assert page.count(sentence) == 2
    for caption in ("Files that were imported", "What the numbers of other programs mean"):
        assert f"<caption>{caption}</caption>" in page
    assert str(tool_outputs.SAMPLES / "study" / "latency.out") in page
    assert page.count("<summary>Launch ") == 9


def test_the_page_draws_means_and_extremes(page: str) -> None:
    assert 'data-plot="extremes"' in page


def test_markdown_has_both_tables(study: CampaignView) -> None:
    text = markdown(study)
    assert find_lines(text, "| benchmark | as") == WORDING
    assert find_lines(text, "| file | printed") == WORDING
    assert read_meaning("osu-barrier") in text


def test_the_page_of_a_measured_campaign_names_no_imported_files(tmp_path: Path) -> None:
    cases = campaigns.make_cases(lines=[("barrier", "blocking")])
    write_html(tmp_path / "report.html", evaluate(campaigns.make_campaign(tmp_path / "made", samples=10, cases=cases)))
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Files that were imported" not in page
    assert "were imported" not in page
    assert "reproduce" in list_sections(page)


def test_a_campaign_of_one_library_and_one_run_has_a_page(tmp_path: Path) -> None:
    store = imports.import_campaign(tmp_path, {"A": [imports.format_latencies((8, 1.5))]})
    write_html(tmp_path / "report.html", evaluate(store))
    assert "imported from 1 file ·" in (tmp_path / "report.html").read_text(encoding="utf-8")
