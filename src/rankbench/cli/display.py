"""Output of commands: the console, tables, lines, answers."""

from __future__ import annotations

import itertools
import os
import re
import shlex
import sys
import textwrap
import threading
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import rich.box
from rich.cells import cell_len
from rich.console import Console
from rich.errors import MarkupError
from rich.markup import escape
from rich.table import Column, Table
from rich.text import Text

from rankbench.cli.program import adapt_commands, find_program, split_command
from rankbench.quantities import spell_count
from rankbench.workflows.watching import Progress

if TYPE_CHECKING:
    from rankbench.campaign import Watch
    from rankbench.model import Campaign, Launch, RankFact, Verdict
    from rankbench.report.tables import Table as Content

VERSION = re.compile(r"-(?=\d+\.)")
"""The hyphen before the version in a candidate's name."""
HEAD_WIDTH = 16
"""Width at which the head of a column is folded, if needed."""
BETWEEN = 2
"""Blanks between columns."""


class CommandConsole(Console):
    """A console that prints commands with this program's name, tables without broken words, and to files no blanks at
    the ends of lines.
    """

    def print(self, *objects: Any, **options: Any) -> None:
        """Print texts, tables and others."""
        adapted = [part for printed in objects for part in fit_object(adapt(printed), self.width)]
        if self.is_terminal:
            super().print(*adapted, **options)
            return
        with self.capture() as printed:
            super().print(*adapted, **options)
        super().print(re.sub(" +(?=\n)", "", printed.get()), end="", markup=False, soft_wrap=True)


def adapt(printed: Any) -> Any:
    """Return a text with this program's name in its commands; other objects are unchanged."""
    if isinstance(printed, Text) and not printed.spans:
        return Text(adapt_commands(printed.plain), printed.style)
    return adapt_commands(printed) if isinstance(printed, str) else printed


if not os.environ.get("COLUMNS", "80").strip("0"):  # Some terminals without a size say 0, which nothing fits.
    del os.environ["COLUMNS"]
console = CommandConsole(highlight=False, emoji=False)
if not console.is_terminal and "COLUMNS" not in os.environ:
    console.width = 1000  # Files and pipes have no width: nothing is folded for them.


class StatusLine:
    """Shows a line on standard error after a second, if that is a terminal, and removes it at the end.

    To be used in a `with`.
    """

    DELAY_S = 1.0

    def __init__(self, text: str) -> None:
        self.text = text
        self._timer = threading.Timer(self.DELAY_S, self._show)
        self._timer.daemon = True
        self._shown = self._over = False
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        """Start the timer of the line."""
        if sys.stderr.isatty():
            self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the line."""
        self._timer.cancel()
        with self._lock:
            self._over = True
            if self._shown:
                print("\r\x1b[K", end="", file=sys.stderr, flush=True)  # noqa: T201 - no console writes there

    def update(self, text: str) -> None:
        """Replace the text, even if it is shown already."""
        with self._lock:
            self.text = text
            if self._shown:
                self._print()

    def _show(self) -> None:
        with self._lock:
            if not self._over:
                self._shown = True
                self._print()

    def _print(self) -> None:
        width = os.get_terminal_size(sys.stderr.fileno()).columns or 80
        print(f"\r\x1b[K{self.text[: width - 1]}", end="", file=sys.stderr, flush=True)  # noqa: T201


class TerminalProgress(Progress):
    """Shows a workflow on the terminal, or as lines; not at all if quiet."""

    modules = ("rankbench.cli.live_progress", "rankbench.cli.campaign_end")

    def __init__(self, *, quiet: bool = False) -> None:
        self.quiet = quiet

    def show_line(self, line: str) -> None:
        """Print a line."""
        if not self.quiet:
            print_text(line)

    def show_text(self, text: str) -> None:
        """Print lines as they are."""
        if not self.quiet:
            console.print(text, markup=False, highlight=False, soft_wrap=True)

    def show_table(self, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Print a table."""
        if not self.quiet:
            table = columns(*heads)
            for row in rows:
                table.add_row(*map(escape, row))
            console.print(table)

    def show_status(self, text: str) -> AbstractContextManager[object]:
        """Show a line that is removed at the end."""
        return StatusLine(text)

    def watch(self, record: Campaign) -> AbstractContextManager[Watch]:
        """Show a campaign while it runs."""
        from rankbench.cli.live_progress import watch_campaign  # It takes long to load.

        return watch_campaign(record, quiet=self.quiet)


