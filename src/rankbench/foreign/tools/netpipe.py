"""Reads NetPIPE 3 and 5: `np.out`, columns without headings, and terminal output, a sentence for each size.

The columns show the version. A megabit is 2^20 bits in version 3 and 10^6 in version 5.
"""

from __future__ import annotations

import math
import re
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple

from msgspec.structs import replace

from rankbench.foreign import Row, Table, make_benchmark
from rankbench.foreign.fields import Drafts, Place, begins_a_row, make_variant
from rankbench.model import Meaning

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankbench.foreign import Line, Role, Text
    from rankbench.model import Operation

NAME = "netpipe"
TITLE = "NetPIPE"
FILE_3 = re.compile(r"\s*\d+\s+\d+\.\d{6}\s+\d+\.\d{8}\s*", re.ASCII)
FILE_5 = re.compile(r"\s*\d+(?:\s+\d+\.\d{3}){3}\s+\d+\.\d{2}(?:\s+\d+\.\d\d (?:GFlops|GB/sec))?\s*", re.ASCII)
SENTENCE = re.compile(r"\s*\d+:\s+[-+]?\d+(?:\.\d+)?(?:\s.*)?", re.ASCII)
SENTENCE_3 = re.compile(
    r"\s*\d+:\s+(?P<size>\S+) bytes\s+(?P<times>\S+) times -->\s+(?P<rate>\S+) Mbps in\s+(?P<time>\S+) usec(?P<rest>.*)"
)
SENTENCE_5 = re.compile(
    r"\s*\d+:\s+(?P<size>\S+)\s+(?P<size_unit>[KMGT]?B)\s+(?P<times>\S+) times -->\s+(?P<rate>\S+)\s+"
    r"(?P<rate_unit>[KMGT]?bps)\s+in\s+(?P<time>\S+)\s+(?P<time_unit>[num]?secs)(?P<rest>.*)"
)
HOST = re.compile(r"\s*\d+: (?P<host>[A-Za-z][\w.-]*)\s*", re.ASCII)
WRONG = re.compile(r".*?(?P<failures>\d+) failures.*")
BEGINS = ("Now starting the main loop", "Start testing with")
PREFIXES = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
MICROSECONDS = {"nsecs": 1e-3, "usecs": 1.0, "msecs": 1e3, "secs": 1e6}
PAIR_RANKS = 2
MAX_PAIRS = 1e6
OPTIONS: dict[str, dict[str, str]] = {
    "Using synchronous sends": {"mode": "synchronous"},
    "Preposting": {"receives": "preposted"},
    "Performance measured without cache effects": {"cache": "cold"},
    "Pass data from a different memory buffer": {"cache": "cold"},
}
"""Options by the lines before the first size."""

Pattern = Literal["pingpong", "bidirectional", "stream"]
PATTERNS: dict[str, Pattern] = {
    "Passing data in both directions": "bidirectional",
    "Bidirectional mode": "bidirectional",
    "Streaming": "stream",
}

NETWORK_NOTE = "The output does not show whether it used MPI, TCP or another network; MPI is assumed."
HALF = "Half of a round trip between two ranks by MPI_Send and MPI_Recv, as rank 0 measures it"
REPETITIONS = "A trial is a loop of repetitions, fewer for larger sizes so that trials take similar times."
BEST = f"the smallest mean of 7 trials. {REPETITIONS} A megabit is 2^20 bits. The data are not checked. {NETWORK_NOTE}"
MEAN = (
    f"the mean of the means of 7 trials (3 or 1 with --quick and --quicker). {REPETITIONS} A gigabit is 10^9 bits; "
    "bandwidths of several pairs are added, and sizes from 1 MB on the terminal are rounded to 1 KB. The first and the "
    f"last byte of each message are checked. {NETWORK_NOTE}"
)
PINGPONG = Meaning(over_calls="minimum", over_ranks="one", start="none", trip="half", text=f"{HALF}: {BEST}")
MEGABIT = 1 << 20


def _make_operation(name: str, help_: str, meaning: Meaning, metric: Literal["latency", "bandwidth"]) -> Operation:
    same = "pingpong" if name == "pingpong" else ""
    return make_benchmark(
        NAME,
        name,
        name,
        help_,
        meaning,
        counterpart=same,
        metric=metric,
        kind="point-to-point",
        ranks_exactly=PAIR_RANKS,
    )


