"""Histograms: whole nanoseconds on the left, a log axis on the right, each sample in a bar, modes marked."""

from __future__ import annotations

import dataclasses
import itertools
from pathlib import Path

import msgspec
import numpy as np
import pytest
import vl_convert
from fakes import evaluations, torus
from wording import WORDING

from rankbench.analysis.evaluation import evaluate
from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.statistics.modes import find_launch_modes
from rankbench.language import render
from rankbench.plots import forms as plots_forms
from rankbench.plots.chart import Chart, Row
from rankbench.plots.kinds import histogram
from rankbench.plots.kinds.histogram import Axis, Panel


def make_panel(times: np.ndarray, name: str = "alpha") -> Panel:
    return Panel(name, name, times, find_launch_modes([times]))


def draw_heavy_tail(count: int = 20_000) -> np.ndarray:
    """Return samples with a sharp left edge at 130 ns and a tail that reaches far."""
    random = np.random.default_rng(1)
    return np.asarray(
        (130 + random.gamma(2, 3, count)) * np.where(random.random(count) < 0.1, random.random(count), 1) ** -0.7
    )


def draw_rows(times: np.ndarray) -> tuple[Axis, dict[str, list[Row]]]:
    histogram_panel = make_panel(times)
    axis = histogram.axis_of([histogram_panel])
    return axis, histogram.draw(histogram_panel, axis, 0)


def test_bins_are_whole_nanoseconds_up_to_the_dashed_line_and_grow_beyond_it() -> None:
    axis, rows = draw_rows(draw_heavy_tail())
    near, beyond = axis.edges()
    assert near[0] == 130
    assert np.unique(np.diff(near)).tolist() == [axis.width]
    assert axis.width == round(axis.width)
    assert beyond[0] == near[-1] == axis.split
    assert np.diff(np.log(beyond)) == pytest.approx(np.log(beyond[1] / beyond[0]))
    assert [row["x"] for row in rows["breaks"]] == [axis.main - histogram.GAP / 2]


@pytest.mark.parametrize("step_ns", [10.0, 15.3])
def test_bins_are_whole_steps_of_the_clock_around_its_readings(step_ns: float) -> None:
    """Samples on a clock with steps: no bin between two full ones is empty, as in a comb."""
    times = np.ceil(draw_heavy_tail() / step_ns) * step_ns
    axis = histogram.axis_of([make_panel(times)], step_ns)
    near, _ = axis.edges()
    assert axis.width / step_ns == pytest.approx(round(axis.width / step_ns))
    assert (near[0] - times.min()) / step_ns == pytest.approx(-0.5)
    assert np.histogram(times, near)[0][:10].all()


def test_means_of_several_calls_have_finer_bins_than_the_clock() -> None:
    """Samples of sixteen calls each on a clock of 20 ns differ by 1.25 ns."""
    times = np.ceil(draw_heavy_tail() * 16 / 20) * 20 / 16
    assert histogram.axis_of([make_panel(times)], 20.0).width < 20
    assert histogram.axis_of([make_panel(times[:200])], 20.0).width % 1.25 == 0
    few = np.random.default_rng(3).normal(500, 50, 100)
    assert histogram.find_step(make_panel(few), 20.0) == 1.0


def test_the_coarsest_clock_of_all_launches_counts() -> None:
    view = evaluations.make_evaluation()
    assert histogram.resolution(view) == 1.0
    facts = view.launches[0].facts
    assert facts
    coarse = msgspec.structs.replace(view.launches[0], facts=msgspec.structs.replace(facts, resolution_ns=10.0))
    evaluation = dataclasses.replace(view, launches=[*view.launches[1:], coarse])
    part = next(campaign_view for _, campaign_view in evaluation.parts("near"))
    assert histogram.resolution(part) == 10.0


def test_axes_have_titles_and_thousands_have_commas() -> None:
    chart = histogram.chart(next(view for _, view in evaluations.make_evaluation().parts("near")))
    assert chart
    axes = vl_convert.vegalite_to_vega(chart.spec(plots_forms.make_theme("#000", "#000", "#000")))["axes"]
    assert {axis["title"] for axis in axes} == {"time", "samples in a bin"}
    _, rows = draw_rows(draw_heavy_tail())
    assert "1,000" in {row["label"] for row in rows["levels"]}


def test_each_sample_is_in_a_bar_and_bars_do_not_overlap() -> None:
    times = draw_heavy_tail()
    _, rows = draw_rows(times)
    bars = sorted(rows["bars"], key=lambda bar: float(bar["x"]))
    assert sum(bar["count"] for bar in bars) == len(times)
    assert all(row["x2"] <= two["x"] + 1e-9 for row, two in itertools.pairwise(bars))
    assert min(bar["x"] for bar in bars) >= 0
    assert max(bar["x2"] for bar in bars) <= 1
    assert max(bar["top"] for bar in bars) == pytest.approx(histogram.BARS)


