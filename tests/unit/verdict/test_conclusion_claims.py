"""The conclusion claims no more than the cases say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fakes.campaigns import Truth, make_campaign

from rankbench.model import Case, CaseStatus
from rankbench.verdict.evaluation import evaluate

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CANDIDATES = ("alpha", "beta", "gamma")


def _conclusion(folder: Path, truth: Callable[[str, Case], Truth]) -> list[str]:
    store = make_campaign(folder / "made", truth, launches=6, candidates=CANDIDATES)
    return [sentence.text for sentence in evaluate(store).verdict.conclusion]


def test_a_clear_leader_is_named_with_its_count(tmp_path: Path) -> None:
    said = _conclusion(tmp_path, lambda name, _: Truth(factor=1.0 if name == "beta" else 1.5))
    assert said[0] == "beta is the one to use: fastest alone in 9 of 9 cases."


def test_where_each_leads_somewhere_nobody_is_recommended(tmp_path: Path) -> None:
    leaders = {"pingpong": "alpha", "bandwidth": "beta", "barrier": "gamma", "allreduce": "gamma"}

    def truth(name: str, case: Case) -> Truth:
        leader = "alpha" if case.form == "nonblocking" and case.operation == "allreduce" else leaders[case.operation]
        return Truth(factor=1.0 if name == leader else 1.5)

    assert _conclusion(tmp_path, truth)[0] == (
        "No candidate leads throughout; alpha most often: fastest alone in 4 of 9 cases."
    )


def test_failures_of_the_leader_are_told(tmp_path: Path) -> None:
    def truth(name: str, case: Case) -> Truth:
        crashes = name == "alpha" and case.operation == "barrier"
        return Truth(factor=1.0 if name == "alpha" else 1.5, status=CaseStatus.CRASHED if crashes else CaseStatus.OK)

    assert "alpha failed in at least one launch of 1 case." in _conclusion(tmp_path, truth)


def test_equal_candidates_have_no_leader(tmp_path: Path) -> None:
    said = _conclusion(tmp_path, lambda *_: Truth())
    assert said[0] == "No candidate can be told to be faster than another in any of 9 cases."
