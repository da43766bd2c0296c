"""What the core can measure: operations with options and forms, starts, datatypes."""

from __future__ import annotations

from typing import Literal

import msgspec

from rankbench.model.base import Form, Record


class Amount(Record, frozen=True):
    """Bytes as a linear function of the message size n and the number of ranks p: `n * (own + each * p)`."""

    base: int = msgspec.field(name="own")
    """`own` in files."""
    each: int
    per_message: bool = False
    """Whether it applies to each message of the call, such as those of a window; ranks may differ."""

    def bytes(self, size_bytes: int, ranks: int, messages: int = 1) -> int:
        """Return the bytes for a message size, a number of ranks and the messages of a call."""
        return size_bytes * (self.base + self.each * ranks) * (messages if self.per_message else 1)

    def __str__(self) -> str:
        """Return the formula as documents and tables show it: `0`, `2 n`, `n·p`, `n·(p - 1)·m` with m messages."""
        messages = "·m" if self.per_message else ""
        if self.base and self.each:
            ranks = "p" if self.each == 1 else f"{self.each} p"
            return f"n·({ranks} {'+' if self.base > 0 else '-'} {abs(self.base)}){messages}"
        factor, unit = (self.base, "n") if self.base else (self.each, "n·p")
        return f"{unit}{messages}" if factor == 1 else f"{factor} {unit}{messages}" if factor else "0"


class Option(Record, frozen=True):
    """An option of an operation: one of some values, or a whole number."""

    name: str
    help: str
    usual: str
    """Its default."""
    values: list[str] = []
    """Allowed values; empty: a whole number from `least` to `most`."""
    least: int = 0
    most: int = 0
    extents: bool = False
    """Whether it takes the extents of a grid, such as `4x4`, or `auto`."""


class Meaning(Record, frozen=True):
    """The definition of a number that another program prints, in terms by which programs can be compared."""

    over_calls: Literal["mean", "median", "minimum", "trimmed mean", "single"]
    """The statistic over the calls of one run; `single`: there is one call, or each is printed."""
    over_ranks: Literal["mean", "maximum", "minimum", "one", "span"]
    """The statistic over ranks; `one`: one rank measures; `span`: from the common start to the last rank's end."""
    start: Literal["none", "barrier", "library-barrier", "window", "roundtime", "not reported"]
    """How ranks begin a call together, as in the core; `none`: calls follow each other."""
    text: str
    """The definition in a sentence, with repetitions, warm-up and discarded values."""
    trip: Literal["call", "half", "round", "gap"] = "call"
    """What a time covers: a call, half a round trip, a whole one, or from one send to the next."""
    counted: float = 1.0
    """How often a bandwidth counts the bytes of a message, such as 2 if sent and received bytes are added."""
    megabyte: int = 0
    """Bytes of its megabyte; 0 if it prints none."""
    data: Literal["not checked", "checked"] = "not checked"
    """Whether received data were checked."""


class Foreign(Record, frozen=True):
    """Of an operation that another program measures: the program and the meaning of its numbers."""

    suite: str
    """The tool, by its file name in `foreign/tools`."""
    benchmark: str
    """The tool's own name for it."""
    counterpart: str
    """The core's operation that measures the same; empty: none."""
    meaning: Meaning
    overlap: bool = False
    """Whether it measures how much communication a computation hides, and prints the time of each alone."""
    whole_vector: bool = False
    """Whether its sizes are those of the whole vector, and the core's those of one rank's part."""
    one_buffer: bool = False
    """Whether all messages of a window, or of a row of sends, leave from one buffer."""

    @property
    def options(self) -> dict[str, str]:
        """Return its properties as options of the core's operation."""
        overlap = {"quantity": "overlap"} if self.overlap else {}
        return overlap | ({"send_buffers": "one"} if self.one_buffer else {})


class Operation(Record, frozen=True):
    """One operation as the core's `--describe` reports it, or a benchmark of another program."""

    name: str
    help: str
    standard: str
    """Chapter and section of the MPI standard."""
    kind: str
    """The family of operations it belongs to: `point-to-point`, `collective`, `self-test`."""
    metric: Literal["time", "latency", "bandwidth", "rate"]
    """What a sample is: the time of a call, or half of it; bandwidths and rates are stored as times."""
    forms: list[Form]
    send: Amount
    receive: Amount
    root_send: Amount
    root_receive: Amount
    sized: bool
    """Whether it takes a message size (a barrier does not)."""
    ranks_exactly: int
    """Number of ranks that take part; 0: any number."""
    messages: int
    """Messages in one timed call; 0: the options determine it."""
    datatype: str
    start: str
    in_place: bool = False
    """Whether it can use one buffer for sending and receiving (MPI_IN_PLACE)."""
    rooted: bool = False
    """Whether one rank, the root, has a special part."""
    form: Form = "blocking"
    """Its default form."""
    ranks_least: int = 1
    """The fewest ranks it needs."""
    in_pairs: bool = False
    """Whether ranks work in pairs; the last of an odd number stays out."""
    between_two: bool = False
    """Whether it is between two ranks, which the options `from` and `to` name; others stay out."""
    rounds: int = 1
    """Repetitions in one call; a sample is the time of one."""
    once: bool = False
    """Whether it runs once per launch, which then has one sample."""
    rings: bool = False
    """Whether several ranks measure, each for itself, such as the first of each ring."""
    large: bool = False
    """Whether it counts elements as MPI_Count, beyond 2^31-1."""
    keeps_buffers: bool = False
    """Whether its buffers are fixed once and cannot change from call to call."""
    checked: bool = True
    """Whether the result of its calls is checked."""
    unchecked: str = ""
    """Why there is nothing to check, if it is not checked."""
    datatypes: list[str] = []
    """Names of the datatypes that it can use."""
    options: list[Option] = []
    """Its options, in the order in which they are shown."""
    foreign: Foreign | None = None
    """Set for another program's benchmark."""

    @property
    def is_symmetric(self) -> bool:
        """Return whether all ranks have the same part in it, so that none ends first or last by design."""
        along = self.name in {"scan", "exscan"}
        same = (self.send, self.receive) == (self.root_send, self.root_receive)
        return same and not (self.rooted or self.rings or self.between_two or along)


class NamedUnit(Record, frozen=True):
    """A named capability of the core, with one line of help."""

    name: str
    help: str


class Start(NamedUnit, frozen=True):
    """A way for ranks to begin a call together."""

    scheduled: bool = False
    """Whether rounds begin at agreed times on the synchronised clock."""
    discards_overruns: bool = False
    """Whether a sample that exceeds its window is discarded, as a late one is."""


class Datatype(NamedUnit, frozen=True):
    """A datatype of messages and the bytes of one element: a size is a multiple of it."""

    size_bytes: int


class Description(Record, frozen=True):
    """The output of `rankbench-core --describe`."""

    core: str
    operations: list[Operation]
    starts: list[Start]
    sources: list[NamedUnit]
    synchronisations: list[NamedUnit]
    datatypes: list[Datatype]
