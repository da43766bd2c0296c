"""`docs/reference/formats.md` describes the exports: formats, columns, keys, tables, views; its query runs."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from rankbench import exports
from rankbench.exports import values
from rankbench.exports.formats import csv, duckdb, json, sqlite

if TYPE_CHECKING:
    from rankbench.exports import EvaluatedCampaign

DOC = (Path(__file__).parents[3] / "docs" / "reference" / "formats.md").read_text(encoding="utf-8")
SECTION = DOC.partition("\n## Exports\n")[2].partition("\n## ")[0]


def is_described(name: str, text: str = DOC) -> bool:
    return f"`{name}`" in text


def test_every_format_is_described() -> None:
    rows = re.findall(r"^\| (.*?) \|", SECTION.partition("**Tidy")[0], re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row)} == set(exports.list_formats())


def test_columns_of_tidy_tables_are_described(plain: EvaluatedCampaign, tmp_path: Path) -> None:
    summary, launches, comparisons = (pl.read_csv(path).columns for path in csv.write(plain, tmp_path / "NAME.csv"))
    assert [name for name in {*summary, *launches, *comparisons} if not is_described(name)] == []
    assert [name for name in launches if not is_described(name, SECTION)] == []
    assert all(is_described(path.name, SECTION) for path in tmp_path.iterdir())


def test_keys_of_the_json_document_are_described() -> None:
    for kind in (json.Export, json.Figure, values.Value):
        assert [name for name in kind.__struct_fields__ if not is_described(name, SECTION)] == []


def test_sqlite_tables_and_their_own_columns_are_described(plain: EvaluatedCampaign, tmp_path: Path) -> None:
    (path,) = sqlite.write(plain, tmp_path / "x.sqlite")
    rows = re.findall(r"^\| (.*?) \|", SECTION.partition("**The SQLite")[2], re.MULTILINE)
    with closing(sqlite3.connect(path)) as database:
        names = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")]
        assert {name for row in rows for name in re.findall(r"`(\w+)`", row)} == set(names)
        for table in names:
            columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
            assert [name for name in columns if not is_described(name)] == [], table
        (query,) = re.findall(r"```sqlite\n(.*?)```", SECTION, re.DOTALL)
        answer = database.execute(query).fetchall()
    assert [row[:2] for row in answer[:2]] == [("allreduce 8 B", "alpha"), ("allreduce nonblocking 8 B", "alpha")]
    assert len(answer) == 8


def test_duckdb_views_are_described_and_the_query_runs(plain: EvaluatedCampaign) -> None:
    script = duckdb.script(plain.store.folder, plain.store.campaign)
    assert all(is_described(name, SECTION) for name in re.findall(r"CREATE OR REPLACE VIEW (\w+)", script))
    assert all(is_described(name, SECTION) for name in duckdb.DERIVED)
