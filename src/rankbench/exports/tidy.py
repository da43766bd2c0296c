"""Tidy tables, each row with its whole case."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
import polars as pl

from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.statistics.launch_values import VISITS
from rankbench.exports.values import list_values
from rankbench.report import make_frames


def make_tables(view: CampaignView) -> dict[str, pl.DataFrame]:
    """Return tidy tables, each row with its whole case: the summaries, every launch's value, the comparisons."""
    frames = make_frames(view)
    summary = frames.pop("summary")
    cases = summary.select(summary.columns[: summary.columns.index("unit") + 1]).unique(maintain_order=True)
    library = pl.DataFrame(
        [(candidate.name, candidate.library, candidate.control_of) for candidate in view.campaign.candidates],
        schema={"candidate": pl.String, "library": pl.String, "control_of": pl.String},
        orient="row",
    )
    frame = pl.DataFrame(
        [msgspec.structs.astuple(value) for value in list_values(view)],
        schema={
            "case": pl.String,
            "candidate": pl.String,
            "value_unit": pl.String,
            "value": pl.Float64,
            "value_low": pl.Float64,
            "value_high": pl.Float64,
            "state": pl.String,
        },
        orient="row",
    )
    key = ["case", "candidate"]
    with_values = summary.join(frame, on=[*key, "state"], how="left", maintain_order="left")
    launch_values = cases.join(
        view.launch_values.drop("common", *VISITS, strict=False), on="case", maintain_order="left_right"
    )
    named = {"": with_values, "launches": join_first_calls(launch_values, view.first_calls)}
    owned = {name: table.join(library, on="candidate", maintain_order="left") for name, table in named.items()}
    return {**owned, **frames}


def join_first_calls(launch_values: pl.DataFrame, first_calls: pl.DataFrame) -> pl.DataFrame:
    """Return the launches' values with the first two calls of the cases that saw the first of their operation."""
    if first_calls.is_empty():
        return launch_values.with_columns(pl.lit(None, pl.Float64).alias(name) for name in ("first_ns", "second_ns"))
    frame = first_calls.select("launch", "case", "first_ns", "second_ns")
    return launch_values.join(frame, on=["launch", "case"], how="left", maintain_order="left")


def list_files(path: Path, suffix: str, view: CampaignView) -> Iterator[tuple[Path, pl.DataFrame]]:
    """Yield each tidy table with its file: the summaries' own, `x-launches.csv` and `x-comparisons.csv` beside it.

    These have the suffix where the path has none; what follows the last dot of `mpich-5.0.2` is none.
    """
    has_suffix = re.fullmatch(r"\.[A-Za-z]\w*", path.suffix)
    stem, end = (path.stem, path.suffix) if has_suffix else (path.name, suffix)
    for name, frame in make_tables(view).items():
        yield path.with_name(f"{stem}-{name}{end}") if name else path, frame
