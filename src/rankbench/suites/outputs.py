"""What whole jobs leave: a file of one run or several, or one in which several libraries take turns, round after round.

The second kind is what scripts print that loop over libraries: `---` between libraries and `===` between rounds, each
alone on its line; before a run maybe the library's name and a colon, and the names of the hosts; `done` at the end.
"""

from __future__ import annotations

import itertools
import re
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from rankbench.suites import HEAD_LINES, Line, Table, Text, reading

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NEXT_LIBRARY, NEXT_ROUND, END = "---", "===", "done"
MAX_MARK_LENGTH = 16
"""Characters of a line that may be one of these, with blanks around it."""
TITLE = re.compile(r"\s*(\S.*?)\s*:\s*")
HOST = re.compile(r"\s*([A-Za-z][\w.-]*)\s*")


class Run(NamedTuple):
    """What one library printed in one round."""

    label: str
    """What stands before it, such as `MPICH`; empty where nothing does."""
    position: int
    """Which of the round's libraries it is, from 0."""
    round: int
    """From 1."""
    line: int
    tables: list[Table]
    hosts: list[str]
    """One for each rank, where they are reported."""
    message: str
    """What it printed instead of a table; empty where it printed nothing, or a table."""
    cut: bool = False
    """Whether it is the last of an output that ends without saying so."""


class Output(NamedTuple):
    """What a file holds."""

    runs: list[Run]
    in_turns: bool
    """Whether libraries take turns in it."""


class Section:
    """The lines of one run: those up to the next mark."""

    def __init__(self, lines: Iterator[Line]) -> None:
        self.lines = self._read_to_mark(lines)
        self.mark = ""
        """What ended it; nothing at the end of the file."""
        self.ended = False
        """Whether it says that the file ends."""

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


def read_output(file: str, lines: Iterator[Line]) -> Output:
    """Return the runs of a file. Raises RankbenchError where a table is damaged or none is known."""
    section = Section(lines)
    head = list(itertools.islice(section.lines, HEAD_LINES))
    if section.mark:
        runs = [read_run(file, 0, 1, head, section)]
    else:
        tables = list(reading.read_text(Text(file, itertools.chain(head, section.lines))))
        if not section.mark:
            return Output([Run("", 0, 1, 1, tables, [], "")], in_turns=False)
        runs = [read_head(0, 1, head)[0]._replace(tables=tables, message="")]
    while section.mark:
        last = runs[-1]
        position, number = (last.position + 1, last.round) if section.mark == NEXT_LIBRARY else (0, last.round + 1)
        section = Section(lines)
        runs.append(read_run(file, position, number, list(itertools.islice(section.lines, HEAD_LINES)), section))
    named = any(one.label for one in runs)
    runs = [one for one in runs if not named or one.label or one.hosts or one.tables or one.message]
    if not section.ended:
        runs[-1] = runs[-1]._replace(cut=True)
    return Output(runs, in_turns=True)


def read_run(file: str, position: int, number: int, head: Sequence[Line], section: Section) -> Run:
    """Return what a section holds, of which the first lines are given."""
    made, rest = read_head(position, number, head)
    tool = reading.find_tool(rest)
    tables = list(reading.read_tables(tool, Text(file, itertools.chain(rest, section.lines)))) if tool else []
    deque(section.lines, 0)  # The mark stands behind what no tool took.
    return made._replace(tables=tables, message="") if tables else made


def read_head(position: int, number: int, head: Sequence[Line]) -> tuple[Run, list[Line]]:
    """Return a run by what stands before its tables, a title, the library's name and hosts; and the lines after it."""
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
