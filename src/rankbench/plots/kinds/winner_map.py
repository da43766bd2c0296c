"""The winner map: who is fastest for each operation and message size, and by how much."""

from __future__ import annotations

import json
import math

import altair as alt

from rankbench.analysis.questions.view import CampaignView
from rankbench.model import CaseVerdict
from rankbench.plots import captions, forms, palette, winner_cells
from rankbench.plots.chart import Chart, Row
from rankbench.plots.winner_cells import Half
from rankbench.quantities import format_ratio

TITLE = "Winner map"
HELP = (
    "Letter and colour: the fastest candidate (of memory: that which needs least). Number and strength of colour: the "
    "ratio of the next one to it. Grey: not distinguishable. White, hatched: equivalent."
)
SCOPE = "placement"
WIDTH_OF_LETTER = 6.2
GAP = 0.03
"""Around each cell, as a share of its width."""
UNKNOWN, PLAIN = "~", "plain"
GREY, INK = "#b8b8b8", "#111111"
WINS = "wins"


def chart(view: CampaignView) -> Chart | None:
    """Draw one placement: operations downwards, message sizes to the right, and at the edges the winners' totals."""
    verdicts = winner_cells.list_shown(view)
    if not verdicts:
        return None
    letters = captions.make_initials(view.candidates)
    lines = list(dict.fromkeys(winner_cells.name_row(verdict, view) for verdict in verdicts))
    by_size = sorted(verdicts, key=lambda verdict: order_size(verdict, view))
    sizes = list(dict.fromkeys(view.size_text(verdict.case) for verdict in by_size))
    placed = [
        (verdict, sizes.index(view.size_text(verdict.case)), lines.index(winner_cells.name_row(verdict, view)))
        for verdict in verdicts
    ]
    sets: dict[str, list[Row]] = {"cells": [], "fills": [], "hatches": [], "words": []}
    for verdict, column, row in placed:
        add_cell(sets, view, verdict, (column, row))
    totals = count_totals(placed, letters)
    sets["words"] += totals
    height, width = measure_labels(lines)
    signs = ", ".join(f"{sign}  {meaning}" for sign, meaning in winner_cells.explain_signs(verdicts).items())
    layers = draw(fill(view, letters, signs), lines, sizes, WINS if totals else "")
    form = forms.make_form(layers, height * (len(lines) + 1), width + 42 * (len(sizes) + 1))
    return Chart(form, *winner_cells.headings(view, verdicts), sets)


def order_size(verdict: CaseVerdict, view: CampaignView) -> float:
    """Return where a case's column is among the others: cases without a size come last, as in the page."""
    return verdict.case.size_bytes if view.operation(verdict.case).sized else math.inf


def add_cell(sets: dict[str, list[Row]], view: CampaignView, verdict: CaseVerdict, place: tuple[int, int]) -> None:
    """Add the ground, the fills and the words of one case to the data sets."""
    (x, y), letters = place, captions.make_initials(view.candidates)
    name, winner = view.case_name(verdict.case), winner_cells.describe_cell(verdict)
    box = {"x": x + GAP, "x2": x + 1 - GAP, "y": y + GAP, "y2": y + 1 - GAP}
    halves = winner_cells.list_halves(verdict)
    texts = {"key": verdict.case.key, "case": name, "winner": winner, "said": f"{name}: {winner}"}
    row = {"line": winner_cells.name_row(verdict, view), "size": view.size_text(verdict.case)}
    sets["cells"].append({**texts, **row, **box, "split": len(halves) > 1})
    for number, half in enumerate(halves):
        corner = number if len(halves) > 1 else None
        sets["fills"] += [{"part": f"{verdict.case.key} {number}", **row} for row in shape(half, box, corner)]
        sets["hatches"] += hatch(box, corner) if half.sign == "=" else []
        sets["words"] += list(write(half, letters, place, corner))


def shape(half: Half, box: dict[str, float], corner: int | None) -> list[Row]:
    """Return the two ends of an area: a whole cell, or its half above (0) or below (1) the diagonal."""
    filled = half.winner or (UNKNOWN if half.sign == "~" else PLAIN)
    look = {"fill": filled, "strength": winner_cells.scale_ratio(half.margin) if half.winner else 1}
    first = {"top": box["y2"] if corner == 1 else box["y"], "bottom": box["y2"]}
    last = {"top": box["y"], "bottom": box["y"] if corner == 0 else box["y2"]}
    return [] if filled == PLAIN else [{**look, "x": box["x"], **first}, {**look, "x": box["x2"], **last}]


def hatch(box: dict[str, float], corner: int | None) -> list[Row]:
    """Return thin lines that mark a cell, or its half, as equivalent: parallel to the diagonal that divides cells."""
    width, height = box["x2"] - box["x"], box["y2"] - box["y"]
    rows = []
    for share in (0.4, 0.8) if corner == 0 else (1.2, 1.6) if corner == 1 else (0.4, 0.8, 1.2, 1.6):
        near, far = max(0.0, share - 1), min(1.0, share)
        ends = {"x": box["x"] + near * width, "x2": box["x"] + far * width}
        rows.append({**ends, "y": box["y"] + far * height, "y2": box["y"] + near * height})
    return rows


