"""Colours, shapes and dashes, by which series differ; readable without colours."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import altair as alt

from rankbench.plots.forms import WIDTH

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8050EC")
"""Colour-blind safe: Okabe and Ito (2008), less the two that vanish on white or on black, and a violet."""
PLACE_COLOURS = ("#4477aa", "#ee6677", "#228833", "#aa3377", "#ccbb44", "#66ccee", "#8050ec")
"""Of what is no candidate: Tol's bright scheme, distinguished by everyone, with a violet for its grey."""
LETTER = 5.8
"""Width of a letter of words and legends, in pixels."""
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "stroke")
DASHES = ([1, 0], [7, 3], [2, 2], [9, 3, 2, 3], [4, 2], [1, 3], [12, 4])


def repeat_values(values: Iterable[Any], count: int) -> list[Any]:
    """Return `count` values, repeated from the start where they run out."""
    return list(itertools.islice(itertools.cycle(values), count))


def colours(candidates: Sequence[str]) -> alt.Scale:
    """Return the colour of every candidate, the same in every plot."""
    return alt.Scale(domain=list(candidates), range=repeat_values(COLOURS, len(candidates)))


def columns(names: Iterable[str]) -> int:
    """Return the number of columns of a legend that fits the view."""
    return max(1, int(WIDTH / (LETTER * max(map(len, names)) + 40)))


def colour(candidates: Sequence[str], *, rows: bool = False) -> alt.Color:
    """Return the encoding of candidates by colour; without a legend where each has a named row of its own."""
    legend = alt.Legend(orient="top", symbolOpacity=1, symbolStrokeWidth=0, columns=columns(candidates))
    return alt.Color("candidate:N", title=None, scale=colours(candidates), legend=None if rows else legend)


def fade_levels() -> dict[str, Any]:
    """Return the encodings of the levels of the reference: a line each, that of far cores fainter."""
    scale = alt.Scale(domain=["near", "far", ""], range=[1, 0.4, 1])
    legend = alt.Legend(orient="top", values=["near", "far"], title="cores")
    return {"opacity": alt.Opacity("cores:N", scale=scale, legend=legend), "detail": alt.Detail("cores:N")}


def choose_shapes(candidates: Sequence[str]) -> alt.Shape:
    """Return the point shape of candidates, so that no reader depends on colour."""
    scale = alt.Scale(domain=list(candidates), range=repeat_values(SHAPES, len(candidates)))
    return alt.Shape("candidate:N", title=None, scale=scale)


def dash(candidates: Sequence[str]) -> alt.StrokeDash:
    """Return the line dash of candidates."""
    scale = alt.Scale(domain=list(candidates), range=repeat_values(DASHES, len(candidates)))
    return alt.StrokeDash("candidate:N", title=None, scale=scale)
