"""Colours: pairs remain distinguishable with protanopia and deuteranopia, on either theme."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from rankbench.libraries.families import list_families
from rankbench.plots import palette as plots_palette

BACKGROUNDS = ("#ffffff", "#15181c")
LEAST_DISTANCE = 12.0
"""Distance in CIE Lab (1976); two colours 2.3 apart can just be distinguished."""
NORMAL = np.eye(3)
PROTANOPIA = np.array(
    [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
)
DEUTERANOPIA = np.array(
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]]
)
"""In linear RGB, at full severity: Machado, Oliveira and Fernandes, 2009."""


def make_linear(colour: str) -> np.ndarray:
    values = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def convert_to_lab(light: np.ndarray) -> np.ndarray:
    """Return linear RGB in CIE Lab under D65."""
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x, y, z = np.cbrt(to_xyz @ np.clip(light, 0, 1) / np.array([0.9505, 1.0, 1.089]))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def measure_distance(first: str, second: str, eyes: np.ndarray) -> float:
    return float(np.linalg.norm(convert_to_lab(eyes @ make_linear(first)) - convert_to_lab(eyes @ make_linear(second))))


@pytest.mark.parametrize("eyes", [NORMAL, PROTANOPIA, DEUTERANOPIA], ids=["normal", "protanopia", "deuteranopia"])
@pytest.mark.parametrize("palette", [plots_palette.COLOURS, plots_palette.PLACE_COLOURS], ids=["candidates", "places"])
def test_every_two_colours_are_distinguishable(palette: tuple[str, ...], eyes: np.ndarray) -> None:
    near = {pair: measure_distance(*pair, eyes) for pair in itertools.combinations(palette, 2)}
    assert {pair: round(apart, 1) for pair, apart in near.items() if apart < LEAST_DISTANCE} == {}


@pytest.mark.parametrize("eyes", [NORMAL, PROTANOPIA, DEUTERANOPIA], ids=["normal", "protanopia", "deuteranopia"])
@pytest.mark.parametrize("paper", BACKGROUNDS)
def test_every_colour_is_visible_on_both_backgrounds(paper: str, eyes: np.ndarray) -> None:
    assert all(
        measure_distance(colour, paper, eyes) > 25 for colour in (*plots_palette.COLOURS, *plots_palette.PLACE_COLOURS)
    )


@pytest.mark.parametrize("eyes", [NORMAL, PROTANOPIA, DEUTERANOPIA], ids=["normal", "protanopia", "deuteranopia"])
def test_shades_of_a_family_are_distinguishable_and_visible(eyes: np.ndarray) -> None:
    for family in list_families():
        names = [f"{family} {number}" for number in range(len(plots_palette.SHADES))]
        shades = list(plots_palette.choose_colours(dict.fromkeys(names, family)).values())
        assert len(set(shades)) == len(names)
        assert all(measure_distance(*pair, eyes) > LEAST_DISTANCE for pair in itertools.combinations(shades, 2))
        assert all(measure_distance(shade, paper, eyes) > 20 for shade in shades for paper in BACKGROUNDS), family


def test_the_colour_of_a_family_depends_on_nothing_else() -> None:
    families = {name: name for name, family in list_families().items() if not family.origin}
    turned = dict(reversed(families.items()))
    colours = plots_palette.choose_colours(families)
    assert plots_palette.choose_colours(turned) == colours
    assert all(plots_palette.choose_colours({"mine": name}) == {"mine": colour} for name, colour in colours.items())
    assert set(colours.values()) <= set(plots_palette.COLOURS)


def test_a_derived_family_has_a_shade_beside_its_origin() -> None:
    derived = {name: family.origin for name, family in list_families().items() if family.origin}
    assert derived
    for name, origin in derived.items():
        alone = plots_palette.choose_colours({name: name})[name]
        both = plots_palette.choose_colours({origin: origin, name: name})
        assert (both[origin], both[name] != alone) == (alone, True)


def test_libraries_of_no_known_family_have_colours_of_their_own() -> None:
    known = plots_palette.choose_colours({name: name for name in list_families()})
    others = plots_palette.choose_colours({"a": "a", "b": "b", "a tuned": "a"})
    assert len(set(others.values())) == 3
    assert not {others["a"], others["b"]} & set(known.values())
    many = plots_palette.choose_colours({str(number): str(number) for number in range(20)})
    assert len(set(many.values())) == len(plots_palette.COLOURS)


def test_names_are_equal_only_with_equal_colours() -> None:
    red, blue = (plots_palette.Names({"base": colour}) for colour in ("#D55E00", "#0072B2"))
    assert red != blue
    assert {red: 1}.get(blue) is None
    assert plots_palette.colours(red).to_dict() == {"domain": ["base"], "range": ["#D55E00"]}
