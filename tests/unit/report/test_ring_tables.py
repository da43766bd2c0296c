"""Tables of rings: every edge rank and direction on every grid, inside and between nodes; hops; shapes."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from fakes import campaigns, evaluations, pages, torus
from wording import WORDING, find_lines, refuses

from rankbench.analysis.evaluation import evaluate
from rankbench.analysis.questions.view import CampaignView
from rankbench.cli.commands.show import show
from rankbench.cli.display import console
from rankbench.quantities import format_time
from rankbench.report import latex, markdown, write_html
from rankbench.report.tables import Table
from rankbench.report.tables.rings import frame as ring_frame
from rankbench.report.tables.rings import tables as ring_tables
from rankbench.store import Store


@pytest.fixture(scope="module")
def campaign_store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Return rings of one to four hops on nodes of nine cores, which sixteen ranks must share; and of two nodes."""
    folder = tmp_path_factory.mktemp("results") / "torus"
    placements = ((1, 1), (1, 4), (1, 9), (1, 16), (2, 2))
    return torus.make_store(folder, placements, cores=9, directions=("right", "down"))


@pytest.fixture(scope="module")
def view(campaign_store: Store) -> CampaignView:
    return evaluate(campaign_store)


def make_tables(view: CampaignView) -> dict[str, Table]:
    return {table.caption: table for table in ring_tables(view)}


def list_texts(table: Table) -> list[list[str]]:
    return [[cell.text for cell in row] for row in table.rows]


INSIDE = "inside a node (1x1, 1x4, 1x9), start: none"
OVERSUBSCRIBED = "inside a node (1x16), start: none; more ranks than the 9 cores of a node: waiting is measured"
BETWEEN = "between nodes (2x2), start: none"


def test_reordered_ranks_are_reported(tmp_path: Path) -> None:
    view = evaluate(torus.make_store(tmp_path / "torus", ((1, 4),), launches=3, samples=50, reorder=True))
    table = make_tables(view)["ring 4 B, reorder=yes: ranks by place, row by row"]
    assert [", ".join(row) for row in list_texts(table)] == WORDING


def test_each_question_has_a_table_and_oversubscription_is_in_the_headings(view: CampaignView) -> None:
    assert list(make_tables(view)) == [
        *(
            f"ring 4 B{grouping}: {where}"
            for grouping in (
                ", grid by ring",
                ", grid by direction",
                " by edge rank and grid",
                " by direction and grid",
            )
            for where in (INSIDE, OVERSUBSCRIBED, BETWEEN)
        ),
        WORDING,
        WORDING,
    ]


def test_grids_are_columns_with_min_median_and_mean_of_each_ring(view: CampaignView) -> None:
    table, rows = make_tables(view)[f"ring 4 B, grid by ring: {INSIDE}"], view.rings
    heads = [f"{grid} {figure}" for grid in ("1x1", "2x2", "3x3") for figure in ("min", "median", "mean")]
    assert table.columns == ["direction", "ring", "candidate", *heads]
    assert [row[:3] for row in list_texts(table)] == [
        [way, str(ring), name] for way in ("right", "down") for ring in range(3) for name in ("alpha", "beta")
    ]
    last = next(row for row in list_texts(table) if row[:3] == ["right", "2", "beta"])
    ring = rows.filter(candidate="beta", placement="1x9", direction="right", edge=6).row(0, named=True)
    times = [format_time(ring[name]) for name in ("min_ns", "typical_ns", "mean_ns")]
    assert last[3:] == ["–", "–", "–", "–", "–", "–", *times]
    assert len(set(times)) == 3


def test_grids_are_columns_with_min_median_and_mean_of_each_direction(view: CampaignView) -> None:
    table = make_tables(view)[f"ring 4 B, grid by direction: {INSIDE}"]
    assert [row[:2] for row in list_texts(table)] == [
        [way, name] for way in ("right", "down") for name in ("alpha", "beta")
    ]
    every = view.ring_directions.filter(candidate="alpha", placement="1x4", direction="down").row(0, named=True)
    assert list_texts(table)[2][5:8] == [format_time(every[name]) for name in ("min_ns", "typical_ns", "mean_ns")]


def test_equal_grids_of_two_placements_are_separate_columns(tmp_path: Path) -> None:
    view = evaluate(torus.make_store(tmp_path / "torus", ((2, 2), (4, 1)), launches=2, samples=50))
    table = make_tables(view)["ring 4 B, grid by direction: between nodes (2x2, 4x1), start: none"]
    assert table.columns[2::3] == ["2x2 (2x2) min", "2x2 (4x1) min"]
    assert all("–" not in row for row in list_texts(table))


