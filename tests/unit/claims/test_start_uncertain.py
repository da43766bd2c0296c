"""Cases with too uncertain starts: reported with the reason and not judged; and ranks observed to begin apart."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
from fakes import campaigns, verdicts
from wording import WORDING

from rankbench.analysis.claims.findings import start_uncertain
from rankbench.language import render, say
from rankbench.model import Case, CaseVerdict, Finding, Summary, Verdict

DOUBT = "start uncertain by 41% of its time: clocks likely agree within 12.0 µs; a call takes 29.3 µs"


def judge_changed(folder: Path, change: Callable[[Summary], Summary], cases: list[Case] = verdicts.LINE) -> Verdict:
    """Judge a campaign of three candidates, of which beta is twice as slow, with changes to its summaries."""
    view = verdicts.evaluate(folder, verdicts.make_constant({"beta": 2.0}), cases=cases)
    summaries = [change(summary) for summary in view.verdict.summaries]
    doubted = {(summary.case, summary.candidate) for summary in summaries if render(summary.doubt)}
    comparisons = [
        comparison
        for comparison in view.verdict.comparisons
        if not {(comparison.case, comparison.base), (comparison.case, comparison.other)} & doubted
    ]
    return verdicts.judge_again(view, summaries=summaries, comparisons=comparisons)


def make_uncertain(*names: str) -> Callable[[Summary], Summary]:
    """Return a change that makes the 8-byte case of some candidates uncertain."""

    def change(summary: Summary) -> Summary:
        if summary.candidate not in names or ".8." not in summary.case:
            return summary
        return msgspec.structs.replace(
            summary, launches=0, uncertain=6, error_ns=12_000, doubt=say("{doubt}", doubt=DOUBT), typical_ns=29_300
        )

    return change


def find_kind(verdict: Verdict) -> list[Finding]:
    return [finding for finding in verdict.findings if finding.kind == "start_uncertain"]


def test_an_uncertain_candidate_is_left_out_of_the_case(tmp_path: Path) -> None:
    verdict = judge_changed(tmp_path, make_uncertain("alpha"))
    small, middle, _ = verdict.cases
    failures = {name: render(why) for name, why in small.failures.items()}
    assert (small.ranking, small.winners, failures) == (["gamma", "beta"], ["gamma"], {"alpha": DOUBT})
    assert set(middle.winners) == {"alpha", "gamma"}
    assert "alpha takes the time" not in " ".join(render(claim.text) for claim in verdict.conclusion)


def test_the_finding_names_cases_and_amount(tmp_path: Path) -> None:
    (finding,) = find_kind(judge_changed(tmp_path, make_uncertain("alpha", "beta")))
    assert (finding.severity, finding.cases) == ("warning", [verdicts.LINE[0].key])
    assert render(finding.text) == WORDING
    assert render(finding.advice) == WORDING


def test_the_conclusion_names_the_uncertainty(tmp_path: Path) -> None:
    claims = [
        claim
        for claim in judge_changed(tmp_path, make_uncertain("beta")).conclusion
        if "synchronisation" in render(claim.text)
    ]
    assert [(render(claim.text), claim.cases) for claim in claims] == [(WORDING, [verdicts.LINE[0].key])]


def test_a_campaign_without_certain_cases_says_so(tmp_path: Path) -> None:
    verdict = judge_changed(tmp_path, make_uncertain("alpha", "beta", "gamma"), verdicts.LINE[:1])
    assert [render(claim.text) for claim in verdict.conclusion] == WORDING
    assert verdict.cases[0].winners == []


def test_an_uncertain_case_that_also_crashed_has_both_reasons(tmp_path: Path) -> None:
    def change(summary: Summary) -> Summary:
        changed = make_uncertain("alpha")(summary)
        return msgspec.structs.replace(changed, failures={"crashed": 2}) if render(changed.doubt) else summary

    failures = judge_changed(tmp_path, change).cases[0].failures
    assert {name: render(why) for name, why in failures.items()} == {"alpha": f"{DOUBT}, crashed in 2 launches"}


def test_ranks_observed_to_begin_apart_are_a_note_and_are_judged(tmp_path: Path) -> None:
    def change(summary: Summary) -> Summary:
        return msgspec.structs.replace(summary, skew_ns=40.0 if summary.candidate == "alpha" else 39.0)

    verdict = judge_changed(tmp_path, change)
    (finding,) = find_kind(verdict)
    assert (finding.severity, finding.cases) == ("note", [verdicts.LINE[0].key, verdicts.LINE[1].key])
    assert render(finding.text) == WORDING
    assert set(verdict.cases[0].winners) == {"alpha", "gamma"}


def test_requested_arrivals_are_no_finding(tmp_path: Path) -> None:
    """The delay is no part of such a time."""
    cases = [msgspec.structs.replace(case, options={"arrival": "random"}) for case in verdicts.LINE]

    def change_skew(summary: Summary) -> Summary:
        return msgspec.structs.replace(summary, skew_ns=400.0)

    assert find_kind(judge_changed(tmp_path, change_skew, cases)) == []
    assert find_kind(judge_changed(tmp_path, change_skew)) != []


def test_ranks_that_begin_together_are_no_finding(tmp_path: Path) -> None:
    def change_skew(summary: Summary) -> Summary:
        return msgspec.structs.replace(summary, skew_ns=1.0)

    assert find_kind(judge_changed(tmp_path, change_skew)) == []


def test_beginning_apart_is_no_finding_with_a_start_without_agreed_times() -> None:
    def list_titles(start: str) -> list[str]:
        case = msgspec.structs.replace(verdicts.LINE[0], start=start)
        verdict = CaseVerdict(case=case, ranking=[], winners=[], margin=1.0)
        apart = Summary(
            case=case.key, candidate="alpha", launches=6, samples=60, late=0, overrun=0, typical_ns=500.0, skew_ns=400.0
        )
        view = verdicts.make_view(campaigns.make_record(cases=[case]), [verdict], [apart])
        return [render(finding.title) for finding in start_uncertain.find(view)]

    assert list_titles("window") == ["Ranks did not begin together"]
    assert list_titles("none") == []
