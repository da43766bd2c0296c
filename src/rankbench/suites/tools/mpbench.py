"""MPBench of llcbench: a size and a figure on each line, and nothing else. The file's name alone reports what."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from rankbench.model import Meaning, RankbenchError
from rankbench.suites import Row, Table, make_benchmark
from rankbench.suites.fields import Drafts, Place, begins_a_row

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankbench.model import Form, Operation
    from rankbench.suites import Line, Text

NAME = "mpbench"
TITLE = "MPBench"
PRECEDENCE = 9
"""Asked last: any two columns look like it."""
KIB = 1024.0
LOOP = (
    "Repetitions (option -i, 1 unless said) follow each other in one timed loop; the clock is gettimeofday, in whole "
    "microseconds. One untimed call of the largest size comes before all, and before each size the cache is "
    "overwritten and MPI_Barrier called. A size comes several times where that was asked (-e), or where sizes between "
    "the powers of 2 are cut to multiples of 4 bytes. The output shows neither repetitions nor ranks."
)


class Kind(NamedTuple):
    """What is printed for a benchmark."""

    operation: Operation
    column: str
    scale: float
    form: Form = "blocking"
    datatype: str = "byte"
    ranks: int = 0
    options: dict[str, str] = {}  # noqa: RUF012 - never changed


def _make_meaning(text: str, trip: Literal["call", "round", "gap"] = "call", counted: float = 1.0) -> Meaning:
    return Meaning(over_calls="mean", over_ranks="one", start="none", text=f"{text} {LOOP}", trip=trip, counted=counted)


def _make_pair(
    name: str, help_: str, metric: Literal["time", "bandwidth", "rate"], meaning: Meaning, same: str
) -> Operation:
    forms: tuple[Form, ...] = ("nonblocking",) if name == "bibandwidth" else ("blocking",)
    return make_benchmark(
        NAME,
        name,
        name,
        help_,
        meaning,
        counterpart=same,
        metric=metric,
        kind="point-to-point",
        forms=forms,
        ranks_exactly=2,
    )


def _make_collective(name: str, call: str, bytes_: str, same: str) -> Operation:
    text = f"KiB (1024 bytes) per second on rank 0: {bytes_}, divided by the time of {call} in a loop on rank 0."
    help_ = f"bytes that {call} is given per second"
    return make_benchmark(NAME, name, name, help_, _make_meaning(text), counterpart=same, metric="bandwidth")


LATENCY = _make_pair(
    "latency",
    "from one MPI_Send to the next; it is no latency",
    "time",
    _make_meaning(
        "Microseconds per MPI_Send on rank 0 to the last rank, in a loop whose end does not wait until the messages "
        "have arrived: the gap between two sends, no latency.",
        trip="gap",
    ),
    "send-gap",
)
ROUNDTRIP = _make_pair(
    "roundtrip",
    "round trips between the first rank and the last per second",
    "rate",
    _make_meaning(
        "Whole round trips per second: MPI_Send and MPI_Recv on rank 0, the answer from the last rank.", trip="round"
    ),
    "pingpong",
)
BANDWIDTH = _make_pair(
    "bandwidth",
    "bytes that the first rank sends to the last per second",
    "bandwidth",
    _make_meaning(
        "KiB (1024 bytes) per second: the bytes of all MPI_Send of rank 0 to the last rank and 4 of an answer after "
        "the last one, divided by the time until the answer is there. The window is all repetitions."
    ),
    "bandwidth",
)
BIBANDWIDTH = _make_pair(
    "bibandwidth",
    "bytes that the first rank and the last exchange per second, those of both directions",
    "bandwidth",
    _make_meaning(
        "KiB (1024 bytes) per second, sent and received ones added: one MPI_Irecv, one MPI_Isend and MPI_Waitall at a "
        "time between rank 0 and the last rank.",
        counted=2.0,
    ),
    "bandwidth-bidirectional",
)
BROADCAST = _make_collective(
    "broadcast",
    "MPI_Bcast, and once for the whole loop the 4-byte answers of all ranks,",
    "the bytes of the message once for each call, however many ranks get them, and 4 for each rank",
    "bcast",
)
REDUCE = _make_collective(
    "reduce", "MPI_Reduce (MPI_INT, MPI_SUM, root 0)", "the bytes of one rank's vector once for each call", "reduce"
)
ALLREDUCE = _make_collective(
    "allreduce", "MPI_Allreduce (MPI_INT, MPI_SUM)", "the bytes of one rank's vector once for each call", "allreduce"
)
# The size is that of all blocks of a rank, and how many they are is not reported: no size is that of the core's call.
ALLTOALL = _make_collective(
    "alltoall",
    "MPI_Alltoall",
    "the bytes of a rank's whole send buffer, whose blocks are a rank's share of it, once for each call",
    "",
)
KINDS = {
    "latency": Kind(LATENCY, "microseconds", 1e3, ranks=2),
    "roundtrip": Kind(ROUNDTRIP, "transactions per second", 1.0, ranks=2),
    "bandwidth": Kind(BANDWIDTH, "KiB/s", KIB, ranks=2),
    "bibandwidth": Kind(BIBANDWIDTH, "KiB/s", KIB, form="nonblocking", ranks=2, options={"window": "1"}),
    "broadcast": Kind(BROADCAST, "KiB/s", KIB),
    "reduce": Kind(REDUCE, "KiB/s", KIB, datatype="int"),
    "allreduce": Kind(ALLREDUCE, "KiB/s", KIB, datatype="int"),
    "alltoall": Kind(ALLTOALL, "KiB/s", KIB),
}
OPERATIONS = [kind.operation for kind in KINDS.values()]
NAMES = re.compile(
    r"\b(?:(?P<bibandwidth>bi(?:directional)? ?bandwidth)|(?P<alltoall>all ?to ?all)|(?P<allreduce>all ?reduce)"
    r"|(?P<broadcast>broadcast|bcast)|(?P<roundtrip>round ?trip)|(?P<latency>latency)|(?P<bandwidth>bandwidth)"
    r"|(?P<reduce>reduce)|(?P<other>(?:all ?)?gather|scatter|(?:ex)?scan|barrier|put|get))\b"
)
"""In a file's name whose other characters than letters are spaces; `other` is nothing that MPBench measures."""


