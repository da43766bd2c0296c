"""Handing a campaign's answer over: one HTML file, figures, Markdown and LaTeX. Nothing is computed or judged here."""

from __future__ import annotations

from rankbench.report.derived import frames
from rankbench.report.figures import FORMATS, write_figures
from rankbench.report.page import write_html
from rankbench.report.text import latex, markdown

__all__ = ["FORMATS", "frames", "latex", "markdown", "write_figures", "write_html"]
