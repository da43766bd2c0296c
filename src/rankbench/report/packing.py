"""How charts and tables lie in the page: columns, zipped, and unpacked when they are first shown."""

from __future__ import annotations

import base64
import gzip
import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from rankbench.plots.chart import Chart, Row
from rankbench.report.tables import Cell, Table

COMPRESSION = 6
"""Of zip: more takes several times as long and saves two per cent."""


def charts(drawn: Iterable[tuple[str, str, Chart]]) -> tuple[list[Row], dict[str, dict[str, Any]]]:
    """Return all forms, and by plot all charts as number of the form, title, subtitle and data sets.

    Equal forms are kept once. So is a data set that another plot has of the same part: its name is stored instead.
    """
    numbers: dict[int, tuple[int, Row]] = {}
    forms: dict[str, int] = {}
    homes: dict[tuple[str, str], tuple[str, list[Row]]] = {}
    packed: dict[str, dict[str, Any]] = {}
    for plot, key, chart in drawn:
        if id(chart.form) not in numbers:
            number = forms.setdefault(json.dumps(chart.form), len(forms))
            numbers[id(chart.form)] = number, chart.form
        sets: dict[str, Any] = {}
        for name, rows in chart.datasets.items():
            home, known = homes.setdefault((key, name), (plot, rows))
            sets[name] = home if known is rows and home != plot else columns(rows)
        packed.setdefault(plot, {})[key] = [numbers[id(chart.form)][0], chart.title, chart.subtitle, sets]
    return [json.loads(form) for form in forms], packed


def columns(rows: Sequence[Row]) -> list[Any]:
    """Return the number of rows and their columns, None where a row has no such value.

    A column of equal values is that value, in a list of its own.
    """
    packed = {}
    for name in dict.fromkeys(itertools.chain.from_iterable(rows)):
        values = [row.get(name) for row in rows]
        alike = len(rows) > 1 and all(type(value) is type(values[0]) and value == values[0] for value in values)
        packed[name] = {"all": values[0]} if alike else values
    return [len(rows), packed]


def tables(shown: Mapping[str, list[Table]], numbers: dict[str, int]) -> dict[str, list[Any]]:
    """Return every table as caption, heads and rows; cells lead to cases by their number."""
    return {
        name: [
            [table.caption, table.columns, [[cell(entry, numbers) for entry in row] for row in table.rows]]
            for table in kind_tables
        ]
        for name, kind_tables in shown.items()
    }


def cell(entry: Cell, numbers: dict[str, int]) -> str | list[Any]:
    """Return a cell: its text if there is no more to it."""
    if not (entry.detail or entry.best or entry.case):
        return entry.text
    return [entry.text, entry.detail, int(entry.best), numbers.get(entry.case, -1)]


def deflate(value: object) -> str:
    """Return anything as zipped JSON in letters that a page can hold."""
    return base64.b64encode(gzip.compress(msgspec.json.encode(value), COMPRESSION, mtime=0)).decode()


def escape_script(value: object) -> str:
    """Return JSON that cannot end the script element around it."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).replace("<", r"\u003c")
