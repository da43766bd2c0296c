"""How formats write: text files, names of files, types of columns."""

from __future__ import annotations

import re
import types
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin

from rankbench import files

if TYPE_CHECKING:
    from pathlib import Path


def write_text(path: Path, text: str) -> Path:
    """Write a text file, and return its path."""
    files.write(path, text)
    return path


def present(kind: object) -> Any:
    """Return the type that a record's field has where it is not null."""
    parts = [part for part in get_args(kind) if part is not type(None)]
    return parts[0] if get_origin(kind) in (Union, types.UnionType) else kind


def file_name(text: str) -> str:
    """Return a text as part of a file's name."""
    return re.sub(r"[^\w.+=~@-]+", "-", text).strip("-.") or "campaign"
