"""Placements: the curve of one operation over sizes at every place of its ranks, candidates side by side."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

from rankbench.analysis.questions.measures import Measure
from rankbench.analysis.questions.view import CampaignView
from rankbench.model import Case, Summary
from rankbench.plots import axes, captions, forms, marks, palette
from rankbench.plots import panels as plots_panels
from rankbench.plots.chart import Chart, Row
from rankbench.plots.panels import Panels

TITLE = "Placements"
HELP = (
    "The same operation at several placements: typical value with its interval, one panel for each candidate, all with "
    "one vertical axis."
)
SCOPE = "places"
HEIGHT, PANEL = 300, 220
"""Height of the view, and the least width of a candidate's panel."""
TICKS = 5
"""Labels on a panel's axis, at most."""


def chart(view: CampaignView) -> Chart | None:
    """Draw one operation at all its placements."""
    view = view.showing([case for case in view.cases if case.key not in view.over_nodes])
    texts = {case.placement for case in view.cases}
    names = [placement.name for placement in view.campaign.plan.placements if placement.name in texts]
    values = list(view.list_shown_values())
    plain = not any(case.key in view.pair_cases for case in view.cases)
    if len(names) < 2 or not plain or not values:
        return None
    shown = [name for name in view.candidates if any(summary.candidate == name for *_, summary in values)]
    sizes = sorted({case.size_bytes for case in view.cases})
    measure = marks.drop_moved(view.measure(view.cases[0]))
    side = panels(shown, sizes)
    at = dict(zip(sizes, side.values, strict=True))
    rows = [
        make_row(view, case, level, summary, side.x(at[case.size_bytes], shown.index(summary.candidate)))
        for case, level, summary in values
    ]
    return Chart(
        make_form(tuple(names), side, tuple(make_labels(view, sizes)), measure),
        f"{view.line_name()}: {measure.heading} by placement",
        captions.describe_common(view, [summary for *_, summary in values]),
        {"points": rows, "heads": side.rows()},
    )


def panels(heads: Sequence[str], sizes: Sequence[int]) -> Panels:
    """Return a panel for each candidate, along the sizes."""
    return Panels(tuple(heads), tuple(axes.size_position(size, list(sizes)) for size in sizes))


def make_labels(view: CampaignView, sizes: Sequence[int]) -> list[str]:
    """Return sizes in words; of many only some, evenly, so that they have room."""
    words = {case.size_bytes: view.size_text(case) for case in view.cases}
    step = math.ceil(len(sizes) / TICKS)
    return [words[size] if number % step == 0 else "" for number, size in enumerate(sizes)]


def make_row(view: CampaignView, case: Case, level: str, summary: Summary, position: float) -> Row:
    """Return one point. At two levels of the reference a placement has two lines."""
    return {
        "key": view.key(case),
        "placement": case.placement,
        "part": f"{case.placement} {summary.candidate} {level}",
        "size": view.size_text(case),
        "x": position,
        **marks.make_point(summary, view.measure(case)),
    }


@functools.lru_cache
def make_form(names: tuple[str, ...], panels: Panels, words: tuple[str, ...], measure: Measure) -> Row:
    """Return a panel per candidate with a line, its interval and its points for each placement."""
    series = plots_panels.Series("placement", names, palette.PLACE_COLOURS)
    fields = ("candidate", "placement", "size", "typical", "interval", "launches", "samples")
    layers = plots_panels.draw_panels(panels, panels.axis("message size", words), series, measure, fields)
    return forms.make_form(layers, HEIGHT, 60 + PANEL * len(panels.heads))
