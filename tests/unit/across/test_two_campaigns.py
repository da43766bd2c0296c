"""Comparison of two campaigns: cases without a counterpart and the reasons, memory, intervals."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from fakes.nights import CASES, make_night, make_slower
from wording import WORDING

from rankbench.across.intervals import format_interval
from rankbench.across.two_campaigns import CampaignPair, Change, hold, list_sentences
from rankbench.language import render
from rankbench.model import Case, CaseStatus, CaseVerdict
from rankbench.model.verdicts import Outcome
from rankbench.report.then_and_now import describe_change


def read_remark(pair: CampaignPair, kind: str) -> str:
    return next(render(remark.text) for remark in pair.comparison.remarks if remark.kind == kind)


def change_case(case: Case, **changes: object) -> Case:
    return msgspec.structs.replace(case, **changes)


def test_cases_with_other_ranks_are_not_compared_although_their_names_are_equal(tmp_path: Path) -> None:
    wider = [change_case(CASES[0], ranks=4), *CASES[1:]]
    pair = hold(make_night(tmp_path / "old"), make_night(tmp_path / "new", cases=wider))
    assert {change_of_case.case for change_of_case in pair.comparison.changes} == {case.key for case in CASES[1:]}
    assert read_remark(pair, "cases") == WORDING


def test_cases_with_another_start_are_not_compared(tmp_path: Path) -> None:
    others = [CASES[0], *(change_case(case, start="barrier") for case in CASES[1:])]
    pair = hold(make_night(tmp_path / "old"), make_night(tmp_path / "new", cases=others))
    assert read_remark(pair, "cases") == WORDING


def test_differences_of_a_library_beyond_its_version_are_reported(tmp_path: Path) -> None:
    new = make_night(tmp_path / "new", version="1.1")
    receipts = [msgspec.structs.replace(receipt, compiler="clang 19") for receipt in new.campaign.receipts]
    new.campaign = msgspec.structs.replace(new.campaign, receipts=receipts)
    remark = next(
        remark for remark in hold(make_night(tmp_path / "old"), new).comparison.remarks if remark.kind == "library"
    )
    assert (render(remark.text), render(remark.advice)) == (WORDING, WORDING)


def test_a_case_that_failed_has_no_ratio(tmp_path: Path) -> None:
    old, new = (
        make_night(tmp_path / "old"),
        make_night(tmp_path / "new", make_slower("beta", "barrier", CaseStatus.CRASHED)),
    )
    assert [(render(change_of_case.title), change_of_case.new) for change_of_case in hold(old, new).comparison.changes][
        -1
    ] == ("barrier", "alpha-1.0")


def make_change(ratio: float, **changes: object) -> Change:
    base = Change(
        case="x",
        title="allreduce 8 B",
        old="a",
        new="a",
        old_launches=5,
        new_launches=5,
        old_ns=1.0,
        new_ns=ratio,
        ratio=ratio,
        low=ratio,
        high=ratio,
        p_value=0.0,
        p_adjusted=0.0,
        different=True,
        error=0.01,
        degrees=8.0,
    )
    return msgspec.structs.replace(base, **changes)


def test_memory_is_distinguished_from_times() -> None:
    changes = [
        make_change(2.0),
        make_change(0.5, title="barrier"),
        make_change(4.0, memory=True),
        make_change(1.0, different=False),
    ]
    assert [render(sentence) for sentence in list_sentences(changes, 0.05)] == WORDING


def test_a_mean_without_any_known_change_says_so() -> None:
    lines = list(list_sentences([make_change(1.5, different=False)], 0.05))
    assert render(lines[1]) == WORDING


@pytest.mark.parametrize(
    ("low", "high", "spelt"), [(0.98, 1.031, "0.98–1.03×"), (0.001, 1e22, "<0.01–>999×"), (12.34, 340, "12.3–340×")]
)
def test_open_intervals_show_only_their_known_end(low: float, high: float, spelt: str) -> None:
    assert render(format_interval(low, high)) == spelt


@pytest.mark.parametrize(
    ("winners", "outcome", "words"),
    [
        (["alpha", "beta"], "equivalent", "now equivalent"),
        (["alpha", "beta"], "undecided", "no longer distinguishable"),
        (["beta"], "faster", "new winner"),
        (["alpha"], "faster", ""),
    ],
)
def test_a_change_of_the_verdict_says_whether_candidates_are_equivalent(
    winners: list[str], outcome: Outcome, words: str
) -> None:
    before = CaseVerdict(case=CASES[0], ranking=["alpha", "beta"], winners=["alpha"], outcome="faster")
    now = CaseVerdict(case=CASES[0], ranking=["alpha", "beta"], winners=winners, outcome=outcome)
    same = Change(
        case=CASES[0].key, title="", old="alpha", new="alpha", old_launches=5, new_launches=5, old_ns=1.0, new_ns=1.0,
        ratio=1.0, low=0.9, p_value=1.0, p_adjusted=1.0, different=False,
    )  # fmt: skip
    assert describe_change(same, before, now, {}) == words
