"""The map: what it takes from each rank to each other, in the order of the machine, for every candidate."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt

from rankbench.analysis.questions import case_labels, maps
from rankbench.analysis.questions.maps import Map
from rankbench.analysis.questions.measures import Measure
from rankbench.analysis.questions.places import CACHES, HOST, Level, Places
from rankbench.analysis.questions.view import CampaignView
from rankbench.language import render, say
from rankbench.model import Case, Summary
from rankbench.plots import captions, forms, marks
from rankbench.plots.chart import Chart, Row

TITLE = "Between pairs of ranks"
HELP = (
    "Each cell is what was measured from the rank on the left to the rank above it; ranks stand as the machine has "
    "them, hosts, sockets and shared caches marked along the axes and divided by lines. All candidates share one "
    "scale of colours: the darker, the worse. A red frame: a pair that is not like the others that share the same."
)
SCOPE = "matrix"
MOST_WORDS = 12
"""Ranks up to which a cell has room for its value."""
ROOMY = (26, 58)
"""Height and least width of a cell with its value, in pixels."""
NARROW = ((24, 18), (40, 13), (72, 9), (136, 6))
"""Ranks up to which a cell without its value is so high and at least so wide."""
SMALLEST = 4
LETTER = 6.2
"""Width of a letter, in pixels."""
CORNER = 66
HEAD, STRIP, LABELS, GAP = 24, 16, 14, 12
"""Heights of a candidate's name, of the marks of one level, of the ranks' numbers, and below a map, in pixels."""
DARK = 0.45
"""The shade from which on white is read better than black."""
PALETTE = ("#fde725", "#90d743", "#35b779", "#21918c", "#31688e", "#443983", "#440154")
"""Viridis, the good end first: it is distinguished by everyone, on white and on black."""
ODD = "#ff3b30"


@dataclasses.dataclass(frozen=True)
class Frame:
    """Positions: columns are numbered from 0, heights are pixels from the top."""

    ranks: list[int]
    """In the order of the axis."""
    places: Places
    candidates: list[str]

    @property
    def levels(self) -> list[Level]:
        """Return what is marked, the largest first."""
        return self.places.levels

    @property
    def roomy(self) -> bool:
        """Return whether cells have room for their values."""
        return len(self.ranks) <= MOST_WORDS

    @property
    def cell(self) -> tuple[int, int]:
        """Return height and least width of a cell."""
        count = len(self.ranks)
        side = next((side for most, side in NARROW if count <= most), SMALLEST)
        return ROOMY if self.roomy else (side, side)

    @property
    def usual_width(self) -> float:
        """Return how wide a cell is unless a page changes it."""
        return max(self.cell[1], (forms.WIDTH - self.left_space) / len(self.ranks))

    @property
    def left_space(self) -> float:
        """Return the space on the left, in pixels: of marks and of ranks' numbers, or of the words above these."""
        return max(CORNER, STRIP * len(self.levels) + 8 + LETTER * len(str(max(self.ranks))))

    @property
    def margin(self) -> float:
        """Return the space on the left, in columns."""
        return self.left_space / self.usual_width

    @property
    def above(self) -> int:
        """Return the heading of a candidate's cells."""
        return HEAD + STRIP * len(self.levels) + LABELS

    def top(self, candidate: str) -> int:
        """Return where the cells of a candidate begin."""
        block = self.above + self.cell[0] * len(self.ranks) + GAP
        return self.candidates.index(candidate) * block + self.above

    @property
    def height(self) -> int:
        """Return the height of everything."""
        return len(self.candidates) * (self.above + self.cell[0] * len(self.ranks) + GAP)


