"""The tables of values as LaTeX for papers, as the report writes them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rankbench import report
from rankbench.exports import EvaluatedCampaign, write_text

TITLE = "tables for papers, with booktabs"
SUFFIX = ".tex"
PLACE = "file"


def write(source: EvaluatedCampaign, path: Path) -> Iterator[Path]:
    """Write the tables."""
    yield write_text(path, report.latex(source.view))
