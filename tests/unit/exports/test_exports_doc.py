"""`docs/reference/formats.md` describes the exports: formats, columns, keys."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl

from rankbench import exports
from rankbench.exports import EvaluatedCampaign, values
from rankbench.exports.formats import csv, json

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
