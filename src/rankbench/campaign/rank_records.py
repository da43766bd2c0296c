"""Joins what the recorder's ranks left to one record of the run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from rankbench.campaign.rank_files import BINS_PER_OCTAVE, FEATURES, NS_PER_S, RankFile, read_rank
from rankbench.campaign.rank_waiting import Waiting, find_lateness, find_waiting
from rankbench.model import Form, RankbenchError
from rankbench.model.program_records import FORMAT, Bin, Dropped, Kind, Partner, RunRecord, sum_time
from rankbench.profiles import WITH_REQUEST, find_operation

ANY_SIZE = 2**64 - 1
GAPS = 1
NUMBERS = {2: "float", 3: "double", 4: "int"}
"""`enum content` of the recorder."""


def join_ranks(folder: Path, command: list[str], library: str) -> RunRecord:
    """Return the record of a run from the files of its ranks.

    Raises RankbenchError if there are none, or they are not those of one MPI_COMM_WORLD.
    """
    ranks = sorted((read_rank(path) for path in folder.glob("rank-*.calls")), key=lambda entry: entry.rank)
    others = [read_version(path) for path in folder.glob("rank-*.json")]
    if not ranks and others:
        raise RankbenchError(
            f"the program used {others[0]}, not {library}: let it load {library} (such as by LD_LIBRARY_PATH), or use "
            "the launcher of the other one"
        )
    if not ranks:
        raise RankbenchError(
            "no rank called MPI_Init: the program is no MPI program, is linked statically, drops LD_PRELOAD, or has "
            "sessions only"
        )
    count = ranks[0].ranks
    numbers = [entry.rank for entry in ranks]
    if len({entry.ranks for entry in ranks}) == 1 and sorted({*numbers}) == numbers != list(range(count)):
        missing = next(rank for rank in range(count) if rank not in numbers)
        raise RankbenchError(
            f"{count - len(ranks)} of {count} ranks left no record, the first is rank {missing}: what it printed says "
            "why (a full disk, a limit of file sizes, another folder on its node)"
        )
    if numbers != list(range(count)):
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
        several_threads=any(entry.several_threads for entry in ranks),
        thread_multiple=any(entry.thread_multiple for entry in ranks),
        kinds=join_kinds(ranks),
        dropped=sum_dropped(ranks),
        clock_bound_ns=max(entry.bound_ns for entry in ranks),
    )


def read_version(path: Path) -> str:
    """Return the library that a rank used, in few words, from the file of its start and end."""
    return str(msgspec.json.decode(path.read_bytes())["version"]).partition("\n")[0].partition(",")[0].strip()


def sum_dropped(ranks: Sequence[RankFile]) -> Dropped:
    """Return what did not fit into the memory of the recorder."""
    kinds, requests, communicators = (sum(entry.dropped[place] for entry in ranks) for place in range(3))
    return Dropped(
        merged_kinds=kinds,
        requests=requests,
        communicators=communicators,
        arrivals_kept=0.5 ** max(entry.level for entry in ranks),
        messages=sum(entry.lost_messages for entry in ranks),
        messages_kept=0.5 ** max(entry.message_level for entry in ranks),
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
    waiting, lateness = find_waiting(ranks), find_lateness(ranks)
    kinds = [join_kind(key, places, ranks, waiting) for key, places in rows.items()]
    kinds = [
        msgspec.structs.replace(kind, late_ns=join_lateness(places, lateness))
        for kind, places in zip(kinds, rows.values(), strict=True)
    ]
    return sorted(kinds, key=lambda kind: -sum(sum_time(kind)))


def join_kind(
    key: tuple[Any, ...],
    places: Iterable[tuple[int, int]],
    ranks: Sequence[RankFile],
    waiting: Sequence[Waiting],
) -> Kind:
    """Return one kind of call over all ranks."""
    name, size, _, started, content, group, root = key
    lists = {
        name: [0.0] * len(ranks)
        for name in ("calls", "ticks", "completed", "pending", "waited", "between", "matched", "waiting")
    }
    shortest, longest, others = float("inf"), 0.0, 0
    partners: dict[int, int] = {}
    neighbours = [0] * len(ranks)
    bins: dict[float, int] = {}
    for place, number in places:
        row, rate = ranks[place].kinds[number], ranks[place].ticks_per_ns
        lists["calls"][place], lists["completed"][place] = int(row["calls"]), int(row["completed"])
        for field in ("ticks", "pending", "waited", "between"):
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
        lists["matched"][place] = int(waiting[place].matched[number])
        within_s = lists["ticks"][place] + lists["waited"][place]
        lists["waiting"][place] = min(within_s, float(waiting[place].seconds[number]))
    counted = {name: [int(value) for value in lists[name]] for name in ("calls", "completed", "matched")}
    return Kind(
        call=name,
        form=name_form(name, started=bool(started)),
        bytes=-1 if size == ANY_SIZE else size,
        gaps=content == GAPS,
        datatype=NUMBERS.get(content, ""),
        ranks=group,
        root=root,
        calls=counted["calls"],
        seconds=lists["ticks"],
        between_s=lists["between"],
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


def join_lateness(
    places: Iterable[tuple[int, int]], lateness: Sequence[Mapping[int, list[float]]]
) -> list[list[float]]:
    """Return how late each rank arrived at the collectives of a kind; nothing if no rank is known."""
    late: list[list[float]] = [[] for _ in lateness]
    for place, number in places:
        late[place] = lateness[place].get(number, [])
    return late if any(late) else []


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
    of_name = name[:1] == "i" and find_operation(name) and name.removesuffix("_init") != find_operation(name)
    return "nonblocking" if of_name or name in WITH_REQUEST else "blocking"
