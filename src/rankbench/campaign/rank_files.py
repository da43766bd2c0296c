"""Reads the files in which the recorder's ranks leave what they called, and joins them to one record of the run.

The layout is that of `recorder/recorder.h`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankbench.model import RankbenchError
from rankbench.model.program_records import FORMAT, Bin, Dropped, Kind, Partner, RunRecord, sum_time
from rankbench.profiles import find_operation

if TYPE_CHECKING:
    from rankbench.model import Form

LAYOUT = 1
MAGIC = b"RBCALLS\0"
HEADER = struct.Struct("=8s6I2Q2qd4Q3q2IQ1024s256s256s")
HEADER_BYTES = 4096
KINDS = 4096
BINS_PER_OCTAVE = 8
BINS = 40 * BINS_PER_OCTAVE
FEATURES = ["bytes", "call", "started", "gaps", "ranks", "root"]
KIND = np.dtype(
    [
        ("name", "S32"),
        ("bytes", "u8"),
        *((name, "i4") for name in (*FEATURES[1:], "unused")),
        *((name, "u8") for name in ("calls", "ticks", "shortest", "longest", "completed", "pending", "waited")),
        ("other_partners", "u8"),
        ("partners", [("distance", "i4"), ("unused", "i4"), ("calls", "u8")], 8),
        ("bins", "u4", BINS),
    ]
)
ARRIVAL = np.dtype([("communicator", "u8"), ("sequence", "u4"), ("kind", "u4"), ("begin", "u8"), ("end", "u8")])
ROOT = np.uint32(1 << 31)
WAIT_FOR_ROOT = {"MPI_Bcast", "MPI_Scatter", "MPI_Scatterv"}
ROOT_WAITS = {"MPI_Reduce", "MPI_Gather", "MPI_Gatherv"}
ANY_SIZE = 2**64 - 1
NS_PER_S = 1e9


class RankFile(NamedTuple):
    """What one rank left."""

    rank: int
    ranks: int
    seconds: float
    ticks_per_ns: float
    finalised: bool
    host: str
    library: str
    version: str
    bound_ns: float
    level: int
    """Of all collectives one in two to this power is among the arrivals."""
    dropped: tuple[int, int, int]
    kinds: NDArray[Any]
    arrivals: NDArray[Any]
    begin_ns: NDArray[np.float64]
    """Of each arrival, on the clock of rank 0, relative to `origin_ns`."""
    end_ns: NDArray[np.float64]
    origin_ns: int


def read_rank(path: Path) -> RankFile:
    """Return what a rank left. Raises RankbenchError if the file is none of this layout."""
    content = path.read_bytes()
    if len(content) < HEADER_BYTES + KINDS * KIND.itemsize or content[:8] != MAGIC:
        raise RankbenchError(f"{path}: not a rank's record of calls")
    (_, layout, kinds, rank, ranks, _, level, first, last, first_ns, last_ns, rate, arrivals, *rest) = HEADER.unpack(
        content[: HEADER.size]
    )
    *dropped, first_offset, last_offset, bound, finalised, _, _, library, version, host = rest
    if layout != LAYOUT:
        raise RankbenchError(f"{path}: layout {layout} of a rank's record, expected {LAYOUT}")
    if last_ns > first_ns:
        rate = (last - first) / (last_ns - first_ns)
    table = np.frombuffer(content, KIND, kinds, HEADER_BYTES)
    events = np.frombuffer(content, ARRIVAL, arrivals, HEADER_BYTES + KINDS * KIND.itemsize)
    shift = (last_offset - first_offset) if finalised else 0
    span = max(1.0, (last - first) / rate)

    def convert(ticks: NDArray[np.uint64]) -> NDArray[np.float64]:
        since = np.asarray((ticks - np.uint64(first)).astype(np.int64), dtype=np.float64) / rate
        return np.asarray(since * (1 + shift / span), dtype=np.float64)

    return RankFile(
        rank=rank,
        ranks=ranks,
        seconds=max(0, last - first) / rate / NS_PER_S,
        ticks_per_ns=rate,
        finalised=bool(finalised),
        host=read_text(host),
        library=read_text(library),
        version=read_text(version),
        bound_ns=float(bound),
        level=level,
        dropped=(dropped[0], dropped[1], dropped[2]),
        kinds=table,
        arrivals=events,
        begin_ns=convert(events["begin"]),
        end_ns=convert(events["end"]),
        origin_ns=first_ns + first_offset,
    )


def read_text(field: bytes) -> str:
    """Return the text of a field that ends at its first zero."""
    return field.partition(b"\0")[0].decode("utf-8", "replace")


def find_waiting(ranks: Sequence[RankFile]) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Return, for each rank, by kind: how many of its collectives are known at all ranks, and their waiting in ns.

    A rank waits from its arrival until the last one it needs has arrived, but never longer than its call takes.
    """
    base = min(entry.origin_ns for entry in ranks)
    owner = np.concatenate([np.full(len(entry.arrivals), place) for place, entry in enumerate(ranks)])
    events = np.concatenate([entry.arrivals for entry in ranks])
    begin = np.concatenate([entry.begin_ns + (entry.origin_ns - base) for entry in ranks])
    end = np.concatenate([entry.end_ns + (entry.origin_ns - base) for entry in ranks])
    kind = (events["kind"] & ~ROOT).astype(int)
    keys = np.stack([events["communicator"], events["sequence"].astype(np.uint64)], axis=1)
    _, group = np.unique(keys, axis=0, return_inverse=True)
    group = group.reshape(-1)
    members = np.bincount(group) if len(group) else np.zeros(0)
    size = np.array([int(ranks[who].kinds["ranks"][what]) for who, what in zip(owner, kind, strict=True)], dtype=int)
    names = np.array([ranks[who].kinds["name"][what] for who, what in zip(owner, kind, strict=True)], dtype="S32")
    is_root = (events["kind"] & ROOT) != 0
    last = np.full(len(members), -np.inf)
    np.maximum.at(last, group, begin)
    root = np.full(len(members), -np.inf)
    np.maximum.at(root, group[is_root], begin[is_root])
    release = last[group] if len(group) else begin
    of_root = np.isin(names, [name.encode() for name in WAIT_FOR_ROOT])
    release = np.where(of_root, root[group] if len(group) else begin, release)
    release = np.where(np.isin(names, [name.encode() for name in ROOT_WAITS]) & ~is_root, begin, release)
    waiting = np.clip(release - begin, 0.0, end - begin)
    complete = members[group] == size if len(group) else np.zeros(0, dtype=bool)
    return [
        (
            np.bincount(kind[chosen], minlength=len(entry.kinds)).astype(float),
            np.bincount(kind[chosen], weights=waiting[chosen], minlength=len(entry.kinds)).astype(float),
        )
        for place, entry in enumerate(ranks)
        for chosen in [complete & (owner == place)]
    ]


