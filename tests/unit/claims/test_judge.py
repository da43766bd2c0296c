"""Winners, margins and failures of single cases, and verdicts of campaigns with known truth."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from fakes import campaigns, verdicts
from fakes.campaigns import Truth
from fakes.level_comparisons import combine_levels
from wording import WORDING

from rankbench.analysis.claims import judge_case
from rankbench.analysis.evaluation import evaluate
from rankbench.analysis.questions.comparisons import Comparisons
from rankbench.language import render
from rankbench.model import Case, CaseStatus, CaseVerdict, Comparison, Summary

CASE = verdicts.LINE[0]


def make_summary(candidate: str, typical_ns: float | None, **failures: int) -> Summary:
    if typical_ns is None:
        return Summary(case=CASE.key, candidate=candidate, launches=0, samples=0, late=0, overrun=0, failures=failures)
    return Summary(
        case=CASE.key, candidate=candidate, launches=6, samples=60, late=0, overrun=0, typical_ns=typical_ns,
        low_ns=typical_ns, high_ns=typical_ns, coverage=0.97, failures=failures,
    )  # fmt: skip


def make_comparison(base: str, other: str, ratio: float, *, different: bool) -> Comparison:
    return Comparison(
        case=CASE.key, base=base, other=other, blocks=6, ratio=ratio, low=1.0, high=1.2, p_value=0.01, p_adjusted=0.01,
        different=different,
    )  # fmt: skip


def judge_times(times: dict[str, float], different: set[tuple[str, str]]) -> CaseVerdict:
    """Judge a case with these typical times, in which only these pairs are known to differ."""
    names = list(times)
    pairs = [
        make_comparison(name, two, times[two] / times[name], different=(name, two) in different)
        for place, name in enumerate(names)
        for two in names[place + 1 :]
    ]
    return judge_case(CASE, [make_summary(name, time) for name, time in times.items()], Comparisons(pairs))


def test_the_fastest_alone_wins_by_its_margin_over_the_next() -> None:
    verdict = judge_times({"a": 150, "b": 100, "c": 200}, {("a", "b"), ("b", "c"), ("a", "c")})
    assert (verdict.ranking, verdict.winners, verdict.margin) == (["b", "a", "c"], ["b"], 1.5)


def test_candidates_not_distinguishable_from_the_fastest_win_with_it() -> None:
    verdict = judge_times({"a": 100, "b": 102, "c": 200}, {("a", "c"), ("b", "c")})
    assert (verdict.winners, verdict.margin) == (["a", "b"], 2.0)


def test_a_candidate_beaten_by_any_other_is_no_winner() -> None:
    """`a` ~ `b` and `a` ~ `c`, though `b` and `c` differ."""
    verdict = judge_times({"a": 100, "b": 101, "c": 106}, {("b", "c")})
    assert (verdict.winners, verdict.margin) == (["a", "b"], 1.06)


def test_several_winners_are_a_decision_if_they_are_equivalent() -> None:
    pairs = [make_comparison("a", "b", 1.01, different=False), make_comparison("a", "c", 2.0, different=True)]
    summaries = [make_summary("a", 100), make_summary("b", 101), make_summary("c", 200)]
    unknown = judge_case(CASE, summaries, Comparisons([*pairs, make_comparison("b", "c", 1.98, different=True)]))
    equivalent = judge_case(CASE, summaries, Comparisons([msgspec.structs.replace(pairs[0], alike=True), *pairs[1:]]))
    assert (unknown.winners, unknown.decided, unknown.sign) == (["a", "b"], False, "~")
    assert (equivalent.winners, equivalent.decided, equivalent.sign) == (["a", "b"], True, "=")
    assert judge_case(CASE, summaries[:1], Comparisons([])).decided
    assert not judge_case(CASE, [], Comparisons([])).decided


def test_a_candidate_known_to_be_slower_is_no_winner_although_a_slower_one_is() -> None:
    verdict = judge_times({"a": 100, "b": 105, "c": 110}, {("a", "b")})
    assert (verdict.winners, verdict.margin) == (["a", "c"], 1.05)


def test_the_margin_is_at_most_the_least_of_all_ends() -> None:
    """The next slower one is at least the winner's time, and no rival's interval says more than its own."""
    pairs = [
        msgspec.structs.replace(make_comparison("a", other, ratio, different=True), low=low, high=high)
        for other, ratio, low, high in (("b", 1.5, 1.2, 1.9), ("c", 1.6, 1.1, 8.0))
    ]
    summaries = [make_summary(name, time) for name, time in {"a": 100.0, "b": 150.0, "c": 160.0}.items()]
    verdict = judge_case(CASE, summaries, Comparisons(pairs))
    assert (verdict.margin, verdict.margin_low, verdict.margin_high) == (1.5, 1.1, 1.9)


def test_a_single_candidate_wins_without_a_margin() -> None:
    verdict = judge_times({"a": 100}, set())
    assert (verdict.winners, verdict.margin) == (["a"], 1.0)


def test_without_values_no_candidate_wins_and_reasons_are_kept() -> None:
    verdict = judge_case(
        CASE, [make_summary("a", None, crashed=2, hung=1), make_summary("b", None, lacking=3)], Comparisons([])
    )
    assert (verdict.ranking, verdict.winners, verdict.margin) == ([], [], 1.0)
    assert {name: render(why) for name, why in verdict.failures.items()} == {
        "a": WORDING,
        "b": "lacking in 3 launches",
    }


def test_a_failure_in_other_launches_keeps_the_value() -> None:
    verdict = judge_case(CASE, [make_summary("a", 100, crashed=1)], Comparisons([]))
    assert (verdict.winners, verdict.failures) == (["a"], {})


def test_paired_ratios_precede_typical_values() -> None:
    """`a` has the smaller typical value because it ran in fast blocks only; in every block with both, `b` is faster."""
    pairs = Comparisons([make_comparison("a", "b", 0.9, different=True)])
    verdict = judge_case(CASE, [make_summary("a", 100), make_summary("b", 180)], pairs)
    assert (verdict.ranking, verdict.winners) == (["b", "a"], ["b"])
    assert verdict.margin == pytest.approx(1 / 0.9)


def test_wrong_data_in_one_launch_exclude_a_candidate_from_the_ranking() -> None:
    verdict = judge_case(CASE, [make_summary("a", 100, **{"wrong-data": 1}), make_summary("b", 180)], Comparisons([]))
    assert (verdict.ranking, verdict.winners) == (["b"], ["b"])
    assert {name: render(why) for name, why in verdict.failures.items()} == {"a": "wrong-data in 1 launch"}


def test_a_drawn_campaign_is_judged_by_its_truth(tmp_path: Path) -> None:
    """The machine's state changes fourfold from block to block, and beta is slower by 8% throughout."""
    store = campaigns.make_campaign(tmp_path / "made", campaigns.make_slower_beta(1.08), 8, states=(1.0, 4.0, 2.0))
    verdict = evaluate(store).verdict
    assert [case.winners for case in verdict.cases] == [["alpha"]] * len(store.campaign.cases)
    assert [comparison.ratio for comparison in verdict.comparisons] == pytest.approx([1.08] * 9, rel=0.03)
    assert {(comparison.base, comparison.other) for comparison in verdict.control} == {("alpha", "alpha (again)")}
    assert sum(comparison.different for comparison in verdict.control) == 0
    assert verdict.blocks == 8