def _make_rate_meaning(text: str, counted: float) -> Meaning:
    """Return the meaning of bandwidths; a megabyte is eight megabits."""
    return replace(PINGPONG, trip="call", counted=counted, megabyte=MEGABIT, text=f"{text}: that of {BEST}")


FIRST: dict[Pattern, Operation] = {
    "pingpong": _make_operation("pingpong", "half a round trip", PINGPONG, "latency"),
    "stream": _make_operation(
        "stream",
        "bytes per second of messages in a row in one direction",
        _make_rate_meaning("Bandwidth of messages in a row without an answer", 1.0),
        "bandwidth",
    ),
    "bidirectional": _make_operation(
        "bidirectional",
        "bytes per second in both directions at the same time",
        _make_rate_meaning(
            "Bandwidth of messages in both directions at the same time, sent and received bytes added", 2.0
        ),
        "bandwidth",
    ),
}


def _make_version_5(first: Operation) -> Operation:
    assert first.foreign
    meaning = first.foreign.meaning
    decimal = 10**6 if meaning.megabyte else 0
    text = meaning.text.replace(BEST, MEAN)
    return make_variant(first, "mean", over_calls="mean", megabyte=decimal, data="checked", text=text)


OPERATIONS = [*FIRST.values(), *map(_make_version_5, FIRST.values())]


class Shape(NamedTuple):
    """One of the four forms of output."""

    version: str
    columns: tuple[str, ...]
    time: int
    """Column of the time."""
    time_ns: float
    rate: int
    """Column of the bandwidth."""
    rate_bytes: float
    """Bytes per second of its unit."""


SHAPES = {
    "file 3": Shape("3.x", ("Mbps", "seconds"), 1, 1e9, 0, MEGABIT / 8),
    "file 5": Shape("5.x", ("average Gbps", "minimum Gbps", "maximum Gbps", "usecs"), 3, 1e3, 0, 1e9 / 8),
    "terminal 3": Shape("3.x", ("times", "Mbps", "usec"), 2, 1e3, 1, MEGABIT / 8),
    "terminal 5": Shape("5.x", ("times", "Mbps", "usecs"), 2, 1e3, 1, 1e6 / 8),
}


class Preamble:
    """The lines before the first size."""

    def __init__(self) -> None:
        self.line = 0
        self.shape = ""
        self.pattern: Pattern = "pingpong"
        self.options: dict[str, str] = {}
        self.hosts: list[str] = []

    def read_line(self, text: str) -> bool:
        """Read a host, a pattern or options; return whether the line has one."""
        if host := HOST.fullmatch(text):
            self.hosts.append(host["host"])
            return True
        pattern = next((pattern for begins, pattern in PATTERNS.items() if begins in text), None)
        self.pattern = pattern or self.pattern
        options = next((options for begins, options in OPTIONS.items() if begins in text), None)
        self.options |= options or {}
        return bool(pattern or options)


def recognises(head: Sequence[Line]) -> bool:
    """Return whether a line is a sentence of NetPIPE, or all are columns with its decimals."""
    texts = [line.text for line in head if line.text.strip()]
    if any(SENTENCE_3.fullmatch(text) or SENTENCE_5.fullmatch(text) for text in texts):
        return True
    first = texts[0] if texts else ""
    return bool(FILE_3.fullmatch(first) or FILE_5.fullmatch(first)) and all(map(begins_a_row, texts))


def read(text: Text) -> Iterator[Table]:
    """Yield the table of each run."""
    preamble = Preamble()
    drafts = Drafts()
    for line in text.lines:
        place = Place(text.file, line.number)
        preamble.line = preamble.line or line.number
        if line.text.startswith(BEGINS):
            tables = list(drafts.finish())
            yield from tables
            if tables:
                preamble = Preamble()
        elif SENTENCE.fullmatch(line.text):
            _add_row(drafts, preamble, place, *_read_sentence(line.text, place))
        elif begins_a_row(line.text) and not re.match(r"\s*\d+:", line.text):
            shape = preamble.shape if preamble.shape.startswith("file") else _find_shape(line.text, place)
            _add_row(drafts, preamble, place, shape, *_read_row(line.text, place, SHAPES[shape]))
        elif not preamble.read_line(line.text):
            drafts.keep_unrecognised(line)
    yield from drafts.finish()


def _find_shape(text: str, place: Place) -> str:
    """Return the form of output from the number of columns."""
    count = len(text.split())
    shape = {3: "file 3", 5: "file 5", 7: "file 5"}.get(count)
    if shape is None:
        raise place.make_error(f"{count} columns, expected 3 (bytes Mbps seconds) or 5 (bytes, three Gbps, usecs)")
    return shape


