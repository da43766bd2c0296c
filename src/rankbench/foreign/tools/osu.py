"""OSU micro-benchmarks 2.x to 7.x: a title, lines that begin with `#`, a line of headings, a row for each message size.

    # OSU MPI Allreduce Latency Test v7.4
    # Datatype: MPI_CHAR.
    # Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
    1                       0.90              0.88              0.92        1000

Titles differ between versions and are matched loosely; numbers must match exactly. The output does not define its
numbers: their meaning is written here, for the default options of a program. Output in OSU's format that rankbench
wrote has a line `# Meaning: {...}` with the definition.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from rankbench.foreign import Line, LineError, Problem, Role, Row, Table, Text
from rankbench.foreign.fields import count_decimals, make_table_without_rows
from rankbench.foreign.running import RunRequest, find_option, set_repetitions
from rankbench.foreign.suites import osu as catalogue
from rankbench.foreign.suites.osu import COLLECTIVE_LOOP, LATENCY_LOOP, MEGABYTE, PROGRAMS, REDUCING, WINDOW_LOOP
from rankbench.foreign.suites.osu_titles import Title, make_unknown, read_title
from rankbench.model import Meaning, Operation, Plan

NAME = catalogue.NAME
TITLE = catalogue.TITLE
OPERATIONS = catalogue.OPERATIONS
find_program = catalogue.find_program

NOISE_LINES = 20
MAX_FACTS = 100
CACHE_SIZE = 100
"""Number of cached titles and headings: each comes many times in a file."""
MAX_TITLE = 2000
"""Largest number of characters in a title, headings or a meaning."""
LARGEST = 1 << 62


SAME_TITLE = {"bw": ("bw_fan_in", "bw_fan_out"), "ialltoallv": ("ialltoallw",)}
"""Programs that print the title of another one in some versions: only the file's name distinguishes them."""
HEADLESS = "get_mbw"
"""Program with a column without a heading."""

SIZE = re.compile(r"#?\s*Size(?:\s\s+|\t|$)")
FIRST_HEADING = re.compile(r"(?:Avg Latency|Latency|Overall|Bandwidth) ?\(|MB/s\b")
WITHOUT_UNIT = r"(?:Iterations|Validation|Transmit Size|MB/s|Messages/s)(?!\S)"
HEADING = re.compile(rf"(?<![^\s)])(?:{WITHOUT_UNIT}|[^\s(]++(?: [^\s(]++)*+ ?\([^\s()]+\))")
VALIDATION, TRANSMITTED = "Validation", "Transmit Size"
VERDICTS = {"Pass": "", "Fail": "validation failed"}
UNITS = {
    "us": ("time", 1e3),
    "ms": ("time", 1e6),
    "s": ("time", 1e9),
    "MB/s": ("bandwidth", 1e6),
    "Messages/s": ("rate", 1.0),
}
QUANTITIES = {"time": {"time", "latency"}, "bandwidth": {"bandwidth"}, "rate": {"rate"}}
"""Metrics of operations by the quantity of a unit."""
ROLES: dict[str, Role] = {
    "Min Latency": "minimum",
    "Max Latency": "maximum",
    "Iterations": "repetitions",
    "Compute": "compute",
    "Pure Comm.": "pure",
    "Overlap": "overlap",
    "Messages/s": "rate",
    "P50 Tail": "p50",
    "P90 Tail": "p90",
    "P95 Tail": "p95",
    "P99 Tail": "p99",
}
PERCENTILES: set[Role] = {"p50", "p90", "p95", "p99"}
UNDEFINED: set[Role | None] = {"overlap", "rate"}
"""Quotients, printed as `nan` after a division by 0."""

