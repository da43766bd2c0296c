"""Shared by the readers of tools: numbers of a line, errors with file and line, and tables that are being filled."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Literal, NamedTuple

from msgspec.structs import replace

from rankbench.foreign import Line, LineError, Row, Table, make_benchmark
from rankbench.model import Meaning, Operation

NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
ROW_BEGINS = re.compile(r"\s*[-+]?\.?(?:\d|(?:nan|inf)\b)", re.ASCII | re.IGNORECASE)
LARGEST = 1 << 62
MOST_DECIMALS = 400
"""A larger exponent is of 0, or of no double."""
MAX_NOISE_LINES = 20
NONE = math.nan
"""Stands for a value that the tool does not have."""


TIMES = {"s": 1e9, "sec": 1e9, "seconds": 1e9, "ms": 1e6, "msec": 1e6, "us": 1e3, "usec": 1e3, "microseconds": 1e3}
TIMES |= {"µs": 1e3, "μs": 1e3, "ns": 1.0, "nsec": 1.0, "nanoseconds": 1.0, "milliseconds": 1e6}
PREFIXES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30}
RATE = re.compile(r"(?P<prefix>[kmg]i?)?(?P<unit>b|bit|bytes?)(?:/s|/sec|ps|_per_s)", re.IGNORECASE)
SIZE_UNITS = {"": 1, "b": 1, **{f"{prefix}{end}": 1 << 10 * power for power, prefix in enumerate("kmg", 1)
                               for end in ("", "b", "ib")}}  # fmt: skip
SIZE_TEXT = re.compile(r"(?P<number>\d{1,18})(?:\.0+)? ?(?P<unit>[a-z]*)", re.IGNORECASE | re.ASCII)


LIBRARY_NAMES = ("library", "lib", "mpi", "mpi_library", "implementation", "candidate", "mpi library")
"""Names of columns and parameters, in lower case, that say which library was measured."""
SIZE_NAME = re.compile(
    r"(?:(?:msg|message|data|buffer)?[ _-]*(?:sizes?|bytes|length|len))(?:[ _-]*[(\[]?(?:b|bytes?)[)\]]?)?"
)
"""Names of columns and parameters, in lower case, that hold the message size."""


class Place(NamedTuple):
    """File and line, for messages."""

    file: str
    line: int

    def make_error(self, what: str) -> LineError:
        """Return an error with file, line and message."""
        return LineError(self.file, self.line, what)

    def split(self, text: str, headings: Sequence[str]) -> list[str]:
        """Return the fields of a row. Raises RankbenchError if their number is not that of the headings."""
        fields = text.split()
        if len(fields) != len(headings):
            cut = "; is it cut?" if len(fields) < len(headings) else ""
            raise self.make_error(f"{len(fields)} columns, expected {len(headings)} ({' '.join(headings)}){cut}")
        return fields

    def parse_number(self, field: str, heading: str, *, negative: bool = False) -> float:
        """Return a finite number. Raises RankbenchError for others, and for negative ones unless allowed."""
        value = float(field) if NUMBER.fullmatch(field) else math.nan
        if not math.isfinite(value) or (value < 0 and not negative):
            raise self.make_error(f"{heading} is {field!r}, expected a number{'' if negative else ' of 0 or more'}")
        return value

    def parse_numbers(self, fields: Sequence[str], headings: Sequence[str]) -> tuple[float, ...]:
        """Return numbers of 0 or more. Raises RankbenchError for others."""
        return tuple(map(self.parse_number, fields, headings))

    def parse_size(self, field: str, heading: str) -> int:
        """Return a whole number such as a message size. Raises RankbenchError outside 0 to 2^62."""
        if not (field.isascii() and field.isdigit() and len(field) < 20 and int(field) <= LARGEST):
            raise self.make_error(f"{heading} is {field!r}, expected a whole number from 0 to 2^62")
        return int(field)


def count_decimals(field: str) -> int:
    """Return the decimals of a printed number, less its exponent: 3 for `0.250`, 1 for `0.2`, -2 for `12e2`."""
    mantissa, _, exponent = field.lower().partition("e")
    return len(mantissa.partition(".")[2]) - int(max(-MOST_DECIMALS, min(MOST_DECIMALS, float(exponent or 0))))


def find_scale(unit: str) -> tuple[Literal["time", "bandwidth"], float] | None:
    """Return the quantity of a unit such as `us` or `MB/s`, and its factor to nanoseconds or bytes per second.

    None: it is unknown.
    """
    if unit.lower() in TIMES:
        return "time", TIMES[unit.lower()]
    if match := RATE.fullmatch(unit):
        bits = match["unit"] == "b" or match["unit"].lower() == "bit"
        return "bandwidth", PREFIXES[(match["prefix"] or "").lower()] / (8 if bits else 1)
    return None


def parse_bytes(text: str) -> int | None:
    """Return a number of bytes such as `1024`, `8 B` or `64K` (1 K = 1024); None if it is none."""
    match = SIZE_TEXT.fullmatch(text)
    unit = match["unit"].lower() if match else "?"
    return int(match["number"]) * SIZE_UNITS[unit] if match and unit in SIZE_UNITS else None


def begins_a_row(text: str) -> bool:
    """Return whether a line begins with a number, or with nan or inf."""
    return ROW_BEGINS.match(text) is not None


class Drafts:
    """The tables of one run while they are read, by key.

    A run is one launch, whatever it prints: several rows of a benchmark and a size are samples of that launch.
    """

    def __init__(self) -> None:
        self._tables: dict[Hashable, Table] = {}
        self._sizes: set[tuple[Hashable, int]] = set()
        self._noise: list[Line] = []

    def add(self, key: Hashable, make: Callable[[], Table], row: Row, printed: Sequence[str] = ()) -> None:
        """Add a row to the table of a key. `make` makes the empty table if there is none yet.

        `printed` has the fields of the table's columns; there are none if the row has no value.
        """
        table = self._tables.get(key) or make()
        again = (key, row.size_bytes) in self._sizes
        self._sizes.add((key, row.size_bytes))
        self._tables[key] = table._replace(repeated=True) if again else table
        decimals = count_decimals(printed[table.roles["value"]]) if printed else None
        table.rows.append(Row(row.line, row.size_bytes, row.numbers, row.wrong, decimals))

    def keep_unrecognised(self, line: Line) -> None:
        """Keep a line that is not from the tool."""
        if len(self._noise) < MAX_NOISE_LINES and line.text.strip():
            self._noise.append(line)

    def finish(self, *, has_end: bool = True) -> Iterator[Table]:
        """Yield the tables, the first one with the noise, and forget them. Without a table the noise is kept."""
        tables, noise = list(self._tables.values()), tuple(self._noise)
        if not tables:
            return
        for collection in (self._tables, self._sizes, self._noise):
            collection.clear()
        for table in tables:
            yield table._replace(noise=noise, has_end=has_end)
            noise = ()


def make_table_without_rows(operation: Operation, line: int) -> Table:
    """Return the table of a run that printed no row; `line` is that of its title or its command."""
    return Table(
        operation=operation,
        columns=("",),
        roles={"value": 0},
        scale=1.0,
        rows=[],
        datatype="",
        ranks=operation.ranks_exactly,
        line=line,
    )


def make_variant(operation: Operation, name: str, **changes: object) -> Operation:
    """Return a variant of a benchmark whose values have another meaning, such as with an option of its tool."""
    assert operation.foreign
    meaning: Meaning = replace(operation.foreign.meaning, **changes)
    foreign = replace(operation.foreign, meaning=meaning)
    return replace(operation, name=f"{operation.name}-{name}", start=meaning.start.replace(" ", "-"), foreign=foreign)


def make_unknown(suite: str, spelling: str, meaning: Meaning) -> Operation:
    """Return an operation for an unknown benchmark of a known tool."""
    return make_benchmark(
        suite, make_slug(spelling) or "unnamed", spelling, f"{spelling}, unknown to rankbench", meaning
    )


def make_slug(spelling: str) -> str:
    """Return a name for an operation: lower-case letters, digits, underscores and hyphens."""
    return re.sub(r"[^a-z0-9_]+", "-", spelling.lower()).strip("-")
