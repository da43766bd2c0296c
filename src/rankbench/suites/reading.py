"""From a file, or from lines that were taken out of one, to tables: which tool printed it is known by how it begins.

Tables come one after the other while the text is read. An error in a later one comes after the earlier ones: who wants
all or nothing takes them all before using any.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from rankbench import units
from rankbench.suites import HEAD_LINES, NoResultsError, Text, figures, lines, tools

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from types import ModuleType

    from rankbench.suites import Line, Table


def read_file(path: Path) -> Iterator[Table]:
    """Yield the tables of a file.

    Raises RankbenchError where it cannot be read, no tool is known that prints such text, or there is no table in it.
    """
    return read_text(Text(str(path), lines.read_file(path)))


def read_text(text: Text) -> Iterator[Table]:
    """Yield the tables of lines. Raises RankbenchError as `read` does."""
    head = list(itertools.islice(text.lines, HEAD_LINES))
    tool = find_tool(head)
    if tool is None:
        titles = ", ".join(tool.TITLE for tool in _list_tools())
        raise NoResultsError(f"{text.file}: the output of no benchmark that is known (allowed: {titles})")
    table = None
    for table in read_tables(tool, text._replace(lines=itertools.chain(head, text.lines))):
        yield table
    if table is None:
        raise NoResultsError(f"{text.file}: {tool.TITLE}: no table in it")


def read_tables(tool: ModuleType, text: Text) -> Iterator[Table]:
    """Yield the tables that a tool printed. Raises RankbenchError at a damaged row, and at a value that cannot be."""
    for table in tool.read(text._replace(lines=lines.check_rows(text.file, text.lines))):
        figures.refuse_impossible_values(table, text.file)
        yield table


def find_tool(head: Sequence[Line]) -> ModuleType | None:
    """Return the tool that prints text which begins like this."""
    return next((tool for tool in _list_tools() if tool.recognises(head)), None)


def _list_tools() -> list[ModuleType]:
    """Return all tools, those last that take for theirs what others print; they say so by a higher `PRECEDENCE`."""
    return sorted(units.modules(tools).values(), key=lambda module: int(getattr(module, "PRECEDENCE", 0)))