WINDOWS = re.compile(r"#(?:\s+\d{1,9})+")
SECTIONS = {"# Uni-directional Bandwidth (MB/sec)": "mbw_mr", "# Message Rate Profile": "mbw_mr-rate"}
SECTION_UNITS = {"mbw_mr": "MB/s", "mbw_mr-rate": "Messages/s"}
WITHOUT_RATE = {"mbw_mr-rate": "mbw_mr"}
DATATYPE = re.compile(r"#\s*Datatype:\s*(\w{1,60})\.?")
PAIRS = re.compile(r"#\s*\[ pairs: (\d{1,9}) \] \[ window size: (\w{1,20}) \]")
BUFFERS = re.compile(
    r"#\s*(?:Send Buffer|Rank 0 Memory) on (.{1,40}) and (?:Receive Buffer|Rank 1 Memory) on (.{1,40})"
)
FACT = re.compile(r"(?:#\s*(?=.*:)|(?=Dimensions size|Time took))([A-Z][\w. -]{0,60}?)\s*[:=]\s*(\S.{0,200})")
"""`# Window creation: MPI_Win_allocate`, `Dimensions size = 4`."""
MEANING = re.compile(r"#\s*Meaning:\s*(\{.*\})")
"""The meaning of numbers in OSU's format that rankbench wrote."""
OPTIONS = {
    "window creation": "allocation",
    "window": "allocation",
    "synchronization": "synchronisation",
    "pairs": "pairs",
    "dimensions size": "dimensions",
    "number of sender threads": "sender threads",
    "number of receiver threads": "receiver threads",
    "number of forked processes in sender": "sender processes",
    "number of forked processes in receiver": "receiver processes",
}
START_UP_LINE = re.compile(
    r"nprocs: (\d{1,9}), min: (\S{1,40}?)(?: ms)?, max: (\S{1,40}?)(?: ms)?, avg: (\S{1,40}?)(?: ms)?"
)
FOREIGN_ROW = "looks like a row, but does not continue the table"
ROWLIKE = re.compile(r"[-+]?(?:\.?\d|nan\b|inf(?:inity)?\b)|(?:Pass|Fail)$", re.IGNORECASE | re.ASCII)
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[-+]?\d+)?", re.ASCII | re.IGNORECASE)
WHOLE = re.compile(r"\d{1,19}", re.ASCII)
NO_ROW = re.compile(r"(?!)")
PLAIN_SIZE, PLAIN_NUMBER = r"(\d{1,18})", r" +(\d{1,99}(?:\.\d{1,99})?)"
"""Parts of rows that need no further checks."""
SINGLE_NUMBER = re.compile(PLAIN_SIZE + PLAIN_NUMBER, re.ASCII)
SINGLE = 2
"""Words in a row with one number."""
SIZES = {str(1 << power): 1 << power for power in range(41)} | {"0": 0}
"""Sizes of nearly all rows, by their text."""


def recognises(head: Sequence[Line]) -> bool:
    """Return whether one of the lines is a title of OSU, or a line of osu_init."""
    short = (line.text.strip() for line in head if len(line.text) <= MAX_TITLE)
    return any(read_title(text) or START_UP_LINE.fullmatch(text) for text in short)


def read(text: Text) -> Iterator[Table]:
    """Yield the tables of a text. Raises RankbenchError for a damaged row or unknown columns."""
    reader = _Reader(text.file, text.problems)
    single, rows = reader.single, reader.rows
    head: list[Line] = []
    new, sizes = tuple.__new__, SIZES  # Makes a `Row` in half the time: there can be millions.
    for line in text.lines:
        number, words = line
        parts = words.split()
        # Nearly all lines are a size and a number. The reader checks the other ones.
        if single and len(parts) == SINGLE and (size := sizes.get(parts[0])) is not None and words.isascii():
            try:
                value = float(parts[1])
            except ValueError:
                value = math.nan
            if value < LARGEST and "-" not in words and "_" not in words:
                printed = parts[1]
                decimals = 2 if printed[-3:-2] == "." else count_decimals(printed)
                rows.append(new(Row, (number, size, (value,), "", decimals)))
                continue
        if not parts:
            continue
        if parts[0][0] == "#":
            head.append(line)
            single = False
            continue
        yield from reader.take_head(head)
        head = []
        if not reader.take_row(line, parts):
            yield from reader.take(line)
        single, rows = reader.single, reader.rows
    yield from reader.take_head(head)
    yield from reader.end()


