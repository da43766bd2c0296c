"""What readers of tools share: numbers of a line, with errors that say where it stands, and tables while they fill."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from rankbench.model import RankbenchError
from rankbench.suites import Row, make_benchmark

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Sequence

    from rankbench.model import Meaning, Operation
    from rankbench.suites import Line, Table

NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
ROW_BEGINS = re.compile(r"\s*[-+]?\.?(?:\d|(?:nan|inf)\b)", re.ASCII | re.IGNORECASE)
LARGEST = 1 << 62
MAX_NOISE_LINES = 20
NONE = math.nan
"""Where a tool says that it has no figure."""


class Place(NamedTuple):
    """Where a line stands, for messages."""

    file: str
    line: int

    def make_error(self, what: str) -> RankbenchError:
        """Return the error that says what is wrong there, and what would be right."""
        return RankbenchError(f"{self.file}:{self.line}: {what}")

    def split(self, text: str, headings: Sequence[str]) -> list[str]:
        """Return the fields of a row, as many as there are headings."""
        fields = text.split()
        if len(fields) != len(headings):
            cut = "; is it cut?" if len(fields) < len(headings) else ""
            raise self.make_error(f"{len(fields)} columns, expected {len(headings)} ({' '.join(headings)}){cut}")
        return fields

    def parse_number(self, field: str, heading: str, *, negative: bool = False) -> float:
        """Return a finite number, that may be below 0 only where that is said."""
        value = float(field) if NUMBER.fullmatch(field) else math.nan
        if not math.isfinite(value) or (value < 0 and not negative):
            raise self.make_error(f"{heading} is {field!r}, expected a number{'' if negative else ' of 0 or more'}")
        return value

    def parse_size(self, field: str, heading: str) -> int:
        """Return a whole number such as a message size."""
        if not (field.isascii() and field.isdigit() and len(field) < 20 and int(field) <= LARGEST):
            raise self.make_error(f"{heading} is {field!r}, expected a whole number from 0 to 2^62")
        return int(field)


def begins_a_row(text: str) -> bool:
    """Return whether a line begins with a number, or what stands for one that could not be had."""
    return ROW_BEGINS.match(text) is not None


class Drafts:
    """The tables of one run, by what distinguishes them.

    No size comes twice in a table, unless its rows are single calls: a benchmark that is printed again for a size has
    as many tables.
    """

    def __init__(self) -> None:
        self._tables: dict[tuple[Hashable, int], Table] = {}
        self._times: dict[tuple[Hashable, int], int] = {}
        self._noise: list[Line] = []

    def add(self, key: Hashable, make: Callable[[], Table], row: Row) -> None:
        """Add a row to the table of a key, which `make` makes, still without rows, where there is none yet."""
        time = self._times.get((key, row.size_bytes), 0)
        table = self._tables.get((key, time))
        if table is None:
            table = self._tables[key, time] = make()
        table.rows.append(row)
        if not table.raw:
            self._times[key, row.size_bytes] = time + 1

    def keep_unrecognised(self, line: Line) -> None:
        """Keep a line that is not the tool's."""
        if len(self._noise) < MAX_NOISE_LINES and line.text.strip():
            self._noise.append(line)

    def finish(self) -> Iterator[Table]:
        """Yield the tables, the first one with the noise, and forget them; noise before any table waits for one."""
        tables, noise = list(self._tables.values()), tuple(self._noise)
        if not tables:
            return
        for kept in (self._tables, self._times, self._noise):
            kept.clear()
        for table in tables:
            yield table._replace(noise=noise)
            noise = ()


def make_variant(operation: Operation, name: str, **changes: object) -> Operation:
    """Return a benchmark as it is with another option of its tool, whose figures mean something else."""
    assert operation.foreign
    meaning: Meaning = replace(operation.foreign.meaning, **changes)
    foreign = replace(operation.foreign, meaning=meaning)
    return replace(operation, name=f"{operation.name}-{name}", start=meaning.start.replace(" ", "-"), foreign=foreign)


def make_unknown(suite: str, spelling: str, meaning: Meaning) -> Operation:
    """Return a benchmark that a known tool names and that is not known here."""
    return make_benchmark(
        suite, make_slug(spelling) or "unnamed", spelling, f"{spelling}, which is not known to rankbench", meaning
    )


def make_slug(spelling: str) -> str:
    """Return a name as operations have it: small letters, digits, underscores and hyphens."""
    return re.sub(r"[^a-z0-9_]+", "-", spelling.lower()).strip("-")
