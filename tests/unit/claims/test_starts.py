"""Effects of starts on equal cases: the ratios, and their sentences."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from fakes import campaigns
from fakes.campaigns import Truth
from wording import WORDING

from rankbench.analysis import evaluation
from rankbench.analysis.claims.start_effects import claim_start_effects
from rankbench.analysis.questions.view import CampaignView
from rankbench.language import render
from rankbench.model import Case

WINDOW = campaigns.make_cases(lines=[("allreduce", "blocking")], sizes=(8, 65536))
FACTORS = {"none": 0.42, "roundtime": 1.0, "barrier": 1.25}


def evaluate_starts(folder: Path, *starts: str) -> CampaignView:
    """Evaluate a campaign in which a start has a factor on all times, and twice this factor on beta's in one case."""
    cases = [*WINDOW, *(msgspec.structs.replace(case, start=start) for start in starts for case in WINDOW)]

    def make_truth(candidate: str, case: Case) -> Truth:
        beta = candidate == "beta" and case.size_bytes == 8 and case.start == "none"
        return Truth(factor=FACTORS.get(case.start, 1.0) * (2 if beta else 1), late_share=0.2 * (case.start == "none"))

    return evaluation.evaluate(campaigns.make_campaign(folder / "made", make_truth, 6, cases=cases))


def render_claims(view: CampaignView) -> list[str]:
    return [
        render(claim.text) for claim in claim_start_effects(view.campaign, view.start_effects, view.verdict.summaries)
    ]


def test_a_start_is_compared_within_one_candidate_and_case(tmp_path: Path) -> None:
    view = evaluate_starts(tmp_path, "none", "roundtime")
    ratios = {
        (start_effect.candidate, start_effect.case, start_effect.usual): start_effect.ratio.ratio
        for start_effect in view.start_effects
    }
    assert len(ratios) == 8
    for size in (8, 65536):
        window = f"allreduce.blocking.{size}.float.socket.window"
        none = window.replace("window", "none")
        assert ratios["alpha", none, window] == pytest.approx(0.42, rel=0.03)
        assert ratios["beta", none, window] == pytest.approx(0.84 if size == 8 else 0.42, rel=0.03)
    assert {start_effect.ratio.base for start_effect in view.start_effects} == {"window"}


def test_a_single_start_has_no_effects(tmp_path: Path) -> None:
    view = evaluate_starts(tmp_path)
    assert view.start_effects == []
    assert render_claims(view) == []


def test_the_twin_is_left_out(tmp_path: Path) -> None:
    assert {start_effect.candidate for start_effect in evaluate_starts(tmp_path, "none").start_effects} == {
        "alpha",
        "beta",
    }


def test_an_uncertain_launch_is_left_out(tmp_path: Path) -> None:
    store = campaigns.make_campaign(
        tmp_path / "made",
        lambda _candidate, case: Truth(error_ns=100.0 * (case.start == "window" and case.size_bytes == 8)),
        cases=[*WINDOW, *(msgspec.structs.replace(case, start="none") for case in WINDOW)],
    )
    assert {start_effect.case for start_effect in evaluation.evaluate(store).start_effects} == {
        "allreduce.blocking.65536.float.socket.none"
    }


def test_effects_are_described_in_sentences(tmp_path: Path) -> None:
    none, roundtime, barrier = render_claims(evaluate_starts(tmp_path, "none", "roundtime", "barrier"))
    assert none == WORDING
    assert roundtime == WORDING
    assert barrier == WORDING
    assert "discards" not in roundtime + barrier


def test_only_times_from_a_common_start_can_be_uncertain(tmp_path: Path) -> None:
    cases = [*WINDOW[:1], *(msgspec.structs.replace(case, start="barrier") for case in WINDOW[:1])]
    store = campaigns.make_campaign(tmp_path / "made", lambda *_: Truth(error_ns=600.0), cases=cases, control=False)
    verdict = evaluation.evaluate(store).verdict
    doubted = {
        (summary.case.rsplit(".")[-1], summary.candidate) for summary in verdict.summaries if render(summary.doubt)
    }
    assert doubted == {("window", "alpha"), ("window", "beta")}