class _Columns(NamedTuple):
    """The columns of a table."""

    operation: Operation | None
    """None: there are none yet, or the program has no such columns."""
    scale: float
    headings: list[str]
    """Of the numbers, without the size and the validation."""
    sized: bool
    checked: bool
    roles: dict[Role, int]
    plain: re.Pattern[str]
    """Matches a row that needs no further checks, if rows are a size and numbers only."""

    @property
    def names(self) -> list[str]:
        """All headings except the validation."""
        return ["Size", *self.headings] if self.sized else self.headings

    @property
    def width(self) -> int:
        """The number of words in a row."""
        return self.sized + len(self.headings) + self.checked


NO_COLUMNS = _Columns(None, 0.0, [], sized=False, checked=False, roles={}, plain=NO_ROW)


@dataclass
class _Run:
    """A run of a benchmark while its lines are read."""

    title: str
    program: str
    line: int
    version: str
    options: dict[str, str]
    facts: dict[str, str]
    meaning: Meaning | None = None
    """The meaning of its numbers, if the file has it."""
    datatype: str = ""
    columns: _Columns = NO_COLUMNS
    rows: list[Row] = field(default_factory=list)
    noise: list[Line] = field(default_factory=list)

    def make_next(self, line: int) -> _Run:
        """Return a run of the same program without columns."""
        options, facts = dict(self.options), dict(self.facts)
        return _Run(self.title, self.program, line, self.version, options, facts, self.meaning, self.datatype)

    def make_copy(self, line: int) -> _Run:
        """Return a run of the same program with the same columns."""
        run = self.make_next(line)
        run.columns = self.columns
        return run


