"""How a caller follows a workflow."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rankbench.campaign import Watch
    from rankbench.model import Campaign


class Progress:
    """Shows nothing. Subclasses override what they show."""

    modules: Sequence[str] = ()
    """Modules that show results, which take long to load: they are loaded while others work."""

    def show_line(self, line: str) -> None:
        """Show a line on what is being done."""

    def show_text(self, text: str) -> None:
        """Show lines as they are, to be copied."""

    def show_table(self, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Show a table."""

    def show_status(self, _text: str) -> AbstractContextManager[object]:
        """Show what is being done until the context ends."""
        return contextlib.nullcontext()

    def watch(self, record: Campaign) -> AbstractContextManager[Watch]:
        """Return a context in which a campaign runs, with what is called at each launch."""
        from rankbench import campaign  # It loads Polars.

        return contextlib.nullcontext(campaign.Progress(record))


SILENT = Progress()
