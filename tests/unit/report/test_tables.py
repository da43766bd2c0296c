from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest
from fakes import campaigns, evaluations
from fakes.campaigns import Truth
from wording import WORDING, find_lines

from rankbench.analysis.evaluation import evaluate
from rankbench.analysis.questions.view import CampaignView
from rankbench.model import CaseVerdict
from rankbench.model.verdicts import Outcome
from rankbench.plots import captions, marks
from rankbench.report import overview, tables
from rankbench.report.tables import Cell, Table, make_value_cell, results
from rankbench.report.text import latex, markdown


@pytest.fixture
def view() -> CampaignView:
    return evaluations.make_evaluation()


def list_texts(table: Table) -> list[list[str]]:
    return [[cell.text for cell in row] for row in table.rows]


def test_a_result_has_typical_value_interval_and_the_fastest_candidate(view: CampaignView) -> None:
    table = results.latex(view)[0]
    assert table.columns == ["message size", "alpha", "beta", "fastest (×: next slower)"]
    assert list_texts(table) == [["8 B", "502 ns", "1.00 µs", "alpha 2.00×"], ["64 KiB", "16.9 µs", "16.9 µs", "~"]]
    assert table.rows[0][1].detail == "492 ns to 512 ns"
    assert [cell.best for cell in table.rows[0]] == [False, True, False, False]
    assert [cell.best for cell in table.rows[1]] == [False, True, True, False]


def test_a_result_may_have_the_range_of_launches(view: CampaignView) -> None:
    table = results.tables(view)[0]
    assert table.rows[0][1].detail == WORDING
    assert find_lines(markdown(view), "; launches 487 ns") == WORDING
    assert "launches 487 ns" not in latex(view)


def test_a_bandwidth_is_reported_in_megabytes(view: CampaignView) -> None:
    table = results.latex(view)[1]
    assert find_lines(table.caption, "bandwidth in MB/s (1") == WORDING
    assert table.rows[0][1] == Cell("1,020", "999.9 to 1,041", best=True)


def test_a_missing_value_has_a_reason(view: CampaignView) -> None:
    table = results.latex(view)[4]
    assert table.rows[1][2] == Cell("–", WORDING)
    assert table.rows[1][3].text == "only alpha"


def test_failures_are_reported_once_per_candidate_and_reason(view: CampaignView) -> None:
    assert tables.failures(view).rows == [
        [Cell("beta"), Cell(WORDING), Cell("allreduce nonblocking 64 KiB", case=evaluations.CRASHED)]
    ]


def test_candidates_have_the_version_reported_inside_a_launch(view: CampaignView) -> None:
    rows = list_texts(tables.libraries(view))
    assert rows[0] == ["alpha", "alpha 1.0", "Alpha MPI 1.0", "–", "gcc 12.2.0", "none"]
    assert tables.libraries(view).rows[2][0].detail == WORDING


def test_ranks_and_clocks_are_listed_once_for_equal_launches(view: CampaignView) -> None:
    assert list_texts(tables.locations(view)) == [
        ["socket", "alpha, beta, alpha (again)", "12", WORDING, "/opt/lib/libmpi.so"]
    ]
    assert list_texts(tables.clocks(view)) == [["clock_gettime", "1.00 ns", "20.0 ns", "one, nothing to synchronise"]]


def test_false_alarms_of_the_control_are_listed(view: CampaignView) -> None:
    assert list_texts(tables.control(view)) == [["pingpong 8 B", "alpha (again) / alpha", "1.00×", "0.98× to 1.02×"]]


def test_names_have_the_placement_if_there_are_several() -> None:
    evaluation = evaluations.make_evaluation(("socket", "spread"))
    both = evaluation
    names = list(tables.case_names(both).values())
    assert (names[0], names[9]) == ("pingpong 8 B at socket", "pingpong 8 B at spread")


def test_long_lists_are_truncated_and_counted() -> None:
    assert tables.list_names(["a", "b", "c"]) == "a, b, c"
    assert tables.list_names(["a", "b", "c", "d", "e"]) == WORDING


@pytest.mark.parametrize(
    ("winners", "outcome"), [(["alpha"], "faster"), (["alpha", "beta"], "undecided"), (["alpha", "beta"], "equivalent")]
)
def test_the_ratio_of_several_winners_names_the_rival(winners: list[str], outcome: Outcome) -> None:
    case = campaigns.make_cases(lines=[("bcast", "blocking")], sizes=(8,))[0]
    ranking = ["alpha", "beta", "gamma"]
    assert tables.winner(CaseVerdict(case, ranking, winners, outcome=outcome, margin=6.29)) == WORDING