class _Reader:
    """Makes tables of lines, one after the other."""

    def __init__(self, file: str, problems: list[Problem] | None = None) -> None:
        self.file = file
        self.problems = problems
        self.name = f"{PurePath(file).name}."
        self.run: _Run | None = None
        self.options: dict[str, str] = {}
        """Options before the title of their run."""
        self.facts: dict[str, str] = {}
        self.heads: dict[tuple[str, ...], _Run] = {}
        """Runs by their first lines: many in a file begin with the same ones."""

    @property
    def single(self) -> bool:
        """Whether rows are a size and one number."""
        return bool(self.run and self.run.columns.plain is SINGLE_NUMBER)

    @property
    def rows(self) -> list[Row]:
        """The rows of the run, to which rows can be added."""
        return self.run.rows if self.run else []

    def take_row(self, line: Line, parts: list[str]) -> bool:
        """Read the words of a line if they are a row. Raises RankbenchError for a damaged row."""
        run, number = self.run, line.number
        if run and (row := run.columns.plain.fullmatch(line.text)):
            size, *numbers = row.groups()
            run.rows.append(Row(number, int(size), tuple(map(float, numbers)), "", count_decimals(numbers[0])))
            return True
        if not run or not parts or not ROWLIKE.match(parts[0]):
            return False
        if not (run.columns.operation and len(parts) == run.columns.width) and not all(map(ROWLIKE.match, parts)):
            return False
        if not run.columns.operation:
            raise self._make_error(number, "a row before the line with the columns, such as `# Size  Latency (us)`")
        if run.rows and not run.columns.sized:
            raise self._make_error(number, f"a second row;  {run.title} has one")
        if run.program == HEADLESS and not run.rows and len(parts) == run.columns.width + 1:
            run.columns = run.columns._replace(headings=[*run.columns.headings, ""], plain=NO_ROW)
        run.rows.append(self._read_row(run, number, parts))
        return True

    def _read_row(self, run: _Run, number: int, parts: list[str]) -> Row:
        """Return a row. Raises RankbenchError if it is damaged."""
        columns = run.columns
        verdicts = [part for part in parts if columns.checked and part in VERDICTS]
        texts = [part for part in parts if part not in verdicts]
        if len(texts) != len(columns.names) or len(verdicts) != columns.checked:
            text = ", ".join([*columns.names, *([VALIDATION] if columns.checked else [])])
            raise self._make_error(number, f"{len(parts)} values, expected {text}")
        size = self._parse_whole(number, "Size", texts.pop(0)) if columns.sized else 0
        numbers = [self._parse_number(number, *pair) for pair in zip(columns.headings, texts, strict=True)]
        if TRANSMITTED in columns.headings:
            place = columns.headings.index(TRANSMITTED)
            size, numbers[place] = self._parse_whole(number, TRANSMITTED, texts[place]), float(size)
        wrong = VERDICTS[verdicts[0]] if verdicts else ""
        return Row(number, size, tuple(numbers), wrong, count_decimals(texts[columns.roles["value"]]))

    def _parse_whole(self, number: int, heading: str, text: str) -> int:
        if not WHOLE.fullmatch(text) or int(text) > LARGEST:
            raise self._make_error(number, f"{heading} is {text[:40]!r}; expected a whole number of bytes")
        return int(text)

    def _parse_number(self, number: int, heading: str, text: str) -> float:
        if _find_role(heading) in UNDEFINED and text.lower() in {"nan", "-nan"}:
            return math.nan
        if not NUMBER.fullmatch(text) or math.isinf(float(text)):
            raise self._make_error(
                number, f"{heading or 'the last value'} is {text[:40]!r}; expected a number of 0 or more"
            )
        return float(text)

    def _make_error(self, number: int, wrong: str) -> LineError:
        return LineError(self.file, number, wrong)

    def take_head(self, head: Sequence[Line]) -> Iterator[Table]:
        """Read lines that begin with `#`, with only blank ones between, and yield the tables that they end."""
        if not head:
            return
        texts = tuple([line.text for line in head])
        alone = not (self.options or self.facts)
        if alone and (known := self.heads.get(texts)):
            yield from self.end()
            self.run = known.make_copy(head[0].number)
            return
        for line in head:
            yield from self.take(line)
        run = self.run
        if alone and run and run.line == head[0].number and run.columns.operation and len(self.heads) < CACHE_SIZE:
            self.heads[texts] = run.make_copy(run.line)

    def take(self, line: Line) -> Iterator[Table]:
        """Read a line that is neither a row nor blank, and yield the tables that it ends."""
        text = line.text.strip() if len(line.text) <= MAX_TITLE else ""
        if title := read_title(text):
            yield from self.end()
            self._begin(line.number, title)
        elif text.startswith("nprocs:"):
            version = self.run.version if self.run else ""
            if self.run and not self.run.rows:
                self.run = None
            yield from self.end()
            yield self._read_start_up(line.number, text, version)
        elif self.run and _ends_rows(self.run.program, text):
            yield from self._continue(line.number, text)
        elif not self._read_meaning(line.number, text) and self.run and len(self.run.noise) < NOISE_LINES:
            self.run.noise.append(line)

    def end(self) -> Iterator[Table]:
        """Yield the tables of the run and end it."""
        run, self.run = self.run, None
        if run and run.rows and self.problems is not None:
            run.rows, foreign = _split_off_foreign(run)
            self.problems += [Problem(row.line, FOREIGN_ROW, "that may be of another program") for row in foreign]
        if run and run.rows:
            yield from _make_tables(run)
        elif run and self.problems is not None and (operation := run.columns.operation or PROGRAMS.get(run.program)):
            options, datatype = _collect_options(run), _find_datatype(run)
            table = make_table_without_rows(operation, run.line)._replace(options=options, datatype=datatype)
            yield table._replace(version=run.version, facts=run.facts, noise=tuple(run.noise))

    def _begin(self, number: int, title: Title) -> None:
        if title.accelerator:
            self.options["accelerator"] = title.accelerator
        others = SAME_TITLE.get(title.program, ())
        program = next((other for other in others if f"osu_{other}." in self.name), title.program)
        self.run = _Run(title.text, program, number, title.version, self.options, self.facts)
        self.options, self.facts = {}, {}

    def _continue(self, number: int, text: str) -> Iterator[Table]:
        """Read a line that can begin the table of another datatype or quantity."""
        run = self.run
        if run and run.rows:
            again = run.make_next(number)
            yield from self.end()
            self.run = run = again
        if run and (datatype := DATATYPE.fullmatch(text)):
            run.datatype = datatype[1]
            run.program = WITHOUT_RATE.get(run.program, run.program)
        elif run and text in SECTIONS:
            run.program = SECTIONS[text]
        elif run:
            self._set_columns(run, number, text)

    def _set_columns(self, run: _Run, number: int, text: str) -> None:
        """Set the columns. Raises RankbenchError if the program has no such columns."""
        columns = _read_columns(run.program, run.title, text)
        if columns.operation is None:
            sentence = ", ".join(_split_headings(run.program, text)[1])
            raise self._make_error(number, f"{run.title} with unknown columns: {sentence}")
        run.columns = columns

    def _read_meaning(self, number: int, text: str) -> bool:
        """Read a meaning or a fact; return whether the line has one. Raises RankbenchError for a damaged meaning."""
        match = MEANING.fullmatch(text)
        if not match or not self.run or self.run.rows:
            return self._keep_fact(text)
        try:
            self.run.meaning = msgspec.json.decode(match[1], type=Meaning)
        except msgspec.DecodeError as error:
            raise self._make_error(number, f"a line Meaning that is not from rankbench: {error}") from None
        if self.run.meaning.counted <= 0 or self.run.meaning.megabyte not in {0, MEGABYTE}:
            raise self._make_error(number, "a line Meaning with a count of bytes that rankbench does not write")
        return True

    def _keep_fact(self, text: str) -> bool:
        """Keep a fact of the run, or of the next run after its rows; return whether the line has one."""
        run = self.run if self.run and not self.run.rows else self
        if pairs := PAIRS.fullmatch(text):
            run.options |= {"pairs": pairs[1], "window": pairs[2]}
        elif buffers := BUFFERS.fullmatch(text):
            run.options["buffers"] = f"{buffers[1]}, {buffers[2]}"
        elif (match := FACT.fullmatch(text)) and len(run.facts) < MAX_FACTS:
            key = match[1].lower()
            facts = run.options if key in OPTIONS else run.facts
            facts[OPTIONS.get(key, key)] = match[2]
        return text.startswith("#") or bool(match)

    def _read_start_up(self, number: int, text: str, version: str) -> Table:
        """Return the table of a line of osu_init."""
        match = START_UP_LINE.fullmatch(text)
        if not match:
            raise self._make_error(
                number, "not a line of osu_init, such as `nprocs: 2, min: 18 ms, max: 22 ms, avg: 20 ms`"
            )
        columns = ("min", "max", "avg")
        numbers = tuple(self._parse_number(number, *pair) for pair in zip(columns, match.groups()[1:], strict=True))
        ranks = int(match[1])
        # A rank's time is cut to whole milliseconds, and so is the quotient of their sum and the number of ranks.
        rounding = 2 - 1 / ranks if ranks else 1.0
        return Table(
            operation=PROGRAMS["init"],
            datatype="",
            ranks=ranks,
            columns=columns,
            roles={"minimum": 0, "maximum": 1, "value": 2},
            scale=1e6,
            rows=[Row(number, 0, numbers, "", count_decimals(match[4]))],
            rounding=rounding,
            line=number,
            version=version,
        )


