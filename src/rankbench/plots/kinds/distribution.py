"""The distribution of one case: all samples of each candidate, and the value of each of its launches below them."""

from __future__ import annotations

import functools
import json

import altair as alt
import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankbench.analysis.questions.measures import Measure
from rankbench.analysis.questions.view import CampaignView
from rankbench.model import Summary
from rankbench.plots import axes, captions, forms, marks, palette
from rankbench.plots.chart import Chart, Row
from rankbench.quantities import format_whole

TITLE = "Distribution"
HELP = (
    "Hills: all samples; the height is the square root of the share, so that rare slow calls stay visible. Marks below "
    "each hill: the value of every launch, and the typical value's interval as a bar. The largest value beyond "
    "the right edge is written there."
)
SCOPE = "case"
VALUES = "samples"
BINS = 90
LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_"
"""The heights that a bin can have, from nothing on: a hill is kept as one short text, not as a row for every bin."""
HILL = 0.62
"""The part of a candidate's row that its highest bin fills."""
BELOW, ABOVE = -0.14, 0.76
"""Heights, in the same unit, of the values of launches and of the words."""
TIME = alt.Scale(type="log", nice=False, padding=8)


def chart(view: CampaignView) -> Chart | None:
    """Draw one hill per candidate above its launches."""
    case = view.cases[0]
    summaries = {summary.candidate: summary for _, summary in view.list_shown_summaries()}
    counted = view.once("hills", lambda: counts(view)).get(view.key(case), {})
    if not summaries or not counted:
        return None
    measure = view.measure(case).of_samples
    low, high = ends(list(summaries.values()))
    datasets = {
        "hills": [hill(name, counted[name]) | {"low": low, "high": high} for name in summaries if name in counted],
        "launches": view.list_launch_values(case),
        "typical": [make_typical(summary, high, measure) for summary in summaries.values()],
    }
    total = format_whole(sum(summary.samples for summary in summaries.values()))
    title = f"{view.case_name(case)}: all {total} samples and every launch"
    return Chart(make_form(palette.paint(view), measure), title, captions.describe_conditions(view), datasets)


def ends(summaries: list[Summary]) -> tuple[float, float]:
    """Return where bins begin and end: from the fastest sample to where one in a hundred of the slowest is left."""
    low = max(min(summary.min_ns for summary in summaries), 0.1)
    high = max(max(summary.p99_ns, summary.high_ns) for summary in summaries)
    return marks.shorten(low * 0.9999), marks.shorten(max(high, low) * 1.02)


def counts(view: CampaignView) -> dict[str, dict[str, NDArray[np.float64]]]:
    """Return by case and candidate the share of samples in each bin, of all cases that are drawn in one sweep."""
    all_summaries = view.summaries_of
    spread_summaries = {
        key: [summary for _, summary in case_summaries if summary.launches and summary.candidate in view.candidates]
        for key, case_summaries in all_summaries.items()
        if view.only is None or key in view.only
    }
    reach = [(key, *ends(summaries)) for key, summaries in spread_summaries.items() if summaries]
    edges = pl.LazyFrame(reach, schema={"case": pl.String, "low": pl.Float64, "high": pl.Float64}, orient="row")
    place = (pl.col("time_ns") / pl.col("low")).log() / (pl.col("high") / pl.col("low")).log() * BINS
    samples = view.samples.filter(~pl.col("discarded")).select("case", "candidate", "time_ns")
    binned = samples.join(edges, on="case").with_columns(bin=place.floor().clip(0, BINS).cast(pl.Int32))
    bins: dict[str, dict[str, NDArray[np.float64]]] = {}
    for case, name, at, count in binned.group_by("case", "candidate", "bin").len().collect().iter_rows():
        bins.setdefault(case, {}).setdefault(name, np.zeros(BINS + 1))[at] = count
    return {case: {name: values[:BINS] / values.sum() for name, values in by.items()} for case, by in bins.items()}


