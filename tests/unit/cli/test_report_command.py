from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import pytest
from fakes import campaigns
from wording import WORDING, refuses

from rankbench.analysis.evaluation import evaluate
from rankbench.cli.commands.report import report
from rankbench.language import Text, as_data, render
from rankbench.model import Case, CaseStatus, Summary


def crash_beta(candidate: str, case: Case) -> campaigns.Truth:
    return campaigns.Truth(status=CaseStatus.CRASHED if candidate == "beta" else CaseStatus.OK)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a campaign in which beta takes half as long again, below the results of the working folder."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "results" / "fake"
    cases = campaigns.make_cases(lines=[("allreduce", "blocking")])
    campaigns.make_campaign(path, campaigns.make_slower_beta(1.5), launches=6, cases=cases)
    return path


def test_a_report_is_written_into_the_campaign_s_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report(folder)
    assert "Is alpha faster than beta?" in (folder / "report.html").read_text(encoding="utf-8")
    assert f"wrote {folder / 'report.html'}" in capsys.readouterr().out
    assert not (folder / "figures").exists()


def test_the_newest_campaign_is_reported_by_default(folder: Path) -> None:
    report()
    assert (folder / "report.html").exists()


def test_figures_and_texts_are_written_to_the_named_folder(folder: Path) -> None:
    report(folder, output=folder / "page.html", figures="svg", markdown=True, latex=True)
    assert (folder / "figures" / "winner_map-socket.svg").exists()
    assert "| 8 B | **" in (folder / "report.md").read_text(encoding="utf-8")
    assert r"\toprule" in (folder / "tables.tex").read_text(encoding="utf-8")
    assert (folder / "page.html").exists()
    assert not (folder / "report.html").exists()


def test_derived_tables_can_be_read_by_other_programs(folder: Path) -> None:
    report(folder)
    verdict = read_verdict(folder)
    assert [case["winners"] for case in verdict["cases"]] == [["alpha"], ["alpha"]]
    summary = pl.read_parquet(folder / "summary.parquet")
    assert summary.height == 6
    assert summary["failures"].to_list() == [""] * 6
    comparisons = pl.read_parquet(folder / "comparisons.parquet")
    ratios = {control: comparisons.filter(control=control)["ratio"].to_list() for control in (False, True)}
    assert ratios == {False: pytest.approx([1.5, 1.5], rel=0.05), True: pytest.approx([1, 1], rel=0.05)}


def test_json_has_numbers_in_fields_of_texts(folder: Path) -> None:
    """The first claim with a ratio is about the rivals of the fastest candidate."""
    report(folder)
    first, rivals, *_ = read_verdict(folder)["conclusion"]
    assert (first["outcome"], first["fields"]["best"]) == ("faster", "alpha")
    (beta,) = rivals["fields"]["rivals"]
    assert beta["fields"]["name"] == "beta"
    assert beta["fields"]["mean"] == pytest.approx(1.5, rel=0.05)
    assert beta["fields"]["low"] <= beta["fields"]["mean"] <= beta["fields"]["high"]


def test_each_text_follows_from_its_template_and_fields(folder: Path) -> None:
    report(folder)
    verdict = read_verdict(folder)
    texts = [*verdict["conclusion"], *verdict["findings"], *verdict["groups"]]
    assert texts
    for entry in texts:
        assert render(decode_text(entry)) == entry["text"]


def decode_text(value: Any) -> Any:
    """Return a decoded text of the JSON document."""
    if isinstance(value, dict):
        return Text(value["template"], {name: decode_text(part) for name, part in value["fields"].items()})
    return [decode_text(part) for part in value] if isinstance(value, list) else value


def read_verdict(folder: Path) -> Any:
    return msgspec.json.decode((folder / "verdict.json").read_bytes())


