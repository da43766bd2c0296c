"""The fastest may depend on the nodes, and one may slow down unlike the others: reported only if it is certain."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes import mark_thorough, scales
from fakes.words import render_texts
from wording import WORDING

from rankbench.analysis import evaluation
from rankbench.language import Text, render
from rankbench.model import Case, CaseStatus, Finding, Placement, Span

NODES = (1, 2, 3, 4, 6, 8, 12)
ADVICE = "Choose by the number of nodes and ranks of your jobs. The scaling charts show where the curves cross."
SETTING = "Check which algorithm it uses there, and whether a setting selects another."


def list_findings(folder: Path, time_ns: scales.OutcomeOf, **others: object) -> list[Finding]:
    store = scales.make_store(folder / "made", time_ns, **others)  # type: ignore[arg-type]
    return [first for first in evaluation.evaluate(store).verdict.findings if first.kind == "scaling"]


def find_time_ns(candidate: str, _case: Case, place: Placement) -> float:
    """Alpha's time grows faster than beta's, which has a larger constant part."""
    return 1000 + 500 * place.nodes if candidate == "alpha" else 3000 + 100 * place.nodes


def make_key(nodes: int, ranks: int, size: int = 8) -> str:
    return f"allreduce.blocking.{size}.float.{nodes}x{ranks}.window"


def test_a_fastest_candidate_that_changes_with_the_nodes_is_reported(tmp_path: Path) -> None:
    (finding,) = list_findings(tmp_path, find_time_ns, nodes=NODES, ranks=(2,))
    assert render_texts(finding) == Finding(
        kind="scaling",
        title=Text(WORDING),
        text=(Text(WORDING)),
        advice=Text(ADVICE),
        cases=[make_key(nodes, 2) for nodes in (1, 4, 6, 12)],
        severity="note",
        spans=[
            Span(candidates=["alpha"], cases=[make_key(nodes, 2) for nodes in (1, 2, 3, 4)]),
            Span(candidates=["beta"], cases=[make_key(nodes, 2) for nodes in (6, 8, 12)]),
        ],
    )


def test_a_fastest_candidate_that_changes_with_the_ranks_of_a_node_is_reported(tmp_path: Path) -> None:
    def choose_time_ns(candidate: str, _case: Case, place: Placement) -> float:
        return 1000 * place.ranks_per_node if candidate == "alpha" else 2500

    (finding,) = list_findings(tmp_path, choose_time_ns, nodes=(2,), ranks=(1, 2, 4))
    assert render(finding.title) == WORDING
    assert render(finding.text) == WORDING


def test_the_clearest_of_many_changes_are_reported(tmp_path: Path) -> None:
    steep, finding = list_findings(tmp_path, find_time_ns, nodes=(2, 12), ranks=(1, 2), sizes=(8, 64, 1024))
    assert render(steep.title) == WORDING
    assert render(steep.text) == WORDING
    assert render(finding.text).count("alpha is fastest on 2 nodes and beta is fastest on 12 nodes") == 3
    assert render(finding.text) == WORDING


@pytest.mark.thorough
@pytest.mark.parametrize(
    "others",
    [
        {"cores": 1},  # Ranks share cores, so waiting is measured.
        {"launches": 2},
        {"spread": 0.8},
    ],
)
def test_uncertain_changes_are_not_reported(tmp_path: Path, others: dict[str, object]) -> None:
    assert list_findings(tmp_path, find_time_ns, nodes=NODES, ranks=(2,), **others) == []


def test_a_single_rank_does_not_win(tmp_path: Path) -> None:
    """Alpha is faster with one rank, where nothing is communicated, and beta with all other numbers."""

    def choose_time_ns(candidate: str, _case: Case, place: Placement) -> float:
        return 1000.0 if (candidate == "alpha") == (place.ranks == 1) else 2000.0

    assert list_findings(tmp_path, choose_time_ns) == []


def test_time_that_grows_unlike_the_others_is_reported(tmp_path: Path) -> None:
    def choose_time_ns(candidate: str, _case: Case, place: Placement) -> float:
        steep = candidate == "beta" and place.nodes >= 8
        return (3000 if steep else 1000) * (1 + 0.5 * place.nodes)

    (finding,) = list_findings(
        tmp_path, choose_time_ns, nodes=NODES, ranks=(1,), candidates=("alpha", "beta", "gamma"), spread=0
    )
    assert render_texts(finding) == Finding(
        kind="scaling",
        title=Text(WORDING),
        text=(Text(WORDING)),
        advice=Text(SETTING),
        cases=[make_key(6, 1), make_key(8, 1)],
        severity="warning",
    )


def test_two_builds_of_one_library_slow_down_and_win_together(tmp_path: Path) -> None:
    builds = ("alpha+gcc", "alpha+clang", "beta+gcc", "beta+clang")

    def choose_time_ns(candidate: str, case: Case, place: Placement) -> float:
        return find_time_ns(candidate.partition("+")[0], case, place)

    first, second, change = list_findings(tmp_path, choose_time_ns, nodes=(2, 12), ranks=(1,), candidates=builds)
    assert (first.title.fields["name"], second.title.fields["name"]) == builds[:2]
    assert "than beta+gcc and beta+clang (" in render(first.text)
    assert render(change.text) == WORDING


def test_common_growth_is_not_reported(tmp_path: Path) -> None:
    def choose_time_ns(_candidate: str, _case: Case, place: Placement) -> float:
        return 1000.0 * place.ranks**2

    assert list_findings(tmp_path, choose_time_ns, nodes=NODES) == []


def test_growth_from_one_node_to_two_is_not_compared(tmp_path: Path) -> None:
    def choose_time_ns(candidate: str, _case: Case, place: Placement) -> float:
        return 100.0 if candidate == "alpha" and place.nodes == 1 else 2000.0

    assert list_findings(tmp_path, choose_time_ns, candidates=("alpha", "beta")) == []


def test_a_crashed_candidate_has_no_growth_and_no_rank(tmp_path: Path) -> None:
    def choose_time_ns(candidate: str, case: Case, place: Placement) -> float | CaseStatus:
        if candidate == "beta" and place.nodes >= 8:
            return CaseStatus.CRASHED
        return find_time_ns(candidate, case, place)

    (finding,) = list_findings(tmp_path, choose_time_ns, nodes=NODES, ranks=(2,))
    assert render(finding.text) == WORDING


@pytest.mark.parametrize("seed", [0, *map(mark_thorough, range(1, 4))])
def test_noise_is_no_finding(tmp_path: Path, seed: int) -> None:
    """Three equal candidates in 32 cases: 96 comparisons and 48 of growth, of launches that differ by 10%."""
    invented = list_findings(
        tmp_path,
        lambda _candidate, _case, place: 1000.0 * place.ranks,
        nodes=(2, 4, 8, 12),
        ranks=(1,),
        sizes=tuple(4**power for power in range(1, 9)),
        candidates=("alpha", "beta", "gamma"),
        spread=0.1,
        seed=seed,
    )
    assert invented == []


def test_a_single_placement_has_no_scaling(tmp_path: Path) -> None:
    assert list_findings(tmp_path, find_time_ns, nodes=(4,), ranks=(2,)) == []
