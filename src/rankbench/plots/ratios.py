"""Ratios: each candidate's time over that of the first one, with the interval of the paired comparison."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import altair as alt

from rankbench import plots, statistics
from rankbench.plots import Chart
from rankbench.quantities import format_ratio, format_size

if TYPE_CHECKING:
    from rankbench.model import Case, Comparison
    from rankbench.plots import Picture, Row

TITLE = "Ratios"
HELP = (
    "Time over that of the plan's first candidate, paired within blocks: above 1 is slower. Hollow: not "
    "distinguishable. The grey strip is the practical threshold."
)
SCOPE = "line"


def chart(picture: Picture) -> Chart | None:
    """Draw one operation over message sizes."""
    base = picture.candidates[0]
    sizes = sorted({case.size_bytes for case in picture.cases})
    cases = {case.key: case for case in picture.cases}
    rows = [
        row(cases[comparison.case], comparison, sizes)
        for comparison in picture.verdict.comparisons
        if comparison.case in cases and comparison.base == base
    ]
    if not rows:
        return None
    name = plots.line_name(picture.cases[0], picture.operation(picture.cases[0]))
    return Chart(
        plots.form([*ground(picture), *marks(picture, sizes)], 240),
        f"{name}: time relative to {base}",
        plots.circumstances(picture, f"{100 * statistics.LEVEL:g} % intervals"),
        {"ratios": rows, "one": [threshold(picture)]},
    )


def row(case: Case, comparison: Comparison, sizes: list[int]) -> Row:
    """Return one ratio. A single block gives no interval, and none is drawn."""
    known = math.isfinite(comparison.high)
    low, high = (comparison.low, comparison.high) if known else (comparison.ratio, comparison.ratio)
    return {
        "key": case.key,
        "candidate": comparison.other,
        "size": format_size(case.size_bytes),
        "position": plots.size_position(case.size_bytes, sizes),
        "value": plots.rounded(comparison.ratio),
        "low": plots.rounded(low),
        "high": plots.rounded(high),
        "different": comparison.different,
        "ratio": f"{format_ratio(comparison.ratio)}{'' if comparison.different else ' ~'}",
        "interval": f"{format_ratio(low)} to {format_ratio(high)}" if known else "unknown",
        "blocks": f"{comparison.blocks}" + (f", {comparison.left_out} left out" if comparison.left_out else ""),
        "adjusted p": f"{comparison.p_adjusted:.2g}",
    }


def threshold(picture: Picture) -> Row:
    """Return the line of equality and the strip of differences not worth telling."""
    worth = 1 + picture.campaign.plan.threshold
    return {"one": 1, "low": 1 / worth, "high": worth}


def ground(picture: Picture) -> list[alt.Chart]:
    """Return what lies behind the ratios."""
    source = alt.Chart(plots.data("one"))
    layers = [source.mark_rule(strokeDash=[4, 3], color="#888888").encode(y="one:Q")]
    if picture.campaign.plan.threshold:
        layers.insert(0, source.mark_rect(color="#888888", opacity=0.18).encode(y="low:Q", y2="high:Q"))
    return layers


def marks(picture: Picture, sizes: list[int]) -> list[alt.Chart]:
    """Return line, interval and point of every candidate; hollow points are not distinguishable from the base."""
    axis = plots.log_axis(f"time / time of {picture.candidates[0]}", "datum.label + '×'")
    y = alt.Y("value:Q", scale=alt.Scale(type="log", nice=False, padding=12), axis=axis)
    base = alt.Chart(plots.data("ratios")).encode(
        x=plots.size_x(sizes),
        color=plots.colour(picture.candidates),
        tooltip=plots.tooltips("candidate", "size", "ratio", "interval", "blocks", "adjusted p"),
    )
    line = base.mark_line(strokeOpacity=0.5).encode(y=y, strokeDash=plots.dash(picture.candidates))
    interval = base.mark_rule(strokeWidth=2).encode(y=alt.Y("low:Q"), y2="high:Q")
    point = base.mark_point(size=70, opacity=1, cursor="pointer").encode(
        y=y,
        shape=plots.shape(picture.candidates),
        fillOpacity=alt.condition("datum.different", alt.value(1), alt.value(0)),
        fill=alt.Fill("candidate:N", scale=plots.colours(picture.candidates), title=None),
    )
    return [line, interval, point]
