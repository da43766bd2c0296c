"""Drift: how fast the whole machine was during each launch, as the mean over all its cases."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from rankbench.language import format_text
from rankbench.plots import axes, forms, marks, palette
from rankbench.plots.chart import Chart
from rankbench.quantities import format_ratio

if TYPE_CHECKING:
    from rankbench.plots.chart import Row
    from rankbench.verdict.view import CampaignView

TITLE = "Drift of the machine"
HELP = (
    "Each launch's times over the same candidate's typical times, geometric mean over its cases. All candidates up or "
    "down together: the machine changed. One alone: that library did."
)
SCOPE = "campaign"
LEAST = 0.9
"""The axis shows at least from here to the inverse, so that a calm machine looks calm."""


def chart(view: CampaignView) -> Chart | None:
    """Draw one point per launch; 1 is the candidate's typical speed. Memory shows nothing of it."""
    timed = view.showing([case for case in view.cases if case.quantity != "memory"])
    rows = compute_relative(timed)
    if not rows:
        return None
    ratios = [row["ratio"] for row in rows]
    scale = alt.Scale(type="log", nice=False, domain=[min(LEAST, *ratios), max(1 / LEAST, *ratios)])
    y = alt.Y("ratio:Q", scale=scale, axis=axes.log_axis(format_text("time / typical time"), axes.RATIO_LABEL))
    return Chart(
        forms.make_form(marks.draw_launches(palette.paint(view), y, "speed"), 220),
        format_text("How fast the machine was during each launch"),
        format_text("1 is each candidate's typical time; mean over {count} cases", count=len(timed.cases)),
        {"launches": rows},
    )


def compute_relative(view: CampaignView) -> list[Row]:
    """Return the geometric mean, per launch, of its values over the candidate's typical values."""
    typical = pl.DataFrame(
        [(case.key, summary.candidate, summary.typical_ns) for case, summary in view.list_shown_summaries()],
        schema={"case": pl.String, "candidate": pl.String, "typical_ns": pl.Float64},
        orient="row",
    )
    means = (
        view.launch_values.join(typical, on=["case", "candidate"])
        .group_by("candidate", "launch", "block")
        .agg(ratio=(pl.col("figure_ns") / pl.col("typical_ns")).log().mean().exp().round_sig_figs(5))
        .sort("launch")
    )
    return [{**row, "speed": format_ratio(row["ratio"])} for row in means.to_dicts()]
