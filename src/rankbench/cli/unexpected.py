"""Errors that no part of the program expects: one line for the user, and all about them in a file."""

from __future__ import annotations

import contextlib
import datetime
import shlex
import sys
import tempfile
import traceback
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

PACKAGE = Path(__file__).parents[1]


def explain_error(error: Exception, words: Sequence[str], home: Path) -> str:
    """Return one line about an error: what the system refused, or what is wrong in rankbench, and where that is kept.

    Args:
        error: the error.
        words: the command line.
        home: the folder in which a folder `errors` holds the files.
    """
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}"
    text = " ".join(str(error).split())
    kind = f"{type(error).__name__}: {text}" if text else type(error).__name__
    path = keep_traceback(error, words, home)
    report = f"please report it with {path}" if path else "please report it"
    return f"an error of rankbench itself: {kind} ({find_place(error)}); {report}"


def find_place(error: Exception) -> str:
    """Return the last place in rankbench that an error went through."""
    frames = traceback.extract_tb(error.__traceback__)
    inside = [frame for frame in frames if Path(frame.filename).is_relative_to(PACKAGE)] or frames
    return f"{Path(inside[-1].filename).name}:{inside[-1].lineno}" if inside else "no place is known"


def keep_traceback(error: Exception, words: Sequence[str], home: Path) -> Path | None:
    """Write a traceback, the versions and the command line into a file; return its path, or None if that fails."""
    head = f"rankbench {version('rankbench')}, Python {sys.version}\nrankbench {shlex.join(words)}\n\n"
    name = f"rankbench-{datetime.datetime.now(datetime.UTC):%Y%m%d-%H%M%S-%f}.txt"
    for folder in (home / "errors", Path(tempfile.gettempdir())):
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / name
            path.write_text(head + "".join(traceback.format_exception(error)), encoding="utf-8")
            return path
    return None
