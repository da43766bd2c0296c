"""Tidy tables as Parquet: a row per case and candidate; launch values and comparisons are in files beside it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rankbench import files
from rankbench.exports import EvaluatedCampaign
from rankbench.exports.tidy import list_files

TITLE = "the same tables as Parquet"
SUFFIX = ".parquet"
PLACE = "files"


def write(source: EvaluatedCampaign, path: Path) -> Iterator[Path]:
    """Write the tables; what is not known is null."""
    for place, frame in list_files(path, SUFFIX, source.view):
        with files.write_atomically(place) as beside:
            frame.fill_nan(None).write_parquet(beside)
        yield place
