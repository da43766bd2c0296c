"""Colours, shapes and dashes, by which series differ; readable without colours."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import altair as alt

from rankbench.analysis.questions.view import CampaignView
from rankbench.libraries.families import list_families
from rankbench.model import Campaign
from rankbench.plots.forms import WIDTH

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8050EC")
"""Colour-blind safe: Okabe and Ito (2008), less the two that vanish on white or on black, and a violet."""
PLACE_COLOURS = ("#4477aa", "#ee6677", "#228833", "#aa3377", "#ccbb44", "#66ccee", "#8050ec")
"""Of what is no candidate: Tol's bright scheme, distinguished by everyone, with a violet for its grey."""
LETTER = 5.8
"""Width of a letter of words and legends, in pixels."""
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "stroke")
DASHES = ([1, 0], [7, 3], [2, 2], [9, 3, 2, 3], [4, 2], [1, 3], [12, 4])


SHADES = (("#ffffff", 0.0), ("#ffffff", 0.35), ("#000000", 0.4))
"""What the colour of a family is mixed with for its first library or settings, the second and the third."""


class Names(tuple[str, ...]):
    """Names of candidates that know their colours. Equal ones have equal colours, since forms are kept by them."""

    colours: tuple[str, ...]

    def __new__(cls, colours: Mapping[str, str]) -> Names:
        """Make them of the colour of each name."""
        names = super().__new__(cls, colours)
        names.colours = tuple(colours.values())
        return names

    def __eq__(self, other: object) -> bool:
        """Return whether names and colours are equal."""
        return isinstance(other, Names) and tuple(self) == tuple(other) and self.colours == other.colours

    def __ne__(self, other: object) -> bool:
        """Return whether they are not: a tuple would compare the names only."""
        return not self == other

    def __hash__(self) -> int:
        """Return the hash of names and colours."""
        return hash((tuple(self), self.colours))


def paint(view: CampaignView) -> Names:
    """Return the candidates of a campaign with their colours: of their library's family, in shades."""
    families = find_families(view.campaign)
    return Names(choose_colours({name: families[name] for name in view.candidates}))


def find_families(campaign: Campaign) -> dict[str, str]:
    """Return by candidate its library's family, or the name of a library that is of no known one."""
    family = {library.name: library.family for library in campaign.libraries if library.family in list_families()}
    return {candidate.name: family.get(candidate.library, candidate.library) for candidate in campaign.candidates}


def choose_colours(families: Mapping[str, str]) -> dict[str, str]:
    """Return the colour of each candidate, given its family or, where it has none, the name of its library.

    A family has the same colour in every report, but for a shade beside the one that it derives from. Others get
    colours that no family has, as far as there are any.
    """
    fixed = {name: family.colour for name, family in list_families().items()}
    used = {fixed[family] for family in families.values() if family in fixed}
    free = sorted((colour for colour in COLOURS if colour not in used), key=lambda colour: colour in fixed.values())
    others = [family for family in dict.fromkeys(families.values()) if family not in fixed]
    base = fixed | dict(zip(others, repeat_values(free or COLOURS, len(others)), strict=True))
    count: Counter[str] = Counter()
    colours = {}
    for name, family in families.items():
        series = base[family] if family in fixed else family
        colours[name] = _mix_colours(base[family], *SHADES[count[series] % len(SHADES)])
        count[series] += 1
    return colours


def _mix_colours(colour: str, other: str, share: float) -> str:
    channels = [(int(colour[at : at + 2], 16), int(other[at : at + 2], 16)) for at in (1, 3, 5)]
    return "#" + "".join(f"{round(channel + share * (mixed - channel)):02X}" for channel, mixed in channels)


def repeat_values(values: Iterable[Any], count: int) -> list[Any]:
    """Return `count` values, repeated from the start where they run out."""
    return list(itertools.islice(itertools.cycle(values), count))


def colours(candidates: Sequence[str]) -> alt.Scale:
    """Return the colour of every candidate, the same in every plot; of names without colours by their position."""
    painted = candidates.colours if isinstance(candidates, Names) else COLOURS
    return alt.Scale(domain=list(candidates), range=repeat_values(painted, len(candidates)))


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
