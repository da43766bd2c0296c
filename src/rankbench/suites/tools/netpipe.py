"""NetPIPE 3 and 5: `np.out`, columns without a heading, and what it prints on the terminal, a sentence for each size.

The two versions are told apart by their columns. A megabit is 2^20 bits in version 3 and 10^6 in version 5.
"""

from __future__ import annotations

import math
import re
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple

from msgspec.structs import replace

from rankbench.model import Meaning
from rankbench.suites import Row, Table, benchmark
from rankbench.suites.fields import Drafts, Place, begins_a_row, varied

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankbench.model import Operation
    from rankbench.suites import Line, Role, Text

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
TWO = 2
MOST_PAIRS = 1e6
OPTIONS: dict[str, dict[str, str]] = {
    "Using synchronous sends": {"mode": "synchronous"},
    "Preposting": {"receives": "preposted"},
    "Performance measured without cache effects": {"cache": "cold"},
    "Pass data from a different memory buffer": {"cache": "cold"},
}
"""What is said before the first size, and what it says of all."""

Pattern = Literal["pingpong", "bidirectional", "stream"]
PATTERNS: dict[str, Pattern] = {
    "Passing data in both directions": "bidirectional",
    "Bidirectional mode": "bidirectional",
    "Streaming": "stream",
}

OVER_WHAT = "Whether it went over MPI or straight over TCP or another network the output does not tell; MPI is assumed."
HALF = "Half of a round trip between two ranks by MPI_Send and MPI_Recv, as rank 0 measures it"
REPEATED = "Repetitions, of which one trial is a loop, fall with size so that a trial takes about as long."
BEST = f"the least of 7 trials' means. {REPEATED} A megabit is 2^20 bits. The data is not looked at. {OVER_WHAT}"
MEAN = (
    f"the mean of 7 trials' means (3 or 1 with --quick and --quicker). {REPEATED} A gigabit is 10^9 bits; bandwidths "
    "of several pairs are added, and sizes from 1 MB on the terminal are rounded to 1 KB. The first and the last byte "
    f"of each message are looked at. {OVER_WHAT}"
)
PINGPONG = Meaning(over_calls="minimum", over_ranks="one", start="none", trip="half", text=f"{HALF}: {BEST}")
MEGABIT = 1 << 20


def _benchmark(name: str, help_: str, meaning: Meaning, metric: Literal["latency", "bandwidth"]) -> Operation:
    same = "pingpong" if name == "pingpong" else ""
    return benchmark(
        NAME, name, name, help_, meaning, counterpart=same, metric=metric, kind="point-to-point", ranks_exactly=TWO
    )


def _rates(text: str, counted: float) -> Meaning:
    """Return what bandwidths mean; a megabyte here is eight megabits."""
    return replace(PINGPONG, trip="call", counted=counted, megabyte=MEGABIT, text=f"{text}: that of {BEST}")


FIRST: dict[Pattern, Operation] = {
    "pingpong": _benchmark("pingpong", "half a round trip", PINGPONG, "latency"),
    "stream": _benchmark(
        "stream",
        "bytes per second of messages that follow each other one way",
        _rates("Bandwidth of messages that are sent in a row and not answered", 1.0),
        "bandwidth",
    ),
    "bidirectional": _benchmark(
        "bidirectional",
        "bytes per second both ways at once",
        _rates("Bandwidth of messages both ways at once, sent and received ones added", 2.0),
        "bandwidth",
    ),
}


def _as_in_5(first: Operation) -> Operation:
    assert first.foreign
    meaning = first.foreign.meaning
    decimal = 10**6 if meaning.megabyte else 0
    text = meaning.text.replace(BEST, MEAN)
    return varied(first, "mean", over_calls="mean", megabyte=decimal, data="checked", text=text)


OPERATIONS = [*FIRST.values(), *map(_as_in_5, FIRST.values())]


class Shape(NamedTuple):
    """One of the four kinds of output."""

    version: str
    columns: tuple[str, ...]
    time: int
    """Which column is the time."""
    time_ns: float
    rate: int
    """Which column is the bandwidth."""
    rate_bytes: float
    """Bytes per second of its unit."""


SHAPES = {
    "file 3": Shape("3.x", ("Mbps", "seconds"), 1, 1e9, 0, MEGABIT / 8),
    "file 5": Shape("5.x", ("average Gbps", "minimum Gbps", "maximum Gbps", "usecs"), 3, 1e3, 0, 1e9 / 8),
    "terminal 3": Shape("3.x", ("times", "Mbps", "usec"), 2, 1e3, 1, MEGABIT / 8),
    "terminal 5": Shape("5.x", ("times", "Mbps", "usecs"), 2, 1e3, 1, 1e6 / 8),
}


class Said:
    """What was said before the sizes."""

    def __init__(self) -> None:
        self.line = 0
        self.shape = ""
        self.pattern: Pattern = "pingpong"
        self.options: dict[str, str] = {}
        self.hosts: list[str] = []

    def hear(self, text: str) -> bool:
        """Return whether a line says what is measured, or where."""
        if host := HOST.fullmatch(text):
            self.hosts.append(host["host"])
            return True
        pattern = next((pattern for begins, pattern in PATTERNS.items() if begins in text), None)
        self.pattern = pattern or self.pattern
        options = next((one for begins, one in OPTIONS.items() if begins in text), None)
        self.options |= options or {}
        return bool(pattern or options)


