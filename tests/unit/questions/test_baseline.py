"""A plan that compares all candidates with one of them."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from fakes import campaigns, verdicts
from wording import WORDING

from rankbench.analysis.evaluation import evaluate
from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.statistics import deciding
from rankbench.language import render
from rankbench.model import Case, Comparison

SMALL, MIDDLE, LARGE = (case.key for case in verdicts.LINE)
NAMES = ("alpha", "beta", "gamma")


def evaluate_against(tmp_path: Path, baseline: str) -> CampaignView:
    """Evaluate a campaign: beta is faster than alpha in one case and slower in one, gamma is slower in all."""

    def make_truth(candidate: str, case: Case) -> campaigns.Truth:
        beta = {SMALL: 0.8, MIDDLE: 1.0, LARGE: 1.3}[case.key]
        return campaigns.Truth(factor={"alpha": 1.0, "beta": beta, "gamma": 1.5}[candidate], spread=0, noise=0)

    fake = campaigns.make_campaign(
        tmp_path / "c", make_truth, 6, candidates=NAMES, cases=verdicts.LINE, control=True, samples=10
    )
    planned = msgspec.structs.replace(fake.campaign.plan, baseline=baseline)
    fake.campaign = msgspec.structs.replace(fake.campaign, plan=planned)
    return evaluate(fake)


def test_comparisons_with_the_baseline_are_the_family_and_set_the_cutoff_of_the_others(tmp_path: Path) -> None:
    result = evaluate_against(tmp_path, "alpha").verdict
    pairs = [(comparison.base, comparison.other) for comparison in result.comparisons if comparison.case == SMALL]
    assert pairs == [("alpha", "beta"), ("alpha", "gamma"), ("beta", "gamma")]
    assert {(comparison.base, comparison.other) for comparison in result.control} == {("alpha", "alpha (again)")}
    assert {verdict.case.key: verdict.winners for verdict in result.cases} == {
        SMALL: ["beta"], MIDDLE: ["alpha", "beta"], LARGE: ["alpha"]
    }  # fmt: skip


def test_the_conclusion_compares_each_candidate_with_the_baseline(tmp_path: Path) -> None:
    texts = [render(claim.text) for claim in evaluate_against(tmp_path, "alpha").verdict.conclusion]
    assert texts[:2] == WORDING
    assert texts[2] == WORDING


def test_without_a_baseline_all_pairs_are_compared(tmp_path: Path) -> None:
    assert len(evaluate_against(tmp_path, "").verdict.comparisons) == 3 * len(verdicts.LINE)


@pytest.mark.parametrize(("baseline", "open_"), [("alpha", ["c"]), ("", [])])
def test_other_comparisons_matter_only_if_the_baseline_is_beaten(
    tmp_path: Path, baseline: str, open_: list[str]
) -> None:
    known = {"case": "c", "base": "alpha", "blocks": 6, "p_value": 0.001, "p_adjusted": 0.001, "degrees": 9.0}
    faster = msgspec.convert(
        known | {"other": "beta", "ratio": 0.5, "low": 0.49, "high": 0.51, "error": 0.01, "different": True},
        Comparison,
    )
    open_one = msgspec.structs.replace(
        faster, other="gamma", ratio=1.04, low=1.0, high=1.09, p_adjusted=0.3, different=False
    )
    design = deciding.SequentialDesign(0.03, [5, 10, 60], baseline=baseline)
    assert list(deciding.assess_cases([faster, open_one], design).open) == open_
