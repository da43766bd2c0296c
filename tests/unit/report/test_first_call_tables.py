"""The table of first calls in terminal, page, Markdown and CSV, and the sentence about much slower first calls."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import msgspec
import numpy as np
import polars as pl
import pytest
from fakes import campaigns, evaluations, pages
from wording import refuses

from rankbench import store
from rankbench.analysis.evaluation import evaluate
from rankbench.analysis.questions.view import CampaignView
from rankbench.cli.commands.show import show
from rankbench.cli.display import console
from rankbench.exports import tidy
from rankbench.report import markdown, write_html
from rankbench.report.tables import Table
from rankbench.report.tables.first_calls import sentences as first_call_sentences
from rankbench.report.tables.first_calls import tables as first_call_tables
from rankbench.store import Store

FIRST_NS = {"bcast": 1000.0, "reduce": 60000.0}
"""First calls of alpha; those of beta take a tenth."""
MATCH = "alpha at socket: the first call takes more than 50 times as long as the second one in reduce (60.0×, 60.0 µs)."


@pytest.fixture(scope="module")
def campaign_store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Return two operations at several sizes, in a different order in each block; the second call takes 1 µs."""
    wanted = campaigns.make_cases(lines=[("bcast", "blocking"), ("reduce", "blocking")])
    folder = tmp_path_factory.mktemp("results") / "first"
    plain = campaigns.make_campaign(folder / "plain", launches=3, samples=20, control=False, cases=wanted)
    record = msgspec.structs.replace(plain.campaign, name="first")
    campaign_store = store.create(folder / "first", record)
    for launch in plain.launches():
        frame = plain.cases().filter(launch=launch.number)
        draws = campaigns.Draw(campaigns.make_equal_truth, np.random.default_rng(launch.number), (1.0,), 20)
        cases = [next(case for case in wanted if case.key == key) for key in frame["case"]]
        scale = 1.0 if launch.candidate == "alpha" else 0.1
        results = [
            msgspec.structs.replace(result, first_ns=scale * FIRST_NS[result.case.operation], second_ns=1000.0)
            for result in draws.draw_results(launch.block, launch.candidate, cases)
        ]
        campaign_store.append(launch, results)
    return campaign_store


@pytest.fixture(scope="module")
def view(campaign_store: Store) -> CampaignView:
    return evaluate(campaign_store)


def find_table(view: CampaignView) -> Table:
    (only,) = first_call_tables(view)
    return only


def test_each_operation_and_candidate_has_both_calls_and_their_ratio(view: CampaignView) -> None:
    shown = find_table(view)
    assert shown.caption == "First calls: socket"
    assert shown.columns[:7] == [
        *("operation", "candidate", "first call", "second call", "first / second", "smallest ratio", "largest ratio"),
    ]
    rows = [[cell.text for cell in row] for row in shown.rows]
    assert [row[:5] for row in rows] == [
        ["bcast", "alpha", "1.00 µs", "1.00 µs", "1.00×"],
        ["bcast", "beta", "100 ns", "1.00 µs", "0.10×"],
        ["reduce", "alpha", "60.0 µs", "1.00 µs", "60.0×"],
        ["reduce", "beta", "6.00 µs", "1.00 µs", "6.00×"],
    ]
    assert {row[7] for row in rows} == {"3"}


def test_a_sentence_names_only_much_slower_first_calls(view: CampaignView) -> None:
    assert first_call_sentences(view) == [MATCH]


def test_page_and_markdown_have_table_and_sentence(view: CampaignView, tmp_path: Path) -> None:
    write_html(tmp_path / "report.html", view)
    page = (tmp_path / "report.html").read_text()
    assert '<h2 id="first-calls-title">First calls</h2>' in page
    assert pages.list_captions(page, "first_calls") == ["First calls: socket"]
    assert f"<p>{MATCH}</p>" in page
    text = markdown(view)
    assert "**First calls: socket**" in text
    assert MATCH in text


def test_the_terminal_shows_first_calls(
    campaign_store: Store, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console, "width", 200)
    show(folder=campaign_store.folder, table="first-calls")
    text = capsys.readouterr().out
    assert "First calls: socket" in text
    assert MATCH in text


def test_csv_has_a_row_for_each_launch_and_operation(campaign_store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    show(folder=campaign_store.folder, table="first-calls", format_="csv")
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(rows) == 3 * 2 * 2
    assert {row["first_ns"] for row in rows if row["candidate"] == "alpha"} == {"1000.0", "60000.0"}


def test_an_export_has_first_calls_of_the_first_case_of_an_operation_only(view: CampaignView) -> None:
    launches = tidy.make_tables(view)["launches"]
    frame = launches.filter(pl.col("first_ns").is_not_null())
    assert len(frame) == 3 * 2 * 2 < len(launches)
    assert frame.select("launch", "operation").n_unique() == len(frame)


@pytest.mark.written
def test_without_first_calls_the_table_is_refused(tmp_path: Path) -> None:
    old = campaigns.make_campaign(tmp_path / "made", launches=1)
    with refuses():
        show(folder=old.folder, table="first-calls")
    assert first_call_tables(evaluations.make_evaluation()) == []
