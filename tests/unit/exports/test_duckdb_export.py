"""The DuckDB script: a real DuckDB runs it. The database copies nothing and shows later launches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb as real
import msgspec
import pytest
from fakes import campaigns
from fakes.campaigns import make_campaign

from rankbench import report, store
from rankbench.exports import EvaluatedCampaign
from rankbench.exports.formats import duckdb
from rankbench.model import CaseResult, CaseStatus, Launch

if TYPE_CHECKING:
    from pathlib import Path

VIEWS = ["campaign", "candidates", "figures", "launches", "libraries", "operations", "outcomes", "samples", "typical"]
CLOCK_STEP = 0.005


def open_database(measured: EvaluatedCampaign, folder: Path) -> real.DuckDBPyConnection:
    """Return a database file that was made by the script, as `duckdb x.db < x.sql` does."""
    (path,) = duckdb.write(measured, folder / "x.sql")
    database = real.connect(folder / "x.db")
    database.execute(path.read_text(encoding="utf-8"))
    return database


def list_views(database: real.DuckDBPyConnection) -> list[str]:
    query = "SELECT view_name FROM duckdb_views() WHERE NOT internal ORDER BY view_name"
    return [str(name) for (name,) in database.execute(query).fetchall()]


def test_every_file_has_a_view(plain: EvaluatedCampaign, tmp_path: Path) -> None:
    with open_database(plain, tmp_path) as database:
        assert list_views(database) == VIEWS
        counts = {name: database.execute(f"SELECT count(*) FROM {name}").fetchall()[0][0] for name in VIEWS}
        assert database.execute("SELECT count(*) FROM duckdb_tables()").fetchall() == [(0,)]
    assert counts == {
        "campaign": 1,
        "candidates": 3,
        "figures": 26 * 6,
        "launches": len(plain.view.launches),
        "libraries": 2,
        "operations": len(plain.store.campaign.operations),
        "outcomes": plain.view.case_rows.height,
        "samples": plain.store.samples().collect().height + plain.store.rank_samples().collect().height,
        "typical": 26,
    }


def test_typical_values_are_those_of_the_verdict(plain: EvaluatedCampaign, tmp_path: Path) -> None:
    with open_database(plain, tmp_path) as database:
        rows = database.execute('SELECT "case", candidate, typical_ns, launches, samples FROM typical').fetchall()
    values = {(case, candidate): rest for case, candidate, *rest in rows}
    for summary in plain.view.verdict.summaries:
        if summary.launches:
            typical_ns, *counts = values[summary.case, summary.candidate]
            assert typical_ns == pytest.approx(summary.typical_ns, rel=CLOCK_STEP)
            assert counts == [summary.launches, summary.samples]


def test_fields_of_records_are_columns(plain: EvaluatedCampaign, tmp_path: Path) -> None:
    with open_database(plain, tmp_path) as database:
        assert database.execute("SELECT name, machine.cores, plan.stop.blocks_max FROM campaign").fetchall() == [
            ("plain", 2, 60)
        ]
        assert database.execute("SELECT name, control_of FROM candidates ORDER BY name").fetchall() == [
            ("alpha", ""),
            ("alpha (again)", "alpha"),
            ("beta", ""),
        ]
        query = "SELECT number, status, command[1], facts.source, before.exchange[1].median_ns FROM launches LIMIT 1"
        assert database.execute(query).fetchall() == [(1, "ok", "mpiexec", "clock_gettime", 50.0)]


def test_a_database_shows_later_launches(tmp_path: Path) -> None:
    campaign_store = make_campaign(tmp_path / "c", launches=2, samples=10)
    with open_database(EvaluatedCampaign(campaign_store), tmp_path) as database:
        number = len(campaign_store.launches()) + 1
        case = campaign_store.campaign.cases[0]
        launch: Launch = campaigns.make_launch(number, 3, 0, "alpha", "socket")
        campaign_store.append(launch, [CaseResult(case=case, status=CaseStatus.LACKING, reason="not there")])
        query = f"SELECT status FROM outcomes WHERE launch = {number}"
        assert database.execute(query).fetchall() == [("lacking",)]
        (campaign_store.folder / "launches" / f"{number:06}.json").unlink()
        assert database.execute(query).fetchall() == []


def test_derived_tables_have_views_too(tmp_path: Path) -> None:
    campaign_store = make_campaign(tmp_path / "c", launches=2, samples=10)
    measured = EvaluatedCampaign(campaign_store)
    campaign_store.write_derived(report.make_frames(measured.view), {})
    with open_database(measured, tmp_path) as database:
        assert list_views(database) == sorted([*VIEWS, "summary", "comparisons"])
        assert database.execute("SELECT count(*) FROM summary").fetchall() == [(27,)]


def test_a_folder_may_have_any_name(tmp_path: Path) -> None:
    """Quotes do not end a string, brackets are no pattern. The script needs only the folder with launches."""
    folder = tmp_path / "it's [a] *?"
    make_campaign(tmp_path / "it's a", launches=1, samples=10).folder.rename(folder)
    with open_database(EvaluatedCampaign(store.open(folder)), tmp_path) as database:
        assert database.execute("SELECT count(*) FROM launches").fetchall() == [(3,)]
        assert database.execute("SELECT count(*) FROM samples").fetchall()[0][0] == 27 * 10


def test_the_script_begins_with_its_purpose_in_one_line(tmp_path: Path) -> None:
    campaign_store = make_campaign(tmp_path / "c", launches=1, samples=10)
    campaign = msgspec.structs.replace(campaign_store.campaign, name="two\nDROP TABLE samples; lines")
    first, second, *_ = duckdb.script(campaign_store.folder, campaign).splitlines()
    assert first == "-- Campaign two DROP TABLE samples; lines, measured by rankbench 0.1.0: views of its files."
    assert (
        second == "-- Make a database of them by `duckdb campaign.db < THIS`. Where the folder moves, export it again."
    )
