from __future__ import annotations

import dataclasses
import math
import sys
from pathlib import Path
from typing import Literal

import altair as alt
import msgspec
import polars as pl
import pytest
import vl_convert
from fakes import evaluations, imports, recorded_programs, scales, tool_outputs
from wording import WORDING

from rankbench import plots, units
from rankbench.analysis.evaluation import evaluate
from rankbench.analysis.questions.measures import Measure
from rankbench.analysis.questions.view import CALL, SCOPES, CampaignView
from rankbench.plots import axes, captions, palette, winner_cells
from rankbench.plots import chart as plots_chart
from rankbench.plots import forms as plots_forms
from rankbench.plots.chart import Chart
from rankbench.plots.kinds import bars, curves, distribution, ranks, ratios, winner_map

Kind = Literal["time", "bandwidth", "rate", "memory"]


@pytest.fixture
def view() -> CampaignView:
    return evaluations.make_evaluation()


def list_parts(view: CampaignView, scope: str) -> dict[str, CampaignView]:
    return dict(view.parts(scope))


def require(chart: Chart | None) -> Chart:
    assert chart is not None
    return chart


def test_every_plot_is_a_complete_unit() -> None:
    for name, plot in units.modules(plots.kinds).items():
        assert plot.TITLE, name
        assert plot.HELP, name
        assert plot.SCOPE in {*SCOPES, CALL}, name


def test_a_new_plot_is_found_from_its_file(view: CampaignView, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "added.py").write_text(
        "from rankbench.plots.chart import Chart\n"
        "TITLE, HELP, SCOPE = 'Added', 'A plot of a test.', 'placement'\n"
        "def chart(view):\n"
        "    return Chart({}, 'added', '', {'rows': [{'cases': len(view.cases)}]})\n"
    )
    monkeypatch.setattr(plots.kinds, "__path__", [*plots.kinds.__path__, str(tmp_path)])
    added = [(key, chart.datasets) for plot, key, chart in plots.charts(view) if plot == "added"]
    del sys.modules[f"{plots.kinds.__name__}.added"]
    assert added == [("socket", {"rows": [{"cases": 9}]})]


@pytest.mark.thorough
def test_every_chart_compiles_to_vega(tmp_path: Path) -> None:
    drawn_plots = set()
    scaled = evaluate(scales.make_store(tmp_path / "made", lambda *_: 1000.0, nodes=(1, 2), ranks=(1,), launches=2))
    theirs = evaluate(
        imports.import_campaign(tmp_path / "theirs", {"alpha": [imports.format_latencies((8, 1.5), (16, 2.5))] * 2})
    )
    texts = [(tool_outputs.SAMPLES / path).read_text() for path in ("mpiperf/Bcast.txt", "skampi/skampi_coll.txt")]
    bcasts = {"A": [texts[0]], "B": [texts[1].partition('# begin result "Bcast_using_Send_Recv')[0]]}
    tools = evaluate(imports.import_campaign(tmp_path / "tools", bcasts))
    usual = evaluations.make_evaluation(("socket", "nodes"), starts=("none",), pairs=True)
    every = (usual, scaled, theirs, tools, recorded_programs.make_recorded(tmp_path / "recorded"))
    for plot, _, chart in (chart for evaluation in every for chart in plots.charts(evaluation)):
        assert vl_convert.vegalite_to_vega(chart.spec(plots_forms.make_theme("#000", "#000", "#000")))["marks"]
        drawn_plots.add(plot)
    assert drawn_plots == set(units.modules(plots.kinds))


def test_a_candidate_has_the_same_colour_in_every_plot(view: CampaignView) -> None:
    for plot, _, chart in plots.charts(view):
        scales = [
            scale
            for scale in find_objects(chart.form, "scale")
            if list(scale.get("domain", []))[:2] == ["alpha", "beta"]
        ]
        coloured = [scale["range"][:2] for scale in scales if str(scale["range"][0]).startswith("#")]
        assert coloured, plot
        assert all(colours == list(palette.paint(view).colours) for colours in coloured), plot


def find_objects(tree: object, key: str) -> list[plots_chart.Row]:
    """Return every object under a key, at any depth."""
    if isinstance(tree, list):
        return [hit for item in tree for hit in find_objects(item, key)]
    if not isinstance(tree, dict):
        return []
    here = [tree[key]] if isinstance(tree.get(key), dict) else []
    return here + [hit for item in tree.values() for hit in find_objects(item, key)]


