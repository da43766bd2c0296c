"""Reads tables from a file or from lines. The first lines show which tool printed them.

Tables are yielded while the text is read, so an error in a later table comes after the earlier ones: read all tables
before using any, if all are needed.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType

from rankbench import units
from rankbench.foreign import HEAD_LINES, Line, NoResultsError, Table, Text, case_results, printed_lines, tools

TITLED = re.compile(r"#\s*(?:OSU |Intel|PALLAS|Benchmarking |mpiperf |nThread|SKaMPI|begin result|Command-Line)")
"""Begins the lines that may be a title."""


def read_file(path: Path) -> Iterator[Table]:
    """Yield the tables of a file.

    Raises RankbenchError if it cannot be read or is damaged, NoResultsError if no tool is recognised or it has no
    table.
    """
    return read_text(Text(str(path), printed_lines.read_file(path)))


def read_text(text: Text) -> Iterator[Table]:
    """Yield the tables of lines. Raises RankbenchError as `read_file` does."""
    head = list(itertools.islice(text.lines, HEAD_LINES))
    tool = find_tool(head)
    while tool is None and text.lenient and (head := list(itertools.islice(text.lines, HEAD_LINES))):
        tool = find_tool(head, titled=True)
    if tool is None:
        titles = ", ".join(tool.TITLE for tool in _list_tools())
        raise NoResultsError(f"{text.file}: not the output of a known benchmark (allowed: {titles})")
    text = text._replace(lines=itertools.chain(head, text.lines))
    yield from read_several(find_title(head) or tool, text) if text.lenient else read_run(tool, text)


def read_several(tool: ModuleType, text: Text) -> Iterator[Table]:
    """Yield the tables of a text in which programs of several tools print, one after the other.

    Raises RankbenchError as `read_text` does.
    """
    following: ModuleType | None = tool
    table = None
    rest = text.lines
    while following:
        titles: list[Line] = []
        tool = following
        for table in read_tables(tool, text._replace(lines=read_to_title(tool, rest, titles))):
            yield table
        following = find_title(titles)
        rest = itertools.chain(titles, rest)
    if table is None:
        raise NoResultsError(f"{text.file}: {tool.TITLE}: no table in it")


def read_to_title(tool: ModuleType, rest: Iterator[Line], titles: list[Line]) -> Iterator[Line]:
    """Yield lines up to the title of another tool, which is added to `titles`."""
    for line in rest:
        if TITLED.match(line.text) and find_title([line]) not in {tool, None}:
            titles.append(line)
            return
        yield line


def find_title(head: Sequence[Line]) -> ModuleType | None:
    """Return the tool of the first title in lines; None if there is none."""
    titled = [tool for tool in _list_tools() if not hasattr(tool, "PRECEDENCE")]
    by_line = ((tool for tool in titled if tool.recognises([line])) for line in head if TITLED.match(line.text))
    return next((tool for each in by_line for tool in each), None)


def read_run(tool: ModuleType, text: Text) -> Iterator[Table]:
    """Yield the tables of a run of a known tool. Raises RankbenchError as `read_text` does."""
    table = None
    for table in read_tables(tool, text):
        yield table
    if table is None:
        raise NoResultsError(f"{text.file}: {tool.TITLE}: no table in it")


def read_tables(tool: ModuleType, text: Text) -> Iterator[Table]:
    """Yield the tables that a tool printed. Raises RankbenchError for a damaged row or an impossible value."""
    for table in tool.read(text._replace(lines=printed_lines.check_rows(text.file, text.lines, text.problems))):
        case_results.refuse_impossible_values(table, text.file)
        yield table


def find_tool(head: Sequence[Line], *, titled: bool = False) -> ModuleType | None:
    """Return the tool that printed the text with these first lines; None if there is none.

    With `titled` only tools that print a title count, not those whose rows are like those of others.
    """
    usable = [tool for tool in _list_tools() if not (titled and hasattr(tool, "PRECEDENCE"))]
    return next((tool for tool in usable if tool.recognises(head)), None)


def _list_tools() -> list[ModuleType]:
    """Return all tools by `PRECEDENCE`: those last that also recognise the output of others."""
    return sorted(units.modules(tools).values(), key=lambda module: int(getattr(module, "PRECEDENCE", 0)))
