"""The winner map: who is fastest for each operation and message size, and by how much."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import altair as alt

from rankbench.language import format_text
from rankbench.plots import captions, forms, palette
from rankbench.plots.chart import Chart
from rankbench.plots.winner_cells import SHARED, cell, explain_signs, headings, list_shown

if TYPE_CHECKING:
    from rankbench.plots.chart import Row
    from rankbench.verdict.view import CampaignView

TITLE = "Winner map"
HELP = (
    "Letter and colour: the fastest candidate (of memory: that which needs least). Number and strength of colour: the "
    "ratio of the next one to it. Grey: no single winner."
)
SCOPE = "placement"
WIDTH_OF_LETTER = 6.2


def chart(view: CampaignView) -> Chart | None:
    """Draw one placement: operations downwards, message sizes to the right."""
    verdicts = list_shown(view)
    if not verdicts:
        return None
    letters = captions.make_initials(view.candidates)
    rows = [cell(verdict, letters, view) for verdict in verdicts]
    sizes = list(dict.fromkeys(row["size"] for row in sorted(rows, key=column_order)))
    lines = list(dict.fromkeys(row["line"] for row in rows))
    height, width = measure_labels(lines)
    signs = ", ".join(f"{sign}  {meaning}" for sign, meaning in explain_signs(verdicts).items())
    drawn = layers(fill(view, letters, signs), lines, sizes)
    form = forms.make_form(drawn, height * len(lines), width + 42 * len(sizes))
    return Chart(form, *headings(view, verdicts), {"cells": rows})


def column_order(row: Row) -> float:
    """Return where a cell's column is among the others: cases without a size come last, as in the page."""
    return float(row["size_bytes"]) if row["size_bytes"] >= 0 else math.inf


def measure_labels(lines: list[str]) -> tuple[int, int]:
    """Return how high a row must be for the labels of all rows, and how wide they are, in pixels."""
    parts = [line.split("\n") for line in lines]
    widest = max(len(part) for each in parts for part in each)
    return max(36, 10 + 13 * max(map(len, parts))), max(140, round(WIDTH_OF_LETTER * widest))


def layers(colour: alt.Color, lines: list[str], sizes: list[str]) -> list[alt.Chart]:
    """Return white ground, tint and words: the tint is the same on a light and on a dark page."""
    bare = alt.Axis(labelAngle=0, grid=False, domain=False, ticks=False)
    parts = "split(datum.label, '\\n')"
    middle = {
        "condition": [{"test": f"length({parts}) === {lines}", "value": -6.5 * (lines - 1)} for lines in (2, 3, 4)],
        "value": 0,
    }
    labels = alt.Axis(labelExpr=parts, labelLimit=0, labelOffset=middle, grid=False, domain=False, ticks=False)
    gaps = alt.Scale(paddingInner=0.05)
    base = alt.Chart(forms.data("cells")).encode(
        x=alt.X("size:N", sort=sizes, title=format_text("message size"), scale=gaps, axis=bare),
        y=alt.Y("line:N", sort=lines, title=None, scale=gaps, axis=labels),
        tooltip=forms.tooltips("case", "winner", "margin"),
    )
    ground = base.mark_rect(fill="#ffffff", aria=False)
    tint = base.mark_rect(cursor="pointer").encode(
        color=colour,
        opacity=alt.Opacity("strength:Q", scale=alt.Scale(domain=[0, 1], range=[0.22, 0.78]), legend=None),
        description=alt.Description("said:N"),
    )
    return [ground, tint, *draw_words(base)]


def draw_words(base: alt.Chart) -> list[alt.Chart]:
    """Return the letter alone in the middle of a cell, or above the margin where there is one."""

    def text(field: str, where: str, dy: int, size: int) -> alt.Chart:
        source = base.transform_filter(where).encode(text=f"{field}:N")
        mark: alt.Chart = source.mark_text(dy=dy, fontSize=size, color="#111111", cursor="pointer", aria=False)
        return mark

    return [
        text("mark", "!datum.decided", 0, 12),
        text("mark", "datum.decided", -7, 12),
        text("margin", "datum.decided", 8, 11),
    ]


def fill(view: CampaignView, letters: dict[str, str], signs: str) -> alt.Color:
    """Return the candidates' colour with a grey for ties, and a legend that explains the letters and the signs."""
    fills = [*view.candidates, SHARED]
    labels = {name: f"{letters[name]}  {name}" for name in view.candidates}
    labels[SHARED] = signs
    words = f"{json.dumps(labels)}[datum.value]"
    legend = alt.Legend(
        orient="top", labelExpr=words, labelLimit=0, symbolOpacity=1, columns=palette.columns(labels.values())
    )
    scale = alt.Scale(domain=fills, range=[*palette.paint(view).colours, "#b8b8b8"])
    return alt.Color("fill:N", title=None, scale=scale, legend=legend)
