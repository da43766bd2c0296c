"""The table of changes by a tuning."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import msgspec
import pytest
from fakes import verdicts
from wording import WORDING

from rankbench.analysis.questions.view import CampaignView
from rankbench.model import Case, Rule, Variant
from rankbench.report.tables import tuned

SIZES = {8: 1.0, 1024: 0.5, 65536: 1.5}
"""Beta's time relative to alpha's."""
LARGEST = 65536


def tune_beta(name: str, case: Case) -> float:
    return SIZES[case.size_bytes] if name == "beta" else 1.0


@pytest.fixture
def view(tmp_path: Path) -> CampaignView:
    view = verdicts.evaluate(tmp_path, tune_beta, cases=verdicts.LINE)
    ranks = view.cases[0].ranks
    ring = Variant(name="ring", settings={}, algorithm="4")
    rule = Rule(operation="allreduce", first_bytes=512, last_bytes=4096, variant=ring, ranks=ranks)
    alpha = next(candidate for candidate in view.campaign.candidates if candidate.name == "alpha")
    candidates = [
        msgspec.structs.replace(candidate, library=alpha.library, settings={"X": "1"}, rules=[rule])
        if candidate.name == "beta"
        else candidate
        for candidate in view.campaign.candidates
    ]
    return dataclasses.replace(view, campaign=msgspec.structs.replace(view.campaign, candidates=candidates))


def test_each_change_is_listed_with_its_variant_and_ratio(view: CampaignView) -> None:
    (table,) = tuned.tables(view)
    assert table.caption == WORDING
    rows = [[cell.text for cell in row] for row in table.rows]
    assert [(row[0], *row[2:5], row[6]) for row in rows] == [
        ("allreduce", "1 KiB", "ring", "0.50×", "faster"),
        ("allreduce", "64 KiB", "own choice", "1.50×", "slower"),
    ]
    frame = tuned.frame(view)
    assert dict(zip(frame["case"].str.extract(r"\.(\d+)").cast(int), frame["variant"], strict=True)) == {
        8: "",
        1024: "ring",
        LARGEST: "",
    }


def test_without_rules_there_is_no_table(view: CampaignView) -> None:
    candidates = [msgspec.structs.replace(candidate, rules=[]) for candidate in view.campaign.candidates]
    plain = dataclasses.replace(view, campaign=msgspec.structs.replace(view.campaign, candidates=candidates))
    assert tuned.tables(plain) == []
    assert tuned.frame(plain).is_empty()
