"""Run times of a program as its calls predict them, beside those that were measured."""

from __future__ import annotations

import math

import altair as alt

from rankbench.analysis.claims import program_answer
from rankbench.analysis.claims.program_answer import Interval, Prediction
from rankbench.analysis.questions.view import CampaignView
from rankbench.language import render, say
from rankbench.plots import axes, forms, palette
from rankbench.plots.chart import Chart, Row

TITLE = "Predicted and measured"
HELP = (
    "The run time of the program over that with the candidate whose calls take least: as the calls of the recorded run "
    "predict it, and as it was measured. Lines are intervals."
)
SCOPE = "campaign"
ROW = 24
FAR = 4.0
"""A wider interval is cut where it is drawn."""


def chart(view: CampaignView) -> Chart | None:
    """Draw two points with intervals for each candidate: predicted, and measured if it was."""
    answer = program_answer.find_answer(view)
    if answer is None or len(answer.predictions) < 2 or answer.crowded:
        return None
    rows = [row for entry in answer.predictions for row in make_rows(entry)]
    labels = [str(row["row"]) for row in rows]
    form = forms.make_form(draw_points(palette.paint(view), labels), ROW * len(rows), 300)
    subtitle = say("run time over that of {best}", best=answer.predictions[0].candidate)
    return Chart(form, "The program's run time, predicted and measured", render(subtitle), {"rows": rows})


def make_rows(entry: Prediction) -> list[Row]:
    """Return the rows of a candidate."""
    both = {"predicted": entry.ratio, "measured": entry.measured}
    return [make_row(entry.candidate, how, interval) for how, interval in both.items() if interval]


def make_row(candidate: str, how: str, interval: Interval) -> Row:
    """Return a row with its words."""
    ends = (
        "{value:ratio} ({low:bare}–{high:ratio})" if math.isfinite(interval.high) else "{value:ratio}, too few blocks"
    )
    known = interval if math.isfinite(interval.high) else interval._replace(low=interval.value, high=interval.value)
    text = say(ends, value=interval.value, low=interval.low, high=interval.high)
    return {
        "row": f"{candidate}, {how}",
        "candidate": candidate,
        "how": how,
        "ratio": interval.value,
        "low": max(known.low, interval.value / FAR),
        "high": min(known.high, interval.value * FAR),
        "words": render(text),
    }


def draw_points(candidates: palette.Names, labels: list[str]) -> list[alt.Chart]:
    """Return a line at 1, intervals, points, and words beyond them."""
    base = alt.Chart(forms.data("rows")).encode(
        y=alt.Y("row:N", sort=labels, title=None, axis=alt.Axis(ticks=False, domain=False, labelLimit=0)),
        color=alt.Color("candidate:N", scale=palette.colours(candidates), legend=None),
        tooltip=forms.tooltips("candidate", "how", "words"),
    )
    scale = alt.Scale(zero=False, nice=True, padding=90)
    axis = alt.Axis(title=None, labelExpr=axes.RATIO_LABEL, tickCount=6)
    line = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", scale=scale, axis=axis), x2="high:Q")
    shape = alt.Shape(
        "how:N", scale=alt.Scale(domain=["predicted", "measured"], range=["diamond", "circle"]), legend=None
    )
    point = base.mark_point(filled=True, size=80, opacity=1).encode(x=alt.X("ratio:Q", scale=scale), shape=shape)
    words = base.mark_text(align="left", dx=8, dy=-8, fontSize=10, aria=False).encode(
        x=alt.X("ratio:Q", scale=scale), text="words:N"
    )
    return [line, point, words]
