"""Reads the record of `rankbench record`: calls in their form, with communicator, type, arrival of ranks and time.

The time of a receive belongs to the messages that are sent; that of Wait and Test to the calls that they complete.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence

import msgspec

from rankbench.model import LEVEL, MULTIPLE, Calls, Form, Recorded, Uncovered
from rankbench.model.program_records import HEAD, Kind, RunRecord, count_nodes, decode, split_by_size, sum_mpi, sum_time
from rankbench.profiles import COMPLETION, NONBLOCKING, OTHER_END, SENDS, Profile, find_operation

NAME = "rankbench record"
GAPS = "vector"
"""The datatype that stands for all with gaps."""
WAITED = 0.1
"""From this share of a collective's time on, ranks are made to arrive apart when it is measured."""
LATE = 0.1
"""A rank that waits less than this share of what others wait is late."""
GAPS_US = (1, 1000)
"""Shorter gaps change nothing; after longer ones little more has left the caches, and rounds would be few."""
MOST_SPREAD_US = 1000
"""Ranks are made to arrive no farther apart: rounds would be few, and a longer wait is no other one."""
US = 1e6
NEIGHBOURS: tuple[tuple[str, int, dict[str, str]], ...] = (
    ("halo", 6, {"dimensions": "3"}),
    ("halo", 4, {}),
    ("exchange", 2, {}),
    ("pingping", 1, {}),
)
"""What stands for messages to and from at least so many partners, and the messages of one such call."""
EPOCHS = ("win_fence", "win_complete", "win_wait", "win_unlock", "win_flush", "win_lock", "win_start", "win_post")
"""What begins and ends one-sided calls: its time belongs to these."""
ONE_SIDED = {"put", "get", "accumulate", "get_accumulate", "fetch_and_op", "compare_and_swap"}
CREATING = ("comm_", "win_")
REDUCING = re.compile("reduce|scan|accumulate|fetch_and_op")
NOBODY = -1
"""The distance to MPI_PROC_NULL."""
TO_NOBODY = "to MPI_PROC_NULL"
NO_OPERATION = "nothing that is measured corresponds to it"
OF_UNKNOWN = "for calls that are not recorded"
UNIT = 8
"""Largest number of bytes of which mean sizes are multiples, where all sizes are: a reduction has whole elements."""
LEAST_SHARE = 0.0005
"""A smaller share of the time is not listed."""


@dataclasses.dataclass
class Group:
    """Calls that one operation stands for; lists have an element for each rank."""

    operation: str
    form: Form
    size_bytes: int
    ranks: int
    datatype: str
    """Empty: that of the operation."""
    calls: float
    """Over all ranks."""
    callers: frozenset[int]
    """The ranks that make them."""
    seconds: list[float]
    waiting_s: list[float]
    between_s: float = 0.0
    """Time of all ranks in which they computed before these calls."""
    options: dict[str, str] = dataclasses.field(default_factory=dict)

    def add_time(self, kind: Kind, share: float = 1.0) -> None:
        """Add the time of a kind of call, or a share of it."""
        self.seconds = [before + share * more for before, more in zip(self.seconds, sum_time(kind), strict=True)]
        self.between_s += share * sum(kind.between_s)
        if kind.waiting_s:
            self.waiting_s = [
                before + share * more for before, more in zip(self.waiting_s, kind.waiting_s, strict=True)
            ]


def recognises(text: str) -> bool:
    """Return whether a text is such a record."""
    return HEAD in text[:200]


def read(text: str, file: str) -> Profile:
    """Return the mean calls of a rank, those that took most time first."""
    run = decode(text.encode(), file)
    mpi_s = sum_mpi(run)
    groups, others = group_calls(run)
    level = {LEVEL: MULTIPLE} if run.thread_multiple else {}
    calls = sorted(
        (make_calls(group, run.ranks, level) for group in join_sizes(groups)), key=lambda call: -call.seconds
    )
    uncovered = list(list_uncovered(others, mpi_s * run.ranks))
    unknown = [
        f"{sum(kind.calls)} calls of {kind.call} have no known size and are not counted"
        for kind in others
        if kind.bytes < 0
    ]
    return Profile(
        NAME,
        calls,
        list(dict.fromkeys(kind.call for kind in others if is_relevant(kind, mpi_s))),
        tuple(unknown),
        Recorded(
            file=file,
            library=run.library,
            version=run.version,
            ranks=run.ranks,
            nodes=count_nodes(run),
            seconds=sum(run.seconds) / run.ranks,
            mpi_s=mpi_s,
            waiting_s=sum(sum(kind.waiting_s) for kind in run.kinds) / run.ranks,
            several_threads=run.several_threads,
            thread_multiple=run.thread_multiple,
            uncovered=uncovered,
        ),
    )


