"""Reads MPBench of llcbench: a size and a value on each line. Only the file's name shows the benchmark."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

from rankbench.foreign import Line, Row, Table, Text, make_benchmark, make_pair_benchmark
from rankbench.foreign.fields import Drafts, Place, begins_a_row
from rankbench.foreign.running import RunRequest, find_option, set_repetitions
from rankbench.model import Form, Meaning, Operation, Plan, RankbenchError

NAME = "mpbench"
TITLE = "MPBench"
PRECEDENCE = 9
"""Tried last: any two columns look like it."""
KIB = 1024.0
REPETITIONS = "Repetitions (option -i, default 1)"
LOOP = (
    f"{REPETITIONS} run in one timed loop; the clock is gettimeofday, in whole microseconds. One "
    "untimed call of the largest size comes first; before each size the cache is overwritten and MPI_Barrier called. A "
    "size can come several times (-e, or sizes between powers of 2 that are rounded to multiples of 4 bytes). The "
    "output has neither the number of repetitions nor that of ranks."
)


class Kind(NamedTuple):
    """The output of a benchmark."""

    operation: Operation
    column: str
    scale: float
    flag: str
    """The option of the program."""
    options: dict[str, str] = {}  # noqa: RUF012 - never changed


def _make_meaning(text: str, trip: Literal["call", "round", "gap"] = "call", counted: float = 1.0) -> Meaning:
    return Meaning(over_calls="mean", over_ranks="one", start="none", text=f"{text} {LOOP}", trip=trip, counted=counted)


def _make_pair(
    name: str, help_: str, metric: Literal["time", "bandwidth", "rate"], meaning: Meaning, same: str
) -> Operation:
    forms: tuple[Form, ...] = ("nonblocking",) if name == "bibandwidth" else ("blocking",)
    one_buffer = name in {"latency", "bandwidth"}
    return make_pair_benchmark(
        NAME, name, name, help_, meaning, counterpart=same, metric=metric, forms=forms, one_buffer=one_buffer
    )


def _make_collective(name: str, call: str, bytes_: str, same: str) -> Operation:
    text = f"KiB (1024 bytes) per second on rank 0: {bytes_}, divided by the time of {call} in a loop on rank 0."
    help_ = f"bytes per second that are passed to {call}"
    datatype = "int" if "reduce" in name else "byte"
    return make_benchmark(
        NAME, name, name, help_, _make_meaning(text), counterpart=same, metric="bandwidth", datatype=datatype
    )


LATENCY = _make_pair(
    "latency",
    "from one MPI_Send to the next; not a latency",
    "time",
    _make_meaning(
        "Microseconds per MPI_Send on rank 0 to the last rank, in a loop that does not wait for the messages to "
        "arrive: the gap between two sends, not a latency.",
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
    "MPI_Bcast, and of one 4-byte answer of all ranks for the whole loop,",
    "the bytes of the message once for each call, for any number of ranks, and 4 for each rank",
    "bcast",
)
REDUCE = _make_collective(
    "reduce", "MPI_Reduce (MPI_INT, MPI_SUM, root 0)", "the bytes of one rank's vector once for each call", "reduce"
)
ALLREDUCE = _make_collective(
    "allreduce", "MPI_Allreduce (MPI_INT, MPI_SUM)", "the bytes of one rank's vector once for each call", "allreduce"
)
# The size is that of all blocks of a rank, whose number is unknown: it cannot be converted to the core's size.
ALLTOALL = _make_collective(
    "alltoall",
    "MPI_Alltoall",
    "the bytes of a rank's whole send buffer, whose blocks are a rank's share of it, once for each call",
    "",
)
KINDS = {
    "latency": Kind(LATENCY, "microseconds", 1e3, "-l"),
    "roundtrip": Kind(ROUNDTRIP, "transactions per second", 1.0, "-r"),
    "bandwidth": Kind(BANDWIDTH, "KiB/s", KIB, "-b"),
    "bibandwidth": Kind(BIBANDWIDTH, "KiB/s", KIB, "-d", options={"window": "1"}),
    "broadcast": Kind(BROADCAST, "KiB/s", KIB, "-c"),
    "reduce": Kind(REDUCE, "KiB/s", KIB, "-y"),
    "allreduce": Kind(ALLREDUCE, "KiB/s", KIB, "-z"),
    "alltoall": Kind(ALLTOALL, "KiB/s", KIB, "-a"),
}
OPERATIONS = [kind.operation for kind in KINDS.values()]
NAMES = re.compile(
    r"\b(?:(?P<bibandwidth>bi(?:directional)? ?bandwidth)|(?P<alltoall>all ?to ?all)|(?P<allreduce>all ?reduce)"
    r"|(?P<broadcast>broadcast|bcast)|(?P<roundtrip>round ?trip)|(?P<latency>latency)|(?P<bandwidth>bandwidth)"
    r"|(?P<reduce>reduce)|(?P<other>(?:all ?)?gather|scatter|(?:ex)?scan|barrier|put|get))\b"
)
"""Benchmarks in a file's name, with spaces for all characters except letters; `other` is not measured by MPBench."""


