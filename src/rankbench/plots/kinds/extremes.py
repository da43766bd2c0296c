"""Extremes: the mean over launches of each launch's value with the smallest and the largest."""

from __future__ import annotations

import functools

import altair as alt

from rankbench.analysis.questions.measures import Measure
from rankbench.analysis.questions.view import CampaignView
from rankbench.model import Case, Summary
from rankbench.plots import axes, bar_form, captions, forms, marks, palette
from rankbench.plots.chart import Chart, Row

TITLE = "Means and extremes"
HELP = (
    "Mean over launches of each launch's value, with a bar from the smallest to the largest launch. Bars that "
    "overlap say little: the verdict is from ratios."
)
SCOPE = "line"
HEIGHT = 300


def chart(view: CampaignView) -> Chart | None:
    """Draw one line, if any candidate has several launches."""
    sizes = sorted({case.size_bytes for case in view.cases})
    rows = list_points(view, sizes)
    if not rows or max(row["launches"] for row in rows) < 2:
        return None
    case = view.cases[0]
    measure = marks.drop_moved(view.measure(case))
    name = view.line_name() if len(sizes) > 1 else view.case_name(case)
    form = (
        draw_over_sizes(palette.paint(view), tuple(sizes), measure)
        if len(sizes) > 1
        else bar_form.form(palette.paint(view), measure, tuple(str(row["row"]) for row in rows))
    )
    title = f"{captions.make_title(name, measure)}, mean and extremes"
    return Chart(form, title, captions.describe_conditions(view, "bars: smallest to largest"), {"points": rows})


def list_points(view: CampaignView, sizes: list[int]) -> list[Row]:
    """Return one point per case and candidate; of bandwidths the mean is that of bandwidths."""
    return [make_point(view, case, summary, sizes) for case, summary in view.list_shown_summaries()]


def make_point(view: CampaignView, case: Case, summary: Summary, sizes: list[int]) -> Row:
    """Return the point of one candidate."""
    measure = view.measure(case)
    ends = [measure.value(end) for end in (summary.launches_min_ns, summary.launches_max_ns)]
    return {
        "key": view.key(case),
        "size": view.size_text(case),
        "position": axes.size_position(case.size_bytes, sizes),
        "value": marks.shorten(measure.value(summary.launches_mean_ns)),
        "low": marks.shorten(min(ends)),
        "high": marks.shorten(max(ends)),
        "candidate": summary.candidate,
        "row": summary.candidate,
        "launches": summary.launches,
        "samples": summary.launches,
    }


@functools.lru_cache
def draw_over_sizes(candidates: tuple[str, ...], sizes: tuple[int, ...], measure: Measure) -> Row:
    """Draw lines over sizes with bars from the smallest to the largest."""
    scale = alt.Scale(type="log", nice=False, padding=10)
    points = forms.add_tooltips(alt.Chart(forms.data("points")), measure.kind)
    base = points.encode(x=axes.size_x(list(sizes)), color=palette.colour(candidates))
    y = alt.Y("value:Q", scale=scale, axis=axes.value_axis(measure))
    line = base.mark_line(strokeWidth=1.5).encode(y=y, strokeDash=palette.dash(candidates))
    extremes = base.mark_errorbar(ticks=True).encode(y=alt.Y("low:Q", scale=scale, title=measure.heading), y2="high:Q")
    point = base.mark_point(size=40, filled=True, opacity=1, cursor="pointer").encode(
        y=alt.Y("value:Q", scale=scale),
        shape=palette.choose_shapes(candidates),
        tooltip=forms.tooltips("candidate", "size", "typical", "interval", "launches"),
    )
    return forms.make_form([line, extremes, point], HEIGHT)