def columns(*titles: str, text_columns: int = 1) -> Table:
    """Return a table whose first columns hold text and the others values."""
    table = Table(box=rich.box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for place, title in enumerate(titles):
        text = place < text_columns
        table.add_column(title, justify="left" if text else "right", overflow="fold", no_wrap=text)
    return table


def describe_places(ranks: Sequence[RankFact]) -> str:
    """Return where ranks ran: `2 ranks on n1 (CPUs 0 1)`."""
    hosts = dict.fromkeys(rank.host for rank in ranks)
    cpus = {host: " ".join(str(rank.cpu) for rank in ranks if rank.host == host) for host in hosts}
    places = ", ".join(f"{host} (CPU{'s' * (len(cpus[host].split()) > 1)} {cpus[host]})" for host in hosts)
    return f"{spell_count(len(ranks), 'rank')} on {places}"


def answer(verdict: Verdict, *, verbose: bool = False) -> list[str]:
    """Return the short answer, at most seven sentences; or all sentences."""
    from rankbench.language import render

    return [render(claim.text) for claim in verdict.conclusion if claim.brief or verbose]


def list_findings(verdict: Verdict) -> list[str]:
    """Return a paragraph for each kind of finding, the most severe first: severity, text and what to do."""
    from rankbench.analysis.claims.joining import group_findings, join_group
    from rankbench.language import render
    from rankbench.model.verdicts import GRAVEST_FIRST

    groups = sorted(group_findings(verdict.findings), key=lambda alike: GRAVEST_FIRST.index(alike[0].severity))
    paragraphs = []
    for alike in groups:
        advice = list(dict.fromkeys(render(finding.advice) for finding in alike if render(finding.advice)))
        text = " ".join(map(render, join_group(alike)))
        more = " The report has the advice on the others." if len(advice) > 1 else ""
        paragraphs.append(f"{alike[0].severity}: {text}{f' What to do: {advice[0]}{more}' if advice else ''}")
    return paragraphs


def print_findings(verdict: Verdict) -> None:
    """Print all findings under a heading; nothing if there are none."""
    if verdict.findings:
        console.print(Text("\nFindings", "bold"))
        for paragraph in list_findings(verdict):
            spread_lines(paragraph)


def show_command(folder: Path | None) -> str:
    """Return the command that shows a campaign, or the newest one."""
    return f"rankbench show {shlex.quote(str(folder))}" if folder else "rankbench show"


def count_findings(verdict: Verdict, folder: Path | None) -> str:
    """Return how many findings of each severity there are, of how many kinds, each of which is one text, and where
    the texts are; empty if there are none.

    Without a folder the command names none: it shows the newest campaign.
    """
    from rankbench.analysis.claims.joining import group_findings
    from rankbench.model.verdicts import GRAVEST_FIRST

    counts = Counter(str(finding.severity) for finding in verdict.findings)
    parts = [spell_count(counts[name], name) for name in GRAVEST_FIRST if counts[name]]
    kinds = len(group_findings(verdict.findings))
    of_kinds = f" of {spell_count(kinds, 'kind')}" if kinds < len(verdict.findings) else ""
    return f"{', '.join(parts)}{of_kinds}; in the report, or here: {show_command(folder)} -v" if parts else ""


JOINED = "\0"
"""Stands for a blank at which no line ends."""


def spread_lines(text: str) -> None:
    """Print a text wrapped at words; a longer word, such as a path, is never broken.

    Nor is a command at its end, which has a line of its own where it does not fit: a part of one cannot be pasted. The
    program's name stays in one line, even if it has blanks.
    """
    text, command = split_command(adapt_commands(text))
    program = find_program()
    text = text.replace(program, program.replace(" ", JOINED))
    lines = textwrap.wrap(text, console.width, break_long_words=False, break_on_hyphens=False) or [""]
    lines = [line.replace(JOINED, " ") for line in lines]
    if command:
        fits = len(lines[-1]) + 1 + len(command) <= console.width
        lines[-1:] = [f"{lines[-1]} {command}"] if fits else [lines[-1], command]
    for line in lines:
        console.print(line, soft_wrap=True, markup=False)


def plain_table(*titles: str, words: Collection[int] = (0,)) -> Table:
    """Return a table with a line under its head, the columns of words left-aligned and the others right-aligned."""
    table = Table(box=rich.box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for place, title in enumerate(titles):
        table.add_column(Text(title), justify="left" if place in words else "right", overflow="fold")
    return table


def drop_wide(table: Table, title: str) -> Table:
    """Return a table without the column of this title where all do not fit into the terminal."""
    full = [max(map(measure_text, [column.header, *column.cells]), default=0) for column in table.columns]
    places = [place for place, column in enumerate(table.columns) if read_plain(column.header) != title]
    return table if sum(full) + BETWEEN * (len(full) - 1) <= console.width else take_columns(table, places)


def split_wide(table: Table, width: int) -> list[Table]:
    """Return a table as several, one below the other, where its columns do not fit into a width.

    Each has the first column. Cells stay on one line; heads are folded.
    """
    needed = [
        BETWEEN + max([min(HEAD_WIDTH, measure_text(column.header)), *map(measure_text, column.cells)])
        for column in table.columns
    ]
    groups: list[list[int]] = [[]]
    space = width - needed[0]
    for place in range(1, len(needed)):
        if groups[-1] and needed[place] > space:
            groups.append([])
            space = width - needed[0]
        groups[-1].append(place)
        space -= needed[place]
    if len(groups) == 1:
        return [table]
    return [take_columns(table, [0, *group]) for group in groups]


def fit_object(printed: Any, width: int) -> list[Any]:
    """Return a table as those that fit into a width; any other object as it is."""
    return fit_table(printed, width) if isinstance(printed, Table) and printed.show_header else [printed]


def fit_table(table: Table, width: int) -> list[Table]:
    """Return a table that is too wide with texts wrapped at blanks, or else as several, one below the other.

    Each of several has the first column, and left-aligned ones beside it if these are narrow. Only left-aligned columns
    are wrapped. A word is broken only where it is wider than all.
    """
    full = [max(map(measure_text, [column.header, *column.cells]), default=0) for column in table.columns]
    if sum(full) + BETWEEN * (len(full) - 1) <= width:
        return [table]
    least = [find_least_width(column) for column in table.columns]
    words = itertools.takewhile(lambda place: table.columns[place].justify == "left", range(len(least) - 1))
    first = [0, *(place for place in words if place and sum(full[: place + 1]) + BETWEEN * place <= width // 2)]
    lead = sum(least[place] + BETWEEN for place in first) - BETWEEN
    groups: list[list[int]] = [[]]
    space = width - lead
    for place in range(len(first), len(least)):
        if groups[-1] and least[place] + BETWEEN > space:
            groups.append([])
            space = width - lead
        groups[-1].append(place)
        space -= least[place] + BETWEEN
    parts = []
    for group in groups:
        places = [*first, *group]
        part = take_columns(table, places) if len(groups) > 1 else table
        wanted, needed = [full[place] for place in places], [least[place] for place in places]
        for column, space in zip(part.columns, share_width(wanted, needed, width), strict=True):
            column.width, column.no_wrap = space, False
        parts.append(part)
    return parts


def find_least_width(column: Column) -> int:
    """Return the width below which words of a column would be broken, or the lines of cells that are right-aligned."""
    split = str.split if column.justify == "left" else str.splitlines
    words = [*read_plain(column.header).split(), *(word for cell in column.cells for word in split(read_plain(cell)))]
    return max(map(cell_len, words), default=0)


def share_width(wanted: Sequence[int], needed: Sequence[int], width: int) -> list[int]:
    """Return the widths of columns: what each needs, and of the rest as much as it wants, the smallest first."""
    widths = list(needed)
    rest = width - BETWEEN * (len(widths) - 1) - sum(widths)
    for number, place in enumerate(sorted(range(len(widths)), key=lambda place: wanted[place] - needed[place])):
        more = max(0, min(wanted[place] - widths[place], rest // (len(widths) - number)))
        widths[place] += more
        rest -= more
    if rest < 0:  # A single word is wider than all.
        widest = max(range(len(widths)), key=lambda place: widths[place])
        widths[widest] = max(1, widths[widest] + rest)
    return widths


def read_plain(text: object) -> str:
    """Return a cell or head as printed, without markup."""
    try:
        return Text.from_markup(text).plain if isinstance(text, str) else str(text)
    except MarkupError:
        return str(text)


def measure_text(text: object) -> int:
    """Return the width of the longest line of a cell or head, as printed."""
    return max(map(cell_len, read_plain(text).splitlines()), default=0)


def take_columns(table: Table, places: Sequence[int]) -> Table:
    """Return a table of some columns of another one."""
    part = Table(box=table.box, padding=table.padding, pad_edge=table.pad_edge, show_edge=table.show_edge)
    for place in places:
        column = table.columns[place]
        part.add_column(column.header, justify=column.justify, overflow=column.overflow, no_wrap=column.no_wrap)
    cells = zip(*(table.columns[place].cells for place in places), strict=True)
    for row, texts in zip(table.rows, cells, strict=True):
        part.add_row(*texts, end_section=row.end_section)
    return part


def find_words(content: Content) -> set[int]:
    """Return the columns of words: the first, and those in which cells begin with letters and none with a digit."""
    columns_of_starts = [{cell.text[:1] for cell in column} for column in zip(*content.rows, strict=True)]
    return {0} | {
        place
        for place, starts in enumerate(columns_of_starts)
        if any(map(str.isalpha, starts)) and not any(map(str.isdigit, starts))
    }


def split_name(name: str) -> str:
    """Return a candidate's name as the head of a column, which it makes narrower: its version on a second line.

    Of several builds of one version, what distinguishes them is on that line.
    """
    return name.replace("@", "\n@", 1) if "@" in name else VERSION.sub("\n", name, count=1)


def fill_table(content: Content, *, details: bool = False) -> Table:
    """Return a table of a report for the terminal, with or without details; columns of words are left-aligned."""
    table = plain_table(*map(split_name, content.columns), words=find_words(content))
    for row in content.rows:
        below = [f"\n{cell.detail}" if details and cell.detail else "" for cell in row]
        table.add_row(*(Text.assemble(cell.text, (more, "dim")) for cell, more in zip(row, below, strict=True)))
    return table


def print_text(text: str) -> None:
    """Print a text wrapped at words."""
    spread_lines(text)


def show_overview(content: Content) -> None:
    """Print the table of all cases; long names of candidates have their version on a second line."""
    table = columns(content.columns[0], *(escape(split_name(name)) for name in content.columns[1:]))
    for row in content.rows:
        table.add_row(*(Text(cell.text) for cell in row))
    console.print(table)
    if content.caption:
        print_text(content.caption)


def name_block(record: Campaign, number: int) -> str:
    """Return a block with the bounds on blocks: `block 3 of 5`, `block 6 (5 to 30 planned)`."""
    bounds = spell_blocks(record)
    return f"block {number} of {bounds}" if bounds.isdigit() else f"block {number} ({bounds} planned)"


def describe_block(
    record: Campaign, launches: Sequence[Launch], cases: int, took_s: float, failures: Iterable[str]
) -> str:
    """Return how the launches of a block ended: `block 2 of 5: 4 candidates, 43 cases, 16.5 s, ok`."""
    return (
        f"{name_block(record, launches[0].block)}: "
        f"{spell_count(len({launch.candidate for launch in launches}), 'candidate')}, "
        f"{spell_count(cases, 'case')}, {took_s:.1f} s, {'; '.join(dict.fromkeys(failures)) or 'ok'}"
    )


def spell_blocks(record: Campaign) -> str:
    """Return the bounds on blocks: `5`, `5 to 30`; `5 or more` if the plan only limits the time."""
    from rankbench.plan import notation, stop_rules  # Slow to load, and `--help` does not need it.

    stop = record.plan.stop
    if stop.blocks_max == stop_rules.find_rule(notation.parse_until(stop.until).rule).most_blocks:
        return f"{stop.blocks_min} or more"
    return f"{stop.blocks_min}" + (f" to {stop.blocks_max}" if stop.blocks_max > stop.blocks_min else "")
