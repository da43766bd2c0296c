"""Maps of pairs of ranks in sentences, findings, tables and CSV."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from fakes import hierarchy, kinds
from fakes.words import render_texts
from wording import WORDING, find_lines

from rankbench.analysis.evaluation import evaluate
from rankbench.analysis.questions import maps
from rankbench.analysis.questions.view import CampaignView
from rankbench.language import Text, render
from rankbench.model import Finding
from rankbench.report.tables import matrix as report
from rankbench.report.tables.matrix import frame as matrix_frame
from rankbench.report.tables.matrix import sentences as matrix_sentences
from rankbench.report.tables.matrix import tables as matrix_tables

SLOW = {(4, 6), (6, 4)}
SOCKET = "within one socket, NUMA node and L3"


def find_time_ns(candidate: str, first: int, second: int) -> float:
    return hierarchy.find_time_by_level(candidate, first, second) * (
        1.4 if candidate == "beta" and (first, second) in SLOW else 1
    )


@pytest.fixture(scope="module")
def evaluation(tmp_path_factory: pytest.TempPathFactory) -> CampaignView:
    """Return both sockets of one host, on which two cores share an L2 that makes no difference."""
    folder = tmp_path_factory.mktemp("results") / "machine"
    return evaluate(hierarchy.make_store(folder, find_time_ns, wanted=hierarchy.make_cases(ranks=8)))


def list_findings(evaluated: CampaignView) -> list[Finding]:
    return [finding for finding in evaluated.verdict.findings if finding.kind == "pairs"]


def test_levels_and_exceptions_are_found(evaluation: CampaignView) -> None:
    odd, levels = list_findings(evaluation)
    assert render_texts(odd) == Finding(
        kind="pairs",
        title=Text(WORDING),
        text=Text(WORDING),
        advice=Text(WORDING),
        cases=[hierarchy.make_case("pingpong", 8, *pair).key for pair in sorted(SLOW)],
        severity="warning",
    )
    assert render_texts(levels) == Finding(
        kind="pairs",
        title=Text(WORDING),
        text=Text(WORDING),
        advice=Text(WORDING),
        cases=[hierarchy.make_case("pingpong", 8, *pair).key for pair in ((0, 2), (0, 4), (0, 1))],
        severity="note",
    )


def test_equal_pairs_are_only_a_note(tmp_path: Path) -> None:
    store = hierarchy.make_store(
        tmp_path / "made", hierarchy.find_equal_time, wanted=hierarchy.make_cases(ranks=8), candidates=("alpha",)
    )
    (finding,) = list_findings(evaluate(store))
    assert finding.severity == "note"
    assert render(finding.text) == WORDING


def test_sentences_below_the_map_have_the_levels(evaluation: CampaignView) -> None:
    alpha, beta = matrix_sentences(evaluation)
    assert alpha == WORDING
    assert find_lines(beta, "3 groups: 22 at") == WORDING
    assert beta == WORDING


def test_levels_have_a_table(evaluation: CampaignView) -> None:
    *_, levels = matrix_tables(evaluation)
    assert levels.caption == WORDING
    assert [[render(cell.text) for cell in row] for row in levels.rows[:3]] == [
        ["alpha", "within one L2", "8", "208 ns", "1"],
        ["alpha", SOCKET, "16", "207 ns", "0.99× ~"],
        ["alpha", "across sockets", "32", "622 ns", "2.98×"],
    ]
    assert levels.rows[2][4].detail == "2.94× to 3.02×"


def test_tables_are_in_the_order_of_the_machine(evaluation: CampaignView) -> None:
    first, *_ = matrix_tables(evaluation)
    assert first.columns == ["from", *(f"to {rank}" for rank in (0, 2, 4, 6, 1, 3, 5, 7))]
    assert [render(row[0].text) for row in first.rows] == ["0", "2", "4", "6", "1", "3", "5", "7"]


def test_many_ranks_are_shown_by_a_digit_for_each_pair(
    evaluation: CampaignView, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "MOST_VALUES", 4)
    first, *_ = matrix_tables(evaluation)
    assert first.caption == WORDING
    assert first.columns == WORDING
    assert [[render(cell.text) for cell in row] for row in first.rows[:4]] == [
        ["0", "·0 00 99 99"],
        ["2", "0· 00 99 99"],
        ["4", "00 ·0 99 89"],
        ["6", "00 0· 99 99"],
    ]


def test_csv_has_a_row_for_each_pair(evaluation: CampaignView) -> None:
    frame = matrix_frame(evaluation)
    assert frame.height == 2 * 56
    row = frame.filter(pl.col("from") == 4, pl.col("to") == 6, candidate="beta").row(named=True)
    fields = {name: row[name] for name in ("from_place", "to_place", "share", "group", "groups", "launches", "unit")}
    assert fields == {
        "from_place": "n1 CPU 2",
        "to_place": "n1 CPU 3",
        "share": "within one L2",
        "group": 2,
        "groups": 3,
        "launches": 5,
        "unit": "ns",
    }
    assert row["times_as_its_like"] == pytest.approx(1.4, rel=0.05)


# --- sentences --------------------------------------------------------------------------------------------------------


def make_map(folder: Path, *slow: tuple[int, int], launches: int = 5, moved: bool = False, ranks: int = 4) -> maps.Map:
    """Return the map of ranks of one host, of which some pairs take twice as long as all others."""
    store = hierarchy.make_store(
        folder / "made",
        lambda _name, first, second: 400.0 if (first, second) in slow else 200.0,
        wanted=hierarchy.make_cases(ranks=ranks),
        candidates=("alpha",),
        launches=launches,
        spread=0.005,
        moved=lambda launch: {0: 1} if moved and launch == 2 else {},
    )
    (pair_map,) = evaluate(store).maps
    return pair_map


def describe_map(map_: maps.Map, folder: Path) -> list[str]:
    view = evaluate(hierarchy.make_store(folder / "other", wanted=hierarchy.make_cases(ranks=2), launches=1))
    return [render(sentence) for sentence in maps.describe_map(map_, view.measure(view.cases[0]))]


def test_a_single_slow_direction_is_reported(tmp_path: Path) -> None:
    map_ = make_map(tmp_path, (0, 2), ranks=8)
    assert "one L2): 431 ns, 2.0" in describe_map(map_, tmp_path)[-1]


def test_a_rank_slow_with_all_others_is_reported_once(tmp_path: Path) -> None:
    slow = [pair for other in range(8) if other != 5 for pair in ((5, other), (other, 5))]
    map_ = make_map(tmp_path, *slow, ranks=8)
    assert find_lines(describe_map(map_, tmp_path), "Between rank 5 and") == WORDING


def test_a_level_in_several_groups_is_reported(tmp_path: Path) -> None:
    slow = [(0, 1), (1, 0), (2, 3), (3, 2)]
    map_ = make_map(tmp_path, *slow)
    assert describe_map(map_, tmp_path)[1] == WORDING


def test_few_launches_have_no_groups(tmp_path: Path) -> None:
    (_, grouped) = describe_map(make_map(tmp_path, launches=1), tmp_path)
    assert grouped == WORDING


def test_launches_that_disagree_have_no_levels(tmp_path: Path) -> None:
    map_ = make_map(tmp_path, (0, 2), moved=True)
    assert describe_map(map_, tmp_path)[0] == WORDING
    assert (map_.levels, render(map_.between((0, 2)))) == ([], "")


def test_ranks_without_known_places_have_no_levels(tmp_path: Path) -> None:
    first, _ = evaluate(kinds.make_store(tmp_path / "made", kinds.PAIRS)).maps
    assert (first.known, first.levels, len(first.groups)) == (False, [], 2)


@pytest.mark.parametrize("ranks", [[3], [1, 2, 5], list(range(16))])
def test_many_ranks_are_summarised(ranks: list[int]) -> None:
    assert render(maps.name_ranks(ranks)) == WORDING
