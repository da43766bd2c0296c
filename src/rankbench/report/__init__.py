"""Handing a campaign's answer over: one HTML file, pictures, Markdown, LaTeX, CSV. Nothing is judged here."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankbench.report.figures import check_figures, write_figures
    from rankbench.report.flat_frames import make_frames
    from rankbench.report.page import html, write_html
    from rankbench.report.pictures import FORMATS, USUAL
    from rankbench.report.summary import write_page, write_slide
    from rankbench.report.text import latex, markdown

MODULES = {
    "FORMATS": "pictures",
    "USUAL": "pictures",
    "check_figures": "figures",
    "make_frames": "flat_frames",
    "html": "page",
    "latex": "text",
    "markdown": "text",
    "write_figures": "figures",
    "write_html": "page",
    "write_page": "summary",
    "write_slide": "summary",
}
"""Where each way of handing over is. Terminals need none of what pages and pictures are made with, which is large."""


def __getattr__(name: str) -> Any:
    if name not in MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{MODULES[name]}"), name)