def test_cases_share_one_form(view: CampaignView) -> None:
    forms = [require(distribution.chart(part)).form for part in list_parts(view, distribution.SCOPE).values()]
    assert len(forms) == 9
    assert all(form == forms[0] for form in forms)


def test_plots_of_cases_are_drawn_only_for_the_named_cases(view: CampaignView) -> None:
    key = view.cases[0].key
    keys = {key for plot, key, _ in plots.charts(view, {key}) if plot == "distribution"}
    assert keys == {key}


def test_placements_are_drawn_separately() -> None:
    two = evaluations.make_evaluation(("socket", "spread"))
    assert list(list_parts(two, "placement")) == ["socket", "spread"]
    assert "(spread)" in require(winner_map.chart(list_parts(two, "placement")["spread"])).subtitle


def test_a_title_names_ranks_start_launches_and_interval(view: CampaignView) -> None:
    line = list_parts(view, "line")["allreduce.blocking.float.socket.window"]
    assert captions.describe_conditions(line) == WORDING


# --- winner map -------------------------------------------------------------------------------------------------------


def read_cell(view: CampaignView, case: str) -> tuple[str, list[str], set[str], set[float]]:
    """Return what a cell says, its words, its fills and their strengths."""
    sets = require(winner_map.chart(view)).datasets
    cell = next(cell for cell in sets["cells"] if cell["case"] == case)
    fills = [row for row in sets["fills"] if row["part"].startswith(cell["key"])]
    words = [
        row["text"] for row in sets["words"] if cell["x"] < row["x"] < cell["x2"] and cell["y"] < row["y"] < cell["y2"]
    ]
    return cell["said"], words, {row["fill"] for row in fills}, {row["strength"] for row in fills}


def test_a_winner_is_shown_by_letter_value_and_colour(view: CampaignView) -> None:
    assert read_cell(view, "allreduce 8 B") == ("allreduce 8 B: alpha 2.00×", ["A", "2.00×"], {"alpha"}, {1})


def test_candidates_that_cannot_be_distinguished_are_a_grey_tilde(view: CampaignView) -> None:
    assert read_cell(view, "allreduce 64 KiB") == (WORDING, ["~"], {"~"}, {1})


def test_the_legend_explains_the_signs_that_cells_have(view: CampaignView) -> None:
    verdicts = winner_cells.list_shown(view)
    assert list(winner_cells.explain_signs(verdicts)) == ["=", "~"]
    levels = {"near": ["alpha"], "far": ["beta"]}
    near_and_far, without_value = (
        msgspec.structs.replace(verdicts[0], **change)
        for change in ({"outcome": "depends", "winners_by_level": levels}, {"outcome": "undecided", "winners": []})
    )
    assert list(winner_cells.explain_signs([*verdicts, near_and_far])) == ["=", "~", "A/B"]
    assert list(winner_cells.explain_signs([*verdicts, without_value])) == ["=", "~", "!"]


def test_a_candidate_without_rivals_wins_without_a_margin_and_a_colour(view: CampaignView) -> None:
    text, words, fills, _ = read_cell(view, "allreduce nonblocking 64 KiB")
    assert (text, words, fills) == (WORDING, ["only A"], set())


def test_an_operation_without_sizes_has_its_own_column(view: CampaignView) -> None:
    cells = {cell["case"]: cell for cell in require(winner_map.chart(view)).datasets["cells"]}
    assert cells["barrier"]["size"] == "–"
    assert cells["barrier"]["x"] > max(cell["x"] for name, cell in cells.items() if name != "barrier")


# --- curves and ratios ------------------------------------------------------------------------------------------------


def test_a_curve_has_the_typical_value_and_its_interval(view: CampaignView) -> None:
    points = require(curves.chart(list_parts(view, "line")["pingpong.blocking.byte.socket.none"])).datasets["points"]
    beta = next(point for point in points if point["candidate"] == "beta")
    assert (beta["position"], beta["value"], beta["low"], beta["high"]) == (8, 1004, 983.92, 1024.1)