@pytest.mark.parametrize("launches", [1, 3])
def test_a_verdict_without_figures_is_read_back(tmp_path: Path, launches: int) -> None:
    """JSON knows neither NaN nor infinity: after one launch no interval has an end, and beta has no figures at all."""
    cases = campaigns.make_cases(lines=[("allreduce", "blocking")])
    store = campaigns.make_campaign(tmp_path / "fake", crash_beta, launches, cases=cases)
    report(store.folder)
    verdict = read_verdict(store.folder)
    assert verdict == msgspec.json.decode(msgspec.json.encode(as_data(evaluate(store).verdict)))
    summaries = msgspec.convert(verdict["summaries"], list[Summary])
    assert {summary.candidate: math.isnan(summary.typical_ns) for summary in summaries} == {
        "alpha": False,
        "alpha (again)": False,
        "beta": True,
    }
    summary = pl.read_parquet(store.folder / "summary.parquet").filter(pl.col("candidate") == "beta")
    assert summary.select("failures", pl.col("typical_ns").is_nan()).rows() == [(f"crashed in {launches}", True)] * 2
    comparisons = pl.read_parquet(store.folder / "comparisons.parquet")
    assert comparisons["high"].is_infinite().to_list() == [launches == 1] * 2


def test_a_page_that_cannot_be_written_is_reported_in_one_line(folder: Path) -> None:
    page = folder / "nowhere" / "report.html"
    with refuses():
        report(folder, output=page)


def test_a_folder_without_a_campaign_is_refused_in_one_line(tmp_path: Path) -> None:
    with refuses():
        report(tmp_path)


def test_csv_tables_have_all_parts_of_a_case(folder: Path) -> None:
    report(folder, csv=True)
    summary = pl.read_csv(folder / "summary.csv")
    rows = summary.select("operation", "size_bytes", "placement", "candidate", "unit").rows()
    assert sorted(rows[:3]) == [
        ("allreduce", 8, "socket", "alpha", "ns"),
        ("allreduce", 8, "socket", "alpha (again)", "ns"),
        ("allreduce", 8, "socket", "beta", "ns"),
    ]
    assert summary.height == 6
    comparisons = pl.read_csv(folder / "comparisons.csv")
    assert comparisons.select("size_bytes", "base", "other", "control").rows()[0] == (8, "alpha", "beta", False)
    frame = comparisons.filter(~pl.col("control"))
    assert frame["ratio"].to_list() == pytest.approx([1.5, 1.5], rel=0.05)


def test_the_threshold_of_a_report_can_be_set(folder: Path) -> None:
    """Beta takes half as long again, which is below a threshold of 90%."""
    report(folder, threshold="90%")
    verdict = read_verdict(folder)
    assert [(comparison["different"], 1.3 < comparison["ratio"] < 1.7) for comparison in verdict["comparisons"]] == [
        (False, True)
    ] * 2
    assert [case["winners"] for case in verdict["cases"]] == [["alpha", "beta"]] * 2


def test_links_in_a_foreign_campaign_are_not_followed(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "own"
    path.write_text("mine")
    (folder / "job").mkdir()
    (folder / "lock").unlink(missing_ok=True)
    names = ("lock", "report.html", "report.md", "tables.tex", "summary.csv", "verdict.json", "verdict.json.part")
    for name in names:
        (folder / name).symlink_to(path)
    report(folder, markdown=True, latex=True, csv=True)
    assert path.read_text() == "mine"
    assert [name for name in names if (folder / name).is_symlink()] == ["lock", "verdict.json.part"]
    (folder / "figures").symlink_to(tmp_path)
    with refuses():
        report(folder, figures="svg")


def test_a_page_is_written_through_a_link_that_the_user_names(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "page.html")
    report(folder, output=tmp_path / "link")
    assert "Is alpha faster" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_a_folder_of_campaigns_gets_a_page_that_lists_them(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    campaigns.make_campaign(folder.with_name("later"), cases=campaigns.make_cases(lines=[("bcast", "blocking")]))
    report(folder)
    capsys.readouterr()
    report(folder.parent)
    page = (folder.parent / "index.html").read_text(encoding="utf-8")
    assert '<a href="fake/report.html">' in page
    assert "later/report.html" not in page
    assert "<td>Use alpha<small>alpha, beta</small></td>" in page
    assert capsys.readouterr().out == WORDING
    with refuses():
        report(folder.parent, summary=True)


def test_the_list_of_campaigns_can_be_written_elsewhere(folder: Path, tmp_path: Path) -> None:
    report(folder)
    (tmp_path / "site").mkdir()
    report(folder.parent, output=tmp_path / "site/list.html")
    assert '<a href="../results/fake/report.html">' in (tmp_path / "site/list.html").read_text(encoding="utf-8")
    assert not (folder.parent / "index.html").exists()