def group_calls(run: RunRecord) -> tuple[list[Group], list[Kind]]:
    """Return the groups of calls, and the kinds that no operation stands for."""
    groups: dict[tuple[object, ...], Group] = {}
    others: list[Kind] = []
    received: list[Kind] = []
    halves: list[Kind] = []
    epochs: list[Kind] = []
    for kind in run.kinds:
        name = name_call(kind)
        if is_to_nobody(kind) and name.startswith("sendrecv"):
            halves.append(kind)  # At the edge of a grid: it receives what another rank sends to nobody else.
            continue
        if is_to_nobody(kind):
            others.append(kind)
            received.append(msgspec.structs.replace(kind, seconds=[0.0] * run.ranks, waited_s=[]))
            continue
        if name in COMPLETION:
            others.append(kind)  # What is left of its time is of calls that are not recorded.
            continue
        if name in OTHER_END or name.startswith(EPOCHS):
            (epochs if name.startswith(EPOCHS) else received).append(kind)
            continue
        operation = find_operation(kind.call.removeprefix("MPI_"))
        if kind.bytes < 0 or not operation or not sum(kind.calls) or name.startswith(CREATING):
            others.append(kind)
            continue
        candidate = make_group(kind, operation, name)
        key = (
            candidate.operation,
            candidate.form,
            candidate.size_bytes,
            candidate.ranks,
            candidate.datatype,
            tuple(candidate.options.items()),
        )
        group = groups.setdefault(key, candidate)
        if group is not candidate:
            group.calls += candidate.calls
            group.callers |= candidate.callers
        if not is_prepared(kind):
            group.add_time(kind)
    others += add_times(groups.values(), received, {"pingpong", *(name for name, _, _ in NEIGHBOURS)})
    others += add_times(groups.values(), halves, {"sendrecv", "sendrecv-replace"})
    others += add_times(groups.values(), epochs, ONE_SIDED)
    return [group for group in groups.values() if group.calls], others


def name_call(kind: Kind) -> str:
    """Return the name of a call in small letters, without what says that it is persistent."""
    return kind.call.removeprefix("MPI_").lower().removesuffix("_init")


def is_prepared(kind: Kind) -> bool:
    """Return whether a call only prepares a persistent one."""
    return kind.call.endswith("_init") and kind.form != "persistent"


def is_to_nobody(kind: Kind) -> bool:
    """Return whether all calls are to or from MPI_PROC_NULL, whose recorded size is nought."""
    return kind.bytes == 0 and count_to_nobody(kind) == sum(kind.calls) > 0


def count_to_nobody(kind: Kind) -> int:
    """Return the number of calls to or from MPI_PROC_NULL."""
    return sum(partner.calls for partner in kind.partners if partner.distance == NOBODY)


def make_group(kind: Kind, operation: str, name: str) -> Group:
    """Return the group that a kind of call begins, without its time."""
    ranks = len(kind.calls)
    calls = 0.0 if is_prepared(kind) else float(sum(kind.calls) - count_to_nobody(kind))
    form: Form = "persistent" if is_prepared(kind) else kind.form
    options: dict[str, str] = {}
    if name.removeprefix("i") in SENDS and form != "blocking":
        most = max(kind.neighbours, default=1)
        operation, messages, options = next((entry for entry in NEIGHBOURS if entry[1] <= most), NEIGHBOURS[-1])
        calls /= messages
    elif name.endswith("sendrecv_replace"):
        operation = "sendrecv-replace"
    nothing = [0.0] * ranks
    datatype = find_datatype(kind, name)
    callers = frozenset(rank for rank, count in enumerate(kind.calls) if count)
    return Group(
        operation, form, kind.bytes, kind.ranks, datatype, calls, callers, nothing, nothing, options=dict(options)
    )


def find_datatype(kind: Kind, name: str) -> str:
    """Return the datatype that stands for that of a kind: which numbers they are counts where they are reduced."""
    return GAPS if kind.gaps else kind.datatype if REDUCING.search(name) else ""