@functools.lru_cache(CACHE_SIZE)
def _compile_plain_row(numbers: int) -> re.Pattern[str]:
    """Return a pattern for rows of a size and so many numbers that need no further checks."""
    return re.compile(PLAIN_SIZE + PLAIN_NUMBER * numbers, re.ASCII)


@functools.lru_cache(CACHE_SIZE)
def _find_unit(heading: str) -> str:
    """Return the unit in brackets, or the whole heading."""
    return re.sub(r".*\(|\).*", "", heading)


@functools.lru_cache(CACHE_SIZE)
def _ends_rows(program: str, text: str) -> bool:
    """Return whether a line has a datatype, a quantity or columns, and so begins another table."""
    return bool(DATATYPE.fullmatch(text) or text in SECTIONS or _split_headings(program, text)[1])


@functools.lru_cache(CACHE_SIZE)
def _split_headings(program: str, text: str) -> tuple[bool, list[str]]:
    """Return whether there is a size, and the other columns; none if a line has no columns."""
    if program in SECTION_UNITS and WINDOWS.fullmatch(text):
        return True, text[1:].split()
    size = SIZE.match(text)
    rest = text[size.end() :] if size else text.lstrip("# ")
    if not size and not FIRST_HEADING.match(rest):
        return False, []
    headings = HEADING.findall(rest)
    if headings and not HEADING.sub("", rest).strip():
        return bool(size), headings
    return bool(size), re.split(r"\s\s+", rest) if size else []