def write(half: Half, letters: dict[str, str], place: tuple[int, int], corner: int | None) -> list[Row]:
    """Return the letters of a cell, and its ratio below them; those of halves are in their corners."""
    (x, y), mark = place, half.write(letters)
    if corner is not None:
        off = 0.28 if corner == 0 else 0.72
        return [{"x": x + off, "y": y + off, "text": mark, "size": 11}]
    if not half.winner or half.margin <= 1:
        return [{"x": x + 0.5, "y": y + 0.5, "text": mark, "size": 12}]
    return [
        {"x": x + 0.5, "y": y + 0.32, "text": mark, "size": 12},
        {"x": x + 0.5, "y": y + 0.7, "text": format_ratio(half.margin), "size": 11},
    ]


def count_totals(placed: list[tuple[CaseVerdict, int, int]], letters: dict[str, str]) -> list[Row]:
    """Return how many cases each candidate wins in each row and each column."""
    columns, rows = (1 + max(numbers) for numbers in zip(*((column, row) for _, column, row in placed), strict=True))
    totals = [
        {"x": columns + 0.5, "y": row + 0.5, "text": winner_cells.count_wins(part, letters)}
        for row in range(rows)
        if (part := [verdict for verdict, _, line in placed if line == row])
    ] + [
        {"x": column + 0.5, "y": rows + 0.5, "text": winner_cells.count_wins(part, letters).replace(", ", "\n")}
        for column in range(columns)
        if (part := [verdict for verdict, at, _ in placed if at == column])
    ]
    return [{**total, "size": 10} for total in totals if total["text"]]


def measure_labels(lines: list[str]) -> tuple[int, int]:
    """Return how high a row must be for the labels of all rows, and how wide they are, in pixels."""
    parts = [line.split("\n") for line in lines]
    widest = max(len(part) for each in parts for part in each)
    return max(36, 10 + 13 * max(map(len, parts))), max(140, round(WIDTH_OF_LETTER * widest))


def draw(colour: alt.Color, lines: list[str], sizes: list[str], edge: str) -> list[alt.Chart]:
    """Return white ground, tint and words: the tint is the same on a light and on a dark page.

    `edge`: the heading of the last row and column.
    """
    x = name_places([*sizes, edge], alt.Axis(title="message size", orient="top", labelAngle=0))
    y = name_places([*lines, edge], alt.Axis(title=None, labelLimit=0))
    across = alt.X("x:Q", scale=alt.Scale(domain=[0, len(sizes) + 1], nice=False), axis=x)
    down = alt.Scale(domain=[len(lines) + 1, 0], nice=False)
    cells = alt.Chart(forms.data("cells")).encode(
        x=across, x2="x2:Q", y=alt.Y("y:Q", scale=down, axis=y), y2="y2:Q",
        tooltip=forms.tooltips("case", "winner"), description=alt.Description("said:N"),
    )  # fmt: skip
    fills = alt.Chart(forms.data("fills")).mark_area(aria=False).encode(
        x=across, y=alt.Y("top:Q", scale=down), y2="bottom:Q", detail="part:N", color=colour,
        opacity=alt.Opacity("strength:Q", scale=alt.Scale(domain=[0, 1], range=[0.22, 0.78]), legend=None),
    )  # fmt: skip
    hatches = alt.Chart(forms.data("hatches")).mark_rule(color="#999999", strokeWidth=1, aria=False)
    diagonal = alt.Chart(forms.data("cells")).transform_filter("datum.split").mark_rule(color="#ffffff", aria=False)
    lined = [
        layer.encode(x=across, x2="x2:Q", y=alt.Y(first, scale=down), y2=last)
        for layer, first, last in ((hatches, "y:Q", "y2:Q"), (diagonal, "y2:Q", "y:Q"))
    ]
    words = alt.Chart(forms.data("words")).mark_text(baseline="middle", lineBreak="\n", aria=False)
    text = words.encode(
        x=across, y=alt.Y("y:Q", scale=down), text="text:N", size=alt.Size("size:Q", scale=None),
        color=alt.condition("datum.size > 10", alt.value(INK), alt.value("#777777")),
    )  # fmt: skip
    return [cells.mark_rect(fill="#ffffff", stroke="#bbbbbb", strokeWidth=0.5), fills, *lined, text]


def name_places(names: list[str], axis: alt.Axis) -> alt.Axis:
    """Return an axis with a name in the middle of each place."""
    parts = f"split({json.dumps(names)}[floor(datum.value)], '\\n')"
    axis.values = [place + 0.5 for place in range(len(names))]
    axis.labelExpr = parts
    axis.labelOverlap = False
    axis.grid = axis.domain = axis.ticks = False
    axis.tickCount = 2 * len(names)  # Of more values than this Vega would leave some out.
    return axis


def fill(view: CampaignView, letters: dict[str, str], signs: str) -> alt.Color:
    """Return the candidates' colours with a grey for what is not distinguishable, and a legend that explains all."""
    labels = {name: f"{letters[name]}  {name}" for name in view.candidates} | {UNKNOWN: signs}
    words = f"{json.dumps(labels)}[datum.value]"
    legend = alt.Legend(
        orient="top", labelExpr=words, labelLimit=0, symbolOpacity=1, columns=palette.columns(labels.values())
    )
    scale = alt.Scale(domain=[*view.candidates, UNKNOWN], range=[*palette.paint(view).colours, GREY])
    return alt.Color("fill:N", title=None, scale=scale, legend=legend)