def test_bandwidth_is_the_bytes_of_a_window_over_its_time(view: CampaignView) -> None:
    chart = require(curves.chart(list_parts(view, "line")["bandwidth.nonblocking.byte.socket.none"]))
    point = next(
        point for point in chart.datasets["points"] if point["candidate"] == "alpha" and point["size"] == "8 B"
    )
    assert point["value"] == pytest.approx(64 * 8 / 502e-9 / 1e6, rel=1e-4)
    assert point["low"] < point["value"] < point["high"]
    assert chart.title == WORDING


def test_a_single_size_is_drawn_as_bars_from_zero(view: CampaignView) -> None:
    line = list_parts(view, "line")["barrier.blocking.byte.socket.window"]
    assert curves.chart(line) is None
    chart = require(bars.chart(line))
    assert chart.title == "barrier: time per call"
    assert [(row["candidate"], row["value"], row["low"], row["high"]) for row in chart.datasets["points"]] == [
        ("alpha", 500, 490, 510),
        ("beta", 1000, 980, 1020),
    ]
    assert chart.form["layer"][0]["encoding"]["x"]["scale"]["domainMin"] == 0
    svg = vl_convert.vegalite_to_svg(chart.spec(plots_forms.make_theme("#000", "#000", "#000")))
    assert all(f">{words}<" in svg for words in ("500 ns", "1.00 µs"))
    assert bars.chart(list_parts(view, "line")["allreduce.blocking.float.socket.window"]) is None


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("time", [9.994, 131.2, 999.6, 4720, 1.05e6, 3.2e9]),
        ("bandwidth", [48.25, 948.3, 12_300]),
        ("rate", [812, 48_300, 3.52e6, 1.5e9]),
        ("memory", [512, 1.25 * 2**20, 3 * 2**30, 96 * 1024]),
    ],
)
def test_charts_format_values_as_tables_do(
    kind: Literal["time", "bandwidth", "rate", "memory"], values: list[float]
) -> None:
    measure = Measure(kind, kind, moved=1 / 1e9)
    points = pl.DataFrame({"value": [float(value) for value in values]})
    chart = (
        alt.Chart(points)
        .mark_text()
        .transform_calculate(spelt=plots_forms.spelt(kind, "value"))
        .encode(text="spelt:N", y="value:O")
    )
    svg = vl_convert.vegalite_to_svg(chart.to_dict())
    for value in values:
        assert f">{measure.format(1 / value if measure.per_second else value)}<" in svg


def test_a_ratio_of_a_single_block_has_no_interval(view: CampaignView) -> None:
    alone = msgspec.structs.replace(evaluations.make_comparison(view.cases[0], "beta"), blocks=1, low=0, high=math.inf)
    row = ratios.make_row(view.cases[0], alone, [8])
    assert (row["candidate"], row["value"], row["low"], row["high"]) == ("beta", 2, 2, 2)
    assert row["interval"] == "unknown"


# --- distribution and launches ----------------------------------------------------------------------------------------


def decode_shares(row: plots_chart.Row) -> list[float]:
    """Return the share of each bin of a density as encoded in letters."""
    heights = [distribution.LETTERS.index(letter) / (len(distribution.LETTERS) - 1) for letter in row["letters"]]
    return [float(row["peak"] * height**2) for height in heights]


def test_a_distribution_has_shares_and_leaves_out_late_starts(view: CampaignView) -> None:
    key = view.cases[0].key
    chart = require(distribution.chart(list_parts(view, "case")[key]))
    alpha, beta = chart.datasets["hills"]
    assert (alpha["candidate"], beta["candidate"]) == ("alpha", "beta")
    assert len(alpha["letters"]) <= distribution.BINS
    for hill in (alpha, beta):
        assert sum(decode_shares(hill)) == pytest.approx(1, abs=0.03)
        assert max(decode_shares(hill)) == pytest.approx(hill["peak"])
    assert alpha["low"] == pytest.approx(502 * 0.9, rel=1e-3)
    assert alpha["letters"][0] != "0"
    assert chart.title == WORDING


def test_densities_are_drawn_at_the_samples(view: CampaignView) -> None:
    """The drawn bins of beta, which takes twice as long, begin at twice the time."""
    chart = require(distribution.chart(list_parts(view, "case")[view.cases[0].key]))
    row = chart.datasets["hills"][1]
    first = next(at for at, share in enumerate(decode_shares(row)) if share)
    step = (row["high"] / row["low"]) ** (1 / distribution.BINS)
    assert row["low"] * step**first == pytest.approx(1004 * 0.9, rel=0.02)
    svg = vl_convert.vegalite_to_svg(chart.spec(plots_forms.make_theme("#000", "#000", "#000")))
    assert svg.count("share of samples") == sum(
        bool(share) for dataset in chart.datasets["hills"] for share in decode_shares(dataset)
    )