def chart(view: CampaignView) -> Chart | None:
    """Draw one operation in one size between all pairs of ranks, candidates one below the other."""
    case, operation = view.cases[0], view.operation(view.cases[0])
    values = list(view.list_shown_summaries())
    if case.key not in view.pair_cases or not values:
        return None
    measure = view.measure(case)
    shown = [name for name in view.candidates if any(summary.candidate == name for _, summary in values)]
    frame = make_frame(view, shown)
    return Chart(
        make_form(frame, make_shades(measure, [summary.typical_ns for _, summary in values])),
        f"{case_labels.name_case(case_labels.drop_ends(case), operation)}: {measure.heading} between pairs of ranks",
        captions.describe_conditions(view) + describe_order(frame),
        {
            "cells": list_rows(view, values, frame),
            "words": list(list_words(frame)),
            "brackets": list(draw_brackets(frame)),
            "lines": list(draw_lines(frame)),
        },
    )


def make_frame(view: CampaignView, shown: list[str]) -> Frame:
    """Return the frame of a matrix: ranks in the order of the machine where all launches agree on it."""
    ranks = {rank for case in view.cases for rank in case_labels.find_ends(case, view.operation(case))}
    placement = view.cases[0].placement
    launches = [launch for launch in view.launches if launch.placement == placement and launch.candidate in shown]
    return Frame(*maps.order_ranks(ranks, launches, view.campaign.machine), shown)


def describe_order(frame: Frame) -> str:
    """Return the order of ranks, if it is not that of the machine."""
    if frame.places.disputed:
        who = maps.name_ranks(frame.places.disputed)
        return f"; ranks in their own order, since launches placed {render(who)} differently"
    return "" if frame.levels else "; ranks in their own order"


# --- cells ------------------------------------------------------------------------------------------------------------


def list_rows(view: CampaignView, values: list[tuple[Case, Summary]], frame: Frame) -> list[Row]:
    """Return one cell per pair of ranks and candidate; `shade` is 0 for the best value and 1 for the worst."""
    logs = [math.log(max(summary.typical_ns, 1e-3)) for _, summary in values]
    low, span = min(logs), (max(logs) - min(logs)) or 1
    by_candidate = {entry.candidate: entry for entry in view.maps if entry.case == case_labels.drop_ends(view.cases[0])}
    column = {rank: number for number, rank in enumerate(frame.ranks)}
    rows = []
    for (case, summary), log in zip(values, logs, strict=True):
        operation, own_map = view.operation(case), by_candidate[summary.candidate]
        pair = case_labels.find_ends(case, operation)
        ways = maps.add_way_back({pair: case}, operation) if pair[::-1] not in own_map.cases else [pair]
        shaded = cell(view, case, summary, own_map, pair) | {"shade": round((log - low) / span, 2)}
        for first, second in ways:
            at = {"x": column[second], "y": frame.top(summary.candidate) + frame.cell[0] * column[first]}
            rows.append(shaded | at)
    return rows


def cell(view: CampaignView, case: Case, summary: Summary, pair_map: Map, pair: tuple[int, int]) -> Row:
    """Return one cell without its position."""
    first, second = pair
    measure = view.measure(case)
    return {
        "key": case.key,
        "pair": f"from {first} to {second}",
        "seats": f"{pair_map.places.describe_location(first)} to {pair_map.places.describe_location(second)}",
        "share": render(pair_map.between(pair)) or "not known",
        "group": f"{pair_map.group[pair]} of {len(pair_map.groups)}" if pair in pair_map.group else "not known",
        "odd": pair in pair_map.odd,
        "value": marks.shorten(measure.value(summary.typical_ns)),
        "text": measure.text(summary.typical_ns),
        **marks.format_values(summary, measure),
    }


# --- headings and lines -----------------------------------------------------------------------------------------------


