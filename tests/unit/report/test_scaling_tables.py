"""Tables and plots of scaling, from campaigns with known times and failures."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import polars as pl
import pytest
from fakes import pages, scales
from typer.testing import CliRunner
from wording import WORDING, find_lines

from rankbench import plots, store
from rankbench.analysis.evaluation import evaluate
from rankbench.analysis.questions.view import CampaignView
from rankbench.cli import application
from rankbench.model import Case, CaseStatus, Placement
from rankbench.plots.chart import Row
from rankbench.plots.kinds import node_bandwidth, placements, scaling, scaling_ranks
from rankbench.report import latex, markdown, packing, write_html
from rankbench.report.tables.placements import tables as placement_tables
from rankbench.report.tables.scaling import frame as scaling_frame
from rankbench.report.tables.scaling import sentences as scaling_sentences
from rankbench.report.tables.scaling import tables as scaling_tables

NODES = (1, 2, 4, 8)
SCALE = "alltoall.blocking.64.byte..window"


def make_outcome(candidate: str, case: Case, place: Placement) -> float | CaseStatus:
    """Beta takes twice alpha's time, crashes in alltoall from 4 nodes on, and hangs on 2 nodes with 2 ranks."""
    if candidate == "beta" and case.operation == "alltoall":
        if place.nodes >= 4:
            return CaseStatus.CRASHED
        if place.name == "2x2":
            return CaseStatus.HUNG
    return 1000.0 * place.ranks * (2 if candidate == "beta" else 1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("results") / "made"
    scales.make_store(
        path, make_outcome, nodes=NODES, operations=("barrier", "alltoall"), sizes=(8, 64, 512), cores=1, spread=0
    )
    return path


@pytest.fixture(scope="module")
def view(folder: Path) -> CampaignView:
    return evaluate(store.open(folder))


def find_part(view: CampaignView, key: str) -> CampaignView:
    return dict(view.parts("scale"))[key]


def test_placements_are_rows_for_the_middle_size(view: CampaignView) -> None:
    barrier, alltoall = scaling_tables(view)
    assert barrier.caption == WORDING
    assert alltoall.caption == WORDING
    assert alltoall.columns == ["nodes x ranks", "ranks", "alpha", "beta", "fastest (×: next slower)"]
    assert [[cell.text for cell in row] for row in alltoall.rows] == [
        ["1x1", "1", "1.00 µs", "2.00 µs", "alpha 2.00×"],
        ["2x1", "2", "2.00 µs", "4.00 µs", "alpha 2.00×"],
        ["4x1", "4", "4.00 µs", "crashed", "only alpha"],
        ["8x1", "8", "8.00 µs", "crashed", "only alpha"],
        ["1x2, more than cores", "2", "2.00 µs", "4.00 µs", "alpha 2.00×"],
        ["2x2, more than cores", "4", "4.00 µs", "hung", "only alpha"],
        ["4x2, more than cores", "8", "8.00 µs", "crashed", "only alpha"],
        ["8x2, more than cores", "16", "16.0 µs", "crashed", "only alpha"],
    ]
    assert alltoall.rows[2][3].detail == WORDING
    campaign_view = view.showing([case for case in view.cases if case.size_bytes in {8, 512}])
    assert [table.caption.partition(":")[0] for table in scaling_tables(campaign_view)] == [
        "alltoall 8 B",
        "alltoall 512 B",
    ]


def test_csv_has_every_value(view: CampaignView) -> None:
    frame = scaling_frame(view).filter(pl.col("size_bytes") == 64, pl.col("candidate") == "alpha")
    columns = ("nodes", "ranks_per_node", "oversubscribed", "bandwidth_per_node_MB_per_s", "fastest")
    assert frame.select(columns).rows()[-1] == (8, 2, True, pytest.approx(64 * 16 * 15 / 8 / 16.0, rel=1e-3), True)
    failed = scaling_frame(view).filter(pl.col("what_happened") != "")
    assert set(failed["what_happened"]) == {"crashed in 6 of 6 launches", "hung in 6 of 6 launches"}
    assert failed["bandwidth_per_node_MB_per_s"].null_count() == failed.height == 15


def test_page_markdown_and_latex_have_the_tables(view: CampaignView, tmp_path: Path) -> None:
    assert find_lines(markdown(view), "**alltoall 64 B: time") == WORDING
    assert find_lines(latex(view), "\\caption{alltoall 64 B: time") == WORDING
    write_html(tmp_path / "report.html", view)
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    section = html[html.index('<section id="scaling"') :].partition("</section>")[0]
    assert section.count("<details") == 2
    assert pages.list_captions(html, "scaling")[1] == WORDING
    for plot in ("scaling", "node_bandwidth", "scaling_ranks"):
        assert f'<figure data-plot="{plot}" data-key="{SCALE}">' in section
    assert re.search(rf'<option value="{re.escape(SCALE)}" data-rests="[\d ]+" selected>64 B</option>', section)
    assert '<a href="#scaling">Scaling</a>' in html


def test_a_placement_with_another_start_is_named_below_the_tables(view: CampaignView) -> None:
    assert scaling_sentences(view) == []
    omitted = view.cases[-1].placement
    scaled = {
        line: {place: case for place, case in cases.items() if case.placement != omitted}
        for line, cases in view.scaled.items()
    }
    others = SimpleNamespace(scaled=scaled, cases=view.cases)
    assert scaling_sentences(cast("CampaignView", others)) == WORDING


def test_a_scaling_campaign_has_no_table_of_placements(view: CampaignView) -> None:
    assert placement_tables(view) == []
    assert {placements.chart(campaign_view) for _, campaign_view in view.parts("places")} == {None}


def run_show(folder: Path, *arguments: str) -> str:
    return CliRunner().invoke(application(), ["show", str(folder), *arguments]).output


@pytest.mark.thorough
def test_show_prints_one_size_or_the_requested_ones(folder: Path, tmp_path: Path) -> None:
    printed = run_show(folder, "--table", "scaling", "--operations", "alltoall")
    assert printed.count("by nodes and ranks on each") == 1
    assert find_lines(printed, "alltoall 64 B: time") == WORDING
    printed = run_show(folder, "--table", "scaling", "--sizes", "8,512")
    assert "alltoall 8 B: " in printed
    assert "alltoall 512 B: " in printed
    rows = run_show(folder, "--table", "scaling", "--sizes", "8", "--format", "csv").splitlines()
    assert rows[0].startswith("operation,form,size_bytes,nodes,ranks_per_node,ranks,oversubscribed,case,candidate,")
    assert len(rows) == 1 + 16


@pytest.mark.parametrize(
    "arguments", [["--sizes", "16"], ["--sizes", "x"], ["--operations", "barrier", "--sizes", "8"]]
)
def test_an_unknown_size_is_refused_in_one_line(folder: Path, arguments: list[str]) -> None:
    result = CliRunner().invoke(application(), ["show", str(folder), *arguments])
    assert str(result.exception) == WORDING


@pytest.mark.written
def test_a_campaign_with_one_number_of_ranks_does_not_scale(tmp_path: Path) -> None:
    scales.make_store(tmp_path / "made", make_outcome, nodes=(2,), ranks=(1,), launches=1)
    result = CliRunner().invoke(application(), ["show", str(tmp_path / "made"), "--table", "scaling"])
    assert str(result.exception) == WORDING


# --- plots ------------------------------------------------------------------------------------------------------------


def list_places(rows: list[Row], candidate: str) -> list[tuple[float, float]]:
    return [(row["x"], row["value"]) for row in rows if row["candidate"] == candidate]


def test_each_number_of_ranks_per_node_has_a_panel(view: CampaignView) -> None:
    chart = scaling.chart(find_part(view, SCALE))
    assert chart is not None
    assert (chart.title, chart.subtitle) == (WORDING, WORDING)
    assert [head["head"] for head in chart.datasets["heads"]] == [
        "1 rank per node",
        "2 ranks per node\nmore than cores",
    ]
    points = chart.datasets["points"]
    assert [x for x, _ in list_places(points, "alpha")] == [0.6, 4.8, 1.6, 5.8, 2.6, 6.8, 3.6, 7.8]
    assert [x for x, _ in list_places(points, "beta")] == [0.6, 4.8, 1.6]
    assert list(chart.datasets) == ["points", "heads", "foot"]


def test_a_failure_is_marked_at_the_bottom(view: CampaignView) -> None:
    chart = scaling.chart(find_part(view, SCALE))
    assert chart is not None
    foot = chart.datasets["foot"]
    assert [(row["place"], row["fate"], row["words"]) for row in sorted(foot, key=lambda row: row["x"])] == WORDING
    assert max(row["value"] for row in foot) < min(point["low"] for point in chart.datasets["points"])


def make_failing() -> Callable[[str, Case, Placement], float | CaseStatus]:
    """Return the truth that beta crashes in its first launch on 2 nodes, and always on more."""
    launches: Counter[tuple[str, str]] = Counter()

    def make_outcome_of_launch(candidate: str, _case: Case, place: Placement) -> float | CaseStatus:
        launches[candidate, place.name] += 1
        crash = place.nodes > 2 or (place.nodes == 2 and launches[candidate, place.name] == 1)
        return CaseStatus.CRASHED if candidate == "beta" and crash else 1000.0

    return make_outcome_of_launch


def test_failures_of_some_and_of_all_launches_are_in_one_report(tmp_path: Path) -> None:
    campaign_store = scales.make_store(tmp_path / "made", make_failing(), nodes=NODES, ranks=(1,), launches=3)
    evaluation = evaluate(campaign_store)
    chart = scaling.chart(next(view for _, view in evaluation.parts("scale")))
    assert chart is not None
    assert [(row["place"], row["fate"]) for row in chart.datasets["foot"]] == WORDING
    assert [row["words"] for row in chart.datasets["foot"]] == ["crashed from 4 nodes on", "", ""]
    (table,) = scaling_tables(evaluation)
    assert [row[3].text.split(", ")[1:] for row in table.rows[:2]] == WORDING
    assert [row[3].text for row in table.rows[2:]] == ["crashed", "crashed"]
    for plot, _, plot_chart in plots.charts(evaluation):
        for name, rows in plot_chart.datasets.items():
            assert len({tuple(sorted(row)) for row in rows}) <= 1, (plot, name)
    write_html(tmp_path / "report.html", evaluation)
    charts = pages.read_part((tmp_path / "report.html").read_text(encoding="utf-8"), "scaling")
    count, columns = next(iter(charts.values()))[3]["foot"]
    assert (count, columns["place"]) == (3, ["2x1", "4x1", "8x1"])


def test_failures_of_some_launches_are_not_reported_as_of_all(tmp_path: Path) -> None:
    launches: Counter[tuple[str, str]] = Counter()

    def make_outcome_of_launch(candidate: str, _case: Case, place: Placement) -> float | CaseStatus:
        launches[candidate, place.name] += 1
        crash = place.nodes == 2 and launches[candidate, place.name] == 1
        return CaseStatus.CRASHED if candidate == "beta" and crash else 1000.0

    campaign_store = scales.make_store(tmp_path / "made", make_outcome_of_launch, nodes=NODES, ranks=(1,), launches=3)
    chart = scaling.chart(next(view for _, view in evaluate(campaign_store).parts("scale")))
    assert chart is not None
    assert [row["words"] for row in chart.datasets["foot"]] == ["crashed at times"]


def test_a_missing_value_is_packed_as_none() -> None:
    assert packing.columns([{"x": 1}, {"x": 2, "y": 3}]) == [2, {"x": [1, 2], "y": [None, 3]}]


def test_a_line_ends_where_a_candidate_failed(tmp_path: Path) -> None:
    def make_gap(candidate: str, _case: Case, place: Placement) -> float | CaseStatus:
        return CaseStatus.CRASHED if candidate == "beta" and place.nodes == 2 else 1000.0

    campaign_store = scales.make_store(tmp_path / "made", make_gap, nodes=NODES, ranks=(1,), launches=1)
    chart = scaling.chart(next(view for _, view in evaluate(campaign_store).parts("scale")))
    assert chart is not None
    parts = [row["part"] for row in chart.datasets["points"] if row["candidate"] == "beta"]
    assert parts == ["0 beta 0", "0 beta 1", "0 beta 1"]


def test_bandwidth_of_a_node_is_compared_with_the_fastest_on_two_nodes(view: CampaignView) -> None:
    chart = node_bandwidth.chart(find_part(view, SCALE))
    assert chart is not None
    assert chart.title == WORDING
    alpha = dict(list_places(chart.datasets["points"], "alpha"))
    assert alpha[3.6] == pytest.approx(64 * 8 * 7 / 8 / 8.0, rel=1e-3)
    lone = [row for row in chart.datasets["ideal"] if row["part"] == "0"]
    assert [(row["x"], row["value"]) for row in lone] == [(1.6, alpha[1.6]), (3.6, alpha[1.6])]
    assert node_bandwidth.chart(find_part(view, "barrier.blocking.0.byte..window")) is None


def test_each_candidate_has_a_panel_over_all_ranks(view: CampaignView) -> None:
    chart = scaling_ranks.chart(find_part(view, SCALE))
    assert chart is not None
    assert chart.title == WORDING
    assert [head["head"] for head in chart.datasets["heads"]] == ["alpha", "beta"]
    assert {row["series"] for row in chart.datasets["points"]} == {
        "1 rank per node",
        "2 ranks per node, more than cores",
    }
    assert scaling_ranks.fold_name("openmpi-5.0.11+clang", 15) == "openmpi-5.0.11\n+clang"
    assert scaling_ranks.fold_name("openmpi", 15) == "openmpi"
    assert scaling_ranks.make_labels([1, 2, 3, 4, 6, 8, 12]) == ["1", "2", "", "4", "", "8", ""]


def test_ranks_of_one_node_are_one_line(tmp_path: Path) -> None:
    campaign_store = scales.make_store(
        tmp_path / "made", make_outcome, nodes=(1,), ranks=(1, 2, 4), launches=1, cores=2
    )
    view = next(campaign_view for _, campaign_view in evaluate(campaign_store).parts("scale"))
    chart = scaling_ranks.chart(view)
    assert chart is not None
    assert [row["series"] for row in chart.datasets["points"] if row["candidate"] == "alpha"] == [
        "1 node",
        "1 node",
        WORDING,
    ]
    assert scaling.chart(view) is None
