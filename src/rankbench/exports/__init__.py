"""Handing a campaign over to other programs: one file per format, in `formats`.

A format has `TITLE` (what it is, in a line), `SUFFIX` (of its file), `PLACE` (what its path is: a `file`, or the first
of several `files`) and `write(source, path)`, which yields the path of each file once it is there.
Nothing is judged or measured here, and every file appears whole or not at all.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from rankbench import files, units
from rankbench.analysis.evaluation import evaluate
from rankbench.exports import formats
from rankbench.model import RankbenchError

if TYPE_CHECKING:
    from rankbench.analysis.questions.view import CampaignView
    from rankbench.store import Store


@dataclass(frozen=True)
class EvaluatedCampaign:
    """A stored campaign for the formats; it is evaluated when its view is first read."""

    store: Store

    @cached_property
    def view(self) -> CampaignView:
        """The evaluated campaign."""
        return evaluate(self.store)


def list_formats() -> list[str]:
    """Return the names of the formats."""
    return units.list_names(formats)


def find_format(name: str) -> ModuleType:
    """Return a format by its name. Raises RankbenchError where there is none."""
    if not name:
        raise RankbenchError(f"name a format by --format FORMAT (allowed: {', '.join(list_formats())})")
    if name not in list_formats():
        raise RankbenchError(f"--format {name}: no such format{units.suggestion(name, list_formats())}")
    return units.module(formats, name)


def write_text(path: Path, text: str) -> Path:
    """Write a text file, and return its path."""
    files.write(path, text)
    return path


def file_name(text: str) -> str:
    """Return a text as part of a file's name."""
    return re.sub(r"[^\w.+=~@-]+", "-", text).strip("-.") or "campaign"
