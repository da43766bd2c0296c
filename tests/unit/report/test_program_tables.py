"""Tables and charts of a recorded program."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes import verdicts
from fakes.recorded_programs import LINE, make_recorded

from rankbench import plots
from rankbench.analysis.questions.view import CampaignView
from rankbench.report.tables import program

PLOTS = set(program.PLOTS)


@pytest.fixture
def view(tmp_path: Path) -> CampaignView:
    return make_recorded(tmp_path)


def test_candidates_have_predicted_recorded_and_measured_values(view: CampaignView) -> None:
    candidates, calls = program.tables(view)
    alpha, beta = ([cell.text for cell in row] for row in candidates.rows)
    assert alpha == ["alpha", "502 ms", "–", "1.00×", "1.00×"]
    assert beta[:3] == ["beta", "752 ms", "500 ms"]
    assert (beta[3].split()[0], beta[4].split()[0]) == ("1.25×", "1.25×")
    assert [cell.text for cell in calls.rows[0]] == ["allreduce 8 B", "500 k", "100.0%", "50%", "251 ms", "502 ms"]


def test_the_frame_has_the_same_values(view: CampaignView) -> None:
    frame = program.frame(view)
    assert frame["candidate"].to_list() == ["alpha", "beta"]
    assert frame["recorded_mpi_s"].to_list() == [None, pytest.approx(0.500001)]
    assert frame["ratio"][1] == pytest.approx(1.25, rel=1e-3)


def test_a_campaign_without_a_record_has_neither(tmp_path: Path) -> None:
    plain = verdicts.evaluate(tmp_path, lambda _candidate, _case: 1.0, cases=LINE)
    assert program.tables(plain) == []
    assert program.frame(plain).is_empty()
    assert not PLOTS & {name for name, _, _ in plots.charts(plain)}


def test_charts_divide_the_time_of_ranks_and_calls(view: CampaignView) -> None:
    charts = {name: chart for name, _, chart in plots.charts(view) if name in PLOTS}
    assert charts.keys() == PLOTS
    ranks = [
        (row["row"], row["part"], round(float(row["value"]) / 1e6)) for row in charts["program_ranks"].datasets["rows"]
    ]
    assert ranks[:3] == [
        ("0\nrank 0", "waiting for later ranks", 500),
        ("0\nrank 0", "otherwise in MPI", 100),
        ("0\nrank 0", "outside MPI", 400),
    ]
    calls = charts["program_calls"].datasets["rows"]
    assert [(row["row"], row["part"], round(float(row["value"]) / 1e6)) for row in calls] == [
        ("0\nMPI_Allreduce, 8 B, 2 ranks", "waiting", 250),
        ("0\nMPI_Allreduce, 8 B, 2 ranks", "other", 250),
    ]
    arrivals = charts["program_arrivals"].datasets["rows"]
    assert [(row["row"], row["rank"], row["words"], row["range"]) for row in arrivals] == [
        ("0\nMPI_Allreduce, 8 B, 2 ranks", 0, "0", "0 to 10.0 ns"),
        ("0\nMPI_Allreduce, 8 B, 2 ranks", 1, "2.00 µs", "100 ns to 30.0 µs"),
    ]
    both = [row["how"] for row in charts["program_prediction"].datasets["rows"]]
    assert both == ["predicted", "measured"] * 2
