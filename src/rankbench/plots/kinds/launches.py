"""Launches of one case: the median of each, in order of time, so that a drift of the machine can be seen."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import altair as alt

from rankbench.language import format_text
from rankbench.plots import axes, captions, forms, marks, palette
from rankbench.plots.chart import Chart

if TYPE_CHECKING:
    from rankbench.plots.chart import Row
    from rankbench.verdict.measures import Measure
    from rankbench.verdict.view import CampaignView

TITLE = "Launches"
HELP = (
    "The value of every launch (its median, unless the plan says otherwise) by block: launches of a block ran together."
)
SCOPE = "case"
VALUES = "launches"


def chart(view: CampaignView) -> Chart | None:
    """Draw one point per launch."""
    case = view.cases[0]
    rows = view.list_launch_values(case)
    if not rows:
        return None
    measure = view.measure(case).of_samples
    title = format_text("{case}: launches by block", case=view.case_name(case))
    return Chart(make_form(palette.paint(view), measure), title, captions.describe_conditions(view), {"launches": rows})


@functools.lru_cache
def make_form(candidates: tuple[str, ...], measure: Measure) -> Row:
    """Return a thin line and a point per launch for each candidate."""
    scale = alt.Scale(type="log", nice=False, padding=12)
    y = alt.Y("figure_ns:Q", scale=scale, axis=axes.value_axis(measure, format_text("value of a launch")))
    return forms.make_form(marks.draw_launches(candidates, y, "figure", forms.spelt(measure.kind, "figure_ns")), 200)
