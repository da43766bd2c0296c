"""Launches of one case: the median of each, in order of time, so that a drift of the machine can be seen."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import altair as alt

from rankbench import plots
from rankbench.language import format_text
from rankbench.plots import Chart

if TYPE_CHECKING:
    from rankbench.plots import Row
    from rankbench.verdict.measures import Measure
    from rankbench.verdict.view import CampaignView

TITLE = "Launches"
HELP = (
    "The figure of every launch (its median, unless the plan says otherwise), in the order in which launches were made."
)
SCOPE = "case"


def chart(view: CampaignView) -> Chart | None:
    """Draw one point per launch."""
    case = view.cases[0]
    rows = view.figures_of_launches(case)
    if not rows:
        return None
    measure = view.measure(case).of_samples
    title = format_text("{case}: launches in order of time", case=view.case_name(case))
    return Chart(form(view.candidates, measure), title, plots.circumstances(view), {"launches": rows})


@functools.lru_cache
def form(candidates: tuple[str, ...], measure: Measure) -> Row:
    """Return a thin line and a point per launch for each candidate."""
    scale = alt.Scale(type="log", nice=False, padding=12)
    y = alt.Y("figure_ns:Q", scale=scale, axis=plots.value_axis(measure, format_text("figure of a launch")))
    return plots.form(plots.over_launches(candidates, y, "figure", plots.spelt(measure.kind, "figure_ns")), 200)