def recognises(head: Sequence[Line]) -> bool:
    """Return whether lines are two columns, the first one of sizes that never fall."""
    rows = [line.text.split() for line in head if line.text.strip()]
    sizes = [int(row[0]) for row in rows if len(row) == 2 and _is_size(row[0]) and begins_a_row(row[1])]
    return 0 < len(sizes) == len(rows) and sizes == sorted(sizes)


def _is_size(field: str) -> bool:
    return field.isascii() and field.isdigit() and len(field) < 20


def read(text: Text) -> Iterator[Table]:
    """Yield the table, or one for each time that a size comes."""
    kind = KINDS[find_kind(text.file)]
    drafts = Drafts()
    first = 0
    for line in text.lines:
        first = first or line.number
        if not begins_a_row(line.text):
            drafts.keep_unrecognised(line)
            continue
        place = Place(text.file, line.number)
        size, figure = place.split(line.text, ("bytes", kind.column))
        row = Row(line.number, place.parse_size(size, "bytes"), (place.parse_number(figure, kind.column),))
        drafts.add("", partial(_make_table, kind, first), row)
    yield from drafts.finish()


def find_kind(file: str) -> str:
    """Return the benchmark that a file's name shows, such as `latency` of `cluster_latency.dat`.

    Raises RankbenchError where it shows none, or more than one.
    """
    words = re.sub(r"[^a-z]+", " ", Path(file).name.lower())
    found = {match.lastgroup or "" for match in NAMES.finditer(words)}
    if len(found) != 1 or not found <= KINDS.keys():
        raise RankbenchError(
            f"{file}: two columns, as MPBench prints them, and the file's name does not report what; "
            f"name it after the benchmark, such as latency.txt (allowed: {', '.join(KINDS)})"
        )
    return found.pop()


def _make_table(kind: Kind, line: int) -> Table:
    return Table(
        operation=kind.operation,
        form=kind.form,
        datatype=kind.datatype,
        ranks=kind.ranks,
        options=kind.options,
        columns=(kind.column,),
        roles={"value": 0},
        scale=kind.scale,
        rows=[],
        line=line,
    )
