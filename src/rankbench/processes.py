"""Programs that run to their end and whose output is text, in UTF-8 as far as it is."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path


def run(
    command: Sequence[str | Path],
    environment: Mapping[str, str] | None = None,
    *,
    text: str = "",
    folder: Path | None = None,
    limit_s: float | None = None,
    joins_errors: bool = False,
) -> subprocess.CompletedProcess[str]:
    """Return how a program ended, and what it printed.

    Args:
        command: the program and its arguments.
        environment: all its variables; None: those of this process.
        text: its standard input.
        folder: its working directory.
        limit_s: after so many seconds it is killed.
        joins_errors: whether its standard output has the messages of standard error, too, in their order.

    Raises OSError if it cannot be run, and subprocess.TimeoutExpired after the limit.
    """
    return subprocess.run(
        command,
        env=environment,
        input=text,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if joins_errors else subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        timeout=limit_s,
        check=False,
    )
