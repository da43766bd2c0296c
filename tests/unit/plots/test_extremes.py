"""Means with the smallest and the largest launch, as users of foreign tools plot them."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
import vl_convert
from fakes import campaigns, imports, tool_outputs
from wording import WORDING

from rankbench import imports as importer
from rankbench.analysis.evaluation import evaluate
from rankbench.analysis.questions.view import CampaignView
from rankbench.imports import ImportRequest, Source
from rankbench.plots import forms
from rankbench.plots.chart import Chart
from rankbench.plots.kinds import extremes
from rankbench.store import Store

LABELS = ["MPICH", "OpenMPI", "IntelMPI"]


def list_lines(store: Store) -> dict[str, CampaignView]:
    """Return the lines of a campaign by the operation."""
    return {part.cases[0].operation: part for _, part in evaluate(store).parts("line")}


def draw_chart(picture: CampaignView) -> Chart:
    drawn = extremes.chart(picture)
    assert drawn is not None
    return drawn


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> dict[str, CampaignView]:
    """Return the lines of four files of the study."""
    folder: Path = tmp_path_factory.mktemp("study")
    names = ("latency", "bandwith", "barrier", "cas_latency")
    sources = [Source(tool_outputs.SAMPLES / "study" / f"{name}.out") for name in names]
    return list_lines(importer.import_files(ImportRequest(sources, LABELS), folder / "made"))


def list_points(picture: CampaignView, size: str) -> dict[str, tuple[float, float, float, int]]:
    rows = draw_chart(picture).datasets["points"]
    return {
        row["candidate"]: (row["value"], row["low"], row["high"], row["launches"])
        for row in rows
        if row["size"] == size
    }


def test_times_are_means_with_extremes(study: dict[str, CampaignView]) -> None:
    """In nanoseconds, of the three values of each library in the file."""
    assert list_points(study["osu-latency"], "8 B") == {
        "MPICH": (820.0, 800.0, 840.0, 3),
        "OpenMPI": (4113.3, 1040.0, 10120.0, 3),
        "IntelMPI": (196.67, 120.0, 330.0, 3),
    }
    assert list_points(study["osu-latency"], "0 B")["MPICH"] == (25053.0, 810.0, 73530.0, 3)


def test_bandwidths_are_means_of_bandwidths(study: dict[str, CampaignView]) -> None:
    """(15.38 + 15.95 + 4.07)
    3 = 11.8 MB/s, and not the bandwidth of the mean time.
    """
    rows = list_points(study["osu-bw"], "8 B")
    assert {name: value[:3] for name, value in rows.items()} == {
        "MPICH": pytest.approx((11.8, 4.07, 15.95), rel=1e-3),
        "OpenMPI": pytest.approx((151.72, 76.67, 192.67), rel=1e-3),
        "IntelMPI": pytest.approx((32.583, 1.89, 53.73), rel=1e-3),
    }


def test_title_and_subtitle_name_metric_and_launches(study: dict[str, CampaignView]) -> None:
    drawn = draw_chart(study["osu-bw"])
    assert drawn.title == WORDING
    assert drawn.subtitle == WORDING


def test_sizes_have_a_logarithmic_axis_with_empty_messages_left_of_it(study: dict[str, CampaignView]) -> None:
    rows = draw_chart(study["osu-latency"]).datasets["points"]
    places = {row["size"]: row["position"] for row in rows}
    assert (places["0 B"], places["1 B"], places["4 MiB"]) == (0.5, 1, 4 << 20)
    assert len(rows) == 24 * 3


def test_a_single_size_is_drawn_as_bars(study: dict[str, CampaignView]) -> None:
    barrier = draw_chart(study["osu-barrier"])
    assert barrier.title == WORDING
    assert {row["candidate"]: (row["value"], row["low"], row["high"]) for row in barrier.datasets["points"]} == {
        "MPICH": (680.0, 320.0, 870.0),
        "OpenMPI": (343.33, 220.0, 580.0),
        "IntelMPI": (260.0, 200.0, 380.0),
    }
    assert draw_chart(study["osu-cas_latency"]).title == WORDING


@pytest.mark.parametrize("operation", ["osu-latency", "osu-bw", "osu-barrier"])
def test_charts_are_valid_vega(study: dict[str, CampaignView], operation: str) -> None:
    spec = draw_chart(study[operation]).spec(forms.make_theme("#000", "#000", "#000"))
    assert vl_convert.vegalite_to_vega(spec)["marks"]


def test_a_single_launch_has_no_extremes(tmp_path: Path) -> None:
    store = imports.import_campaign(tmp_path, {"A": [imports.format_latencies((1, 1.0), (2, 2.0))]})
    assert extremes.chart(list_lines(store)["osu-latency"]) is None


def test_candidates_may_have_different_numbers_of_launches(tmp_path: Path) -> None:
    texts = [imports.format_latencies((1, value), (2, 2.0)) for value in (1.0, 3.0)]
    store = imports.import_campaign(tmp_path, {"A": texts, "B": texts[:1]})
    assert list_points(list_lines(store)["osu-latency"], "1 B") == {
        "A": (2000.0, 1000.0, 3000.0, 2),
        "B": (1000.0, 1000.0, 1000.0, 1),
    }


def test_figures_of_the_core_have_mean_and_extremes_of_launches(tmp_path: Path) -> None:
    """Mean, smallest and largest of the launches' medians."""
    store = campaigns.make_campaign(tmp_path / "made", launches=5)
    part = list_lines(store)["allreduce"]
    launch_values = evaluate(store).launch_values.filter(
        pl.col("case") == part.cases[0].key, pl.col("candidate") == "alpha"
    )
    (point,) = (
        row
        for row in draw_chart(part).datasets["points"]
        if row["key"] == part.cases[0].key and row["candidate"] == "alpha"
    )
    times = launch_values["figure_ns"].to_list()
    assert (point["low"], point["value"], point["high"]) == pytest.approx(
        (min(times), sum(times) / 5, max(times)), rel=1e-4
    )
    assert point["low"] < point["value"] < point["high"]
    assert point["launches"] == 5


def test_both_axes_have_titles(study: dict[str, CampaignView]) -> None:
    spec = draw_chart(study["osu-bw"]).spec(forms.make_theme("#000", "#000", "#000"))
    axes = [axis for axis in vl_convert.vegalite_to_vega(spec)["axes"] if axis.get("labels", True)]
    assert {axis["title"] for axis in axes} == {"message size", "bandwidth in MB/s (1 MB = 10^6 B)"}