def _read_row(text: str, place: Place, shape: Shape) -> tuple[Row, list[str]]:
    """Return a row, and its fields without the size."""
    headings = ("bytes", *shape.columns)
    fields = text.split()
    if len(fields) == len(headings) + 2 and fields[-1] in {"GFlops", "GB/sec"}:
        fields = fields[:-2]
    fields = place.split(" ".join(fields), headings)
    numbers = (place.parse_number(field, name) for field, name in zip(fields[1:], shape.columns, strict=True))
    return Row(place.line, place.parse_size(fields[0], "bytes"), tuple(numbers)), fields[1:]


def _read_sentence(text: str, place: Place) -> tuple[str, Row, list[str]]:
    """Return the form of a row, the row, and its fields in the units of the table."""
    columns = ("times", "rate", "time")
    if match := SENTENCE_3.fullmatch(text):
        size = place.parse_size(match["size"], "bytes")
        numbers = tuple(place.parse_number(match[name], name) for name in columns)
        row = Row(place.line, size, numbers, _describe_errors(match["rest"]))
        return "terminal 3", row, [match[name] for name in columns]
    if match := SENTENCE_5.fullmatch(text):
        prefix = PREFIXES[match["size_unit"].removesuffix("B")]
        size = place.parse_size(f"{place.parse_number(match['size'], 'size') * prefix:.0f}", "size")
        units = (
            1.0,
            PREFIXES[match["rate_unit"].removesuffix("bps")] / PREFIXES["M"],
            MICROSECONDS[match["time_unit"]],
        )
        numbers = tuple(
            place.parse_number(f"{place.parse_number(match[name], name) * unit:.12g}", name)
            for name, unit in zip(columns, units, strict=True)
        )
        row = Row(place.line, size, numbers, _describe_errors(match["rest"]))
        printed = [f"{match[name]}e{math.log10(unit):.0f}" for name, unit in zip(columns, units, strict=True)]
        return "terminal 5", row, printed
    raise place.make_error(
        "expected a size, 'times -->', a bandwidth and a time, as NetPIPE prints them; is the line cut?"
    )


def _describe_errors(rest: str) -> str:
    if failures := WRONG.fullmatch(rest):
        return f"{failures['failures']} failures of its data check"
    return "its data check failed" if "integrity problems" in rest else ""


def _add_row(drafts: Drafts, preamble: Preamble, place: Place, shape: str, row: Row, printed: Sequence[str]) -> None:
    preamble.shape = preamble.shape or shape
    if shape != preamble.shape:
        raise place.make_error(
            f"a row of NetPIPE's {shape} after one of its {preamble.shape}, expected one form in a run"
        )
    drafts.add("", partial(_make_table, preamble, SHAPES[shape], row), row, printed)


def _make_table(preamble: Preamble, shape: Shape, row: Row) -> Table:
    operation = FIRST[preamble.pattern]
    timed = preamble.pattern == "pingpong"
    value = shape.time if timed else shape.rate
    roles: dict[Role, int] = {"value": value}
    if "times" in shape.columns:
        roles["repetitions"] = shape.columns.index("times")
    return Table(
        operation=operation if shape.version == "3.x" else _make_version_5(operation),
        form="blocking",
        datatype="byte",
        ranks=PAIR_RANKS if shape.version == "3.x" else _estimate_ranks(shape, row) if timed else 0,
        options=dict(sorted(preamble.options.items())),
        columns=shape.columns,
        roles=roles,
        scale=shape.time_ns if timed else shape.rate_bytes,
        rows=[],
        line=preamble.line,
        version=shape.version,
        facts={"hosts": ", ".join(preamble.hosts)} if preamble.hosts else {},
    )


def _estimate_ranks(shape: Shape, row: Row) -> int:
    """Return twice the number of pairs, whose bandwidths version 5 adds; 0 if rounding makes it ambiguous."""
    rate, time = row.numbers[shape.rate], row.numbers[shape.time]
    rate_off, time_off = (0.0005, 0.005) if "times" not in shape.columns else (rate / 2000, time / 2000)
    each = shape.rate_bytes * shape.time_ns * 1e-9 / max(row.size_bytes, 1)
    least, most = (rate - rate_off) * (time - time_off) * each, (rate + rate_off) * (time + time_off) * each
    pairs = math.floor(most) if most < MAX_PAIRS else 0
    return PAIR_RANKS * pairs if pairs and pairs == math.ceil(least) else 0
