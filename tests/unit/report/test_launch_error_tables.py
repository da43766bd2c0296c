"""Errors over launches: the relative standard error of a mean, in summaries, tables, CSV and a chart over ranks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from fakes import scales

from rankbench.analysis.evaluation import evaluate
from rankbench.analysis.questions.placements import remove_placement
from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.statistics.summaries import summarise
from rankbench.plots.kinds import launch_errors as plot
from rankbench.report import make_frames
from rankbench.report.tables import launch_errors


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> CampaignView:
    """Return a campaign over 1, 2 and 4 nodes whose launches scatter."""
    folder = tmp_path_factory.mktemp("errors") / "made"
    store = scales.make_store(folder, lambda *_: 1000.0, nodes=(1, 2, 4), ranks=(1, 2), launches=4, spread=0.1)
    return evaluate(store)


def compute_errors(view: CampaignView) -> dict[tuple[str, str], float]:
    """Return standard deviation over root of number and mean, from the values of launches."""
    errors = {}
    for (case, name), part in view.launch_values.group_by("case", "candidate"):
        values = part["figure_ns"].to_numpy()
        errors[str(case), str(name)] = float(values.std(ddof=1) / np.sqrt(len(values)) / values.mean())
    return errors


def test_summaries_csv_and_tables_have_the_error_of_the_mean(view: CampaignView) -> None:
    wanted = compute_errors(view)
    summaries = {(summary.case, summary.candidate): summary.launches_rse for summary in view.verdict.summaries}
    assert summaries == pytest.approx(wanted)
    frame = make_frames(view)["summary"]
    assert dict(zip(frame.select("case", "candidate").iter_rows(), frame["launches_rse"], strict=True)) == summaries
    frame = launch_errors.frame(view)
    assert frame["launches_rse"].to_list() == pytest.approx(
        [wanted[key] for key in frame.select("case", "candidate").iter_rows()]
    )
    table = launch_errors.tables(view)[0]
    assert table.columns == ["message size", "ranks", "placement", *view.candidates]
    assert [row[1].text for row in table.rows] == sorted((row[1].text for row in table.rows), key=int)
    for row in table.rows:
        assert [cell.text for cell in row[3:]] == [f"{wanted[row[0].case, name]:.2%}" for name in view.candidates]


def test_rates_have_the_error_of_the_mean_rate(view: CampaignView) -> None:
    frame = view.launch_values
    keys = [case.key for case in view.cases]
    rates = summarise(frame, view.samples, view.case_rows, per_second=keys)
    for summary in rates:
        part = frame.filter(pl.col("case") == summary.case, pl.col("candidate") == summary.candidate)
        values = 1 / part["figure_ns"].to_numpy()
        assert summary.launches_rse == pytest.approx(values.std(ddof=1) / np.sqrt(len(values)) / values.mean())


def test_the_chart_has_a_point_for_each_number_of_ranks(view: CampaignView) -> None:
    case = view.cases[0]
    scaled = list(view.scaled[remove_placement(case).key].values())
    chart = plot.chart(view.showing(scaled))
    assert chart is not None
    assert {row["ranks"] for row in chart.datasets["points"]} == {case.ranks for case in scaled}
    assert len(chart.datasets["points"]) == len(scaled) * len(view.candidates)


def test_a_lone_launch_has_no_error(tmp_path: Path) -> None:
    view = evaluate(scales.make_store(tmp_path / "made", lambda *_: 1000.0, nodes=(1, 2), ranks=(1,), launches=1))
    assert launch_errors.tables(view) == []
    assert all(np.isnan(summary.launches_rse) for summary in view.verdict.summaries)
    assert plot.chart(view.showing(list(next(iter(view.scaled.values())).values()))) is None
