"""Bars: what has one value for each candidate, such as a barrier, from nought on so that lengths can be compared."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import altair as alt

from rankbench import plots
from rankbench.plots import Chart

if TYPE_CHECKING:
    from rankbench.plots import Row
    from rankbench.verdict.measures import Measure
    from rankbench.verdict.view import CampaignView

TITLE = "Bars"
HELP = "Typical value (median over launches of each launch's median) from nought on; the thin line is its interval."
SCOPE = "line"
ROW = 34
"""Height of a candidate's row, in pixels."""


def chart(view: CampaignView) -> Chart | None:
    """Draw one operation that was measured in one size, or takes none."""
    if len({case.size_bytes for case in view.cases}) > 1:
        return None
    rows = [plots.point(summary, view.measure(case)) | {"key": case.key} for case, summary in view.shown_summaries()]
    if not rows:
        return None
    case = view.cases[0]
    measure = plots.unmoved(view.measure(case))
    title = f"{view.case_name(case)}: {plots.heading(measure)}"
    return Chart(form(view.candidates, measure), title, plots.circumstances(view), {"points": rows})


@functools.lru_cache
def form(candidates: tuple[str, ...], measure: Measure) -> Row:
    """Return a bar for each candidate with its interval, and its value in words beyond both."""
    base = plots.in_words(alt.Chart(plots.data("points")), measure.kind).encode(
        y=alt.Y("candidate:N", sort=list(candidates), title=None, axis=alt.Axis(ticks=False, domain=False)),
        tooltip=plots.tooltips("candidate", "typical", "interval", "launches", "samples"),
    )
    label = f"datum.value === 0 ? '0' : {plots.VALUE_LABELS[measure.kind]}"
    axis = alt.Axis(title=measure.heading, labelExpr=label, tickCount=5)
    scale = alt.Scale(domainMin=0, nice=False, padding=4)
    bar = base.mark_bar(height={"band": 0.55}, cursor="pointer").encode(
        x=alt.X("value:Q", scale=scale, axis=axis),
        color=alt.Color("candidate:N", scale=plots.colours(candidates), legend=None),
    )
    interval = base.mark_rule(strokeWidth=2, color="#888888").encode(x=alt.X("low:Q", scale=scale), x2="high:Q")
    end = base.transform_calculate(end="max(datum.high, datum.value) * 1.01").encode(x=alt.X("end:Q", scale=scale))
    room = base.transform_calculate(room="max(datum.high, datum.value) * 1.18").encode(x=alt.X("room:Q", scale=scale))
    words = end.mark_text(align="left", dx=5, fontSize=11, aria=False).encode(text="typical:N")
    return plots.form([bar, interval, words, room.mark_point(opacity=0, aria=False)], ROW * len(candidates))
