"""Curves: the time, the bandwidth, the message rate or the memory of one operation over the message size."""

from __future__ import annotations

import functools

import altair as alt

from rankbench.analysis.questions.measures import Measure
from rankbench.analysis.questions.view import CampaignView
from rankbench.model import Case, Summary
from rankbench.plots import axes, captions, forms, marks, palette
from rankbench.plots.chart import Chart, Row

TITLE = "Curves"
HELP = "Typical value (median over launches of each launch's median) with its interval, on logarithmic axes."
SCOPE = "line"
HEIGHT = 300
TOOLTIP = ("candidate", "size", "typical", "interval", "launches", "samples")


def chart(view: CampaignView) -> Chart | None:
    """Draw one operation over all its sizes; what has one only is drawn as bars."""
    sizes = sorted({case.size_bytes for case in view.cases})
    if len(sizes) < 2:
        return None
    rows = [make_row(view, case, level, summary, sizes) for case, level, summary in view.list_shown_values()]
    if not rows:
        return None
    measure = marks.drop_moved(view.measure(view.cases[0]))
    form = draw_over_sizes(palette.paint(view), tuple(sizes), measure, levels=any(row["cores"] for row in rows))
    title = captions.make_title(view.line_name(), measure)
    return Chart(form, title, captions.describe_conditions(view), {"points": rows})


def make_row(view: CampaignView, case: Case, level: str, summary: Summary, sizes: list[int]) -> Row:
    """Return one point."""
    return {
        "key": view.key(case),
        "cores": level,
        "size": view.size_text(case),
        "position": axes.size_position(case.size_bytes, sizes),
        **marks.make_point(summary, view.measure(case)),
    }


@functools.lru_cache
def draw_over_sizes(candidates: tuple[str, ...], sizes: tuple[int, ...], measure: Measure, *, levels: bool) -> Row:
    """Draw lines over sizes with a band for the interval, of far cores in fainter lines of their own."""
    scale = alt.Scale(type="log", nice=False, padding=10)
    points = forms.add_tooltips(alt.Chart(forms.data("points")), measure.kind)
    base = points.encode(x=axes.size_x(list(sizes)), color=palette.colour(candidates))
    base = base.encode(**palette.fade_levels()) if levels else base
    fields = (TOOLTIP[0], "cores", *TOOLTIP[1:]) if levels else TOOLTIP
    band = base.mark_area(fillOpacity=0.25).encode(
        y=alt.Y("low:Q", scale=scale, axis=axes.value_axis(measure)), y2="high:Q"
    )
    line = base.mark_line(strokeWidth=2).encode(y=alt.Y("value:Q", scale=scale), strokeDash=palette.dash(candidates))
    point = base.mark_point(size=45, filled=True, opacity=1, cursor="pointer").encode(
        y=alt.Y("value:Q", scale=scale), shape=palette.choose_shapes(candidates), tooltip=forms.tooltips(*fields)
    )
    return forms.make_form([band, line, point], HEIGHT)
