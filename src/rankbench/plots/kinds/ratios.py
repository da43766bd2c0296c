"""Ratios: each candidate's time, or memory, over that of the first one, with the interval of the paired comparison."""

from __future__ import annotations

import functools

import altair as alt

from rankbench.analysis import statistics
from rankbench.analysis.questions.view import CampaignView
from rankbench.language import render, say
from rankbench.model import Case, Comparison
from rankbench.model.verdicts import is_informative
from rankbench.plots import axes, captions, forms, palette
from rankbench.plots import marks as plots_marks
from rankbench.plots.chart import Chart, Row
from rankbench.quantities import format_ratio, format_size

TITLE = "Ratios"
HELP = (
    "Time, or memory, over that of the plan's first candidate, paired within blocks: above 1 is worse. Hollow: not "
    "distinguishable. The grey strip is the practical threshold."
)
SCOPE = "line"


def chart(view: CampaignView) -> Chart | None:
    """Draw one operation over message sizes."""
    base = view.candidates[0]
    sizes = sorted({case.size_bytes for case in view.cases})
    rows = [
        make_row(case, comparison, sizes)
        for case in view.cases
        for comparison in view.comparisons_of.get(view.key(case), ())
        if comparison.base == base
    ]
    if not rows:
        return None
    memory = view.measure(view.cases[0]).kind == "memory"
    return Chart(
        make_form(palette.paint(view), tuple(sizes), memory=memory, strip=view.campaign.plan.threshold > 0),
        heading(view.line_name(), base, memory=memory),
        captions.describe_conditions(view, render(say("{percent:g}% intervals", percent=100 * statistics.CONFIDENCE))),
        {"ratios": rows, "one": [threshold(view)]},
    )


def heading(line: str, base: str, *, memory: bool) -> str:
    """Return the title: what is compared with what."""
    if memory:
        return f"{line}: memory relative to {base}"
    return f"{line}: time relative to {base}"


def make_row(case: Case, comparison: Comparison, sizes: list[int]) -> Row:
    """Return one ratio. An interval that says nothing, as that of a single block, is not drawn."""
    known = is_informative(comparison.low, comparison.high)
    low, high = (comparison.low, comparison.high) if known else (comparison.ratio, comparison.ratio)
    return {
        "key": case.key,
        "candidate": comparison.other,
        "size": format_size(case.size_bytes),
        "position": axes.size_position(case.size_bytes, sizes),
        "value": plots_marks.shorten(comparison.ratio),
        "low": plots_marks.shorten(low),
        "high": plots_marks.shorten(high),
        "different": comparison.different,
        "ratio": f"{format_ratio(comparison.ratio)}{'' if comparison.different else ' ~'}",
        "interval": f"{format_ratio(low)} to {format_ratio(high)}" if known else "unknown",
        "blocks": str(comparison.blocks),
        "adjusted p": f"{comparison.p_adjusted:.2g}",
    }


def threshold(view: CampaignView) -> Row:
    """Return the line of equality and the strip of differences below the threshold."""
    high = 1 + view.campaign.plan.threshold
    return {"one": 1, "low": 1 / high, "high": high}


@functools.lru_cache
def make_form(candidates: tuple[str, ...], sizes: tuple[int, ...], *, memory: bool, strip: bool) -> Row:
    """Return line, interval and point of every candidate, on the line of equality and the strip around it."""
    source = alt.Chart(forms.data("one"))
    ground = [source.mark_rect(color="#888888", opacity=0.18).encode(y="low:Q", y2="high:Q")] if strip else []
    ground.append(source.mark_rule(strokeDash=[4, 3], color="#888888").encode(y="one:Q"))
    return forms.make_form([*ground, *draw_marks(candidates, sizes, memory=memory)], 240)


def draw_marks(candidates: tuple[str, ...], sizes: tuple[int, ...], *, memory: bool) -> list[alt.Chart]:
    """Return line, interval and point of every candidate; hollow points are not distinguishable from the base."""
    base = candidates[0]
    title = f"memory / memory of {base}" if memory else f"time / time of {base}"
    axis = axes.log_axis(title, axes.RATIO_LABEL)
    y = alt.Y("value:Q", scale=alt.Scale(type="log", nice=False, padding=12), axis=axis)
    chart = alt.Chart(forms.data("ratios")).encode(
        x=axes.size_x(list(sizes)),
        color=palette.colour(candidates),
        tooltip=forms.tooltips("candidate", "size", "ratio", "interval", "blocks", "adjusted p"),
    )
    line = chart.mark_line(strokeOpacity=0.5).encode(y=y, strokeDash=palette.dash(candidates))
    interval = chart.mark_rule(strokeWidth=2).encode(y=alt.Y("low:Q"), y2="high:Q")
    point = chart.mark_point(size=70, opacity=1, cursor="pointer").encode(
        y=y,
        shape=palette.choose_shapes(candidates),
        fillOpacity=alt.condition("datum.different", alt.value(1), alt.value(0)),
        fill=alt.Fill("candidate:N", scale=palette.colours(candidates), title=None),
    )
    return [line, interval, point]