def test_the_twin_is_summarised_and_never_ranked(tmp_path: Path) -> None:
    verdict = evaluate(campaigns.make_campaign(tmp_path / "made", launches=3)).verdict
    assert "alpha (again)" in {summary_row.candidate for summary_row in verdict.summaries}
    assert {name for case in verdict.cases for name in case.ranking} == {"alpha", "beta"}


def test_a_case_that_fails_occasionally_keeps_its_values(tmp_path: Path) -> None:
    def make_truth(candidate: str, case: Case) -> Truth:
        hangs = candidate == "beta" and case.operation == "barrier"
        return Truth(status=CaseStatus.HUNG if hangs else CaseStatus.OK, status_share=0.5)

    verdict = evaluate(campaigns.make_campaign(tmp_path / "made", make_truth, 8)).verdict
    (barrier,) = (
        summary_row
        for summary_row in verdict.summaries
        if summary_row.candidate == "beta" and summary_row.case.startswith("barrier")
    )
    assert 0 < barrier.launches < 8
    assert barrier.failures == {"hung": 8 - barrier.launches}
    (case,) = (case_verdict for case_verdict in verdict.cases if case_verdict.case.operation == "barrier")
    assert set(case.ranking) == {"alpha", "beta"}


# --- levels of the reference ------------------------------------------------------------------------------------------


