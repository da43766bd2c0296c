"""Verdict, findings and tables as Markdown, as the report writes them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rankbench import report
from rankbench.exports import EvaluatedCampaign, write_text

TITLE = "verdict, findings and tables for wikis"
SUFFIX = ".md"
PLACE = "file"


def write(source: EvaluatedCampaign, path: Path) -> Iterator[Path]:
    """Write the document."""
    yield write_text(path, report.markdown(source.view))
