"""Reads the output of other benchmarks into tables with a defined meaning: one file per tool in `tools`.

A reader does not change numbers: it names the column of the value and the factor that converts it to nanoseconds, bytes
or messages per second. Text that the tool cannot have printed is an error with file and line. An import leaves out such
a line, reports it and reads the rest.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Literal, NamedTuple, TypedDict, Unpack

from rankbench.model import Amount, Foreign, Form, Meaning, Operation, RankbenchError

HEAD_LINES = 400
"""Number of lines that decide which tool printed a text."""


class NoResultsError(RankbenchError):
    """A text is complete but has no results."""


class LineError(RankbenchError):
    """A line that cannot be read."""

    def __init__(self, file: str, line: int, reason: str) -> None:
        super().__init__(f"{file}:{line}: {reason}")
        self.line = line
        self.reason = reason


class Problem(NamedTuple):
    """A line of a file that is not imported."""

    line: int
    reason: str
    kind: str = "that cannot be read"
    """What such lines are, after their number: `2 lines that cannot be read`."""


class Line(NamedTuple):
    """A line of a text, without line end and without a launcher's label."""

    number: int
    """Line number in the file, from 1."""
    text: str


class Text(NamedTuple):
    """The lines of one or several runs of a tool."""

    file: str
    """Name for messages, and for tools whose output does not name the benchmark."""
    lines: Iterator[Line]
    """Can be read once."""
    benchmark: str = ""
    """The tool's name of the benchmark, if known."""
    problems: list[Problem] | None = None
    """Collects lines that are left out. None: such lines, and runs without rows or without their end, are errors."""

    @property
    def lenient(self) -> bool:
        """Whether a run without its end is a table, and in some tools also one without rows."""
        return self.problems is not None

    def refuse_without_end(self, line: int, what: str, end: str, ended: str = "it") -> None:
        """Raise RankbenchError for a run that begins in a line and has no end mark, unless such runs are tables."""
        if not self.lenient:
            cut = f"the {what} that begins here has no end; is the file cut?"
            raise LineError(self.file, line, f"{cut} If {ended} was ended, write {end} after its rows")


class Row(NamedTuple):
    """A line of a table."""

    line: int
    size_bytes: int
    """Message size of the send side, as MPI counts it; 0 if there is none."""
    numbers: tuple[float, ...]
    """Values as printed, one for each column of the table; NaN if the tool prints that it has none."""
    wrong: str = ""
    """The tool's message about wrong data; else empty."""
    decimals: int | None = None
    """The last digit of the value as printed is worth 10 to the power of minus this; None if there is no value."""


class Table(NamedTuple):
    """The output of one run of one benchmark."""

    operation: Operation
    """The tool's benchmark."""
    columns: tuple[str, ...]
    """Headings of the numbers as printed, without the size."""
    roles: dict[Role, int]
    """Index of the column of each role; each table has a `value`."""
    scale: float
    """Factor that converts values to nanoseconds, bytes per second or messages per second."""
    rows: list[Row]
    datatype: str = "byte"
    """Named as in the core, such as `byte`, `float`; empty if not known."""
    ranks: int = 0
    """Number of ranks that took part; 0 if not known."""
    options: dict[str, str] = {}  # noqa: RUF012 - never changed
    """Options that define the numbers, such as `{"window": "64", "synchronisation": "MPI_Win_flush"}`, sorted by
    name."""
    rounding: float = 0.5
    """How far the truth may be from a printed value, in units of its last digit: half a unit if it is rounded."""
    repeated: bool = False
    """Whether several rows have the same size: each is a sample of the run, such as one call."""
    line: int = 0
    """First line of the table."""
    version: str = ""
    """Version of the tool."""
    facts: dict[str, str] = {}  # noqa: RUF012 - never changed
    """Facts about the run: command line, date, machine, library."""
    noise: tuple[Line, ...] = ()
    """Lines that are not from the tool, such as a library's warnings: the first 20."""
    context: dict[str, str] = {}  # noqa: RUF012 - never changed
    """What the columns of a general format say about the run: library, ranks, nodes, settings."""
    has_end: bool = True
    """False if the tool prints an end mark and this run has none."""

    @property
    def form(self) -> Form:
        """The form of the calls."""
        return self.operation.form


Role = Literal[
    "value",
    "minimum",
    "maximum",
    "mean",
    "median",
    "deviation",
    "error",
    "repetitions",
    "p50",
    "p90",
    "p95",
    "p99",
    "pure",
    "compute",
    "overlap",
    "rate",
]
"""Role of a column. All are of the value's quantity, except `repetitions`, `overlap` (%) and `rate` (per second)."""


class BenchmarkDetails(TypedDict, total=False):
    """How a tool's benchmark differs from a blocking collective over ranks that are not paired."""

    counterpart: str
    metric: Literal["time", "latency", "bandwidth", "rate"]
    kind: str
    forms: tuple[Form, ...]
    sized: bool
    ranks_exactly: int
    in_pairs: bool
    overlap: bool
    whole_vector: bool
    one_buffer: bool
    datatype: str


COLLECTIVE = BenchmarkDetails(
    counterpart="",
    metric="time",
    kind="collective",
    forms=("blocking",),
    sized=True,
    ranks_exactly=0,
    in_pairs=False,
    overlap=False,
    whole_vector=False,
    one_buffer=False,
    datatype="byte",
)


def make_benchmark(
    suite: str,
    name: str,
    spelling: str,
    help: str,  # noqa: A002 - the name of the field
    meaning: Meaning,
    **details: Unpack[BenchmarkDetails],
) -> Operation:
    """Return the operation of a tool's benchmark, such as `osu-allreduce`, without the amounts that a call moves.

    `datatype` is the type of the numbers in a reduction; `byte` if data are only moved.
    """
    nothing = Amount(base=0, each=0)
    known: BenchmarkDetails = {**COLLECTIVE, **details}
    return Operation(
        name=f"{suite}-{name}",
        help=help,
        standard="",
        kind=known["kind"],
        metric=known["metric"],
        forms=list(known["forms"]),
        form=known["forms"][0],
        send=nothing,
        receive=nothing,
        root_send=nothing,
        root_receive=nothing,
        sized=known["sized"],
        ranks_exactly=known["ranks_exactly"],
        in_pairs=known["in_pairs"],
        messages=1,
        datatype=known["datatype"],
        start=meaning.start.replace(" ", "-"),
        foreign=Foreign(
            suite=suite,
            benchmark=spelling,
            counterpart=known["counterpart"],
            meaning=meaning,
            overlap=known["overlap"],
            whole_vector=known["whole_vector"],
            one_buffer=known["one_buffer"],
        ),
    )


make_pair_benchmark = functools.partial(make_benchmark, kind="point-to-point", ranks_exactly=2)
"""Makes the operation of a benchmark between two ranks."""