def make_pair(
    ratio: float, *, base: str = "a", other: str = "b", blocks: int = 6, equivalent: bool = False
) -> Comparison:
    """Return a comparison that is certainly different unless the ratio is 1."""
    compared = make_comparison(base, other, ratio, different=ratio != 1 and blocks >= 3)
    return msgspec.structs.replace(compared, blocks=blocks, alike=equivalent)


@pytest.mark.parametrize(
    ("near", "far", "outcome", "winners", "by_level"),
    [
        (make_pair(1.2), make_pair(0.8), "depends", ["a", "b"], {"near": ["a"], "far": ["b"]}),
        (make_pair(1.2), make_pair(1.1), "faster", ["a"], {"near": ["a"], "far": ["a"]}),
        (make_pair(1.2), make_pair(1, equivalent=True), "depends", ["a", "b"], {"near": ["a"], "far": ["a", "b"]}),
        (make_pair(1.2), make_pair(1), "undecided", ["a", "b"], {"near": ["a"], "far": ["a", "b"]}),
        (
            make_pair(1, equivalent=True),
            make_pair(1, equivalent=True),
            "equivalent",
            ["a", "b"],
            {"near": ["a", "b"], "far": ["a", "b"]},
        ),
        (make_pair(1.2), make_pair(0.5, blocks=2), "faster", ["a"], {"near": ["a"]}),
    ],
    ids=["reverses", "same", "one equivalent", "one open", "equivalent", "near only"],
)
def test_the_outcome_combines_both_levels(
    near: Comparison, far: Comparison, outcome: str, winners: list[str], by_level: dict[str, list[str]]
) -> None:
    verdict = judge_case(
        CASE, [make_summary("a", 100), make_summary("b", 110)], Comparisons([combine_levels(near, far)])
    )
    assert (verdict.outcome, verdict.winners, verdict.winners_by_level) == (outcome, winners, by_level)
    assert verdict.decided == (outcome in {"faster", "equivalent"})


@pytest.mark.parametrize(
    ("near", "far", "decided_at", "answered", "differs"),
    [
        (make_pair(1.2), make_pair(0.8), ["near", "far"], True, True),
        (make_pair(1.2), make_pair(1.1), ["near", "far"], True, False),
        (make_pair(1.2), make_pair(1, equivalent=True), ["near", "far"], True, True),
        (make_pair(1.2), make_pair(1), ["near"], False, True),
        (make_pair(1), make_pair(0.8), ["far"], False, True),
        (make_pair(1), make_pair(1), [], False, False),
        (make_pair(1.2), make_pair(0.5, blocks=2), ["near"], True, False),
    ],
    ids=["reverses", "same", "one equivalent", "far open", "near open", "both open", "near only"],
)
def test_a_level_is_decided_independently_of_the_other(
    near: Comparison, far: Comparison, decided_at: list[str], answered: bool, differs: bool
) -> None:
    verdict = judge_case(
        CASE, [make_summary("a", 100), make_summary("b", 110)], Comparisons([combine_levels(near, far)])
    )
    assert (verdict.decided_at, verdict.answered, verdict.differs) == (decided_at, answered, differs)


def test_without_levels_a_decided_case_is_answered() -> None:
    for comparison, answered in ((make_pair(1.2), True), (make_pair(1), False)):
        verdict = judge_case(CASE, [make_summary("a", 100), make_summary("b", 110)], Comparisons([comparison]))
        assert (verdict.decided_at, verdict.answered, verdict.differs) == ([], answered, False)


def test_a_candidate_beaten_by_different_others_at_each_level_is_no_winner() -> None:
    """`c` is behind `a` near and behind `b` far, and never certainly behind both."""
    pairs = [
        combine_levels(make_pair(1), make_pair(1)),
        combine_levels(make_pair(1.2, other="c"), make_pair(1, other="c")),
        combine_levels(make_pair(1, base="b", other="c"), make_pair(1.2, base="b", other="c")),
    ]
    verdict = judge_case(
        CASE, [make_summary("a", 100), make_summary("b", 100), make_summary("c", 110)], Comparisons(pairs)
    )
    assert (verdict.winners, verdict.outcome) == (["a", "b"], "undecided")


def test_without_values_there_is_no_outcome() -> None:
    verdict = judge_case(
        CASE,
        [make_summary("a", None), make_summary("b", None)],
        Comparisons([combine_levels(make_pair(1.2), make_pair(0.8))]),
    )
    assert (verdict.winners, verdict.outcome) == ([], "undecided")
