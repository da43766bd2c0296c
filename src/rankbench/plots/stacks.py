"""Bars of times that are made of parts."""

from __future__ import annotations

import altair as alt

from rankbench.plots import axes, forms, palette


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