def list_words(frame: Frame) -> Iterator[Row]:
    """Yield candidates' names, the numbers of ranks as far as there is room, and the names of hosts and sockets."""
    height, _ = frame.cell
    for name in frame.candidates:
        top = frame.top(name)
        yield make_word(name, -frame.margin, top - frame.above + HEAD / 2, "head")
        yield make_word("from ↓ to →", -4 / frame.usual_width, top - LABELS / 2, "right")
        for number in choose_labels(frame, frame.usual_width, LETTER * len(str(max(frame.ranks))) + 6):
            yield make_word(str(frame.ranks[number]), number + 0.5, top - LABELS / 2, "middle")
        for number in choose_labels(frame, height, 11):
            yield make_word(str(frame.ranks[number]), -4 / frame.usual_width, top + height * (number + 0.5), "right")
        for depth, first, last in list_spans(frame):
            middle = (first + last) / 2
            across = choose_label(frame, depth, first, frame.usual_width * (last - first))
            down = choose_label(frame, depth, first, height * (last - first))
            yield make_word(across, middle, top - LABELS - STRIP * (len(frame.levels) - depth) + 5, "middle")
            yield make_word(down, find_side(frame, depth) + 6 / frame.usual_width, top + height * middle, "down")


def make_word(text: str, x: float, y: float, kind: str) -> Row:
    """Return a text with its middle, or its right end."""
    return {"text": text, "x": round(x, 3), "y": round(y, 1), "kind": kind}


def choose_labels(frame: Frame, room: float, wanted: float) -> Sequence[int]:
    """Return which columns are labelled, where each has so much room and a label wants more or less."""
    return range(0, len(frame.ranks), next(step for step in (1, 2, 4, 8, 16, 32, 64, 1024) if step * room >= wanted))


def list_spans(frame: Frame) -> Iterator[tuple[int, int, int]]:
    """Yield every part of every level: the level's number, its first column and the one after its last."""
    for depth, level in enumerate(frame.levels):
        columns = itertools.groupby(range(len(frame.ranks)), key=lambda number: level.units[frame.ranks[number]])
        for _, part in columns:
            numbers = list(part)
            yield depth, numbers[0], numbers[-1] + 1


def choose_label(frame: Frame, depth: int, first: int, room: float) -> str:
    """Return the longest name of a part that there is room for."""
    level = frame.levels[depth]
    host, number = level.units[frame.ranks[first]]
    kind = level.kinds[0]
    names = [host] if kind == HOST else [kind] if kind in CACHES else [f"{render(say(kind))} {number}", str(number)]
    return next((name for name in names if LETTER * len(name) <= room - 4), "")


def find_side(frame: Frame, depth: int) -> float:
    """Return the left end of a level's strip on the left."""
    return -frame.margin + STRIP * depth / frame.usual_width


def draw_brackets(frame: Frame) -> Iterator[Row]:
    """Yield the strokes that span the columns and the rows of each part."""
    height, width = frame.cell[0], frame.usual_width
    for name, (depth, first, last) in itertools.product(frame.candidates, list_spans(frame)):
        top = frame.top(name)
        above = top - LABELS - STRIP * (len(frame.levels) - depth) + STRIP - 4
        yield make_stroke(first + 2 / width, above, last - 2 / width, above, 1)
        strip_x = find_side(frame, depth) + (STRIP - 2) / width
        yield make_stroke(strip_x, top + height * first + 2, strip_x, top + height * last - 2, 1)


def draw_lines(frame: Frame) -> Iterator[Row]:
    """Yield the lines between parts, across the whole map; the larger the parts the wider."""
    height, count = frame.cell[0], len(frame.ranks)
    drawn = [(first, len(frame.levels) - depth) for depth, first, _ in list_spans(frame) if first]
    widest = {first: max(width for at, width in drawn if at == first) for first, _ in drawn}
    for name, (first, width) in itertools.product(frame.candidates, widest.items()):
        top = frame.top(name)
        yield make_stroke(first, top, first, top + height * count, width)
        yield make_stroke(0, top + height * first, count, top + height * first, width)


def make_stroke(x: float, y: float, x2: float, y2: float, width: int) -> Row:
    """Return a line from one point to another."""
    return {"x": round(x, 3), "y": round(y, 1), "x2": round(x2, 3), "y2": round(y2, 1), "width": width}


# --- form -------------------------------------------------------------------------------------------------------------


