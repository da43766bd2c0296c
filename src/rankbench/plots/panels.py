"""Panels side by side in one view, with one vertical axis."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import altair as alt

from rankbench.analysis.questions.measures import Measure
from rankbench.plots.axes import value_axis
from rankbench.plots.chart import Row
from rankbench.plots.forms import add_tooltips, data, tooltips
from rankbench.plots.palette import DASHES, SHAPES, columns, repeat_values

PANEL_HEIGHT, PANEL_WIDTH = 320, 190
"""Height of panels, and the least width of one, in pixels."""
MARGIN, SHARE = 0.6, 0.085
"""Space on either side of a panel's lines: the least in doublings, and as a share of their span."""


class Panels(NamedTuple):
    """Panels with one vertical axis, each with the same values along a logarithmic axis; positions are doublings."""

    heads: tuple[str, ...]
    values: tuple[float, ...]
    """In rising order."""

    @property
    def margin(self) -> float:
        """Return the space on either side of a panel's lines, in doublings: labels of its ends need it."""
        return max(MARGIN, SHARE * math.log2(self.values[-1] / self.values[0]))

    def x(self, value: float, panel: int) -> float:
        """Return the position of a value in a panel, from the left end of the first panel."""
        first, middle, last = (math.log2(size) for size in (self.values[0], value, self.values[-1]))
        return round(panel * (last - first + 2 * self.margin) + self.margin + middle - first, 3)

    @property
    def end(self) -> float:
        """Return the right end of the last panel."""
        return self.x(self.values[-1], len(self.heads) - 1) + self.margin

    @property
    def lines(self) -> int:
        """Return the lines that the heads take."""
        return max(len(head.split("\n")) for head in self.heads)

    def rows(self) -> list[Row]:
        """Return the heads, and the lines between panels."""
        first, last = self.values[0], self.values[-1]
        return [
            {
                "head": head,
                "x": (self.x(first, panel) + self.x(last, panel)) / 2,
                "border": round(self.x(first, panel) - self.margin, 3),
            }
            for panel, head in enumerate(self.heads)
        ]

    def axis(self, title: str, words: Iterable[str]) -> alt.X:
        """Return the axis with a tick at every value that has a word, in every panel."""
        labelled = [(value, text) for value, text in zip(self.values, words, strict=True) if text]
        ticks = {self.x(value, panel): text for panel in range(len(self.heads)) for value, text in labelled}
        named = {f"{at:.3f}": text for at, text in ticks.items()}
        label = f"{json.dumps(named)}[format(datum.value, '.3f')] || ''"
        axis = alt.Axis(title=title, values=list(ticks), labelExpr=label, labelOverlap=False, grid=False)
        axis.tickCount = 2 * len(ticks)  # Of more values than this Vega would leave some out.
        return alt.X("x:Q", scale=alt.Scale(domain=[0, self.end], nice=False), axis=axis)

    def around(self) -> list[alt.Chart]:
        """Return the heads above the panels, and lines between these."""
        heads = alt.Chart(data("heads"))
        words = heads.mark_text(fontWeight="bold", fontSize=12, baseline="bottom", lineBreak="\n", aria=False)
        above = alt.value(-4 - 15 * (self.lines - 1))
        between = heads.transform_filter("datum.border > 0").mark_rule(color="#888888", strokeDash=[2, 3])
        return [words.encode(x="x:Q", y=above, text="head:N"), between.encode(x="border:Q")]


def draw_panels(panels: Panels, x: alt.X, series: Series, measure: Measure, texts: Sequence[str]) -> list[alt.Chart]:
    """Return a line with its interval and its points for each of the series in each panel, heads, and failures.

    Points have `value`, `low`, `high` and `part`: a line ends where the part does. Failures are at the foot.
    """
    points = add_tooltips(alt.Chart(data("points")), measure.kind)
    base = points.encode(x=x, color=alt.Color(**series.by(series.colours)), detail="part:N", tooltip=tooltips(*texts))
    scale = alt.Scale(type="log", nice=False, padding=12)
    low = alt.Y("low:Q", scale=scale, axis=value_axis(measure))
    value = alt.Y("value:Q", scale=scale)
    band = base.mark_area(opacity=0.2).encode(y=low, y2="high:Q")
    line = base.mark_line(strokeWidth=2).encode(y=value, strokeDash=alt.StrokeDash(**series.by(DASHES)))
    point = base.mark_point(size=40, filled=True, opacity=1, cursor="pointer").encode(
        y=value, shape=alt.Shape(**series.by(SHAPES))
    )
    return [band, line, point, *panels.around()]


def draw_failures(x: alt.X, series: Series) -> list[alt.Chart]:
    """Return a cross for each place where a candidate failed, below all values, and in words what it did."""
    colour = alt.Color(**series.by(series.colours))
    y = alt.Y("value:Q", scale=alt.Scale(type="log", nice=False, padding=12))
    base = alt.Chart(data("foot")).encode(x=x, y=y, color=colour, tooltip=tooltips("candidate", "place", "fate"))
    cross = base.mark_text(text="\N{MULTIPLICATION SIGN}", fontSize=17, fontWeight="bold", cursor="pointer")
    left_text = base.transform_filter("datum.side === 'left'").mark_text(align="right", dx=-9, fontSize=11, aria=False)
    right = base.transform_filter("datum.side === 'right'").mark_text(align="left", dx=9, fontSize=11, aria=False)
    return [cross, left_text.encode(text="words:N"), right.encode(text="words:N")]


class Series(NamedTuple):
    """What the lines of a panel are: a field, its values and their colours."""

    field: str
    names: tuple[str, ...]
    colours: tuple[str, ...]
    offset: int = 30

    def by(self, values: Sequence[Any]) -> dict[str, Any]:
        """Return how the series are distinguished, by colour, dash or shape."""
        scale = alt.Scale(domain=list(self.names), range=repeat_values(values, len(self.names)))
        legend = alt.Legend(
            orient="top", symbolOpacity=1, symbolStrokeWidth=0, offset=self.offset, columns=columns(self.names)
        )
        return {"shorthand": f"{self.field}:N", "title": None, "scale": scale, "legend": legend}
