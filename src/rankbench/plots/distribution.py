"""The distribution of one case: all samples of each candidate, and the figure of each of its launches below them."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING

import altair as alt
import numpy as np
import polars as pl

from rankbench import plots
from rankbench.plots import Chart
from rankbench.quantities import format_time

if TYPE_CHECKING:
    from rankbench.model import Summary
    from rankbench.plots import Picture, Row

TITLE = "Distribution"
HELP = (
    "Hills: all samples; the height is the square root of the share, so that rare slow calls stay visible. Marks below "
    "each hill: the figure of every launch, and the typical value's interval as a bar. What lies to the right of the "
    "picture is told in words."
)
SCOPE = "case"
BINS = 90
HILL = 0.62
"""The part of a candidate's row that its highest bin fills."""
BELOW, ABOVE = -0.14, 0.76
"""Where, in the same unit, the figures of launches and the words stand."""
TIME = alt.Scale(type="log", nice=False, padding=8)


def chart(picture: Picture) -> Chart | None:
    """Draw one hill per candidate above its launches."""
    case = picture.cases[0]
    summaries = {summary.candidate: summary for _, summary in picture.summaries()}
    if not summaries or case.key not in picture.evaluation.valid:
        return None
    edges = bin_edges(list(summaries.values()))
    figures = picture.evaluation.figures.filter(pl.col("case") == case.key, pl.col("candidate").is_in(list(summaries)))
    datasets = {
        "bins": bins(picture.evaluation.valid[case.key], list(summaries), edges),
        "figures": figures.select("candidate", "launch", pl.col("figure_ns").round_sig_figs(5)).to_dicts(),
        "typical": [typical(summary, edges[-1]) for summary in summaries.values()],
    }
    name = plots.case_name(case, picture.operation(case))
    total = f"{sum(summary.samples for summary in summaries.values()):,}".replace(",", " ")
    title = f"{name}: all {total} samples and every launch"
    return Chart(form(picture.candidates), title, plots.circumstances(picture), datasets)


def bin_edges(summaries: list[Summary]) -> np.ndarray:
    """Return logarithmic edges from the fastest sample to where only one sample in a hundred of the slowest is left."""
    low = min(summary.min_ns for summary in summaries)
    high = max(max(summary.p99_ns, summary.high_ns) for summary in summaries)
    return np.geomspace(max(low, 0.1), max(high, low, 0.1) * 1.02, BINS + 1)


def bins(samples: pl.DataFrame, candidates: list[str], edges: np.ndarray) -> list[Row]:
    """Return the share of each candidate's samples in every bin that is not empty."""
    rows = []
    for candidate in candidates:
        times = samples.filter(pl.col("candidate") == candidate)["time_ns"].to_numpy()
        counts, _ = np.histogram(times, edges)
        rows += [
            {
                "candidate": candidate,
                "low": plots.rounded(edges[at]),
                "high": plots.rounded(edges[at + 1]),
                "share": round(counts[at] / len(times), 5),
            }
            for at in np.flatnonzero(counts)
        ]
    return rows


def typical(summary: Summary, edge: float) -> Row:
    """Return the typical value with its interval, and in words what lies beyond the right edge."""
    beyond = f"up to {format_time(summary.max_ns)} →" if summary.max_ns > edge else ""
    return {
        **plots.figures(summary),
        "value": summary.typical_ns,
        "low": summary.low_ns,
        "high": summary.high_ns,
        "beyond": beyond,
    }


@functools.lru_cache
def form(candidates: tuple[str, ...]) -> Row:
    """Return hills, launches, intervals and words, a row per candidate in the plan's order."""
    names = list(candidates)
    hue = plots.colour(names)
    layers = [
        hills(names).encode(color=hue),
        placed(names, "typical", BELOW)
        .mark_rule(strokeWidth=7, opacity=0.3)
        .encode(x=alt.X("low:Q", scale=TIME), x2="high:Q", color=hue),
        placed(names, "figures", BELOW)
        .mark_point(size=28, filled=True, fillOpacity=0.8)
        .encode(
            x=alt.X("figure_ns:Q", scale=TIME), shape=plots.shape(names), color=hue, tooltip=["candidate:N", "launch:Q"]
        ),
        placed(names, "typical", ABOVE)
        .mark_text(align="right", fontSize=11)
        .encode(x=alt.value("width"), text="beyond:N"),
    ]
    return plots.form(layers, 74 * len(names) + 10)


def placed(names: list[str], dataset: str, offset: float) -> alt.Chart:
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
    chart: alt.Chart = alt.Chart(plots.data(dataset)).transform_calculate(place=f"{rank} + {offset}").encode(y=y)
    return chart


def hills(names: list[str]) -> alt.Chart:
    """Return the bins of every candidate as bars that stand on its row."""
    top = f"datum.place + {HILL} * sqrt(datum.share / datum.peak)"
    chart: alt.Chart = (
        placed(names, "bins", 0)
        .transform_joinaggregate(peak="max(share)", groupby=["candidate"])
        .transform_calculate(top=top, shown="format(datum.share, '.2~%')")
        .mark_rect(opacity=0.85, strokeWidth=0)
        .encode(
            x=alt.X("low:Q", scale=TIME, axis=plots.time_axis()),
            x2="high:Q",
            y2="top:Q",
            tooltip=[alt.Tooltip("candidate:N"), alt.Tooltip("shown:N", title="share of samples")],
        )
    )
    return chart
