"""What foreign programs print, read into tables whose numbers say what they mean: one file per tool in `tools`.

A reader changes no number: it says which column is the value, and by what it is multiplied to be nanoseconds, bytes or
messages per second. Whatever cannot be what the tool prints is an error with its file and line, and then nothing of the
file is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from rankbench.model import Amount, Foreign, Meaning, Operation, RankbenchError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankbench.model import Form

HEAD_LINES = 400
"""Lines by which a tool is recognised."""


class NoResultsError(RankbenchError):
    """A text is whole, and has no figures: nothing is wrong with it but that."""


class Line(NamedTuple):
    """A line of a text, without its end and without what a launcher put before it."""

    number: int
    """In the file, from 1."""
    text: str


class Text(NamedTuple):
    """The lines of one run of a tool, or of several that follow each other."""

    file: str
    """For messages, and for tools that say nowhere else what was measured."""
    lines: Iterator[Line]
    """Can be taken once."""


class Row(NamedTuple):
    """A line of a table."""

    line: int
    size_bytes: int
    """The message size as MPI counts that of a call's send side; 0 where there is none."""
    numbers: tuple[float, ...]
    """As printed, one for each of the table's columns; not a number where the tool says that it has none."""
    wrong: str = ""
    """What the tool found wrong with the data."""


class Table(NamedTuple):
    """What one run of one benchmark printed."""

    operation: Operation
    """The tool's benchmark."""
    form: Form
    datatype: str
    """As in the core, such as `byte`, `float`; empty where the tool does not say."""
    ranks: int
    """Those that took part, 0 where the tool does not say."""
    options: dict[str, str]
    """What else defines the numbers, such as `{"window": "64", "synchronisation": "MPI_Win_flush"}`, sorted by name."""
    columns: tuple[str, ...]
    """The headings of the numbers as printed, without that of the size."""
    roles: dict[Role, int]
    """Which column is what; each table has a `value`."""
    scale: float
    """By what values are multiplied to be nanoseconds, bytes per second or messages per second."""
    rows: list[Row]
    raw: bool = False
    """Whether each row is one call, so that many have one size."""
    line: int = 0
    """Where it begins."""
    version: str = ""
    """Of the tool."""
    facts: dict[str, str] = {}  # noqa: RUF012 - never changed
    """What the run shows about itself: command line, date, machine, library."""
    noise: tuple[Line, ...] = ()
    """Lines within it that are not the tool's, such as a library's warnings: the first 20."""


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
"""What a column is: `value`, or of the same quantity, but for `repetitions`, `overlap` (%) and `rate` (per second)."""


def make_benchmark(
    suite: str,
    name: str,
    spelling: str,
    help: str,  # noqa: A002 - as the field is called
    meaning: Meaning,
    *,
    counterpart: str = "",
    metric: Literal["time", "latency", "bandwidth", "rate"] = "time",
    kind: str = "collective",
    forms: tuple[Form, ...] = ("blocking",),
    sized: bool = True,
    ranks_exactly: int = 0,
    overlap: bool = False,
    whole_vector: bool = False,
    datatype: str = "byte",
) -> Operation:
    """Return the row of a tool's benchmark, such as `osu-allreduce`. It does not say what one call moves.

    `datatype` is that of the numbers that it calculates with; `byte` where data are only moved.
    """
    nothing = Amount(own=0, each=0)
    return Operation(
        name=f"{suite}-{name}",
        help=help,
        standard="",
        kind=kind,
        metric=metric,
        forms=list(forms),
        form=forms[0],
        send=nothing,
        receive=nothing,
        root_send=nothing,
        root_receive=nothing,
        sized=sized,
        ranks_exactly=ranks_exactly,
        messages=1,
        datatype=datatype,
        start=meaning.start.replace(" ", "-"),
        foreign=Foreign(
            suite=suite,
            benchmark=spelling,
            counterpart=counterpart,
            meaning=meaning,
            overlap=overlap,
            whole_vector=whole_vector,
        ),
    )