def add_times(groups: Iterable[Group], kinds: Iterable[Kind], operations: Container[str]) -> Iterator[Kind]:
    """Add the time of kinds to groups of their size and communicator, else to all; yield those that have no group."""
    wanted = [group for group in groups if group.operation in operations and group.calls]
    for kind in kinds:
        if is_prepared(kind):
            continue
        fitting = [group for group in wanted if (group.size_bytes, group.ranks) == (kind.bytes, kind.ranks)] or wanted
        if not fitting:
            yield kind
        total = sum(group.calls for group in fitting)
        for group in fitting:
            share = group.calls / total
            group.add_time(kind, share)


def join_sizes(groups: Iterable[Group]) -> Iterator[Group]:
    """Yield the groups, those of similar sizes as one of their mean size."""
    by_kind: defaultdict[tuple[object, ...], list[Group]] = defaultdict(list)
    for group in groups:
        kind = group.operation, group.form, group.ranks, group.datatype, tuple(group.options.items())
        by_kind[kind].append(group)
    for alike in by_kind.values():
        yield from map(join_groups, split_by_size(alike, lambda group: group.size_bytes))


def join_groups(groups: Sequence[Group]) -> Group:
    """Return groups that differ in size as one; its size is that of their mean call."""
    if len(groups) == 1:
        return groups[0]
    calls = sum(group.calls for group in groups)
    mean = sum(group.calls * group.size_bytes for group in groups) / calls
    unit = math.gcd(UNIT, *(group.size_bytes for group in groups))
    return dataclasses.replace(
        groups[0],
        size_bytes=round(mean / unit) * unit,
        calls=calls,
        callers=frozenset().union(*(group.callers for group in groups)),
        seconds=[sum(of_rank) for of_rank in zip(*(group.seconds for group in groups), strict=True)],
        waiting_s=[sum(of_rank) for of_rank in zip(*(group.waiting_s for group in groups), strict=True)],
        between_s=sum(group.between_s for group in groups),
    )


def make_calls(group: Group, ranks: int, options: dict[str, str]) -> Calls:
    """Return the calls of the mean rank. `options`: of all calls of the program."""
    return Calls(
        operation=group.operation,
        size_bytes=group.size_bytes,
        calls=group.calls / ranks,
        form=group.form,
        ranks=group.ranks,
        datatype=group.datatype,
        options=group.options | find_arrival(group) | find_gap(group) | options,
        seconds=sum(group.seconds) / ranks,
        waiting_s=sum(group.waiting_s) / ranks,
    )


def find_arrival(group: Group) -> dict[str, str]:
    """Return how ranks arrive: together, one late, or at random times; the spread is that of the mean call."""
    if group.operation not in NONBLOCKING or sum(group.waiting_s) < WAITED * sum(group.seconds):
        return {}
    waiting_s = [group.waiting_s[rank] for rank in group.callers]
    most = max(waiting_s)
    late = sum(waited < LATE * most for waited in waiting_s)
    each = group.calls / len(waiting_s)
    waiting = [waited / each for waited in waiting_s if waited >= LATE * most]
    mean_us = sum(waiting) / len(waiting) * US
    spread_us = min(MOST_SPREAD_US, round(mean_us if late == 1 else 2 * mean_us))
    return {"arrival": "one-late" if late == 1 else "random", "spread_us": str(spread_us)} if spread_us else {}


def find_gap(group: Group) -> dict[str, str]:
    """Return how long ranks compute before the mean call, to two digits."""
    least, most = GAPS_US
    gap_us = group.between_s / group.calls * US
    return {"gap_us": f"{float(f'{min(gap_us, most):.2g}'):.0f}"} if gap_us >= least else {}


def is_relevant(kind: Kind, mpi_s: float) -> bool:
    """Return whether a kind that does something takes a share of the mean rank's time in MPI that is worth a line."""
    if kind.bytes < 0 or name_call(kind) in COMPLETION:
        return False
    return not is_to_nobody(kind) and sum(sum_time(kind)) >= LEAST_SHARE * mpi_s * len(kind.calls) > 0


def list_uncovered(others: Iterable[Kind], total_s: float) -> Iterator[Uncovered]:
    """Yield the calls that nothing stands for, with their share of the time in MPI."""
    shares: dict[str, float] = {}
    for kind in others:
        why = "its size is not known" if kind.bytes < 0 else TO_NOBODY if is_to_nobody(kind) else NO_OPERATION
        why = OF_UNKNOWN if name_call(kind) in COMPLETION else why
        what = f"{kind.call}: {why}"
        shares[what] = shares.get(what, 0.0) + (sum(sum_time(kind)) / total_s if total_s else 0.0)
    for what, share in sorted(shares.items(), key=lambda entry: -entry[1]):
        if share >= LEAST_SHARE:
            yield Uncovered(what=what, share=share)