LEVELED: dict[str, tuple[Outcome, list[tuple[list[str], Outcome]]]] = {
    "depends": ("depends", [(["alpha"], "faster"), (["beta", "gamma"], "equivalent")]),
    "far open": ("undecided", [(["alpha"], "faster"), (["alpha", "beta"], "undecided")]),
    "near only": ("faster", [(["alpha"], "faster")]),
    "same": ("faster", [(["alpha"], "faster"), (["alpha"], "faster")]),
    "both open": ("undecided", [(["alpha", "beta"], "undecided"), (["alpha", "beta"], "undecided")]),
}
"""By name: the outcome of a case, and winners and outcome near and far."""


def make_verdict(name: str) -> CaseVerdict:
    case = campaigns.make_cases(lines=[("bcast", "blocking")], sizes=(8,))[0]
    outcome, levels = LEVELED[name]
    names = ["alpha", "beta", "gamma"]
    return CaseVerdict(
        case,
        names,
        [name for name in names if any(name in winners for winners, _ in levels)],
        outcome=outcome,
        winners_by_level={level: winners for level, (winners, _) in zip(("near", "far"), levels, strict=False)},
        outcome_by_level={level: known for level, (_, known) in zip(("near", "far"), levels, strict=False)},
        margin=6.29,
    )


@pytest.mark.parametrize("name", ["depends", "far open", "near only", "same", "both open"])
def test_levels_of_the_reference_are_named_if_winners_rest_on_them(name: str) -> None:
    assert tables.winner(make_verdict(name)) == WORDING


@pytest.mark.parametrize(
    ("name", "near", "far"),
    [
        ("depends", ["*", "", ""], ["", "=", "="]),
        ("far open", ["*", "", ""], ["~", "~", ""]),
        ("near only", ["*", "", ""], ["", "", ""]),
    ],
)
def test_the_overview_has_the_signs_of_each_level(name: str, near: list[str], far: list[str]) -> None:
    for level, signs in (("near", near), ("far", far)):
        verdict = make_verdict(name).at(level)
        cells = [
            overview.mark_outcome(verdict, candidate, Cell("1 ns")).text for candidate in ("alpha", "beta", "gamma")
        ]
        assert [text.removeprefix("1 ns").strip() for text in cells] == signs


def test_a_level_with_too_few_blocks_has_no_winner() -> None:
    verdict = make_verdict("near only")
    assert tables.winner(verdict.at("near")).startswith("alpha")
    assert tables.winner(verdict.at("far")) == tables.TOO_FEW_BLOCKS


def test_the_ratio_of_several_winners_is_to_the_next_slower_candidate() -> None:
    case = campaigns.make_cases(lines=[("bcast", "blocking")], sizes=(8,))[0]
    verdict = CaseVerdict(case, ["alpha", "beta", "gamma", "delta"], ["alpha", "beta"], margin=1.5)
    assert tables.winner(verdict) == WORDING


@pytest.mark.costly
@pytest.mark.parametrize("launches", [1, 2, 3, 4, 5, 6, 12])
def test_no_interval_is_printed_that_covers_with_less_than_90_percent(launches: int, tmp_path: Path) -> None:
    """Of a median that needs five launches."""
    view = evaluate(campaigns.make_campaign(tmp_path / "c", lambda *_: Truth(), launches=launches))
    printed = markdown(view) + latex(view)
    named = [float(percent) for percent in re.findall(r"([\d.]+)\\?% intervals", printed)]
    details = [cell.detail for table in results.latex(view) for row in table.rows for cell in row[1:-1]]
    assert all(percent >= 90 for percent in named)
    assert bool(named) == (launches >= 5)
    assert all((" to " in detail) == (launches >= 5) for detail in details if detail)


def test_no_interval_is_printed_whose_ends_are_far_apart(tmp_path: Path) -> None:
    factors = itertools.cycle([1.0, 1.0, 40.0])
    view = evaluate(campaigns.make_campaign(tmp_path / "c", lambda *_: Truth(factor=next(factors)), launches=6))
    summaries = [summary for _, summary in view.list_shown_summaries()]
    wide = [summary for summary in summaries if summary.high_ns > 10 * summary.low_ns]
    assert len(wide) > 0
    for summary in summaries:
        detail = make_value_cell(view, view.verdict_of[summary.case], summary.candidate).detail
        assert (detail == tables.TOO_WIDE) == (summary in wide)
        assert (marks.list_times(summary) == (summary.typical_ns,) * 3) == (summary in wide)


@pytest.mark.parametrize("launches", [2, 3, 6])
def test_a_reason_of_the_caption_is_not_repeated_in_cells(launches: int, tmp_path: Path) -> None:
    view = evaluate(campaigns.make_campaign(tmp_path / "c", launches=launches))
    for table in results.tables(view):
        details = [cell.detail for row in table.rows for cell in row[1:] if cell.detail]
        assert all(tables.TOO_FEW_LAUNCHES not in detail for detail in details)
        assert table.caption.endswith(captions.TOO_FEW) == (launches < 6)