@functools.lru_cache(CACHE_SIZE)
def _read_columns(program: str, title: str, text: str) -> _Columns:
    """Return the columns of a program's table."""
    sized, names = _split_headings(program, text)
    checked, headings = VALIDATION in names, [heading for heading in names if heading != VALIDATION]
    unit = SECTION_UNITS.get(program) if _has_window_columns(headings) else _find_unit(names[0])
    quantity, scale = UNITS.get(unit or "", ("", 0.0))
    roles = _find_roles(headings)
    operation: Operation | None = PROGRAMS.get(program) or make_unknown(title, roles, quantity, sized=sized)
    if operation and (operation.sized != sized or operation.metric not in QUANTITIES.get(quantity, ())):
        operation = None
    plain = NO_ROW
    if sized and not checked and TRANSMITTED not in headings:
        plain = SINGLE_NUMBER if len(headings) == 1 else _compile_plain_row(len(headings))
    return _Columns(operation, scale, headings, sized, checked, roles, plain)


def _has_window_columns(headings: Sequence[str]) -> bool:
    """Return whether there is a column for each window size."""
    return bool(headings) and headings[0].isdecimal()


def _find_role(heading: str) -> Role | None:
    return next((role for start, role in ROLES.items() if heading.startswith(start)), None)


def _find_roles(headings: list[str]) -> dict[Role, int]:
    """Return the column of each role, without percentiles beside an overlap: it is unknown of which time they are."""
    column_roles: dict[Role, int] = {
        role: place for place, heading in enumerate(headings) if place and (role := _find_role(heading))
    }
    unclear = PERCENTILES if "pure" in column_roles else set()
    return {"value": 0, **{role: place for role, place in column_roles.items() if role not in unclear}}


def _split_off_foreign(run: _Run) -> tuple[list[Row], list[Row]]:
    """Return the rows of a run, and those that another program may have printed after it.

    Sizes rise. After other text the next row is one that the program prints: of twice the size, or some steps further.
    """
    for before, (last, row) in enumerate(itertools.pairwise(run.rows), 1):
        apart = any(last.line < line.number < row.line for line in run.noise)
        expected = {last.size_bytes << step for step in range(1, 6)} if last.size_bytes else {1, 2, 4, 8}
        if row.size_bytes <= last.size_bytes or (apart and row.size_bytes not in expected):
            return run.rows[:before], run.rows[before:]
    return run.rows, []


def _make_tables(run: _Run) -> Iterator[Table]:
    """Yield the table of a run, or one for each window size if each has a column."""
    columns = run.columns
    assert columns.operation
    operation = _mark_as_rankbench(columns.operation, run.meaning) if run.meaning else columns.operation
    pairs = run.options.get("pairs", "")
    table = Table(
        operation=operation,
        datatype=_find_datatype(run),
        ranks=operation.ranks_exactly or 2 * int(pairs if WHOLE.fullmatch(pairs) else 0),
        options=_collect_options(run),
        columns=tuple("Size" if heading == TRANSMITTED else heading for heading in columns.headings),
        roles=columns.roles,
        scale=columns.scale,
        rows=run.rows,
        line=run.line,
        version=run.version,
        facts=run.facts,
        noise=tuple(run.noise),
    )
    by_window = _has_window_columns(columns.headings)
    for place, window in enumerate(columns.headings) if by_window else ():
        options = dict(sorted((table.options | {"window": window}).items()))
        rows = [row._replace(numbers=row.numbers[place : place + 1]) for row in run.rows]
        yield table._replace(options=options, columns=(window,), roles={"value": 0}, rows=rows)
    if not by_window:
        yield table


def _mark_as_rankbench(operation: Operation, meaning: Meaning) -> Operation:
    """Return a benchmark for numbers that rankbench wrote in OSU's format, with its own meaning."""
    assert operation.foreign
    written = replace(
        operation.foreign, benchmark=f"{operation.foreign.benchmark} of rankbench", meaning=meaning, one_buffer=False
    )
    start = meaning.start.replace(" ", "-")
    help_ = f"{operation.help}; written by rankbench"
    return replace(operation, name=f"{operation.name}-of-rankbench", help=help_, start=start, foreign=written)


