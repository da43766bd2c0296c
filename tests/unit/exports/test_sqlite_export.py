"""The SQLite database: its tables agree with the campaign, and its keys are consistent."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import polars as pl
import pytest
from fakes.campaigns import make_campaign

from rankbench import store
from rankbench.exports import EvaluatedCampaign
from rankbench.exports.formats import sqlite
from rankbench.model import Comparison, Launch, Summary

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def database(plain: EvaluatedCampaign, tmp_path: Path) -> Iterator[sqlite3.Connection]:
    (path,) = sqlite.write(plain, tmp_path / "x.sqlite")
    with closing(sqlite3.connect(path)) as opened:
        yield opened


def read_query(database: sqlite3.Connection, query: str) -> pl.DataFrame:
    return pl.read_database(query, database, infer_schema_length=None)


def count_rows(database: sqlite3.Connection, table: str) -> int:
    return int(database.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


def test_there_is_a_row_for_every_record(database: sqlite3.Connection, plain: EvaluatedCampaign) -> None:
    campaign_view = plain.view
    tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    assert {name: count_rows(database, name) for name in tables} == {
        "campaign": 1,
        "libraries": 2,
        "candidates": 3,
        "cases": 9,
        "launches": len(campaign_view.launches),
        "outcomes": campaign_view.case_rows.height,
        "samples": plain.store.samples().collect().height + plain.store.rank_samples().collect().height,
        "summaries": len(campaign_view.verdict.summaries),
        "comparisons": len(campaign_view.verdict.comparisons) + len(campaign_view.verdict.control),
        "findings": len(campaign_view.verdict.findings),
        "finding_cases": sum(len(finding.cases) for finding in campaign_view.verdict.findings),
    }
    assert campaign_view.verdict.findings


def test_foreign_keys_are_consistent(database: sqlite3.Connection) -> None:
    assert database.execute("PRAGMA foreign_key_check").fetchall() == []
    assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    referring = {
        (table, row[3], row[2])
        for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for row in database.execute(f"PRAGMA foreign_key_list({table})")
    }
    assert referring == {
        ("candidates", "library", "libraries"),
        ("candidates", "control_of", "candidates"),
        ("launches", "candidate", "candidates"),
        ("outcomes", "launch", "launches"),
        ("outcomes", "case_id", "cases"),
        ("samples", "launch", "launches"),
        ("samples", "case_id", "cases"),
        ("summaries", "case_id", "cases"),
        ("summaries", "candidate", "candidates"),
        ("comparisons", "case_id", "cases"),
        ("comparisons", "base", "candidates"),
        ("comparisons", "other", "candidates"),
        ("finding_cases", "finding", "findings"),
        ("finding_cases", "case_id", "cases"),
    }


def test_samples_are_those_of_the_store(database: sqlite3.Connection, plain: EvaluatedCampaign) -> None:
    """All samples: late ones, and those of single ranks."""
    columns = ["series", "time_ns", "last_rank", "late", "overrun", "discarded", "by_rank"]
    columns += ["skew_ns", "bound_ns", "error_ns"]
    query = "SELECT launch, key, number, {} FROM samples JOIN cases ON cases.id = case_id".format(", ".join(columns))
    rows = read_query(database, query)
    wanted = pl.concat([plain.store.samples(), plain.store.rank_samples()]).collect()
    wanted = wanted.select("launch", pl.col("case").alias("key"), pl.col("index").alias("number"), *columns)
    assert wanted["late"].any()
    assert wanted["by_rank"].any()
    order = ["launch", "key", "series", "number"]
    assert rows.sort(order).equals(wanted.cast(dict(rows.schema)).sort(order))  # type: ignore[arg-type]


def test_the_size_of_portions_makes_no_difference(
    plain: EvaluatedCampaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path,) = sqlite.write(plain, tmp_path / "whole.sqlite")
    monkeypatch.setattr(sqlite, "PORTION", 7)
    (parts,) = sqlite.write(plain, tmp_path / "parts.sqlite")
    assert path.read_bytes() == parts.read_bytes()


def test_typical_values_are_those_of_the_verdict(database: sqlite3.Connection, plain: EvaluatedCampaign) -> None:
    query = (
        "SELECT key, candidate, value, low, high, typical.unit, typical.title FROM typical JOIN cases ON id = case_id"
    )
    values = {row[:2]: row[2:] for row in database.execute(query)}
    summaries = [summary for summary in plain.view.verdict.summaries if summary.launches]
    assert len(values) == len(summaries) == 26
    for summary in summaries:
        value, low, high, unit, _ = values[summary.case, summary.candidate]
        amount = 1 if unit == "ns" else value * summary.typical_ns
        ends = (
            [summary.low_ns, summary.high_ns] if unit == "ns" else [amount / summary.high_ns, amount / summary.low_ns]
        )
        assert [value, low, high] == pytest.approx([summary.typical_ns if unit == "ns" else value, *ends])
    case = "bandwidth.nonblocking.65536.byte.socket.none"
    assert values[case, "alpha"][3:] == ("MB/s", "bandwidth 64 KiB")


def test_columns_are_the_fields_of_the_records(database: sqlite3.Connection) -> None:
    for table, kind in (("launches", Launch), ("summaries", Summary), ("comparisons", Comparison)):
        columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
        fields = ["case_id" if name == "case" else name for name in kind.__struct_fields__]
        assert columns[: len(fields)] == fields
    (outcomes,) = [
        [row[1] for row in database.execute("PRAGMA table_info(outcomes)")],
    ]
    assert outcomes[:2] == ["launch", "case_id"]
    assert set(outcomes[2:]) == {name for name in store.tables.CASE_COLUMNS if name not in sqlite.OF_CASE}


def test_numbers_are_numbers_and_unknown_values_are_null(database: sqlite3.Connection) -> None:
    kinds = "SELECT DISTINCT typeof(exit_code), typeof(duration_s), typeof(before) FROM launches"
    assert database.execute(kinds).fetchall() == [("integer", "real", "text")]
    crashed = "SELECT typical_ns, value, failures FROM summaries WHERE launches = 0"
    assert database.execute(crashed).fetchall() == [(None, None, '{"crashed":6}')]
    assert database.execute("SELECT control_of FROM candidates ORDER BY name").fetchall() == [
        (None,),
        ("alpha",),
        (None,),
    ]
    assert database.execute("SELECT json_extract(before, '$.cpus[1]') FROM launches LIMIT 1").fetchone() == (1,)


def test_memory_rates_and_overlap_are_exported(every_kind: EvaluatedCampaign, tmp_path: Path) -> None:
    (path,) = sqlite.write(every_kind, tmp_path / "x.sqlite")
    with closing(sqlite3.connect(path)) as opened:
        units = dict(opened.execute("SELECT unit, count(*) FROM cases GROUP BY unit").fetchall())
    assert units == {"ns": 8, "messages/s": 2, "bytes": 2}


def test_a_full_disk_is_an_error_of_the_system(
    plain: EvaluatedCampaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A limit on pages simulates the disk."""

    def open_small(path: Path) -> sqlite3.Connection:
        opened = sqlite3.Connection(path)
        opened.execute("PRAGMA max_page_count = 10")
        return opened

    monkeypatch.setattr(sqlite3, "connect", open_small)
    with pytest.raises(OSError, match="database or disk is full"):
        list(sqlite.write(plain, tmp_path / "x.sqlite"))
    assert list(tmp_path.iterdir()) == []


def test_another_export_replaces_the_first(tmp_path: Path) -> None:
    measured = EvaluatedCampaign(make_campaign(tmp_path / "c", launches=1, samples=10))
    (first,) = sqlite.write(measured, tmp_path / "x.sqlite")
    before = first.read_bytes()
    (second,) = sqlite.write(measured, tmp_path / "x.sqlite")
    assert second.read_bytes() == before
