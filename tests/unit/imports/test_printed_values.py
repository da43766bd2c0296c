"""Imported campaigns: two decimals of a microsecond decide nothing that they cannot show."""

from __future__ import annotations

from pathlib import Path

import msgspec
import polars as pl
import pytest
from fakes import imports
from wording import WORDING

from rankbench import store
from rankbench.across.gate import check_candidate
from rankbench.analysis.evaluation import evaluate
from rankbench.analysis.questions.view import CampaignView
from rankbench.language import render
from rankbench.store import Store

SIZES = (4, 8, 16, 32)


def import_times(folder: Path, **times_us: float) -> Store:
    """Import six files of each library with the same time at four sizes."""
    return imports.import_campaign(
        folder,
        {name: [imports.format_latencies(*((size, time) for size in SIZES))] * 6 for name, time in times_us.items()},
    )


def list_sentences(view: CampaignView) -> list[str]:
    return [render(claim.text) for claim in view.verdict.conclusion if claim.brief]


def test_two_values_that_differ_by_the_last_digit_have_no_winner(tmp_path: Path) -> None:
    """The true times are 204.7 and 205.3 ns."""
    view = evaluate(import_times(tmp_path / "x", A=0.2047, B=0.2053))
    assert list_sentences(view) == WORDING
    for summary in view.summaries:
        low, high = {"A": (195, 205), "B": (205, 215)}[summary.candidate]
        assert (summary.low_ns, summary.high_ns) == pytest.approx((low, high), rel=1e-3)
    (finding,) = [finding for finding in view.verdict.findings if finding.kind == "rounding"]
    assert sorted(finding.cases) == sorted(case.key for case in view.campaign.cases)
    assert "More launches do not help." in render(finding.advice)


def test_a_difference_of_many_units_is_one(tmp_path: Path) -> None:
    view = evaluate(import_times(tmp_path / "x", A=2.0, B=4.0))
    assert list_sentences(view)[0] == WORDING
    assert [finding for finding in view.verdict.findings if finding.kind == "rounding"] == []


def test_the_mean_over_cases_has_the_mean_of_their_roundings(tmp_path: Path) -> None:
    """One case is printed to 5% of its value, the other to 0.05%."""
    texts = {name: [imports.format_latencies((4, 0.20), (4096, 20.0))] * 6 for name in ("A", "B")}
    view = evaluate(imports.import_campaign(tmp_path / "x", texts))
    sentence = next(text for text in list_sentences(view) if text.startswith("Time against"))
    assert sentence == WORDING


def test_bandwidths_have_the_rounding_of_the_rate(tmp_path: Path) -> None:
    texts = {name: [imports.format_osu(imports.BANDWIDTH, (8, rate))] * 6 for name, rate in (("A", 0.21), ("B", 0.2))}
    view = evaluate(imports.import_campaign(tmp_path / "x", texts))
    (comparison,) = view.verdict.comparisons
    assert (comparison.different, comparison.is_rounded) == (False, True)
    assert comparison.low < 0.205 / 0.205 < comparison.high


def test_the_gate_does_not_fail_for_the_last_digit(tmp_path: Path) -> None:
    view = evaluate(import_times(tmp_path / "x", A=0.20, B=0.21))
    checks = check_candidate(view, "B", "A")
    assert {check.outcome for check in checks} == {"skipped"}
    assert {render(check.advice) for check in checks} == {
        "More launches do not help: the tool printed too few digits to decide it."
    }


def test_an_imported_campaign_without_the_rounding_is_read_as_before(tmp_path: Path) -> None:
    """Older campaigns of this format do not have the column; neither have some launches of a continued one."""
    stored = import_times(tmp_path / "x", A=0.20, B=0.21)
    for path in sorted((stored.folder / "cases").iterdir()):
        pl.read_parquet(path).drop("rounding_ns").write_parquet(path)
    for path in sorted((stored.folder / "launches").glob("*.json")):
        record = msgspec.json.decode(path.read_bytes())
        path.write_bytes(msgspec.json.encode({key: value for key, value in record.items() if key != "tables"}))
    older = store.open(stored.folder)
    assert older.cases()["rounding_ns"].to_list() == [0.0] * older.cases().height
    assert list_sentences(evaluate(older))[1] == "Time against A: B 1.05× (1.05× to 1.05×)."
