"""Tools: the times of one call by several tools over the message size."""

from __future__ import annotations

import functools

import altair as alt

from rankbench.analysis.questions.measures import Measure
from rankbench.analysis.questions.same_calls import list_series
from rankbench.analysis.questions.view import CampaignView
from rankbench.foreign.comparing import find_counterpart
from rankbench.plots import axes, captions, forms, marks, palette
from rankbench.plots.chart import Chart, Row

TITLE = "Tools"
HELP = (
    "Times of one call as several tools report them, each by its own definition: no verdict. Bandwidths and rates are "
    "shown as the time of a message."
)
SCOPE = "call"
HEIGHT = 300
TIME = Measure("time", "time")


def chart(view: CampaignView) -> Chart | None:
    """Draw the lines of one call, if several tools have values."""
    series = list_series(view)
    if not series:
        return None
    cases = [case for line in series for case, _ in line.values]
    sizes = sorted({case.size_bytes for case in cases})
    rows = [
        {
            "key": view.key(case),
            "size": view.size_text(case),
            "position": axes.size_position(case.size_bytes, sizes),
            **marks.make_point(summary, TIME),
            "candidate": line.name,
        }
        for line in series
        for case, summary in line.values
    ]
    call = find_counterpart(series[0].operation)
    title = f"{captions.make_title(call, TIME)}, by several tools"
    about = "each by its own definition, not compared"
    form = draw_over_sizes(tuple(line.name for line in series), tuple(sizes))
    return Chart(form, title, captions.describe_conditions(view, about), {"points": rows})


@functools.lru_cache
def draw_over_sizes(names: tuple[str, ...], sizes: tuple[int, ...]) -> Row:
    """Draw a line with points for each benchmark and candidate."""
    scale = alt.Scale(type="log", nice=False, padding=10)
    points = forms.add_tooltips(alt.Chart(forms.data("points")), TIME.kind)
    base = points.encode(x=axes.size_x(list(sizes)), color=palette.colour(names))
    y = alt.Y("value:Q", scale=scale, axis=axes.value_axis(TIME))
    line = base.mark_line(strokeWidth=1.5).encode(y=y, strokeDash=palette.dash(names))
    point = base.mark_point(size=45, filled=True, opacity=1, cursor="pointer").encode(
        y=alt.Y("value:Q", scale=scale),
        shape=palette.choose_shapes(names),
        tooltip=forms.tooltips("candidate", "size", "typical", "interval", "launches", "samples"),
    )
    return forms.make_form([line, point], HEIGHT)
