"""Standard output whose reader may close it early."""

from __future__ import annotations

import contextlib
import io
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TextIO


class Output(io.TextIOWrapper):
    """Standard output that discards the rest if its reader ends, as in `rankbench show | head`."""

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
    """Redirect to /dev/null if nobody reads."""
    try:
        yield
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, output.fileno())
        os.close(nowhere)
