"""Curves: the time, or the bandwidth, of one operation over the message size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from rankbench import plots
from rankbench.plots import Chart

if TYPE_CHECKING:
    from rankbench.model import Case, Operation, Summary
    from rankbench.plots import Picture, Row

TITLE = "Curves"
HELP = "Typical value (median over launches of each launch's median) with its interval, on logarithmic axes."
SCOPE = "line"
HEIGHT = 300


def chart(picture: Picture) -> Chart | None:
    """Draw one operation: all sizes, or one dot per candidate where there is only one size."""
    case = picture.cases[0]
    operation = picture.operation(case)
    sizes = sorted({case.size_bytes for case in picture.cases})
    rows = [row(case, summary, operation, sizes) for case, summary in picture.summaries()]
    if not rows:
        return None
    name = plots.line_name(case, operation) if len(sizes) > 1 else plots.case_name(case, operation)
    form = over_sizes(picture, sizes, operation) if len(sizes) > 1 else dots(picture, operation)
    return Chart(form, f"{name}: {measure(operation)}", plots.circumstances(picture), {"points": rows})


def measure(operation: Operation) -> str:
    """Return what the vertical axis shows."""
    return {
        "time": "time per call",
        "latency": "latency (half a round trip)",
        "bandwidth": "bandwidth in MB/s (1 MB = 10^6 B)",
    }[operation.metric]


def row(case: Case, summary: Summary, operation: Operation, sizes: list[int]) -> Row:
    """Return one point. The ends of the interval change places when a time becomes a bandwidth."""
    value = [summary.typical_ns, summary.low_ns, summary.high_ns]
    if operation.metric == "bandwidth":
        ends = (summary.typical_ns, summary.high_ns, summary.low_ns)
        value = [plots.bandwidth(case, operation, time_ns) for time_ns in ends]
    return {
        "key": case.key,
        "size": plots.size_name(case, operation),
        "position": plots.size_position(case.size_bytes, sizes),
        **dict(zip(("value", "low", "high"), map(plots.rounded, value), strict=True)),
        **plots.figures(summary),
    }


def value_axis(operation: Operation) -> alt.Axis:
    """Return the axis of the measured quantity."""
    if operation.metric == "bandwidth":
        return plots.log_axis("bandwidth, MB/s (1 MB = 10^6 B)", "format(datum.value, ',~g')")
    return plots.time_axis(operation.metric)


def over_sizes(picture: Picture, sizes: list[int], operation: Operation) -> Row:
    """Draw lines over sizes with a band for the interval."""
    scale = alt.Scale(type="log", nice=False, padding=10)
    base = alt.Chart(plots.data("points")).encode(x=plots.size_x(sizes), color=plots.colour(picture.candidates))
    band = base.mark_area(opacity=0.2).encode(y=alt.Y("low:Q", scale=scale, axis=value_axis(operation)), y2="high:Q")
    line = base.mark_line(strokeWidth=2).encode(
        y=alt.Y("value:Q", scale=scale), strokeDash=plots.dash(picture.candidates)
    )
    point = base.mark_point(size=45, filled=True, opacity=1, cursor="pointer").encode(
        y=alt.Y("value:Q", scale=scale), shape=plots.shape(picture.candidates), tooltip=tips()
    )
    return plots.form([band, line, point], HEIGHT)


def dots(picture: Picture, operation: Operation) -> Row:
    """Draw one row per candidate with its interval."""
    scale = alt.Scale(type="log", nice=False, padding=20)
    base = alt.Chart(plots.data("points")).encode(
        y=alt.Y("candidate:N", sort=picture.candidates, title=None), color=plots.colour(picture.candidates)
    )
    interval = base.mark_rule(strokeWidth=3, opacity=0.5).encode(
        x=alt.X("low:Q", scale=scale, axis=value_axis(operation)), x2="high:Q"
    )
    point = base.mark_point(size=70, filled=True, opacity=1, cursor="pointer").encode(
        x=alt.X("value:Q", scale=scale), shape=plots.shape(picture.candidates), tooltip=tips()
    )
    return plots.form([interval, point], 34 * len(picture.candidates))


def tips() -> list[alt.Tooltip]:
    """Return what a point tells when pointed at."""
    return plots.tooltips("candidate", "size", "typical", "interval", "launches", "samples")
