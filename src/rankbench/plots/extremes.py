"""Extremes: of a foreign tool's figures the mean over launches with the smallest and the largest, as many plot them."""

from __future__ import annotations

import functools
import statistics
from collections import defaultdict
from typing import TYPE_CHECKING

import altair as alt

from rankbench import plots
from rankbench.language import say
from rankbench.plots import Chart, bars

if TYPE_CHECKING:
    from rankbench.model import Case
    from rankbench.plots import Picture, Row
    from rankbench.verdict.measures import Measure

TITLE = "Means and extremes"
HELP = (
    "Mean over launches of what the tool printed, with a bar from the smallest to the largest launch. Bars that "
    "overlap say little: the verdict is from ratios."
)
SCOPE = "line"
HEIGHT = 300


def chart(picture: Picture) -> Chart | None:
    """Draw one benchmark of a foreign tool."""
    sizes = sorted({case.size_bytes for case in picture.cases})
    rows = [row for case in picture.cases if case.suite for row in points(picture, case, sizes)]
    if not rows or max(row["launches"] for row in rows) < 2:
        return None
    case = picture.cases[0]
    measure = plots.unmoved(picture.measure(case))
    name = picture.line() if len(sizes) > 1 else picture.name(case)
    form = (
        over_sizes(picture.candidates, tuple(sizes), measure)
        if len(sizes) > 1
        else bars.form(picture.candidates, measure)
    )
    title = say("{name}: {heading}, mean and extremes", name=name, heading=plots.heading(measure))
    return Chart(form, title, plots.circumstances(picture, say("bars: smallest to largest")), {"points": rows})


def points(picture: Picture, case: Case, sizes: list[int]) -> list[Row]:
    """Return one point per candidate; of bandwidths the mean of bandwidths, as readers of such tables take it."""
    measure = picture.measure(case)
    values: defaultdict[str, list[float]] = defaultdict(list)
    for row in picture.figures_of_launches(case):
        values[row["candidate"]].append(measure.value(row["figure_ns"]))
    place = {"key": picture.key(case), "size": picture.size(case)}
    return [
        {
            **place,
            "position": plots.size_position(case.size_bytes, sizes),
            "value": plots.rounded(statistics.fmean(own)),
            "low": plots.rounded(min(own)),
            "high": plots.rounded(max(own)),
            "candidate": name,
            "launches": len(own),
            "samples": len(own),
        }
        for name, own in values.items()
    ]


@functools.lru_cache
def over_sizes(candidates: tuple[str, ...], sizes: tuple[int, ...], measure: Measure) -> Row:
    """Draw lines over sizes with bars from the smallest to the largest."""
    scale = alt.Scale(type="log", nice=False, padding=10)
    told = plots.in_words(alt.Chart(plots.data("points")), measure.kind)
    base = told.encode(x=plots.size_x(list(sizes)), color=plots.colour(candidates))
    y = alt.Y("value:Q", scale=scale, axis=plots.value_axis(measure))
    line = base.mark_line(strokeWidth=1.5).encode(y=y, strokeDash=plots.dash(candidates))
    extremes = base.mark_errorbar(ticks=True).encode(y=alt.Y("low:Q", scale=scale, title=None), y2="high:Q")
    point = base.mark_point(size=40, filled=True, opacity=1, cursor="pointer").encode(
        y=alt.Y("value:Q", scale=scale),
        shape=plots.shape(candidates),
        tooltip=plots.tooltips("candidate", "size", "typical", "interval", "launches"),
    )
    return plots.form([line, extremes, point], HEIGHT)