def join_ranks(folder: Path, command: list[str], library: str) -> RunRecord:
    """Return the record of a run from the files of its ranks.

    Raises RankbenchError if there are none, or they are not those of one MPI_COMM_WORLD.
    """
    ranks = sorted((read_rank(path) for path in folder.glob("rank-*.calls")), key=lambda entry: entry.rank)
    if not ranks:
        raise RankbenchError(
            "no rank called MPI_Init: the program is no MPI program, is linked statically, or drops LD_PRELOAD"
        )
    count = ranks[0].ranks
    if [entry.rank for entry in ranks] != list(range(count)):
        used = ranks[0].version.partition("\n")[0].strip()
        raise RankbenchError(
            f"{len(ranks)} ranks left records, of worlds of {count}: expected one world; is the launcher that of the "
            f"program's library ({used})?"
        )
    return RunRecord(
        record="calls of a program",
        format=FORMAT,
        command=command,
        library=library,
        version=ranks[0].version.partition("\n")[0].strip(),
        ranks=count,
        hosts=[entry.host for entry in ranks],
        seconds=[entry.seconds for entry in ranks],
        finalised=[entry.finalised for entry in ranks],
        kinds=join_kinds(ranks),
        dropped=sum_dropped(ranks),
        clock_bound_ns=max(entry.bound_ns for entry in ranks),
    )


def sum_dropped(ranks: Sequence[RankFile]) -> Dropped:
    """Return what did not fit into the memory of the recorder."""
    kinds, requests, communicators = (sum(entry.dropped[place] for entry in ranks) for place in range(3))
    return Dropped(
        merged_kinds=kinds,
        requests=requests,
        communicators=communicators,
        arrivals_kept=0.5 ** max(entry.level for entry in ranks),
    )


