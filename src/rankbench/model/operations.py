"""What the core says of itself: operations, their options and forms, starts, datatypes."""

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
    """Whether it is for each of the call's messages, such as those of a window; they may differ from rank to rank."""

    def bytes(self, size_bytes: int, ranks: int, messages: int = 1) -> int:
        """Return the bytes for a message size, a number of ranks and the messages of a call."""
        return size_bytes * (self.base + self.each * ranks) * (messages if self.per_message else 1)

    def __str__(self) -> str:
        """Spell the formula as docs and tables show it: `0`, `2 n`, `n·p`, `n·(p - 1)·m` with m messages."""
        messages = "·m" if self.per_message else ""
        if self.base and self.each:
            ranks = "p" if self.each == 1 else f"{self.each} p"
            return f"n·({ranks} {'+' if self.base > 0 else '-'} {abs(self.base)}){messages}"
        factor, unit = (self.base, "n") if self.base else (self.each, "n·p")
        return f"{unit}{messages}" if factor == 1 else f"{factor} {unit}{messages}" if factor else "0"


class Option(Record, frozen=True):
    """Something that can be chosen of an operation: one of some values, or a whole number."""

    name: str
    help: str
    usual: str
    """What holds unless another value is said."""
    values: list[str] = []
    """Those allowed; empty: a whole number from `least` to `most`."""
    least: int = 0
    most: int = 0
    extents: bool = False
    """Whether it is the extents of a grid instead, such as `4x4`, or `auto`."""


class Meaning(Record, frozen=True):
    """What a number that a foreign program prints is, in words that two programs can be compared by."""

    over_calls: Literal["mean", "median", "minimum", "trimmed mean", "single"]
    """What it is of the calls of one run; `single`: there is one, or each is printed."""
    over_ranks: Literal["mean", "maximum", "minimum", "one", "span"]
    """What it is of the ranks: `one` rank measures, or the `span` from the common start to the last rank's end."""
    start: Literal["none", "barrier", "library-barrier", "window", "roundtime", "not reported"]
    """How ranks begin a call together, as in the core; `none`: calls follow each other."""
    text: str
    """All of it in a sentence, with what else must be known: repetitions, warm-up, what was dropped."""
    trip: Literal["call", "half", "round", "gap"] = "call"
    """Of a time: that of a call, of half a round trip, of a whole one, or from one send to the next."""
    counted: float = 1.0
    """How often a bandwidth counts the bytes of a message size, such as 2 where sent and received ones are added."""
    megabyte: int = 0
    """Bytes of a megabyte that it prints; 0 where it prints none."""
    data: Literal["not checked", "checked"] = "not checked"
    """Whether what was received was looked at."""


class Foreign(Record, frozen=True):
    """Of an operation that another program measures: whose it is and what its numbers mean."""

    suite: str
    """The tool, as its file in `suites/tools` is called."""
    benchmark: str
    """As the tool spells it."""
    counterpart: str
    """The operation of the core that measures the same, empty if none does."""
    meaning: Meaning
    overlap: bool = False
    """Whether it measures how much of a communication a computation hides, and prints the time of each alone."""
    whole_vector: bool = False
    """Whether its sizes are those of a vector of which each rank gets its share, where the core's are of that share."""


class Operation(Record, frozen=True):
    """One operation as the core's `--describe` reports it, or a benchmark of another program."""

    name: str
    help: str
    standard: str
    """Chapter and section of the MPI standard."""
    kind: str
    """The family of operations it belongs to: `point-to-point`, `collective`, `self-test`."""
    metric: Literal["time", "latency", "bandwidth", "rate"]
    """What a sample is: the time of a call, or half of it; bandwidth and rate are times too, shown per second."""
    forms: list[Form]
    send: Amount
    receive: Amount
    root_send: Amount
    root_receive: Amount
    sized: bool
    """Whether it takes a message size (a barrier does not)."""
    ranks_exactly: int
    """Ranks that take part, 0 for any number."""
    messages: int
    """Messages in one timed call where no option says how many, 0 where that follows from the options."""
    datatype: str
    start: str
    in_place: bool = False
    """Whether it has a form in which a rank sends from the buffer it receives in (MPI_IN_PLACE)."""
    rooted: bool = False
    """Whether one rank, the root, has another part than the others."""
    form: Form = "blocking"
    """The form that is meant unless another is said."""
    ranks_least: int = 1
    """Fewest ranks with which it makes sense."""
    in_pairs: bool = False
    """Whether ranks work in pairs, so that the last one of an odd number stays out."""
    between_two: bool = False
    """Whether it is between two ranks, which the options `from` and `to` name; others stay out."""
    rounds: int = 1
    """How often a call does what it is asked to; a sample is the time of one."""
    once: bool = False
    """Whether it happens once in a launch, which then has one sample of it."""
    rings: bool = False
    """Whether some ranks, such as the first of each ring, measure, each for itself."""
    large: bool = False
    """Whether it counts elements as MPI_Count, beyond 2^31-1."""
    keeps_buffers: bool = False
    """Whether it binds its buffers once, so that they cannot change from call to call."""
    checked: bool = True
    """Whether what its calls bring or promise is checked."""
    unchecked: str = ""
    """Why there is nothing to check, where it is not."""
    datatypes: list[str] = []
    """Names of those it can be measured with."""
    options: list[Option] = []
    """What can be chosen, in the order in which it is shown."""
    foreign: Foreign | None = None
    """Of another program's benchmark."""


class NamedUnit(Record, frozen=True):
    """Something the core can do by name, with one line of help."""

    name: str
    help: str


class Start(NamedUnit, frozen=True):
    """A way for ranks to begin a call together."""

    scheduled: bool = False
    """Whether rounds begin at agreed times on the synchronised clock."""
    discards_overruns: bool = False
    """Whether a sample that lasted longer than its window counts as little as a late one."""


class Datatype(NamedUnit, frozen=True):
    """A datatype of messages and the bytes of one element: a size is a multiple of it."""

    size_bytes: int


class Description(Record, frozen=True):
    """The whole of what `rankbench-core --describe` prints."""

    core: str
    operations: list[Operation]
    starts: list[Start]
    sources: list[NamedUnit]
    synchronisations: list[NamedUnit]
    datatypes: list[Datatype]
