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
HELP = (
    "The figure of every launch (its median, unless the plan says otherwise), in the order in which launches were made."
)
SCOPE = "case"


def chart(picture: Picture) -> Chart | None:
    """Draw one point per launch."""
    case = picture.cases[0]
    figures = picture.evaluation.figures.filter(
        pl.col("case") == case.key, pl.col("candidate").is_in(picture.candidates)
    )
    if figures.is_empty():
        return None
    rows = [
        {**row, "figure_ns": plots.rounded(row["figure_ns"]), "figure": format_time(row["figure_ns"])}
        for row in figures.select("candidate", "launch", "figure_ns").to_dicts()
    ]
    name = plots.case_name(case, picture.operation(case))
    title = f"{name}: launches in order of time"
    return Chart(form(picture.candidates), title, plots.circumstances(picture), {"launches": rows})


@functools.lru_cache
def form(candidates: tuple[str, ...]) -> Row:
    """Return a thin line and a point per launch for each candidate."""
    scale = alt.Scale(type="log", nice=False, padding=12)
    y = alt.Y("figure_ns:Q", scale=scale, axis=plots.time_axis("figure of a launch"))
    return plots.form(plots.over_launches(candidates, y, "figure"), 200)
