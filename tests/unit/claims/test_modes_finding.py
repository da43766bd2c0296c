"""The finding on second modes: reported in exact words if they repeat, and not otherwise."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from fakes import campaigns, verdicts
from fakes.campaigns import Truth
from fakes.words import render_texts
from wording import WORDING

from rankbench.analysis.claims.findings import modes
from rankbench.analysis.evaluation import evaluate
from rankbench.analysis.questions.view import NO_VALUES, CampaignView
from rankbench.analysis.statistics.modes import Mode, Pattern, Repeated
from rankbench.language import Text, render, say
from rankbench.model import Case, Finding

CASES = campaigns.make_cases(lines=[("allreduce", "blocking"), ("pingpong", "blocking")], sizes=(8,))


def make_truth(candidate: str, case: Case) -> Truth:
    """Return the truth that 3% of beta's calls take twice the time of the others, in the allreduce."""
    slow = candidate == "beta" and case.operation == "allreduce"
    return Truth(hump_share=0.03, hump_factor=2.0) if slow else Truth()


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> CampaignView:
    folder = tmp_path_factory.mktemp("results") / "made"
    return evaluate(campaigns.make_campaign(folder, make_truth, 6, cases=CASES, samples=500))


def test_a_repeated_mode_is_reported(view: CampaignView) -> None:
    key = CASES[0].key
    share = view.modes[key, "beta"][1].mode.share
    assert share == pytest.approx(0.03, abs=0.01)
    assert [render_texts(finding) for finding in view.verdict.findings if finding.kind == "modes"] == [
        Finding(
            kind="modes",
            title=Text(WORDING),
            text=(Text(WORDING)),
            advice=(Text(WORDING)),
            cases=[key],
            severity="note",
        )
    ]


def test_a_single_mode_is_no_finding(tmp_path: Path) -> None:
    view = evaluate(campaigns.make_campaign(tmp_path / "made", launches=6, cases=CASES, samples=500))
    assert [render_texts(finding) for finding in view.verdict.findings if finding.kind == "modes"] == []
    assert {len(mode) for mode in view.modes.values()} == {1}


def add_modes(view: CampaignView, *others: Repeated) -> CampaignView:
    """Return the campaign in which alpha has these modes in every case."""
    main = Repeated(Mode(say("main"), 500, 0.9, 1.0, 400, 900, float("nan")), 6, 6, Pattern("scattered"))
    finding: dict[tuple[str, ...], list[Repeated]] = {(case.key, "alpha"): [main, *others] for case in CASES}
    return dataclasses.replace(
        verdicts.change_verdict(view, comparisons=[], control=[]), launch_values=NO_VALUES, modes=finding
    )


def make_mode(launches: int, pattern: Pattern, share: float = 0.03) -> Repeated:
    name = f"second at 2.0×, {100 * share:.1f}% of samples"
    return Repeated(Mode(say(name), 1000, share, 2.0, 900, 1200, 0.1), 6, launches, pattern)


@pytest.mark.parametrize("pattern", [Pattern("even", 64), Pattern("bursts", 14), Pattern("scattered")])
def test_the_advice_depends_on_the_order_of_slow_calls(view: CampaignView, pattern: Pattern) -> None:
    (finding,) = modes.find(add_modes(view, make_mode(6, pattern)))
    assert render(finding.advice) == WORDING
    assert finding.cases == [case.key for case in CASES]
    assert render(pattern.text) in render(finding.text)


@pytest.mark.parametrize(
    "mode", [make_mode(2, Pattern("scattered")), make_mode(6, Pattern("whole")), make_mode(6, Pattern("stays"))]
)
def test_a_mode_that_does_not_repeat_is_no_finding(view: CampaignView, mode: Repeated) -> None:
    assert list(modes.find(add_modes(view, mode))) == []
