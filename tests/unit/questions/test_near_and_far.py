"""Values with two levels of the reference, evaluated up to verdict, table, gate and note of modes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import polars as pl
import pytest
from fakes import verdicts
from wording import WORDING, find_lines

import rankbench
from rankbench.across import gate
from rankbench.analysis import statistics
from rankbench.analysis.claims.findings import modes, reference
from rankbench.analysis.claims.short_answer import claim_short_answer
from rankbench.analysis.questions.overall import find_answer
from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.statistics.looks import ONE_LOOK
from rankbench.analysis.statistics.modes import Mode, Pattern, Repeated
from rankbench.language import render, say
from rankbench.report import flat_frames, overview
from rankbench.report.tables import results

NAMES = ("alpha", "beta")
KEYS = [case.key for case in verdicts.LINE]
HOPS = [50.0, 200.0, 50.0, 200.0]


@pytest.fixture
def evaluation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CampaignView:
    """Evaluate a campaign in which beta takes 1.2 times as long near and 0.8 times far, in the smallest case."""
    compute_launch_values = statistics.compute_launch_values

    def add_visits(*arguments: object) -> pl.DataFrame:
        slow = pl.when(pl.col("case") == KEYS[0], pl.col("candidate") == "beta")
        return compute_launch_values(*arguments).with_columns(  # type: ignore[arg-type]
            visit=pl.lit([0, 1, 2, 3]),
            visit_hop_ns=pl.lit(HOPS),
            visit_ns=slow.then(pl.lit([120.0, 320.0] * 2)).otherwise(pl.lit([100.0, 400.0] * 2)),
        )

    monkeypatch.setattr(statistics, "compute_launch_values", add_visits)
    return verdicts.evaluate(tmp_path, verdicts.make_constant({}), candidates=NAMES, cases=verdicts.LINE)


def test_verdict_and_table_name_both_levels(evaluation: CampaignView) -> None:
    first, *others = evaluation.verdict.cases
    assert (first.outcome, first.winners_by_level) == ("depends", {"near": ["alpha"], "far": ["beta"]})
    assert {other.outcome for other in others} == {"equivalent"}
    (table,) = results.latex(evaluation)
    assert [(row[0].text, render(row[-1].text), row[-1].detail) for row in table.rows[:2]] == [
        ("8 B near", "alpha 1.20×", "1.20–1.20×"),
        ("8 B far", "beta 1.25×", "1.25–1.25×"),
    ]
    assert [render(row[-1].text) for row in table.rows[2:]] == ["=", "=", "=", "="]
    assert first.outcome_by_level == {"near": "faster", "far": "faster"}
    assert find_lines([render(claim.text) for claim in evaluation.verdict.conclusion], "Fastest in single") == WORDING
    assert [row[0].text for row in overview.overview(evaluation).rows[:2]] == [
        "allreduce, 8 B near",
        "allreduce, 8 B far",
    ]
    assert [finding.severity for finding in evaluation.verdict.findings if finding.kind == "reference"] == ["warning"]


def test_a_level_without_an_estimate_has_no_interval(evaluation: CampaignView) -> None:
    first = msgspec.structs.replace(evaluation.verdict.cases[0], margins_by_level={})
    assert (first.at("near").margin_low, first.at("near").margin_high) == (None, None)


def test_cases_decided_at_one_level_count_as_undecided(evaluation: CampaignView) -> None:
    first, *others = evaluation.verdict.cases
    half = msgspec.structs.replace(
        first,
        winners=["alpha", "beta"],
        outcome="undecided",
        outcome_by_level={"near": "faster", "far": "undecided"},
    )
    claims = claim_short_answer(evaluation, find_answer(evaluation, ONE_LOOK), [half, *others], None)
    assert find_lines([render(claim.text) for claim in claims], "Fastest in single") == WORDING


@pytest.mark.written
@pytest.mark.usefixtures("evaluation")
def test_frames_have_winners_and_outcomes_at_both_levels(tmp_path: Path) -> None:
    verdict = rankbench.read(tmp_path / "made").verdict
    columns = ["outcome_near", "winners_near", "outcome_far", "winners_far"]
    assert verdict.select(columns).rows()[0] == ("faster", ["alpha"], "faster", ["beta"])
    assert set(verdict["outcome_near"].to_list()) == {"faster", "equivalent"}


def test_a_gate_does_not_fail_a_case_that_depends_on_the_level(evaluation: CampaignView) -> None:
    check, *others = gate.check_candidate(evaluation, "beta", "alpha")
    assert check.outcome == "skipped"
    assert render(check.text).startswith("takes 1.20× (")
    assert "cores are near, 0.80× (" in render(check.text)
    assert {other.outcome for other in others} == {"passed"}
    assert [finding.relation for finding in (check, *others)] == [case.outcome for case in evaluation.verdict.cases]


def test_exported_comparisons_have_columns_of_both_levels(evaluation: CampaignView) -> None:
    row = flat_frames.make_frames(evaluation)["comparisons"].row(by_predicate=pl.col("case") == KEYS[0], named=True)
    assert (row["near_ratio"], row["far_ratio"]) == (pytest.approx(1.2), pytest.approx(0.8))
    assert (row["near_blocks"], row["far_blocks"]) == (6, 6)


@pytest.mark.parametrize(("slow_ns", "follows"), [(400.0, True), (100.0, False)])
def test_a_mode_that_occurs_while_cores_are_far_is_the_machine_s(
    evaluation: CampaignView, slow_ns: float, follows: bool
) -> None:
    pattern = Pattern("bursts", 14)
    main = Repeated(Mode(say("main"), 100, 0.5, 1.0, 50, 200, float("nan")), 6, 6, pattern)
    second = Repeated(Mode(say("second at 4.0×, 50% of samples"), 400, 0.5, 4.0, 200, 900, 0.1), 6, 6, pattern)
    visits = pl.lit([100.0, slow_ns, 500.0 - slow_ns, slow_ns])
    view = replace(
        evaluation,
        launch_values=evaluation.judged_values.with_columns(visit_ns=visits),
        modes={(key, name): [main, second] for key in KEYS for name in NAMES},
    )
    titles = [render(finding.title) for finding in modes.find(view)]
    (states,) = reference.find(view)
    sentence = "In 3 cases times have more than one mode, of which the slower one occurs while cores are far."
    assert (sentence in render(states.text)) == follows
    assert titles == ([] if follows else [f"{name}: times have more than one mode" for name in NAMES])
