"""Launches of one case: the median of each, in order of time, so that a drift of the machine can be seen."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from rankbench import plots
from rankbench.plots import Chart
from rankbench.quantities import format_time

if TYPE_CHECKING:
    from rankbench.plots import Picture, Row

TITLE = "Launches"
HELP = "The median of every launch, in the order in which launches were made."
SCOPE = "case"


def chart(picture: Picture) -> Chart | None:
    """Draw one point per launch."""
    case = picture.cases[0]
    medians = picture.medians.filter(pl.col("case") == case.key, pl.col("candidate").is_in(picture.candidates))
    if medians.is_empty():
        return None
    rows = [
        {**row, "median_ns": plots.rounded(row["median_ns"]), "median": format_time(row["median_ns"])}
        for row in medians.select("candidate", "launch", "median_ns").to_dicts()
    ]
    name = plots.case_name(case, picture.operation(case))
    title = f"{name}: launches in order of time"
    return Chart(form(picture.candidates), title, plots.circumstances(picture), {"launches": rows})


@functools.lru_cache
def form(candidates: tuple[str, ...]) -> Row:
    """Return a thin line and a point per launch for each candidate."""
    scale = alt.Scale(type="log", nice=False, padding=12)
    y = alt.Y("median_ns:Q", scale=scale, axis=plots.time_axis("median of a launch"))
    return plots.form(plots.over_launches(candidates, y, "median"), 200)
