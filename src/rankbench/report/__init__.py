"""Handing a campaign's answer over: one HTML file, pictures, Markdown, LaTeX, CSV. Nothing is judged here."""

from __future__ import annotations

from rankbench.report.derived import csv_frames, frames
from rankbench.report.figures import FORMATS, write_figures
from rankbench.report.page import html, write_html
from rankbench.report.text import latex, markdown

__all__ = ["FORMATS", "csv_frames", "frames", "html", "latex", "markdown", "write_figures", "write_html"]
