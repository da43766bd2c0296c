"""Reads fi_pingpong of libfabric: round trips over a provider, without MPI."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial

from rankbench.foreign import Line, Row, Table, Text, make_pair_benchmark
from rankbench.foreign.fields import Drafts, Place
from rankbench.model import Meaning

NAME = "fi_pingpong"
TITLE = "libfabric's fi_pingpong"
PRECEDENCE = 4
"""Its headings are no title."""
COLUMNS = ("MB/sec", "usec/xfer", "Mxfers/sec")
HEADINGS = re.compile(r"\s*(?:name\s+)?bytes\s+#sent\s+#ack\s+total\s+time\s+MB/sec\s+usec/xfer\s+Mxfers/sec\s*")
ROW = re.compile(
    r"(?:\s*[A-Za-z]\S*\s)?\s*(?P<size>\d+(?:\.\d)?[kmg]?)\s+\d+[kmb]?\s+[-=+]\d+[kmb]?\s+\S+\s+[\d.]+s\s+"
    r"(?P<MB>\S+)\s+(?P<usec>\S+)\s+(?P<rate>\S+)\s*"
)
UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
MEANING = Meaning(
    over_calls="mean",
    over_ranks="one",
    start="none",
    trip="half",
    megabyte=10**6,
    text="half of a round trip between two processes over a libfabric provider, without MPI: the time of all round "
    "trips, in whole microseconds, divided by twice their number; 10 by default",
)
PINGPONG = make_pair_benchmark(
    NAME,
    "pingpong",
    "fi_pingpong",
    "half a round trip over libfabric, without MPI",
    MEANING,
    counterpart="pingpong",
    metric="latency",
)
OPERATIONS = [PINGPONG]


def recognises(head: Sequence[Line]) -> bool:
    """Return whether one of the lines has the headings."""
    return any(HEADINGS.fullmatch(line.text) for line in head)


def read(text: Text) -> Iterator[Table]:
    """Yield the table of each run: each begins with its headings. Raises RankbenchError for a damaged row."""
    drafts = Drafts()
    first = 0
    for line in text.lines:
        if HEADINGS.fullmatch(line.text):
            yield from drafts.finish()
            first = line.number
            continue
        match = ROW.fullmatch(line.text) if first else None
        if not match:
            drafts.keep_unrecognised(line)
            continue
        place = Place(text.file, line.number)
        printed = [match["MB"], match["usec"], match["rate"]]
        numbers = place.parse_numbers(printed, COLUMNS)
        unit = match["size"].lstrip("0123456789.")
        size = round(float(match["size"].removesuffix(unit)) * UNITS[unit])
        drafts.add(0, partial(_make_table, first), Row(line.number, size, numbers), printed)
    yield from drafts.finish()


def _make_table(line: int) -> Table:
    return Table(
        operation=PINGPONG,
        ranks=2,
        columns=COLUMNS,
        roles={"value": 1},
        scale=1e3,
        rows=[],
        line=line,
    )
