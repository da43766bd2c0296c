"""Starts: one case with every measured start, to show the effect of the start alone."""

from __future__ import annotations

import functools

import altair as alt

from rankbench.analysis.questions.measures import Measure
from rankbench.analysis.questions.view import CampaignView
from rankbench.model import Case, Summary
from rankbench.plots import axes, captions, forms, marks, palette
from rankbench.plots.chart import Chart, Row
from rankbench.quantities import format_time

TITLE = "Starts"
HELP = (
    "The same case begun in different ways: typical time with its interval. Hollow: clocks agree too badly for "
    "the time to be judged."
)
SCOPE = "case"
ROW = 17
"""Height of the row of one candidate with one start."""


def chart(view: CampaignView) -> Chart | None:
    """Draw the cases that are like this one but for their start; it is drawn for the usual start only."""
    case = view.cases[0]
    alike = [start_variant for start_variant in view.start_variants(case) if view.has_usual_start(case)]
    if len(alike) < 2:
        return None
    values = {case.key: case for case in alike}
    measure = view.measure(case).of_samples
    rows = [
        make_row(values[summary.case], summary, measure)
        for summary in view.verdict.summaries
        if summary.case in values and summary.candidate in view.candidates and (summary.launches or summary.doubt)
    ]
    if not rows:
        return None
    return Chart(
        make_form(palette.paint(view), tuple(case.start for case in alike)),
        f"{view.case_name(case)}: time by start",
        captions.describe_conditions(view.showing(alike), start=f"{len(alike)} starts"),
        {"points": rows},
    )


def make_row(case: Case, summary: Summary, measure: Measure) -> Row:
    """Return one point."""
    values = dict(zip(("value", "low", "high"), marks.list_times(summary), strict=True))
    return {
        **marks.format_values(summary, measure),
        **{name: marks.shorten(value) for name, value in values.items()},
        "start": case.start,
        "judged": not summary.doubt,
        "ranks began apart": format_time(summary.skew_ns) if summary.skew_ns >= 0 else "not known",
    }


@functools.lru_cache
def make_form(candidates: tuple[str, ...], starts: tuple[str, ...]) -> Row:
    """Draw a row per start, in which each candidate has its own height."""
    scale = alt.Scale(type="log", nice=False, padding=20)
    base = alt.Chart(forms.data("points")).encode(
        y=alt.Y("start:N", sort=list(starts), title=None, scale=alt.Scale(paddingInner=0.3)),
        yOffset=alt.YOffset("candidate:N", sort=list(candidates)),
        color=palette.colour(candidates),
    )
    interval = base.mark_rule(strokeWidth=3, opacity=0.5).encode(
        x=alt.X("low:Q", scale=scale, axis=axes.time_axis("time per call", "x")), x2="high:Q"
    )
    point = base.mark_point(size=60, opacity=1, strokeWidth=2).encode(
        x=alt.X("value:Q", scale=scale),
        shape=palette.choose_shapes(candidates),
        fill=alt.Fill("candidate:N", scale=palette.colours(candidates), title=None),
        fillOpacity=alt.condition("datum.judged", alt.value(1), alt.value(0)),
        tooltip=forms.tooltips("candidate", "start", "typical", "interval", "ranks began apart", "launches", "samples"),
    )
    return forms.make_form([interval, point], (ROW * len(candidates) + 8) * len(starts))
