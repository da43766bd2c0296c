"""The forms of bars: of values with their intervals, and of times that are made of parts."""

from __future__ import annotations

import functools

import altair as alt

from rankbench.analysis.questions.measures import Measure
from rankbench.plots import axes, forms, palette
from rankbench.plots.chart import Row

ROW = 34
"""Height of a candidate's row, in pixels."""


@functools.lru_cache
def form(candidates: tuple[str, ...], measure: Measure, rows: tuple[str, ...]) -> Row:
    """Return a bar for each row with its interval, in its candidate's colour, and its value in words beyond both."""
    base = forms.add_tooltips(alt.Chart(forms.data("points")), measure.kind).encode(
        y=alt.Y("row:N", sort=list(rows), title=None, axis=alt.Axis(ticks=False, domain=False, labelLimit=0)),
        tooltip=forms.tooltips("candidate", "typical", "interval", "launches", "samples"),
    )
    label = f"datum.value === 0 ? '0' : {axes.VALUE_LABELS[measure.kind]}"
    axis = alt.Axis(title=measure.heading, labelExpr=label, tickCount=5)
    scale = alt.Scale(domainMin=0, nice=False, padding=4)
    bar = base.mark_bar(height={"band": 0.55}, cursor="pointer").encode(
        x=alt.X("value:Q", scale=scale, axis=axis),
        color=alt.Color("candidate:N", scale=palette.colours(candidates), legend=None),
    )
    interval = base.mark_rule(strokeWidth=2, color="#888888").encode(x=alt.X("low:Q", scale=scale), x2="high:Q")
    end = base.transform_calculate(end="max(datum.high, datum.value) * 1.01").encode(x=alt.X("end:Q", scale=scale))
    room = base.transform_calculate(room="max(datum.high, datum.value) * 1.18").encode(x=alt.X("room:Q", scale=scale))
    words = end.mark_text(align="left", dx=5, fontSize=11, aria=False).encode(text="typical:N")
    return forms.make_form([bar, interval, words, room.mark_point(opacity=0, aria=False)], ROW * len(rows))


def draw_parts(labels: list[str], parts: tuple[str, ...]) -> list[alt.Chart]:
    """Return stacked bars of times, one for each label, which follows its number; parts have colours of their own."""
    axis = alt.Axis(ticks=False, domain=False, labelLimit=0, labelExpr="split(datum.value, '\\n')[1]")
    values = alt.Axis(title=None, labelExpr=f"datum.value === 0 ? '0' : {axes.VALUE_LABELS['time']}", tickCount=5)
    colours = alt.Scale(domain=list(parts), range=list(palette.PLACE_COLOURS[: len(parts)]))
    bars = (
        alt.Chart(forms.data("rows"))
        .mark_bar(height={"band": 0.65})
        .encode(
            y=alt.Y("row:N", sort=labels, title=None, axis=axis),
            x=alt.X("value:Q", stack="zero", axis=values),
            color=alt.Color("part:N", scale=colours, legend=alt.Legend(title=None, orient="top")),
            order=alt.Order("place:Q"),
            tooltip=forms.tooltips("part", "time"),
        )
        .transform_calculate(place=f"indexof({list(parts)}, datum.part)")
    )
    return [bars]
