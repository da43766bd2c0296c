"""Tables in MPIPerf's columns: from planted samples, and from MPIPerf's own output."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from fakes import campaigns, tool_outputs
from scipy import stats

from rankbench import cli, imports
from rankbench.analysis.evaluation import evaluate
from rankbench.analysis.questions.view import CampaignView
from rankbench.cli import display
from rankbench.imports import ImportRequest, Source
from rankbench.model import Summary
from rankbench.report.tables.mpiperf import HEADINGS, cells, make_row, wanted
from rankbench.report.tables.mpiperf import frame as mpiperf_frame
from rankbench.report.tables.mpiperf import tables as mpiperf_tables
from rankbench.report.text import markdown
from rankbench.store import Store

SAMPLE = tool_outputs.SAMPLES / "mpiperf" / "Allgather.txt"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return campaigns.make_campaign(tmp_path_factory.mktemp("own") / "c", launches=2)


@pytest.fixture(scope="module")
def mpiperf_store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return imports.import_files(ImportRequest([Source(SAMPLE, "MPICH")]), tmp_path_factory.mktemp("theirs") / "made")


def make_view(store: Store, estimator: str = "") -> CampaignView:
    return evaluate(store, estimator)


def test_columns_are_those_of_the_remaining_samples(store: Store) -> None:
    case, candidate = "barrier.blocking.0.byte.socket.window", "alpha"
    frame = store.samples().filter(pl.col("case") == case, pl.col("candidate") == candidate).collect()
    valid = np.sort(frame.filter(~pl.col("discarded"))["time_ns"].to_numpy())
    middle = valid[len(valid) // 4 : len(valid) - len(valid) // 4]
    half = float(stats.t.isf(0.025, len(middle) - 1) * stats.sem(middle))
    (row,) = mpiperf_frame(make_view(store)).filter(case=case, candidate=candidate).rows(named=True)
    assert (row["tried"], row["valid"], row["left"]) == (len(frame), len(valid), len(middle))
    assert [row["mean_ns"], row["min_ns"], row["max_ns"]] == pytest.approx([middle.mean(), middle[0], middle[-1]])
    assert [row["standard_error_ns"], row["absolute_error_ns"]] == pytest.approx([stats.sem(middle), half])
    assert [row["low_ns"], row["high_ns"]] == pytest.approx([middle.mean() - half, middle.mean() + half])
    assert [row["relative_standard_error"], row["relative_error"]] == pytest.approx(
        [stats.sem(middle) / middle.mean(), half / middle.mean()]
    )


def test_results_of_mpiperf_have_its_own_columns(mpiperf_store: Store) -> None:
    """The row is `2 1 32 32 16 1.19 0.02 0.03 0.95 1.25 0.06 1.13 1.25 0.05`, in microseconds."""
    row = mpiperf_frame(make_view(mpiperf_store)).rows(named=True)[0]
    values = [row[name] for name in mpiperf_frame(make_view(mpiperf_store)).columns[2:]]
    assert values == pytest.approx([1, 32, 32, 16, 1190, 30, 950, 1250, 60, 1130, 1250, 0.02, 0.05])
    table = mpiperf_tables(make_view(mpiperf_store))[0]
    assert table.columns == HEADINGS
    assert [cell.text.replace("\u2009", " ") for cell in table.rows[0]][1:6] == ["MPICH", "32", "32", "16", "1.19 µs"]
    assert table.caption.endswith("as MPIPerf printed it")


def test_reports_have_the_tables_for_trimmed_means_and_results_of_mpiperf(store: Store, mpiperf_store: Store) -> None:
    assert not wanted(make_view(store))
    assert "as MPIPerf reports it" not in markdown(evaluate(store))
    assert "as MPIPerf reports it, confidence 95%" in markdown(evaluate(store, "trimmed-mean"))
    assert "as MPIPerf printed it" in markdown(evaluate(mpiperf_store))


def test_show_prints_the_tables_as_text_and_csv(
    store: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(display.console, "width", 200)
    for more in ([], ["--format", "csv"]):
        monkeypatch.setattr("sys.argv", ["rankbench", "show", str(store.folder), "--table", "mpiperf", *more])
        with pytest.raises(SystemExit):
            cli.main()
    text = capsys.readouterr().out
    assert "as MPIPerf reports it, confidence 95%" in " ".join(text.split())
    assert "case,candidate,launch,tried,valid,left,mean_ns,standard_error_ns,min_ns" in text


def test_a_single_sample_has_no_error() -> None:
    alone = Summary(case="c", candidate="a", launches=1, samples=1, late=0, overrun=0, trimmed_samples=1)
    row = make_row(alone)
    assert math.isnan(row["absolute_error_ns"])
    assert [cell.text for cell in cells({**row, "candidate": "a"})][-2:] == ["–", "–"]  # type: ignore[dict-item]
