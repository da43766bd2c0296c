"""Reads the output of a job: a file of one or several runs, or one in which several libraries take turns.

Scripts that loop over libraries print the second kind: `---` between libraries and `===` between rounds, each on its
own line; optionally the library's name with a colon, and host names, before a run; `done` at the end.
"""

from __future__ import annotations

import itertools
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from rankbench.foreign import HEAD_LINES, Line, LineError, Problem, Table, Text, printed_lines, recognition
from rankbench.foreign.fields import begins_a_row

NEXT_LIBRARY, NEXT_ROUND, END = "---", "===", "done"
MAX_MARK_LENGTH = 16
"""Largest number of characters in a line with a mark, including blanks."""
TITLE = re.compile(r"\s*(\S.*?)\s*:\s*")
WORD = re.compile(r"[A-DF-Za-df-z_]|\b[eE]|^\s*\d{1,6}\s*$")
"""In lines that are more than numbers, and in a number alone, which a script may print before a run."""
MOST_SINGLE = 20
"""Most lines in a row that are refused one by one."""
MOST_ATTEMPTS = 500
"""Most times that a file is read, each without one line more."""
HOST = re.compile(r"\s*([A-Za-z][\w.-]*)\s*")


class Run(NamedTuple):
    """The output of one library in one round."""

    label: str
    """The library's name before it, such as `MPICH`; empty if there is none."""
    position: int
    """Place of the library in the round, from 0."""
    round: int
    """From 1."""
    line: int
    tables: list[Table]
    hosts: list[str]
    """Host of each rank, if printed."""
    message: str
    """Its first line if it has no table; else empty."""
    cut: bool = False
    """Whether it is the last one of an output without an end mark."""


class Output(NamedTuple):
    """The content of a file."""

    runs: list[Run]
    in_turns: bool
    """Whether libraries take turns in the file."""


class Section:
    """The lines of one run: those up to the next mark."""

    def __init__(self, lines: Iterator[Line]) -> None:
        self.lines = self._read_to_mark(lines)
        self.mark = ""
        """The mark that ended it; empty at the end of the file."""
        self.ended = False
        """Whether it has the end mark of the file."""

    def _read_to_mark(self, lines: Iterator[Line]) -> Iterator[Line]:
        for line in lines:
            if len(line.text) > MAX_MARK_LENGTH:
                yield line
                continue
            text = line.text.strip()
            if text in {NEXT_LIBRARY, NEXT_ROUND}:
                self.mark = text
                return
            if text == END:
                self.ended = True
            else:
                yield line


class Reading(NamedTuple):
    """What was read of a file."""

    output: Output
    problems: list[Problem]
    """Lines that were left out, in the order of the file."""
    texts: list[Line]
    """Its lines, without those of several numbers."""


def read_file(path: Path) -> Reading:
    """Return the runs of a file; lines that cannot be read are left out.

    Raises RankbenchError for a file that cannot be read, NoResultsError if there is no table.
    """
    refused: dict[int, Problem] = {}
    widths: dict[int, int] = {}
    while True:
        problems: list[Problem] = []
        texts: list[Line] = []
        numbered = leave_out(record(printed_lines.read_file(path, problems), texts), widths)
        try:
            output = read_output(str(path), numbered, problems)
        except LineError as error:
            if error.line in refused or len(refused) == MOST_ATTEMPTS:
                raise
            refused[error.line] = Problem(error.line, error.reason)
            before = next((line for line, width in widths.items() if line + width == error.line), error.line)
            behind = error.line - before
            widths[before] = 1 + behind if behind < MOST_SINGLE else 2 * behind
        else:
            return Reading(output, sorted({*problems, *refused.values()}), texts)


def leave_out(numbered: Iterator[Line], widths: Mapping[int, int]) -> Iterator[Line]:
    """Yield lines without refused ones: from each line in `widths` on so many, as long as they look like rows.

    Each of thousands of lines of numbers by another program would need the file to be read again.
    """
    count = 0
    for line in numbered:
        if line.number in widths:
            count = widths[line.number]
        elif count and not begins_a_row(line.text):
            count = 0
        if count:
            count -= 1
        else:
            yield line


def record(numbered: Iterator[Line], texts: list[Line]) -> Iterator[Line]:
    """Yield lines, and add those with a word, or one number, to `texts`."""
    for line in numbered:
        if WORD.search(line.text):
            texts.append(line)
        yield line


def read_output(file: str, numbered: Iterator[Line], problems: list[Problem] | None = None) -> Output:
    """Return the runs of a file. Raises RankbenchError for a damaged table, NoResultsError if there is none."""
    section = Section(numbered)
    head = list(itertools.islice(section.lines, HEAD_LINES))
    if section.mark:
        runs = [read_run(Text(file, iter(head), problems=problems), 0, 1, section)]
    else:
        tables = list(recognition.read_text(Text(file, itertools.chain(head, section.lines), problems=problems)))
        if not section.mark:
            return Output([Run("", 0, 1, 1, tables, [], "")], in_turns=False)
        runs = [read_head(0, 1, head)[0]._replace(tables=tables, message="")]
    while section.mark:
        last = runs[-1]
        position, number = (last.position + 1, last.round) if section.mark == NEXT_LIBRARY else (0, last.round + 1)
        section = Section(numbered)
        text = Text(file, itertools.islice(section.lines, HEAD_LINES), problems=problems)
        runs.append(read_run(text, position, number, section))
    named = any(run.label for run in runs)
    runs = [run for run in runs if not named or run.label or run.hosts or run.tables or run.message]
    if not section.ended:
        runs[-1] = runs[-1]._replace(cut=True)
    return Output(runs, in_turns=True)


def read_run(text: Text, position: int, number: int, section: Section) -> Run:
    """Return the run of a section, whose first lines are those of the text."""
    run, rest = read_head(position, number, list(text.lines))
    tool = recognition.find_tool(rest)
    text = text._replace(lines=itertools.chain(rest, section.lines))
    tables = [table for table in recognition.read_tables(tool, text) if table.rows] if tool else []
    deque(section.lines, 0)  # Reads on to the mark.
    return run._replace(tables=tables, message="") if tables else run


def read_head(position: int, number: int, head: Sequence[Line]) -> tuple[Run, list[Line]]:
    """Return a run without tables, from the library's name and the hosts at its beginning, and the remaining lines."""
    label, hosts = "", []
    rest = deque(head)
    while rest:
        if title := TITLE.fullmatch(rest[0].text):
            label = title[1]
        elif host := HOST.fullmatch(rest[0].text):
            hosts.append(host[1])
        elif rest[0].text.strip():
            break
        rest.popleft()
    sentence = rest[0].text.strip() if rest else ""
    return Run(label, position, number, head[0].number if head else 1, [], hosts, sentence), list(rest)
