"""The formats of pictures, and which kinds of charts are usual. What draws them is loaded when one is drawn."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

USUAL = ("winner_map", "curves", "bars", "extremes", "ratios")
"""Kinds of charts that are written unless others are asked for: the answer, and what it rests on."""


def name_picture(plot: str, key: str) -> str:
    """Return the name of a chart's files, without a suffix."""
    return f"{plot}-{re.sub('[^A-Za-z0-9.-]+', '_', key)}"


def png(spec: dict[str, Any]) -> bytes:
    """Return a Vega-Lite specification as PNG, two pixels for each of its own."""
    import vl_convert

    return bytes(vl_convert.vegalite_to_png(spec, scale=2))


def svg(spec: dict[str, Any]) -> bytes:
    """Return a Vega-Lite specification as SVG."""
    import vl_convert

    return str(vl_convert.vegalite_to_svg(spec)).encode()


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