def test_samples_beyond_the_axis_are_reported_in_words(view: CampaignView) -> None:
    typical = require(distribution.chart(list_parts(view, "case")[view.cases[0].key])).datasets["typical"]
    assert [row["beyond"] for row in typical] == ["up to 25.1 µs →", "up to 50.2 µs →"]


def test_every_launch_has_a_median(view: CampaignView) -> None:
    rows = require(distribution.chart(list_parts(view, "case")[view.cases[0].key])).datasets["launches"]
    alpha = [(row["launch"], row["figure_ns"]) for row in rows if row["candidate"] == "alpha"]
    assert alpha == [(launch, pytest.approx(502 * 1.0, rel=1e-4)) for launch in (0, 3, 6, 9)]


# --- labels -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "letters"),
    [
        (["mpich", "openmpi"], ["M", "O"]),
        (["mpich", "mvapich"], ["MP", "MV"]),
        (["openmpi-4.1.8", "openmpi-5.0.11"], ["A", "B"]),
    ],
)
def test_initials_distinguish_candidates(names: list[str], letters: list[str]) -> None:
    assert list(captions.make_initials(names).values()) == letters


def test_an_empty_message_is_one_step_left_of_the_smallest_size() -> None:
    assert [axes.size_position(size, [0, 8, 16]) for size in (0, 8, 16)] == [4, 8, 16]


# --- starts and ranks -------------------------------------------------------------------------------------------------


def test_starts_are_drawn_once_per_case_with_a_row_for_each() -> None:
    view = evaluations.make_evaluation(starts=("none",))
    drawn_cases = {key: chart for plot, key, chart in plots.charts(view) if plot == "starts"}
    assert list(drawn_cases) == [f"allreduce.blocking.{size}.float.socket.window" for size in (8, 65536)]
    rows = drawn_cases["allreduce.blocking.8.float.socket.window"].datasets["points"]
    assert {(row["start"], row["candidate"], row["value"]) for row in rows} == {
        ("window", "alpha", 502.0),
        ("window", "beta", 1004.0),
        ("none", "alpha", 200.8),
        ("none", "beta", 401.6),
    }


def test_ranks_are_drawn_side_by_side_from_begin_to_end(view: CampaignView) -> None:
    part = list_parts(view, "case")["barrier.blocking.0.byte.socket.window"]
    rows = require(ranks.chart(part)).datasets["ranks"]
    assert [(row["candidate"], row["rank"], round(row["place"], 2)) for row in rows] == [
        ("alpha", 0, -0.15),
        ("alpha", 1, 0.85),
        ("beta", 0, 0.15),
        ("beta", 1, 1.15),
    ]
    assert (rows[1]["began_ns"], rows[1]["median_ns"]) == (5.0, 250.0)


def test_without_samples_of_ranks_the_share_of_last_ranks_is_drawn(view: CampaignView) -> None:
    evaluation = dataclasses.replace(view, rank_samples=view.rank_samples.clear())
    part = list_parts(evaluation, "case")["barrier.blocking.0.byte.socket.window"]
    chart = require(ranks.chart(part))
    assert chart.title == WORDING
    assert [row["share"] for row in chart.datasets["ranks"]] == [0.7449, 0.2551] * 2
    assert chart.datasets["even"] == [{"share": 0.5}]


def test_operations_timed_by_one_rank_have_no_plot_of_ranks(view: CampaignView) -> None:
    assert ranks.chart(list_parts(view, "case")["pingpong.blocking.8.byte.socket.none"]) is None


def test_another_estimator_is_named_in_every_title(view: CampaignView) -> None:
    evaluation = view
    plan = msgspec.structs.replace(evaluation.campaign.plan, estimator="p90")
    other = dataclasses.replace(evaluation, campaign=msgspec.structs.replace(evaluation.campaign, plan=plan))
    line = list_parts(other, "line")["allreduce.blocking.float.socket.window"]
    assert captions.describe_conditions(line) == WORDING
