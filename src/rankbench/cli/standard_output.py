"""Standard output, which may be closed by its reader, full, or in an encoding without some signs."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Iterator
from typing import TextIO


class OutputError(Exception):
    """Standard output cannot be written; the message is one line."""


class Output(io.TextIOWrapper):
    """Standard output that discards the rest if its reader ends, as in `rankbench show | head`.

    Raises OutputError if nothing more can be written for another reason, such as a full disk.
    """

    def write(self, text: str) -> int:
        """Write a text."""
        with close_if_unread(self):
            super().write(text)
        return len(text)

    def flush(self) -> None:
        """Write the buffer."""
        with close_if_unread(self):
            super().flush()


@contextlib.contextmanager
def close_if_unread(output: TextIO) -> Iterator[None]:
    """Redirect to /dev/null if nobody reads, and for the rest if nothing can be written."""
    try:
        yield
    except OSError as error:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, output.fileno())
        os.close(nowhere)
        if not isinstance(error, BrokenPipeError):
            raise OutputError(f"standard output cannot be written ({error.strerror})") from None
