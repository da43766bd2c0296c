"""The formats of pictures, and which kinds of charts are usual. What draws them is loaded when one is drawn."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

USUAL = ("overall", "winner_map", "curves", "bars", "extremes", "ratios")
"""Kinds of charts that are written unless others are asked for: the answer, and what it rests on."""


WIDER = 0.2
"""By how much fonts that viewers use for ours are wider than it: DejaVu Sans by a sixth, Verdana by a fifth."""
SVG_HEAD = re.compile(
    r'<svg [^>]*?width="(?P<width>[\d.]+)" height="(?P<height>[\d.]+)" viewBox="0 0 [\d. ]+">'
    r".*?translate\((?P<left>[\d.]+),",
    re.DOTALL,
)
"""The beginning of a picture: its size, its ground, and how far from the left its view begins."""


def name_picture(plot: str, key: str) -> str:
    """Return the name of a chart's files, without a suffix."""
    return f"{plot}-{re.sub('[^A-Za-z0-9.-]+', '_', key)}"


def png(spec: dict[str, Any]) -> bytes:
    """Return a Vega-Lite specification as PNG, two pixels for each of its own."""
    import vl_convert

    return bytes(vl_convert.vegalite_to_png(spec, scale=2))


def svg(spec: dict[str, Any]) -> bytes:
    """Return a Vega-Lite specification as SVG, with room for fonts wider than the one that it was laid out with."""
    import vl_convert

    return widen_svg(str(vl_convert.vegalite_to_svg(spec))).encode()


def widen_svg(picture: str) -> str:
    """Return a picture with more room left of its axis, whose labels viewers may draw in a wider font."""
    head = SVG_HEAD.search(picture)
    if not head:
        return picture
    width, height = float(head["width"]), head["height"]
    more = math.ceil(WIDER * float(head["left"]))
    start = head[0].replace(f'width="{head["width"]}"', f'width="{width + more:g}"', 1)
    start = start.replace(f'viewBox="0 0 {head["width"]} {height}"', f'viewBox="{-more} 0 {width + more:g} {height}"')
    start = start.replace(f'<rect width="{head["width"]}"', f'<rect x="{-more}" width="{width + more:g}"')
    return picture.replace(head[0], start, 1)


def pdf(spec: dict[str, Any]) -> bytes:
    """Return a Vega-Lite specification as PDF."""
    import vl_convert

    return bytes(vl_convert.vegalite_to_pdf(spec))


def html(spec: dict[str, Any]) -> bytes:
    """Return a Vega-Lite specification as a page that needs no network."""
    import vl_convert

    return str(vl_convert.vegalite_to_html(spec, bundle=True)).encode()


FORMATS: dict[str, Callable[[dict[str, Any]], bytes]] = {"png": png, "svg": svg, "pdf": pdf}
ALL_FORMATS = {**FORMATS, "html": html}
"""Those of charts that are not also on the report's page."""
