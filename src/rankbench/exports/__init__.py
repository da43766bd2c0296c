"""Handing a campaign over to other programs: one file per format, and here what several of them share.

A format has `TITLE` (what it is, in a line), `SUFFIX` (of its file; empty: it is a folder) and `write(measured, path)`,
which yields the path of each file once it is there. Nothing is judged or measured here, and every file appears whole or
not at all.
"""

from __future__ import annotations

import math
import re
import types
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin

import msgspec
import polars as pl

from rankbench import exports, files, units
from rankbench.model import RankbenchError, Record
from rankbench.report import csv_frames
from rankbench.statistics.estimators import VISITS
from rankbench.verdict.evaluation import evaluate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import ModuleType

    from rankbench.store import Store
    from rankbench.verdict.view import CampaignView

UNITS = {"time": "ns", "bandwidth": "MB/s", "rate": "messages/s", "memory": "bytes"}
"""Of values, by the kind of a case's measure. A megabyte is 10^6 bytes."""


@dataclass(frozen=True)
class Measured:
    """A campaign as formats take it: what was stored, and what it says, which is worked out when first asked for."""

    store: Store

    @cached_property
    def view(self) -> CampaignView:
        """What the campaign says."""
        return evaluate(self.store)


class Value(Record, frozen=True):
    """The typical value of a case of one candidate as people read it: a bandwidth is one, where its figures are times.

    Without figures, or without an interval, it is null.
    """

    case: str
    candidate: str
    unit: str
    """`ns`, `MB/s` (of 10^6 bytes), `messages/s` or `bytes`."""
    value: float | None
    low: float | None
    """Of the interval, the smaller one."""
    high: float | None


def known() -> list[str]:
    """Return the names of the formats."""
    return units.names(exports)


def chosen(name: str) -> ModuleType:
    """Return a format by its name. Raises RankbenchError where there is none."""
    if not name:
        raise RankbenchError(f"name a format by --as FORMAT (allowed: {', '.join(known())})")
    if name not in known():
        raise RankbenchError(f"--as {name}: no such format; {units.suggestion(name, known())}")
    return units.module(exports, name)


def write_text(path: Path, text: str) -> Path:
    """Write a text file, and return its path."""
    files.write(path, text)
    return path


def values(view: CampaignView) -> Iterator[Value]:
    """Yield the value of each case and candidate, A/A twins included, in the order of the cases."""
    for case in view.campaign.cases:
        measure = view.measure(case)
        for _, summary in view.summaries_of.get(case.key, ()):
            ends = [summary.low_ns, summary.high_ns]
            value, *interval = (finite(measure.value(figure)) for figure in (summary.typical_ns, *ends))
            low, high = reversed(interval) if measure.per_second else interval
            yield Value(
                case=case.key,
                candidate=summary.candidate,
                unit=UNITS[measure.kind],
                value=value,
                low=low,
                high=high,
            )


def finite(number: float) -> float | None:
    """Return a number, none where it is not one."""
    return number if math.isfinite(number) else None


def tables(view: CampaignView) -> dict[str, pl.DataFrame]:
    """Return tidy tables, each row with its whole case: the summaries, every launch's figure, the comparisons."""
    found = csv_frames(view)
    summary = found.pop("summary")
    cases = summary.select(summary.columns[: summary.columns.index("unit") + 1]).unique(maintain_order=True)
    library = pl.DataFrame(
        [(one.name, one.library, one.control_of) for one in view.campaign.candidates],
        schema={"candidate": pl.String, "library": pl.String, "control_of": pl.String},
        orient="row",
    )
    told = pl.DataFrame(
        [msgspec.structs.astuple(one) for one in values(view)],
        schema={
            "case": pl.String,
            "candidate": pl.String,
            "value_unit": pl.String,
            "value": pl.Float64,
            "value_low": pl.Float64,
            "value_high": pl.Float64,
        },
        orient="row",
    )
    key = ["case", "candidate"]
    with_values = summary.join(told, on=key, how="left", maintain_order="left")
    figures = cases.join(view.figures.drop("common", *VISITS, strict=False), on="case", maintain_order="left_right")
    named = {"": with_values, "launches": with_first_calls(figures, view.first_calls)}
    owned = {name: one.join(library, on="candidate", maintain_order="left") for name, one in named.items()}
    return {**owned, **found}


def with_first_calls(figures: pl.DataFrame, first_calls: pl.DataFrame) -> pl.DataFrame:
    """Return the launches' figures with the first two calls of the cases that saw the first of their operation."""
    if first_calls.is_empty():
        return figures.with_columns(pl.lit(None, pl.Float64).alias(name) for name in ("first_ns", "second_ns"))
    own = first_calls.select("launch", "case", "first_ns", "second_ns")
    return figures.join(own, on=["launch", "case"], how="left", maintain_order="left")


def siblings(path: Path, view: CampaignView) -> Iterator[tuple[Path, pl.DataFrame]]:
    """Yield each tidy table with its file: the summaries' own, `x-launches.csv` and `x-comparisons.csv` beside it."""
    for name, frame in tables(view).items():
        yield path.with_stem(f"{path.stem}-{name}") if name else path, frame


def present(kind: object) -> Any:
    """Return the type that a record's field has where it is not null."""
    parts = [part for part in get_args(kind) if part is not type(None)]
    return parts[0] if get_origin(kind) in (Union, types.UnionType) else kind


def file_name(text: str) -> str:
    """Return a text as part of a file's name."""
    return re.sub(r"[^\w.+=~@-]+", "-", text).strip("-.") or "campaign"
