"""The finding on candidates while cores are near and while they are far: exact words, and none at a single level."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import polars as pl
import pytest
from fakes import verdicts
from wording import WORDING

from rankbench.analysis.claims import judge_case
from rankbench.analysis.claims.findings import reference
from rankbench.analysis.questions.comparisons import Comparisons
from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.statistics import compare
from rankbench.analysis.statistics.references import by_case
from rankbench.language import render

HOPS = [50.0, 200.0, 50.0, 200.0]
SMALLEST = verdicts.LINE[0].key


def make_view(tmp_path: Path, near: float, far: float, hops: list[float] = HOPS) -> CampaignView:
    """Return a campaign in which beta has these times relative to alpha's at the smallest size, at each level."""
    names = ("alpha", "beta")
    campaign_view = verdicts.evaluate(tmp_path, verdicts.make_constant({}), candidates=names, cases=verdicts.LINE)
    slow = pl.when(pl.col("case") == SMALLEST, pl.col("candidate") == "beta")
    launch_values = campaign_view.judged_values.with_columns(
        visit=pl.lit([0, 1, 2, 3]),
        visit_hop_ns=pl.lit(hops),
        visit_ns=slow.then(pl.lit([100 * near, 400 * far] * 2)).otherwise(pl.lit([100.0, 400.0] * 2)),
    )
    compared = compare(launch_values, [names], 0.03, levels=by_case(launch_values, campaign_view.campaign))
    cases = [
        judge_case(
            case, [summary for summary in campaign_view.summaries if summary.case == case.key], Comparisons(compared)
        )
        for case in campaign_view.campaign.cases
    ]
    return replace(
        verdicts.change_verdict(campaign_view, comparisons=compared, cases=cases), launch_values=launch_values
    )


def test_a_winner_that_changes_is_named_at_both_levels(tmp_path: Path) -> None:
    judged = make_view(tmp_path, near=1.2, far=0.8)
    (level,) = reference.find(judged)
    assert render(level.title) == WORDING
    assert render(level.text) == WORDING
    assert [[render(cell) for cell in row] for row in level.cells] == WORDING
    assert (level.cases, level.severity) == ([SMALLEST], "warning")
    smallest = next(case_verdict for case_verdict in judged.case_verdicts if case_verdict.case.key == SMALLEST)
    assert (smallest.outcome, smallest.decided) == ("depends", False)
    assert smallest.winners_by_level == {"near": ["alpha"], "far": ["beta"]}


@pytest.mark.parametrize("ratio", [1.2, 1.0])
def test_levels_without_an_effect_are_a_note(tmp_path: Path, ratio: float) -> None:
    judged = make_view(tmp_path, near=ratio, far=ratio)
    (level,) = reference.find(judged)
    assert (level.cases, level.severity) == ([], "note")
    assert {case_verdict.outcome for case_verdict in judged.case_verdicts} == (
        {"faster", "equivalent"} if ratio > 1 else {"equivalent"}
    )


def test_a_single_level_is_no_finding(tmp_path: Path) -> None:
    judged = make_view(tmp_path, near=1.2, far=0.8, hops=[50.0] * 4)
    assert list(reference.find(judged)) == []
    assert not any(case_verdict.winners_by_level for case_verdict in judged.case_verdicts)


@pytest.mark.parametrize(("virtual", "word"), [("kvm", "pinned CPUs"), ("", "bind ranks")])
def test_the_advice_can_be_followed_on_the_machine(tmp_path: Path, virtual: str, word: str) -> None:
    judged = make_view(tmp_path, near=1.2, far=0.8)
    machine = msgspec.structs.replace(judged.campaign.machine, virtual=virtual)
    placed = replace(judged, campaign=msgspec.structs.replace(judged.campaign, machine=machine))
    (level,) = reference.find(placed)
    assert word in render(level.advice)
