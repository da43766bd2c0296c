"""Tidy tables as CSV: one row per case and candidate, and in files beside it the launch values and the comparisons."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rankbench import files
from rankbench.exports import EvaluatedCampaign
from rankbench.exports.tidy import list_files

TITLE = "tidy tables: summaries, launch values, comparisons"
SUFFIX = ".csv"
PLACE = "files"


def write(source: EvaluatedCampaign, path: Path) -> Iterator[Path]:
    """Write the tables; what is not known is an empty field."""
    for place, frame in list_files(path, SUFFIX, source.view):
        with files.write_atomically(place) as beside:
            frame.fill_nan(None).write_csv(beside)
        yield place