def make_form(frame: Frame, colour: alt.Color) -> Row:
    """Return cells, with values where there is room, lines between them, and marks and words around them."""
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[-frame.margin, len(frame.ranks)], nice=False, zero=False))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[frame.height, 0], nice=False, zero=False))
    least_width = (frame.margin + len(frame.ranks)) * frame.cell[1]
    tint, *over = cells(frame, x, y, colour)
    layers = [tint, *draw_strokes(x, y), *over, *draw_texts(x, y)]
    return forms.make_form(layers, frame.height, round(least_width))


def cells(frame: Frame, x: alt.X, y: alt.Y, colour: alt.Color) -> list[alt.Chart]:
    """Return cells with frames of those that do not fit, and values."""
    height = frame.cell[0]
    gap = 1 if height > 12 else 0.5 if height > 8 else 0
    base = alt.Chart(forms.data("cells")).encode(
        tooltip=forms.tooltips(
            "candidate", "pair", "seats", "share", "typical", "interval", "group", "launches", "samples"
        )
    )
    ends = {"x2": f"datum.x + {1 - gap / frame.usual_width:.3f}", "y2": f"datum.y + {height - gap}"}
    boxes = base.transform_calculate(**ends).encode(x=x, y=y, x2="x2:Q", y2="y2:Q")
    tint = boxes.mark_rect(cursor="pointer").encode(color=colour)
    odd = boxes.transform_filter("datum.odd").mark_rect(filled=False, stroke=ODD, strokeWidth=2, cursor="pointer")
    if not frame.roomy:
        return [tint, odd]
    middle = base.transform_calculate(middle="datum.x + 0.5", centre=f"datum.y + {height / 2}")
    ink = alt.condition(f"datum.shade > {DARK}", alt.value("#ffffff"), alt.value("#111111"))
    values = middle.mark_text(fontSize=11, cursor="pointer", aria=False).encode(
        x=alt.X("middle:Q", axis=None), y=alt.Y("centre:Q", axis=None), text="text:N", color=ink
    )
    return [tint, odd, values]


def draw_strokes(x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """Return lines between parts, with a seam that is seen on dark cells and on light ones, and brackets."""
    width = alt.StrokeWidth("width:Q", scale=None, legend=None)
    between = alt.Chart(forms.data("lines")).encode(x=x, y=y, x2="x2:Q", y2="y2:Q")
    seam = between.transform_calculate(seam="datum.width + 1.5")
    return [
        seam.mark_rule(color="#ffffff").encode(strokeWidth=alt.StrokeWidth("seam:Q", scale=None, legend=None)),
        between.mark_rule(color="#111111").encode(strokeWidth=width),
        alt.Chart(forms.data("brackets")).mark_rule(color="#888888").encode(x=x, y=y, x2="x2:Q", y2="y2:Q"),
    ]


def draw_texts(x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """Return everything that is written around the cells."""

    def kind(name: str, **mark: Any) -> alt.Chart:
        only = alt.Chart(forms.data("words")).transform_filter(f"datum.kind === '{name}'")
        text: alt.Chart = only.mark_text(aria=False, **mark).encode(x=x, y=y, text="text:N")
        return text

    return [
        kind("head", align="left", fontWeight="bold", fontSize=12),
        kind("middle", fontSize=10),
        kind("right", fontSize=10, align="right"),
        kind("down", fontSize=10, angle=270),
    ]


def make_shades(measure: Measure, values: list[float]) -> alt.Color:
    """Return the colour of values, dark where they are bad, with a legend that names both ends and the middle."""
    scale = alt.Scale(type="log", range=list(PALETTE[::-1] if measure.per_second else PALETTE), nice=False)
    low, high = min(values), max(values)
    ends = {marks.shorten(measure.value(number)): measure.text(number) for number in (low, math.sqrt(low * high), high)}
    label = " : ".join(f"datum.value === {value} ? {json.dumps(text)}" for value, text in ends.items()) + " : ''"
    legend = alt.Legend(orient="top", title=None, values=list(ends), labelExpr=label, gradientLength=240)
    return alt.Color("value:Q", scale=scale, legend=legend)