def test_heights_are_logarithms_so_that_single_samples_are_visible() -> None:
    _, rows = draw_rows(draw_heavy_tail())
    by_count = {bar["count"]: bar["top"] for bar in rows["bars"]}
    levels = {row["label"]: row["y"] for row in rows["levels"]}
    assert by_count[1] == levels["1"] > 0
    assert levels["100"] - levels["10"] == pytest.approx(levels["10"] - levels["1"], abs=2e-4)


def test_ticks_are_round_times_at_their_positions() -> None:
    axis, rows = draw_rows(draw_heavy_tail())
    labels = [row["label"] for row in rows["ticks"]]
    assert "1 µs" in labels
    assert {row["label"]: row["x"] for row in rows["ticks"]}["1 µs"] == pytest.approx(
        float(axis.place(np.array([1000.0]))[0]), abs=1e-4
    )
    places = [row["x"] for row in rows["ticks"]]
    assert places == sorted(places)


def test_several_modes_are_marked_and_reported() -> None:
    random = np.random.default_rng(3)
    times = 500 * random.lognormal(0, 0.03, 5000) * np.where(random.random(5000) < 0.03, 2, 1)
    axis, rows = draw_rows(times)
    main, second = rows["modes"]
    assert (main["label"], second["label"]) == ("1", "2")
    assert second["x"] == pytest.approx(float(axis.place(np.array([1000.0]))[0]), abs=0.02)
    assert rows["words"][1]["label"].startswith("main at ")
    assert "second at 2.0×" in rows["words"][1]["label"]
    assert draw_rows(random.normal(500, 20, 5000))[1]["modes"] == []


def test_rows_share_an_axis_unless_their_times_differ_severalfold() -> None:
    random = np.random.default_rng(4)
    fast, near, far = (make_panel(random.normal(middle, 10, 2000)) for middle in (500, 900, 5000))
    axis, two = histogram.choose_axes([fast, near])
    assert axis == two
    axis, two = histogram.choose_axes([fast, far])
    assert axis.split < 600 < two.low


@pytest.mark.parametrize(
    ("time_ns", "text"), [(200.0, "200 ns"), (1500.0, "1.5 µs"), (1e7, "10 ms"), (3e9, "3 s"), (0.5, "0.5 ns")]
)
def test_tick_labels_have_no_redundant_digits(time_ns: float, text: str) -> None:
    assert histogram.format_tick(time_ns) == text


@pytest.mark.parametrize(("least", "step"), [(0.3, 1), (1, 1), (1.2, 2), (17, 20), (60, 100), (999, 1000)])
def test_steps_are_round(least: float, step: float) -> None:
    assert histogram.nice_step(least) == step


# --- campaigns --------------------------------------------------------------------------------------------------------


def draw_charts(view: CampaignView) -> dict[str, Chart]:
    return {key: chart for key, part in view.parts("case") if (chart := histogram.chart(part))}


def test_cases_with_equal_numbers_of_rows_share_one_form() -> None:
    charts_by_case = draw_charts(evaluations.make_evaluation())
    forms = {len(chart.datasets["words"]): chart.form for chart in charts_by_case.values()}
    assert all(chart.form == forms[len(chart.datasets["words"])] for chart in charts_by_case.values())
    assert len(charts_by_case) == 9


def test_a_title_has_the_numbers_of_samples_and_bins() -> None:
    chart = draw_charts(evaluations.make_evaluation())["pingpong.blocking.8.byte.socket.none"]
    assert render(chart.title) == WORDING
    assert render(chart.title).endswith(" ns")
    assert chart.subtitle == WORDING


def test_rings_have_a_row_for_each_candidate_and_edge_rank(tmp_path: Path) -> None:
    store = torus.make_store(tmp_path / "made", ((1, 1), (1, 9)), launches=2)
    chart, three = draw_charts(evaluate(store)).values()
    assert [row["label"].split(":")[0] for row in chart.datasets["words"][::2]] == ["alpha", "beta"]
    assert [row["label"].split(":")[0] for row in three.datasets["words"][::2]] == [
        f"{name}, ring of rank {edge}" for name in ("alpha", "beta") for edge in (0, 3, 6)
    ]


def test_memory_has_no_histogram() -> None:
    assert all("memory" not in key for key in draw_charts(evaluations.make_evaluation()))