def recognises(head: Sequence[Line]) -> bool:
    """Return whether lines are NetPIPE's sentences, or all of them columns with its decimals."""
    texts = [line.text for line in head if line.text.strip()]
    if any(SENTENCE_3.fullmatch(text) or SENTENCE_5.fullmatch(text) for text in texts):
        return True
    first = texts[0] if texts else ""
    return bool(FILE_3.fullmatch(first) or FILE_5.fullmatch(first)) and all(map(begins_a_row, texts))


def read(text: Text) -> Iterator[Table]:
    """Yield the table of each run."""
    said = Said()
    drafts = Drafts()
    for line in text.lines:
        place = Place(text.file, line.number)
        said.line = said.line or line.number
        if line.text.startswith(BEGINS):
            tables = list(drafts.finish())
            yield from tables
            if tables:
                said = Said()
        elif SENTENCE.fullmatch(line.text):
            _add(drafts, said, *_sentence(line.text, place), place)
        elif begins_a_row(line.text) and not re.match(r"\s*\d+:", line.text):
            shape = said.shape if said.shape.startswith("file") else _columns(line.text, place)
            _add(drafts, said, shape, _row(line.text, place, SHAPES[shape]), place)
        elif not said.hear(line.text):
            drafts.hear(line)
    yield from drafts.finish()


def _columns(text: str, place: Place) -> str:
    """Return which version's columns a row has."""
    count = len(text.split())
    shape = {3: "file 3", 5: "file 5", 7: "file 5"}.get(count)
    if shape is None:
        raise place.error(f"{count} columns, expected 3 (bytes Mbps seconds) or 5 (bytes, three Gbps, usecs)")
    return shape


def _row(text: str, place: Place, shape: Shape) -> Row:
    headings = ("bytes", *shape.columns)
    fields = text.split()
    if len(fields) == len(headings) + 2 and fields[-1] in {"GFlops", "GB/sec"}:
        fields = fields[:-2]
    fields = place.split(" ".join(fields), headings)
    numbers = (place.number(field, name) for field, name in zip(fields[1:], shape.columns, strict=True))
    return Row(place.line, place.size(fields[0], "bytes"), tuple(numbers))


def _sentence(text: str, place: Place) -> tuple[str, Row]:
    if match := SENTENCE_3.fullmatch(text):
        size = place.size(match["size"], "bytes")
        numbers = tuple(place.number(match[name], name) for name in ("times", "rate", "time"))
        return "terminal 3", Row(place.line, size, numbers, _wrong(match["rest"]))
    if match := SENTENCE_5.fullmatch(text):
        prefix = PREFIXES[match["size_unit"].removesuffix("B")]
        size = place.size(f"{place.number(match['size'], 'size') * prefix:.0f}", "size")
        units = (
            1.0,
            PREFIXES[match["rate_unit"].removesuffix("bps")] / PREFIXES["M"],
            MICROSECONDS[match["time_unit"]],
        )
        numbers = tuple(
            place.number(f"{place.number(match[name], name) * unit:.12g}", name)
            for name, unit in zip(("times", "rate", "time"), units, strict=True)
        )
        return "terminal 5", Row(place.line, size, numbers, _wrong(match["rest"]))
    raise place.error("expected a size, 'times -->', a bandwidth and a time, as NetPIPE prints them; is the line cut?")


def _wrong(rest: str) -> str:
    if failures := WRONG.fullmatch(rest):
        return f"{failures['failures']} failures of its data check"
    return "its data check failed" if "integrity problems" in rest else ""


def _add(drafts: Drafts, said: Said, shape: str, row: Row, place: Place) -> None:
    said.shape = said.shape or shape
    if shape != said.shape:
        raise place.error(f"a row as of NetPIPE's {shape} after one of its {said.shape}, expected one kind in a run")
    drafts.add("", partial(_table, said, SHAPES[shape], row), row)


def _table(said: Said, shape: Shape, row: Row) -> Table:
    operation = FIRST[said.pattern]
    timed = said.pattern == "pingpong"
    value = shape.time if timed else shape.rate
    roles: dict[Role, int] = {"value": value}
    if "times" in shape.columns:
        roles["repetitions"] = shape.columns.index("times")
    return Table(
        operation=operation if shape.version == "3.x" else _as_in_5(operation),
        form="blocking",
        datatype="byte",
        ranks=TWO if shape.version == "3.x" else _ranks(shape, row) if timed else 0,
        options=dict(sorted(said.options.items())),
        columns=shape.columns,
        roles=roles,
        scale=shape.time_ns if timed else shape.rate_bytes,
        rows=[],
        line=said.line,
        version=shape.version,
        facts={"hosts": ", ".join(said.hosts)} if said.hosts else {},
    )


def _ranks(shape: Shape, row: Row) -> int:
    """Return twice the pairs, whose bandwidths version 5 adds; 0 where rounding leaves more than one answer."""
    rate, time = row.numbers[shape.rate], row.numbers[shape.time]
    rate_off, time_off = (0.0005, 0.005) if "times" not in shape.columns else (rate / 2000, time / 2000)
    each = shape.rate_bytes * shape.time_ns * 1e-9 / max(row.size_bytes, 1)
    least, most = (rate - rate_off) * (time - time_off) * each, (rate + rate_off) * (time + time_off) * each
    pairs = math.floor(most) if most < MOST_PAIRS else 0
    return TWO * pairs if pairs and pairs == math.ceil(least) else 0
