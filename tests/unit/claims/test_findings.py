"""Every finding: reported in exact words if present, and not reported otherwise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import msgspec
import pytest
from fakes import campaigns, verdicts
from fakes.words import render_texts
from wording import WORDING

from rankbench import units
from rankbench.analysis.claims import findings
from rankbench.analysis.questions.view import CampaignView
from rankbench.language import Text, render
from rankbench.model import (
    LATE_START,
    Case,
    CaseStatus,
    Comparison,
    Finding,
    Launch,
    LaunchStatus,
    Placement,
    Span,
    Verdict,
)

SMALL, MIDDLE, LARGE = (case.key for case in verdicts.LINE)


def find_kind(kind: str, verdict: Verdict) -> list[Finding]:
    return [finding for finding in verdict.findings if finding.kind == kind]


def test_equal_and_quiet_candidates_have_no_finding(tmp_path: Path) -> None:
    assert verdicts.evaluate(tmp_path, verdicts.make_constant({}), control=True).verdict.findings == []


def test_the_most_severe_findings_come_first_and_each_has_its_kind(tmp_path: Path) -> None:
    def choose_factor(candidate: str, case: Case) -> float | CaseStatus:
        if case.size_bytes == 1024:
            return CaseStatus.CRASHED if candidate == "gamma" else 1.0
        return {"alpha": 1.0, "beta": 4.0}.get(candidate, 1.2) if case.size_bytes == 8 else 1.0 + (candidate != "beta")

    entries = verdicts.evaluate(tmp_path, choose_factor, cases=verdicts.LINE).verdict.findings
    assert [(finding.severity, finding.kind) for finding in entries] == [
        ("failure", "failures"),
        ("warning", "outlier"),
        ("warning", "slower_for_less"),
        ("note", "crossover"),
        ("note", "jumps"),
    ]
    assert {finding.kind for finding in entries} <= set(units.modules(findings))


# --- control ----------------------------------------------------------------------------------------------------------


def make_control(ratios: Iterable[float]) -> list[Comparison]:
    """Return A/A comparisons; those whose ratio is not 1 are called different."""
    return [
        Comparison(
            case=f"case {number}", base="alpha", other="alpha (again)", blocks=6, ratio=ratio,
            low=ratio / 1.1, high=ratio * 1.1, p_value=0.01, p_adjusted=0.01, different=ratio != 1,
        )
        for number, ratio in enumerate(ratios)
    ]  # fmt: skip


@pytest.fixture(scope="module")
def quiet_view(tmp_path_factory: pytest.TempPathFactory) -> CampaignView:
    return verdicts.evaluate(tmp_path_factory.mktemp("quiet"), verdicts.make_constant({}), cases=verdicts.LINE)


def test_a_library_that_differs_from_itself_is_reported(quiet_view: CampaignView) -> None:
    entries = find_kind("control", verdicts.judge_again(quiet_view, control=make_control([1.1, 0.8, *[1.0] * 18])))
    assert [render_texts(finding) for finding in entries] == [
        Finding(
            kind="control",
            title=Text(WORDING),
            text=(Text(WORDING)),
            advice=Text(WORDING),
            cases=["case 0", "case 1"],
            severity="warning",
        )
    ]


def test_the_expected_number_of_false_alarms_is_no_finding(quiet_view: CampaignView) -> None:
    assert find_kind("control", verdicts.judge_again(quiet_view, control=make_control([1.1, *[1.0] * 19]))) == []


# --- crossover --------------------------------------------------------------------------------------------------------


def test_sizes_at_which_the_fastest_changes_are_reported(tmp_path: Path) -> None:
    def choose_factor(candidate: str, case: Case) -> float:
        return 1.0 if candidate == ("alpha" if case.size_bytes < 65536 else "beta") else 1.5

    entries = find_kind("crossover", verdicts.evaluate(tmp_path, choose_factor, cases=verdicts.LINE).verdict)
    assert [render_texts(finding) for finding in entries] == [
        Finding(
            kind="crossover",
            title=Text(WORDING),
            text=(Text(WORDING)),
            advice=Text(WORDING),
            cases=[SMALL, MIDDLE, LARGE],
            severity="note",
            spans=[Span(candidates=["alpha"], cases=[SMALL, MIDDLE]), Span(candidates=["beta"], cases=[LARGE])],
        )
    ]


def test_a_size_without_a_clear_winner_is_no_crossover(tmp_path: Path) -> None:
    def choose_factor(candidate: str, case: Case) -> float:
        return 1.0 if candidate == "alpha" or case.size_bytes == 1024 else 1.5

    assert verdicts.evaluate(tmp_path, choose_factor, cases=verdicts.LINE).verdict.findings == []


# --- failures ---------------------------------------------------------------------------------------------------------


@pytest.mark.costly
@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        (CaseStatus.WRONG_DATA, "delivered wrong data"),
        (CaseStatus.CRASHED, "crashed"),
        (CaseStatus.HUNG, "made no progress"),
        (CaseStatus.FAILED, "returned an error"),
        (CaseStatus.NOT_AS_ASKED, "was not placed as planned"),
        (CaseStatus.REFUSED, "could not run as requested"),
        (CaseStatus.LACKING, "does not have the call"),
    ],
)
def test_each_kind_of_failure_is_reported_with_its_cases(status: CaseStatus, sentence: str, tmp_path: Path) -> None:
    def choose_factor(candidate: str, case: Case) -> float | CaseStatus:
        return status if candidate == "beta" and case.form == "nonblocking" else 1.0

    entries = find_kind("failures", verdicts.evaluate(tmp_path, choose_factor).verdict)
    assert [render_texts(finding) for finding in entries] == [
        Finding(
            kind="failures",
            title=Text(f"beta {sentence}"),
            text=Text(WORDING),
            advice=Text(WORDING),
            cases=[case.key for case in campaigns.make_cases() if case.form == "nonblocking"],
            severity="note" if status == CaseStatus.LACKING else "failure",
        )
    ]


def test_many_operations_are_counted_after_the_first_three(tmp_path: Path) -> None:
    def choose_factor(candidate: str, case: Case) -> float | CaseStatus:
        return CaseStatus.FAILED if candidate == "beta" else 1.0

    (finding,) = find_kind("failures", verdicts.evaluate(tmp_path, choose_factor).verdict)
    assert render(finding.text) == WORDING


def test_occasional_failures_are_distinguished(tmp_path: Path) -> None:
    launches: Counter[int] = Counter()

    def choose_factor(candidate: str, case: Case) -> float | CaseStatus:
        if candidate != "beta" or case.size_bytes > 1024:
            return 1.0
        launches[case.size_bytes] += 1
        return CaseStatus.FAILED if case.size_bytes == 8 or launches[1024] == 1 else 1.0

    (finding,) = find_kind("failures", verdicts.evaluate(tmp_path, choose_factor, cases=verdicts.LINE).verdict)
    assert render(finding.text) == WORDING


def test_late_rounds_are_no_failure_of_a_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(campaigns.CAUSES, CaseStatus.REFUSED, LATE_START)

    def choose_factor(candidate: str, case: Case) -> float | CaseStatus:
        late = {"alpha": [8], "beta": [8, 1024]}.get(candidate, [])
        return CaseStatus.REFUSED if case.size_bytes in late else 1.0

    verdict = verdicts.evaluate(tmp_path, choose_factor, cases=verdicts.LINE).verdict
    assert find_kind("failures", verdict) == []
    assert not any("failed" in render(claim.text) for claim in verdict.conclusion)
    (finding,) = find_kind("few_rounds", verdict)
    assert render(finding.text) == WORDING
    assert finding.cases == [SMALL, MIDDLE]


def make_refusal(number: int, reason: str) -> Launch:
    refused = campaigns.make_launch(number, 1, 0, "beta", "socket")
    return msgspec.structs.replace(refused, status=LaunchStatus.REFUSED, reason=reason)


def test_a_candidate_that_never_ran_is_reported_once(tmp_path: Path) -> None:
    def choose_factor(candidate: str, case: Case) -> float | CaseStatus:
        return CaseStatus.REFUSED if candidate == "beta" else 1.0

    view = verdicts.evaluate(tmp_path, choose_factor, cases=verdicts.LINE)
    launches = [launch for launch in view.launches if launch.candidate != "beta"]
    reason = "started worlds of 1"
    verdict = verdicts.judge_again(view, launches=[*launches, make_refusal(99, reason)])
    assert [render_texts(finding) for finding in find_kind("failures", verdict)] == [
        Finding(
            kind="failures",
            title=Text("beta was not measured"),
            text=Text(f"beta was not measured: {reason}."),
            advice=Text(WORDING),
            cases=[],
            severity="failure",
        )
    ]


def test_a_silent_launch_did_not_start(quiet_view: CampaignView) -> None:
    silent = msgspec.structs.replace(make_refusal(99, "no sign of life for 10 s"), status=LaunchStatus.HUNG, facts=None)
    launches = [*quiet_view.launches, silent]
    verdict = verdicts.judge_again(quiet_view, launches=launches)
    (finding,) = find_kind("failures", verdict)
    assert render(finding.text) == WORDING


def test_occasional_failures_to_start_are_reported(quiet_view: CampaignView) -> None:
    launches = [*quiet_view.launches, make_refusal(99, "did not start: exit code 1")]
    verdict = verdicts.judge_again(quiet_view, launches=launches)
    (finding,) = find_kind("failures", verdict)
    assert render(finding.title) == "beta did not always start"
    assert render(finding.text) == WORDING


@pytest.mark.parametrize(
    ("log", "words"),
    [
        (
            "=====\n=  BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\nbeta: no licence found\n",
            ": beta: no licence found",
        ),
        ("Host key verification failed.\n", ""),
    ],
)
def test_a_failure_to_start_without_a_known_cause_is_quoted(log: str, words: str, quiet_view: CampaignView) -> None:
    refused = msgspec.structs.replace(make_refusal(99, "did not start: exit code 1"), log=log)
    verdict = verdicts.judge_again(quiet_view, launches=[*quiet_view.launches, refused])
    (finding,) = find_kind("failures", verdict)
    assert render(finding.text) == WORDING


# --- noise ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("wide", "kinds"), [(1, []), (2, ["noise"])])
def test_wide_intervals_are_noise_from_one_in_five_on(wide: int, kinds: list[str], quiet_view: CampaignView) -> None:
    noisy = [
        msgspec.structs.replace(summary, high_ns=summary.low_ns * (1.5 + place)) if place < wide else summary
        for place, summary in enumerate(
            sorted(quiet_view.verdict.summaries, key=lambda summary_row: (summary_row.candidate, summary_row.case))
        )
    ]
    verdict = verdicts.judge_again(quiet_view, summaries=noisy)
    assert [finding.kind for finding in verdict.findings] == kinds
    if kinds:
        assert [render_texts(finding) for finding in verdict.findings] == [
            Finding(
                kind="noise",
                title=Text(WORDING),
                text=(Text(WORDING)),
                advice=(Text(WORDING)),
                cases=[MIDDLE, LARGE],
                severity="warning",
            )
        ]


# --- outlier ----------------------------------------------------------------------------------------------------------


def test_a_candidate_far_behind_all_others_is_reported(tmp_path: Path) -> None:
    def choose_factor(candidate: str, case: Case) -> float:
        return {"alpha": 1.0, "beta": 1.5, "gamma": 6.0 if case.size_bytes > 8 else 4.0}[candidate]

    entries = find_kind("outlier", verdicts.evaluate(tmp_path, choose_factor, cases=verdicts.LINE).verdict)
    assert [render_texts(finding) for finding in entries] == [
        Finding(
            kind="outlier",
            title=Text(WORDING),
            text=(Text(WORDING)),
            advice=Text(WORDING),
            cases=[MIDDLE, LARGE],
            severity="warning",
        )
    ]


def test_a_candidate_that_may_be_closer_is_not_far_behind(tmp_path: Path) -> None:
    factors = verdicts.make_constant({"alpha": 1, "beta": 1.5, "gamma": 6.0})
    view = verdicts.evaluate(tmp_path, factors, cases=verdicts.LINE)
    wide = [msgspec.structs.replace(comparison, error=0.2) for comparison in view.verdict.comparisons]
    verdict = verdicts.judge_again(view, comparisons=wide)
    assert find_kind("outlier", view.verdict)
    assert not find_kind("outlier", verdict)


def test_two_candidates_far_behind_together_are_no_outliers(tmp_path: Path) -> None:
    view = verdicts.evaluate(tmp_path, verdicts.make_constant({"alpha": 1, "beta": 5, "gamma": 5}), cases=verdicts.LINE)
    assert view.verdict.findings == []


# --- oversubscribed ---------------------------------------------------------------------------------------------------


def test_more_ranks_than_cores_are_reported(quiet_view: CampaignView) -> None:
    placement = Placement(name="socket", nodes=1, ranks_per_node=8, binding="none")
    plan = msgspec.structs.replace(quiet_view.campaign.plan, placements=[placement])
    assert [render_texts(finding) for finding in verdicts.judge_again(quiet_view, plan=plan).findings] == [
        Finding(
            kind="oversubscribed",
            title=Text("socket: more ranks than cores"),
            text=(Text(WORDING)),
            advice=Text(WORDING),
            cases=[SMALL, MIDDLE, LARGE],
            severity="warning",
        )
    ]
