"""Drift: how fast the whole machine was during each launch, as the mean over all its cases."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from rankbench import plots
from rankbench.plots import Chart
from rankbench.quantities import format_ratio

if TYPE_CHECKING:
    from rankbench.plots import Picture, Row

TITLE = "Drift of the machine"
HELP = (
    "Each launch's times over the same candidate's typical times, geometric mean over its cases. All candidates up or "
    "down together: the machine changed. One alone: that library did."
)
SCOPE = "campaign"


def chart(picture: Picture) -> Chart | None:
    """Draw one point per launch; 1 is the candidate's typical speed."""
    rows = relative(picture)
    if not rows:
        return None
    base = alt.Chart(plots.data("launches")).encode(
        x=alt.X(
            "launch:Q",
            title="launch, in order of time",
            scale=alt.Scale(nice=False, zero=False, padding=12),
            axis=alt.Axis(tickMinStep=1, grid=False),
        ),
        y=alt.Y(
            "ratio:Q",
            scale=alt.Scale(type="log", nice=False, padding=12),
            axis=plots.log_axis("time / typical time", "datum.label + '×'"),
        ),
        color=plots.colour(picture.candidates),
        tooltip=plots.tooltips("candidate", "launch", "speed"),
    )
    line = base.mark_line(strokeOpacity=0.5).encode(strokeDash=plots.dash(picture.candidates))
    point = base.mark_point(size=45, filled=True, opacity=1).encode(shape=plots.shape(picture.candidates))
    return Chart(
        plots.form([line, point], 220),
        "How fast the machine was during each launch",
        f"1 is each candidate's typical time; mean over {len(picture.cases)} cases",
        {"launches": rows},
    )


def relative(picture: Picture) -> list[Row]:
    """Return the geometric mean, per launch, of its medians over the candidate's typical values."""
    typical = pl.DataFrame(
        [(case.key, summary.candidate, summary.typical_ns) for case, summary in picture.summaries()],
        schema={"case": pl.String, "candidate": pl.String, "typical_ns": pl.Float64},
        orient="row",
    )
    means = (
        picture.medians.join(typical, on=["case", "candidate"])
        .group_by("candidate", "launch")
        .agg(ratio=(pl.col("median_ns") / pl.col("typical_ns")).log().mean().exp().round_sig_figs(5))
        .sort("launch")
    )
    return [{**row, "speed": format_ratio(row["ratio"])} for row in means.to_dicts()]
