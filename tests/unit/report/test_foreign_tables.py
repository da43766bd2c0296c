"""What a report says of values that others measured: their meanings, their files, and nothing of a machine or plan."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING

import msgspec
import pytest
from fakes import campaigns, evaluations, imports, printed

from rankbench import imports as imported
from rankbench.evaluation import evaluate
from rankbench.foreign.tools import osu
from rankbench.imports import ImportRequest, Source
from rankbench.report import foreign_tables, markdown, write_html

if TYPE_CHECKING:
    from pathlib import Path

    from rankbench.report.tables import Table
    from rankbench.verdict.view import CampaignView

OSU = {operation.name: operation for operation in osu.OPERATIONS}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> CampaignView:
    """Return an evaluation of three files of the study, one of which has no values."""
    folder: Path = tmp_path_factory.mktemp("study")
    sources = [Source(printed.SAMPLES / "study" / f"{name}.out") for name in ("latency", "barrier", "iallreduce")]
    return evaluate(imported.import_files(ImportRequest(sources, ["MPICH", "OpenMPI", "IntelMPI"]), folder / "made"))


@pytest.fixture(scope="module")
def page(study: CampaignView, tmp_path_factory: pytest.TempPathFactory) -> str:
    path: Path = tmp_path_factory.mktemp("page") / "report.html"
    write_html(path, study)
    return path.read_text(encoding="utf-8")


def texts(table: Table) -> list[list[str]]:
    return [[cell.text for cell in row] for row in table.rows]


def text_of(operation: str) -> str:
    foreign = OSU[operation].foreign
    assert foreign
    return foreign.meaning.text


def sections(page: str) -> list[str]:
    return re.findall(r'<section id="([a-z]+)"', page)


# --- tables -----------------------------------------------------------------------------------------------------------


def test_each_benchmark_s_number_is_explained(study: CampaignView) -> None:
    table = foreign_tables.list_meanings(study)
    assert table.caption == "What the numbers of other programs mean"
    assert table.columns == ["benchmark", "as the core's", "what its number is", "data"]
    assert texts(table) == [
        ["osu-latency", "pingpong", text_of("osu-latency"), "not checked"],
        ["osu-barrier", "barrier", text_of("osu-barrier"), "not checked"],
    ]
    assert [row[0].detail for row in table.rows] == ["osu_latency", "osu_barrier"]


def test_a_benchmark_without_a_counterpart_has_none(study: CampaignView) -> None:
    record = msgspec.structs.replace(study.campaign, operations=[OSU["osu-latency_mp"]])
    table = foreign_tables.list_meanings(dataclasses.replace(study, campaign=record))
    assert [row[1].text for row in table.rows] == ["–"]


def test_each_file_is_reported_with_what_was_found_in_it(study: CampaignView) -> None:
    table = foreign_tables.files(study)
    assert table.caption == "Files that were imported"
    assert table.columns == ["file", "printed by", "reports itself", "found"]
    latency, barrier, nothing = texts(table)
    folder = printed.SAMPLES / "study"
    assert latency == [str(folder / "latency.out"), "OSU micro-benchmarks 5.3", "–", "–"]
    assert barrier == [str(folder / "barrier.out"), "OSU micro-benchmarks 5.3", "–", "–"]
    assert nothing[:3] == [str(folder / "iallreduce.out"), "–", "–"]
    assert nothing[3].startswith("has no results; iallreduce.err beside it says: [proxy:0@vm] ")
    assert [row[0].detail for row in table.rows] == [record.sha256[:12] for record in study.campaign.imported]


def test_facts_of_a_file_stand_beside_it(tmp_path: Path) -> None:
    path = printed.SAMPLES / "imb" / "IMB-MPI1.PingPong.txt"
    view = evaluate(imported.import_files(ImportRequest([Source(path, "mpich")]), tmp_path / "made"))
    ((_, tool, facts, remarks),) = texts(foreign_tables.files(view))
    assert (tool, remarks) == ("Intel MPI Benchmarks 2021.11", "–")
    assert "date Fri Nov 20 11:02:22 2026; machine x86_64; system Linux" in facts
    assert "command /opt/bench/IMB-MPI1 PingPong -msglog 16 -iter 200 -time 1" in facts


def test_the_core_s_own_campaign_has_neither() -> None:
    view = evaluations.evaluation()
    assert foreign_tables.list_meanings(view).rows == foreign_tables.files(view).rows == []


# --- the page ---------------------------------------------------------------------------------------------------------


def test_the_page_of_an_imported_campaign_has_neither_machine_nor_plan(page: str) -> None:
    assert sections(page) == [
        "verdict",
        "map",
        "tables",
        "findings",
        "case",
        "curves",
        "failures",
        "provenance",
        "method",
    ]
    assert 'href="#reproduce"' not in page
    for words in ("rankbench run plan.toml", "Do it again", "Certainty of starts", "A/A control"):
        assert words not in page
    assert "imported from 3 files ·" in page
    assert "Valid for the machine on which these files were made, based on 3 launches of each candidate" in page


def test_the_page_says_where_values_come_from(page: str) -> None:
    sentence = (
        "These results were imported: rankbench did not measure them, and knows only what the files say about the runs."
    )
    assert page.count(sentence) == 2
    for caption in ("Files that were imported", "What the numbers of other programs mean"):
        assert f"<caption>{caption}</caption>" in page
    assert str(printed.SAMPLES / "study" / "latency.out") in page
    assert page.count("<summary>Launch ") == 9


def test_the_page_draws_means_and_extremes(page: str) -> None:
    assert 'data-plot="extremes"' in page


def test_markdown_has_both_tables(study: CampaignView) -> None:
    text = markdown(study)
    assert "| benchmark | as the core's | what its number is | data |" in text
    assert "| file | printed by | reports itself | found |" in text
    assert text_of("osu-barrier") in text


def test_the_page_of_one_s_own_campaign_is_as_ever(tmp_path: Path) -> None:
    cases = campaigns.cases_of(lines=[("barrier", "blocking")])
    write_html(tmp_path / "report.html", evaluate(campaigns.make_campaign(tmp_path / "made", samples=10, cases=cases)))
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Files that were imported" not in page
    assert "were imported" not in page
    assert "reproduce" in sections(page)


def test_a_campaign_of_one_library_and_one_run_is_a_page_too(tmp_path: Path) -> None:
    store = imports.campaign(tmp_path, {"A": [imports.latencies((8, 1.5))]})
    write_html(tmp_path / "report.html", evaluate(store))
    assert "imported from 1 file ·" in (tmp_path / "report.html").read_text(encoding="utf-8")
