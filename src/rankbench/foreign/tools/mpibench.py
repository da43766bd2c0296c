"""Reads LLNL's mpiBench: a line for each collective and size, with the mean, least and largest time over ranks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial

from rankbench.foreign import Line, Row, Table, Text, make_benchmark
from rankbench.foreign.fields import Drafts, Place
from rankbench.model import Meaning, Operation

NAME = "mpibench"
TITLE = "LLNL mpiBench"
PRECEDENCE = 4
"""Its lines have no title before them."""
COLUMNS = ("Avg", "Min", "Max")
LINE = re.compile(
    r"(?P<name>[A-Z]\w+)\s+Bytes:\s+(?P<bytes>\S+)\s+Iters:\s+(?P<iterations>\S+)\s+Avg:\s+(?P<Avg>\S+)\s+"
    r"Min:\s+(?P<Min>\S+)\s+Max:\s+(?P<Max>\S+)\s+Comm:\s(?P<communicator>.*?)\s+Ranks:\s+(?P<ranks>\S+)\s*"
)
TEXT = (
    "mean over ranks of a rank's time of a loop of MPI_{name} and MPI_Barrier, divided by the number of calls, "
    "barriers included (Min, Max: the least and largest of a rank); up to 1000 calls, fewer within -t microseconds"
)
CALLS = (
    *("Barrier", "Bcast", "Alltoall", "Allgather", "Gather", "Scatter", "Allreduce", "Reduce"),
    *("Alltoallv", "Allgatherv", "Gatherv"),
)


def _make_operation(name: str) -> Operation:
    alone = name == "Barrier"
    text = (TEXT.replace(" and MPI_Barrier", "").replace(", barriers included", "") if alone else TEXT).format(
        name=name
    )
    meaning = Meaning(over_calls="mean", over_ranks="mean", start="none" if alone else "library-barrier", text=text)
    uneven = name.endswith("v")  # Counts differ from rank to rank.
    help_ = f"MPI_{name}{' of uneven counts' * uneven}{'' if alone else ' with a barrier after each call'}"
    same = "" if uneven else name.lower()
    return make_benchmark(NAME, name.lower(), name, help_, meaning, counterpart=same, sized=not alone)


OPERATIONS = [_make_operation(name) for name in CALLS]
BY_NAME = dict(zip(CALLS, OPERATIONS, strict=True))


def recognises(head: Sequence[Line]) -> bool:
    """Return whether one of the lines is a result of mpiBench."""
    return any(LINE.fullmatch(line.text) for line in head)


def read(text: Text) -> Iterator[Table]:
    """Yield a table for each collective and communicator. Raises RankbenchError for a damaged line."""
    drafts = Drafts()
    for line in text.lines:
        match = LINE.fullmatch(line.text)
        if not match or match["name"] not in BY_NAME:
            drafts.keep_unrecognised(line)
            continue
        place = Place(text.file, line.number)
        printed = [match[name] for name in COLUMNS]
        numbers = place.parse_numbers(printed, COLUMNS)
        row = Row(line.number, place.parse_size(match["bytes"], "Bytes"), numbers)
        ranks = place.parse_size(match["ranks"], "Ranks")
        key = (match["name"], match["communicator"], ranks)
        drafts.add(key, partial(_make_table, *key, line.number), row, printed)
    yield from drafts.finish()


def _make_table(name: str, communicator: str, ranks: int, line: int) -> Table:
    return Table(
        operation=BY_NAME[name],
        datatype="" if "reduce" in name.lower() else "byte",
        ranks=ranks,
        options={} if communicator == "MPI_COMM_WORLD" else {"communicator": communicator},
        columns=COLUMNS,
        roles={"value": 0, "minimum": 1, "maximum": 2},
        scale=1e3,
        rows=[],
        line=line,
    )