def recognises(head: Sequence[Line]) -> bool:
    """Return whether lines have two columns, and the first one has rising sizes."""
    rows = [line.text.split() for line in head if line.text.strip()]
    sizes = [int(row[0]) for row in rows if len(row) == 2 and _is_size(row[0]) and begins_a_row(row[1])]
    return 0 < len(sizes) == len(rows) and sizes == sorted(sizes)


def _is_size(field: str) -> bool:
    return field.isascii() and field.isdigit() and len(field) < 20


def read(text: Text) -> Iterator[Table]:
    """Yield the table. Raises RankbenchError if neither the text nor its file's name names the benchmark."""
    kind = KINDS[text.benchmark or find_kind(text.file)]
    drafts = Drafts()
    first = 0
    for line in text.lines:
        first = first or line.number
        if not begins_a_row(line.text):
            drafts.keep_unrecognised(line)
            continue
        place = Place(text.file, line.number)
        size, value = place.split(line.text, ("bytes", kind.column))
        row = Row(line.number, place.parse_size(size, "bytes"), (place.parse_number(value, kind.column),))
        drafts.add("", partial(_make_table, kind, first), row, [value])
    yield from drafts.finish()


def find_kind(file: str) -> str:
    """Return the benchmark in a file's name, such as `latency` for `cluster_latency.dat`.

    Raises RankbenchError if the name has none, or more than one.
    """
    words = re.sub(r"[^a-z]+", " ", Path(file).name.lower())
    benchmarks = {match.lastgroup or "" for match in NAMES.finditer(words)}
    if len(benchmarks) != 1 or not benchmarks <= KINDS.keys():
        raise RankbenchError(
            f"{file}: two columns, as MPBench prints them, and the file's name does not name the benchmark; "
            f"name it after the benchmark, such as latency.txt (allowed: {', '.join(KINDS)})"
        )
    return benchmarks.pop()


def _make_table(kind: Kind, line: int) -> Table:
    return Table(
        operation=kind.operation,
        datatype=kind.operation.datatype,
        ranks=kind.operation.ranks_exactly,
        options=kind.options,
        columns=(kind.column,),
        roles={"value": 0},
        scale=kind.scale,
        rows=[],
        line=line,
    )


# --- running ----------------------------------------------------------------------------------------------------------


def program(_operation: Operation) -> str:
    """Return the name of the program, which has all benchmarks."""
    return "mpi_bench"


def apply_plan(operation: Operation, plan: Plan, user_arguments: Sequence[str]) -> Operation:
    """Return a benchmark with the repetitions of a plan or of the user's arguments."""
    times = find_option(user_arguments, ("-i",)) or str(plan.sampling.good)
    return set_repetitions(operation, {REPETITIONS: "{} repetitions"}, times)


def arguments(request: RunRequest) -> list[str]:
    """Return the arguments of the program: repetitions, the sizes, and the logarithm of the size of its buffers."""
    assert request.operation.foreign
    sizes = [size for size in request.sizes if size] or [4]  # A size of 0 ends its list.
    texts = ",".join(f"{size}b" for size in sizes)
    logarithm = str((max(sizes) - 1).bit_length())
    flag = KINDS[request.operation.foreign.benchmark].flag
    return [flag, "-i", str(request.plan.sampling.good), "-e", "1", "-m", logarithm, "-M", texts]