def hill(candidate: str, shares: NDArray[np.float64]) -> Row:
    """Return the heights of a candidate's bins, one letter each, and the share of the highest.

    A height is the square root of the share, so that rare slow calls are seen; any sample at all has some.
    """
    peak = float(shares.max()) or 1.0
    heights = np.ceil(np.sqrt(shares / peak) * (len(LETTERS) - 1)).astype(int)
    return {
        "candidate": candidate,
        "letters": "".join(LETTERS[height] for height in heights).rstrip("0"),
        "peak": round(peak, 4),
    }


def make_typical(summary: Summary, edge: float, measure: Measure) -> Row:
    """Return the typical value with its interval, and in words what lies beyond the right edge."""
    values = dict(zip(("value", "low", "high"), marks.list_times(summary), strict=True))
    beyond = f"up to {measure.text(summary.max_ns)} →" if summary.max_ns > edge else ""
    numbers = {name: marks.shorten(value) for name, value in values.items()}
    return {"candidate": summary.candidate, **numbers, "beyond": beyond}


@functools.lru_cache
def make_form(candidates: tuple[str, ...], measure: Measure) -> Row:
    """Return hills, launches, intervals and words, a row per candidate in the plan's order."""
    names = list(candidates)
    hue = palette.colour(candidates, rows=True)
    layers = [
        hills(names, measure).encode(color=hue),
        place_data(names, "typical", BELOW)
        .mark_rule(strokeWidth=7, opacity=0.3)
        .encode(x=alt.X("low:Q", scale=TIME), x2="high:Q", color=hue),
        place_data(names, "launches", BELOW)
        .transform_calculate(value=forms.spelt(measure.kind, "figure_ns"))
        .mark_point(size=28, filled=True, fillOpacity=0.8)
        .encode(
            x=alt.X("figure_ns:Q", scale=TIME),
            shape=palette.choose_shapes(names).legend(None),
            color=hue,
            tooltip=forms.tooltips("candidate", "launch", "figure"),
        ),
        place_data(names, "typical", ABOVE)
        .mark_text(align="right", fontSize=11)
        .encode(x=alt.value("width"), text="beyond:N"),
    ]
    return forms.make_form(layers, 74 * len(names) + 10)


def place_data(names: list[str], dataset: str, offset: float) -> alt.Chart:
    """Return data on the row of its candidate, higher by an offset; the first candidate's row is the topmost."""
    rank = f"{len(names) - 1} - indexof({json.dumps(names)}, datum.candidate)"
    axis = alt.Axis(
        title=None,
        values=list(range(len(names))),
        labelExpr=f"{json.dumps(names[::-1])}[datum.value]",
        ticks=False,
        labelLimit=140,
        labelBaseline="bottom",
    )
    y = alt.Y("place:Q", scale=alt.Scale(domain=[-0.28, len(names) - 0.2], nice=False, zero=False), axis=axis)
    chart: alt.Chart = alt.Chart(forms.data(dataset)).transform_calculate(place=f"{rank} + {offset}").encode(y=y)
    return chart


def hills(names: list[str], measure: Measure) -> alt.Chart:
    """Return the bins of every candidate as bars on its row."""
    most = len(LETTERS) - 1
    step = f"pow(datum.high / datum.low, 1 / {BINS})"
    base: alt.Chart = place_data(names, "hills", 0).transform_calculate(letter="split(datum.letters, '')")
    chart: alt.Chart = (
        base.transform_flatten(["letter"])
        .transform_calculate(height=f"indexof('{LETTERS}', datum.letter) / {most}")
        .transform_window(at="row_number()", groupby=["candidate"])
        .transform_filter("datum.height > 0")
        .transform_calculate(
            first=f"datum.low * pow({step}, datum.at - 1)",
            last=f"datum.low * pow({step}, datum.at)",
            top=f"datum.place + {HILL} * datum.height",
            shown="format(datum.peak * datum.height * datum.height, '.2~%')",
        )
        .mark_rect(opacity=0.85, strokeWidth=0)
        .encode(
            x=alt.X("first:Q", scale=TIME, axis=axes.value_axis(measure, channel="x")),
            x2="last:Q",
            y2="top:Q",
            tooltip=[*forms.tooltips("candidate"), alt.Tooltip("shown:N", title="share of samples")],
        )
    )
    return chart
