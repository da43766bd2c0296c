"""The map of colours between all pairs of ranks, and plots of other quantities than plain times."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import altair as alt
import pytest
from fakes import hierarchy, kinds
from wording import WORDING

from rankbench.analysis.evaluation import evaluate
from rankbench.analysis.questions.places import Places
from rankbench.analysis.questions.view import CampaignView
from rankbench.plots.chart import Chart
from rankbench.plots.kinds import bars, curves, distribution, matrix, ratios, winner_map


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> CampaignView:
    return evaluate(kinds.make_store(tmp_path_factory.mktemp("results") / "kinds"))


def draw_charts(view: CampaignView, plot: ModuleType) -> dict[str, Chart]:
    """Return the charts of a plot by key."""
    all_charts = {key: plot.chart(part) for key, part in view.parts(plot.SCOPE)}
    return {key: chart for key, chart in all_charts.items() if chart}


def test_a_matrix_has_a_cell_for_each_pair_and_candidate(view: CampaignView) -> None:
    ((key, chart),) = draw_charts(view, matrix).items()
    assert key == "pingpong.blocking.8.byte.1x4.none"
    assert chart.title == WORDING
    cells = chart.datasets["cells"]
    assert len(cells) == 24
    slow = [(cell["candidate"], cell["pair"], cell["text"]) for cell in cells if cell["value"] > 5000]
    assert slow == [
        ("alpha", "from 0 to 3", "5.04 µs"),
        ("alpha", "from 3 to 0", "5.04 µs"),
        ("beta", "from 0 to 3", "10.1 µs"),
        ("beta", "from 3 to 0", "10.1 µs"),
    ]
    assert {cell["shade"] for cell in cells} == {0.0, 0.23, 0.77, 1.0}
    assert [word["text"] for word in chart.datasets["words"] if word["kind"] == "head"] == ["alpha", "beta"]
    assert [cell["pair"] for cell in cells if cell["odd"]] == ["from 0 to 3", "from 3 to 0"] * 2
    assert chart.subtitle == WORDING


# --- a machine of known hierarchy -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Chart:
    """Return the map of 2 hosts of 2 sockets of 4 cores."""
    slow = {(4, 6), (6, 4)}
    store = hierarchy.make_store(
        tmp_path_factory.mktemp("results") / "machine",
        lambda name, *pair: hierarchy.find_time_by_level(name, *pair) * (1.4 if pair in slow else 1),
        candidates=("alpha",),
    )
    (chart,) = draw_charts(evaluate(store), matrix).values()
    return chart


ORDER = [0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15]


def test_ranks_are_in_the_order_of_the_machine(machine: Chart) -> None:
    assert " ranks in " not in machine.subtitle
    cells = {cell["pair"]: cell for cell in machine.datasets["cells"]}
    assert len(cells) == 240
    assert [cells[f"from 3 to {rank}"]["x"] for rank in ORDER if rank != 3] == [*range(5), *range(6, 16)]
    downwards = [cells[f"from {rank} to 3"]["y"] for rank in ORDER if rank != 3]
    assert downwards == sorted(downwards)
    far = cells["from 0 to 15"]
    assert (far["seats"], far["share"], far["group"]) == (WORDING, "across hosts", "4 of 4")
    assert [pair for pair, cell in cells.items() if cell["odd"]] == ["from 4 to 6", "from 6 to 4"]


def test_hosts_sockets_and_caches_are_marked_and_divided_by_lines(machine: Chart) -> None:
    words = [word["text"] for word in machine.datasets["words"] if word["kind"] == "middle"]
    assert words == [*map(str, ORDER), "n1", "n2", *("socket 0", "socket 1") * 2, *["L2"] * 8]
    down = [word["text"] for word in machine.datasets["words"] if word["kind"] == "down"]
    assert down == ["n1", "n2", *("socket 0", "socket 1") * 2, *["L2"] * 8]
    lines = [(line["x"], line["width"]) for line in machine.datasets["lines"] if line["x"] == line["x2"]]
    assert sorted(lines) == [(2, 1), (4, 2), (6, 1), (8, 3), (10, 1), (12, 2), (14, 1)]
    assert len(machine.datasets["brackets"]) == 2 * (2 + 4 + 8)


def test_launches_with_different_placements_of_ranks_are_reported(tmp_path: Path) -> None:
    store = hierarchy.make_store(
        tmp_path / "made",
        wanted=hierarchy.make_cases(ranks=8),
        moved=lambda launch: {1: 1, 2: 4} if launch == 3 else {},
    )
    (chart,) = draw_charts(evaluate(store), matrix).values()
    assert chart.subtitle == WORDING
    assert chart.datasets["lines"] == chart.datasets["brackets"] == []
    first = {cell["candidate"]: cell for cell in chart.datasets["cells"] if cell["pair"] == "from 0 to 1"}
    cells = {name: (cell["x"], cell["seats"], cell["share"]) for name, cell in first.items()}
    assert cells == {
        "alpha": (1, WORDING, "not known"),
        "beta": (1, WORDING, "across sockets"),
    }


def test_a_latency_measured_one_way_stands_for_both(tmp_path: Path) -> None:
    """A bandwidth does not: the opposite direction was not measured."""
    one_way = [
        case
        for case in hierarchy.make_cases(("pingpong", "bandwidth"), 4)
        if hierarchy.find_ends(case) < hierarchy.find_ends(case)[::-1]
    ]
    drawn = draw_charts(
        evaluate(hierarchy.make_store(tmp_path / "made", wanted=one_way, candidates=("alpha",))), matrix
    )
    latency, bandwidth = ({(cell["x"], cell["pair"]) for cell in chart.datasets["cells"]} for chart in drawn.values())
    assert (len(latency), len(bandwidth)) == (12, 6)
    assert {pair for _, pair in latency} == {pair for _, pair in bandwidth}


def make_frame(ranks: int) -> matrix.Frame:
    return matrix.Frame(list(range(ranks)), Places({}, [], []), ["alpha", "beta"])


def test_many_ranks_leave_no_room_for_values() -> None:
    colour = alt.Color("value:Q")
    few, many = (matrix.make_form(make_frame(ranks), colour) for ranks in (12, 64))
    assert [len(form["layer"]) for form in (few, many)] == [10, 9]
    assert many["usermeta"]["least_width"] < 700
    assert many["height"] < 1500


@pytest.mark.parametrize(("ranks", "across", "down"), [(12, 12, 12), (64, 32, 32), (256, 32, 64)])
def test_labels_of_many_ranks_are_thinned(ranks: int, across: int, down: int) -> None:
    words = [word for word in matrix.list_words(make_frame(ranks)) if word["text"].isdigit()]
    assert sum(word["kind"] == "middle" for word in words) == 2 * across
    assert sum(word["kind"] == "right" for word in words) == 2 * down


def test_pairs_are_not_in_the_winner_map(view: CampaignView) -> None:
    (chart,) = draw_charts(view, winner_map).values()
    rows = list(dict.fromkeys(cell["line"] for cell in chart.datasets["cells"]))
    assert rows == [
        "put",
        "put, allocation=create,\nepoch=fence",
        "put, vector",
        "message-rate",
        "message-rate, window=1",
        "allreduce nonblocking,\nquantity=overlap",
        "allreduce, quantity=memory",
    ]
    assert chart.title == WORDING


def test_long_labels_make_higher_rows() -> None:
    assert winner_map.measure_labels(["put", "get"]) == (36, 140)
    assert winner_map.measure_labels(["a\nb\nc", "x" * 30]) == (49, 186)


def test_curves_are_labelled_with_the_measured_quantity(view: CampaignView) -> None:
    drawn = draw_charts(view, curves) | draw_charts(view, bars)
    titles = {key: chart.title for key, chart in drawn.items() if "pingpong" not in key}
    assert titles == WORDING
    point = drawn["message-rate.blocking.byte.1x4.window"].datasets["points"][0]
    assert point["value"] == pytest.approx(128 / (502e-9 * 1.0035), rel=1e-4)
    assert point["low"] < point["value"] < point["high"]


def test_ratios_and_distributions_of_memory_are_in_bytes(view: CampaignView) -> None:
    line, case = (
        "allreduce.blocking.float.1x4.window.quantity=memory",
        "allreduce.blocking.8.float.1x4.window.quantity=memory",
    )
    assert draw_charts(view, ratios)[line].title == WORDING
    assert draw_charts(view, distribution)[case].datasets["typical"][0]["value"] == pytest.approx(
        1.51 * 2**20, rel=0.01
    )