def _collect_options(run: _Run) -> dict[str, str]:
    options = {"validation": "yes"} if run.columns.checked else {}
    if "pure" in run.columns.roles:
        options["quantity"] = "overlap"
    return dict(sorted((run.options | options).items()))


def _find_datatype(run: _Run) -> str:
    """Return the core's name of a datatype: characters are bytes, except in reductions."""
    name = run.datatype.removeprefix("MPI_").lower()
    calculates = run.program in REDUCING or run.program.removeprefix("i").removesuffix("_persistent") in REDUCING
    return "byte" if name == "char" and not calculates else name


# --- running ----------------------------------------------------------------------------------------------------------

NO_REPETITIONS = {"osu_init"}
TYPE_OPTIONS = ("-T", "--type")
HELP_TEXTS = {
    "-i": rb"-i, --iterations|-i ITER|ITER - number of iterations",
    "-m": rb"\[MIN:\]MAX",
    TYPE_OPTIONS[0]: rb"[\[<]all,mpi_char,",
}
"""Text in the help of programs that have an option: 5.3 has `-m` only for collectives, and `-T` comes with 7.1.

The help is part of the program. Open MPI's symbols, such as `ompi_mpi_float`, are part of every program.
"""
WITHOUT = {"-i": "it repeats its calls as often as by default", "-m": "it measures all of its own sizes"}
"""What a program does whose build lacks an option. Without `-T` it reduces MPI_FLOAT, as cases do."""
ONE_SIZE = {"osu_cas_latency", "osu_fop_latency"}
"""Programs that measure one size, that of their number: 8 bytes, since version 7.1 one byte."""
REPETITIONS = {
    LATENCY_LOOP: "{} times after 100 unscored ones, above 8 KiB 10",
    WINDOW_LOOP: "{} windows of 64 messages after 10 unscored ones, above 8 KiB 2",
    COLLECTIVE_LOOP: "{} calls after 100 unscored ones, above 8 KiB 10",
}
"""Replacements for the default repetitions if their number is set."""


def program(operation: Operation) -> str:
    """Return the name of a benchmark's program."""
    assert operation.foreign
    return operation.foreign.benchmark


def apply_plan(operation: Operation, plan: Plan, user_arguments: Sequence[str]) -> Operation:
    """Return a benchmark with the datatype and repetitions of a plan and of the user's arguments."""
    times = find_option(user_arguments, ("-i", "--iterations")) or str(plan.sampling.good)
    kind = (
        find_option(user_arguments, TYPE_OPTIONS).lower().removeprefix("mpi_") if operation.datatype == "float" else ""
    )
    described = operation if program(operation) in NO_REPETITIONS else set_repetitions(operation, REPETITIONS, times)
    sized = operation.sized and program(operation) not in ONE_SIZE
    return replace(described, datatype=kind or operation.datatype, sized=sized)


def find_lacking(operation: Operation, path: Path) -> frozenset[str]:
    """Return the options among those of `arguments` that the build of a program does not have."""
    text = path.read_bytes()
    return frozenset(option for option in _list_options(operation) if not re.search(HELP_TEXTS[option], text))


def _list_options(operation: Operation) -> Iterator[str]:
    if program(operation) not in NO_REPETITIONS:
        yield "-i"
    if operation.sized:
        yield "-m"
    if operation.datatype == "float":
        yield TYPE_OPTIONS[0]


def arguments(request: RunRequest) -> list[str]:
    """Return the arguments of the program: repetitions, the range of sizes in factors of two, and the datatype."""
    values = {
        "-i": str(request.plan.sampling.good),
        "-m": f"{min(request.sizes)}:{max(request.sizes)}",
        TYPE_OPTIONS[0]: f"mpi_{request.operation.datatype}",
    }
    offered = [option for option in _list_options(request.operation) if option not in request.lacking]
    return [word for option in offered for word in (option, values[option])]
