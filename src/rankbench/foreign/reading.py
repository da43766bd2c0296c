"""Reads tables from a file or from lines. The first lines show which tool printed them.

Tables are yielded while the text is read, so an error in a later table comes after the earlier ones: read all tables
before using any, if all are needed.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from rankbench import units
from rankbench.foreign import HEAD_LINES, NoResultsError, Text, case_results, lines, tools

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from types import ModuleType

    from rankbench.foreign import Line, Table


def read_file(path: Path) -> Iterator[Table]:
    """Yield the tables of a file.

    Raises RankbenchError if it cannot be read or is damaged, NoResultsError if no tool is recognised or it has no
    table.
    """
    return read_text(Text(str(path), lines.read_file(path)))


def read_text(text: Text) -> Iterator[Table]:
    """Yield the tables of lines. Raises RankbenchError as `read_file` does."""
    head = list(itertools.islice(text.lines, HEAD_LINES))
    tool = find_tool(head)
    if tool is None:
        titles = ", ".join(tool.TITLE for tool in _list_tools())
        raise NoResultsError(f"{text.file}: not the output of a known benchmark (allowed: {titles})")
    yield from read_run(tool, text._replace(lines=itertools.chain(head, text.lines)))


def read_run(tool: ModuleType, text: Text) -> Iterator[Table]:
    """Yield the tables of a run of a known tool. Raises RankbenchError as `read_text` does."""
    table = None
    for table in read_tables(tool, text):
        yield table
    if table is None:
        raise NoResultsError(f"{text.file}: {tool.TITLE}: no table in it")


def read_tables(tool: ModuleType, text: Text) -> Iterator[Table]:
    """Yield the tables that a tool printed. Raises RankbenchError for a damaged row or an impossible value."""
    for table in tool.read(text._replace(lines=lines.check_rows(text.file, text.lines))):
        case_results.refuse_impossible_values(table, text.file)
        yield table


def find_tool(head: Sequence[Line]) -> ModuleType | None:
    """Return the tool that printed the text with these first lines; None if there is none."""
    return next((tool for tool in _list_tools() if tool.recognises(head)), None)


def _list_tools() -> list[ModuleType]:
    """Return all tools by `PRECEDENCE`: those last that also recognise the output of others."""
    return sorted(units.modules(tools).values(), key=lambda module: int(getattr(module, "PRECEDENCE", 0)))