def test_a_row_has_a_ring_and_its_uncertainty(view: CampaignView) -> None:
    table = make_tables(view)[f"ring 4 B by edge rank and grid: {INSIDE}"]
    assert table.columns == [
        *("candidate", "grid", "hops", "direction", "ring of rank", "median", "its interval"),
        *("min", "mean", "p10", "p90", "p99", "max", "launches", "samples", "discarded"),
    ]
    rows = [row for row in list_texts(table) if row[:5] == ["alpha", "3x3", "3", "down", "2"]]
    assert len(rows) == 1
    assert rows[0][5].startswith("1.3")
    assert rows[0][6].endswith("1.32 µs")
    assert rows[0][-3:] == ["6", "2,400", "0"]
    assert len(table.rows) == 2 * 2 * (1 + 2 + 3)


def test_all_rings_of_a_direction_are_adjacent(view: CampaignView) -> None:
    table = make_tables(view)[f"ring 4 B by direction and grid: {INSIDE}"]
    assert [row[:4] for row in list_texts(table)] == [
        [name, grid, hops, way]
        for grid, hops in (("1x1", "1"), ("2x2", "2"), ("3x3", "3"))
        for way in ("right", "down")
        for name in ("alpha", "beta")
    ]
    assert [row[-2] for row in list_texts(table)][::4] == ["2,400", "4,800", "7,200"]


def test_the_cost_of_a_hop_has_its_interval_and_its_basis(view: CampaignView) -> None:
    rows = list_texts(make_tables(view)["ring 4 B: what one more hop costs"])
    assert [", ".join([*row[:3], *row[5:7]]) for row in rows] == WORDING
    inside = [row for row in rows if row[2] == "inside a node"]
    assert all(row[3].startswith(("39", "40", "41") if row[0] == "alpha" else ("7", "8")) for row in inside)


def test_shapes_name_modes_and_standard_deviations(view: CampaignView) -> None:
    rows = list_texts(make_tables(view)["ring 4 B: shapes of the distributions, of the slowest ring of each round"])
    by_case = {(row[0], row[1]): row[2:] for row in rows}
    assert by_case["alpha", "1x1"][0] == "one"
    assert by_case["beta", "1x4, direction=down"][0].startswith("second at ")
    assert by_case["beta", "1x4, direction=down"][0] == WORDING
    assert all(row[1].endswith(("ns", "µs")) for row in by_case.values())


@pytest.mark.thorough
def test_markdown_and_page_have_the_tables(view: CampaignView, tmp_path: Path) -> None:
    write_html(tmp_path / "report.html", view)
    page = (tmp_path / "report.html").read_text()
    assert find_lines(page, '<h2 id="rings-title">Rings, and what') == WORDING
    captions, text, paper = list(make_tables(view)), markdown(view), latex(view)
    for caption in captions:
        assert f"**{caption}**" in text
        assert rf"\caption{{{caption}}}" in paper
    assert pages.list_captions(page, "rings") == captions


@pytest.mark.thorough
def test_csv_has_a_row_for_each_ring(campaign_store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    show(folder=campaign_store.folder, table="rings", format_="csv")
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(rows) == 2 * 2 * (1 + 2 + 3 + 4 + 2)
    four = [row for row in rows if (row["candidate"], row["placement"], row["direction"]) == ("beta", "1x16", "down")]
    assert [row["edge"] for row in four] == ["0", "1", "2", "3"]
    assert {row["oversubscribed"] for row in four} == {"true"}
    assert sorted({row["hop_cost_from"] for row in four}) == WORDING
    assert 750 < float(four[0]["hop_cost_ns"]) < 850
    assert "second at 2.0×" in four[0]["modes"]


def test_the_terminal_shows_the_tables(
    campaign_store: Store, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console, "width", 200)
    wide = f"ring 4 B by direction and grid: {OVERSUBSCRIBED}"
    show(folder=campaign_store.folder, table="rings")
    text = capsys.readouterr().out
    assert find_lines(text, "ring 4 B, grid") == WORDING
    assert wide not in text
    assert "add -v" in text
    show(folder=campaign_store.folder, table="rings", verbose=True)
    text = capsys.readouterr().out
    assert wide in text
    assert find_lines(text, "ring 4 B: what") == WORDING


@pytest.mark.written
def test_without_rings_the_preset_is_named(tmp_path: Path) -> None:
    store = campaigns.make_campaign(tmp_path / "made", launches=1)
    with refuses():
        show(folder=store.folder, table="rings")
    assert ring_frame(evaluations.make_evaluation()).is_empty()