def join_kinds(ranks: Sequence[RankFile]) -> list[Kind]:
    """Return the kinds of all ranks, the one that took most time first."""
    rows: dict[tuple[Any, ...], list[tuple[int, int]]] = {}
    for place, entry in enumerate(ranks):
        for number in range(len(entry.kinds)):
            row = entry.kinds[number]
            if row["calls"] or row["completed"]:
                key = (row["name"].decode(), *(int(row[name]) for name in FEATURES))
                rows.setdefault(key, []).append((place, number))
    waiting = find_waiting(ranks)
    kinds = [join_kind(key, places, ranks, waiting) for key, places in rows.items()]
    return sorted(kinds, key=lambda kind: -sum(sum_time(kind)))


def join_kind(
    key: tuple[Any, ...],
    places: Iterable[tuple[int, int]],
    ranks: Sequence[RankFile],
    waiting: Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]],
) -> Kind:
    """Return one kind of call over all ranks."""
    name, size, _, started, gaps, group, root = key
    lists = {
        name: [0.0] * len(ranks) for name in ("calls", "ticks", "completed", "pending", "waited", "matched", "waiting")
    }
    shortest, longest, others = float("inf"), 0.0, 0
    partners: dict[int, int] = {}
    neighbours = [0] * len(ranks)
    bins: dict[float, int] = {}
    for place, number in places:
        row, rate = ranks[place].kinds[number], ranks[place].ticks_per_ns
        lists["calls"][place], lists["completed"][place] = int(row["calls"]), int(row["completed"])
        for field in ("ticks", "pending", "waited"):
            lists[field][place] = int(row[field]) / rate / NS_PER_S
        shortest = min(shortest, int(row["shortest"]) / rate)
        longest = max(longest, int(row["longest"]) / rate)
        others += int(row["other_partners"])
        for partner in row["partners"]:
            if partner["calls"]:
                distance = int(partner["distance"])
                neighbours[place] += distance >= 0
                partners[distance] = partners.get(distance, 0) + int(partner["calls"])
        for place_of_bin in np.flatnonzero(row["bins"]):
            begin = find_bin_begin(int(place_of_bin)) / rate
            bins[begin] = bins.get(begin, 0) + int(row["bins"][place_of_bin])
        matched, waited_ns = (float(values[number]) for values in waiting[place])
        lists["matched"][place] = int(matched)
        lists["waiting"][place] = waited_ns / matched * int(row["calls"]) / NS_PER_S if matched else 0.0
    counted = {name: [int(value) for value in lists[name]] for name in ("calls", "completed", "matched")}
    return Kind(
        call=name,
        form=name_form(name, started=bool(started)),
        bytes=-1 if size == ANY_SIZE else size,
        gaps=bool(gaps),
        ranks=group,
        root=root,
        calls=counted["calls"],
        seconds=lists["ticks"],
        shortest_ns=shortest,
        longest_ns=longest,
        distribution=[Bin(time_ns=begin, calls=bins[begin]) for begin in sorted(bins)],
        partners=[Partner(distance=entry, calls=partners[entry]) for entry in sorted(partners)],
        other_partners=others,
        neighbours=neighbours if partners else [],
        completed=counted["completed"] if any(counted["completed"]) else [],
        pending_s=lists["pending"] if any(lists["pending"]) else [],
        waited_s=lists["waited"] if any(lists["waited"]) else [],
        matched=counted["matched"] if any(counted["matched"]) else [],
        waiting_s=lists["waiting"] if any(counted["matched"]) else [],
    )


def find_bin_begin(number: int) -> int:
    """Return where a bin begins, in ticks: the inverse of `find_bin` in `recorder/kinds.c`."""
    if number < BINS_PER_OCTAVE:
        return number
    octave, part = divmod(number, BINS_PER_OCTAVE)
    return (BINS_PER_OCTAVE + part) << (octave - 1)


def name_form(call: str, *, started: bool) -> Form:
    """Return the form of a call by its name; those that were started by MPI_Start are persistent."""
    name = call.removeprefix("MPI_").lower()
    if started:
        return "persistent"
    is_nonblocking = name[:1] == "i" and find_operation(name) and name.removesuffix("_init") != find_operation(name)
    return "nonblocking" if is_nonblocking else "blocking"
