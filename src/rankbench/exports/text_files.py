"""How formats write: text files, names of files."""

from __future__ import annotations

import re
from pathlib import Path

from rankbench import files


def write_text(path: Path, text: str) -> Path:
    """Write a text file, and return its path."""
    files.write(path, text)
    return path


def file_name(text: str) -> str:
    """Return a text as part of a file's name."""
    return re.sub(r"[^\w.+=~@-]+", "-", text).strip("-.") or "campaign"
