"""Reads the calls of an application: from the output of a profiler, one file per tool, or from a table of your own.

Counts are per rank: a profile that sums over ranks is divided by their number. A message counts at its sender; the
receive at the other end would count the same time again.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from rankbench import profiles, units
from rankbench.model import Calls, RankbenchError, Recorded, Uncovered

SENDS = {f"{progress}{mode}send" for progress in ("", "i") for mode in ("", "b", "s", "r")}
OTHER_END = {"recv", "irecv", "mrecv", "imrecv", "probe", "iprobe", "mprobe", "improbe"}
COMPLETION = {f"{verb}{how}" for verb in ("wait", "test") for how in ("", "all", "any", "some")} | {"start", "startall"}
MAX_DIGITS = 20
LARGEST = 1 << 62
COVERED = 0.95
"""Share of the time in MPI that the calls that are measured for a profile stand for."""
MOST_CALLS = 100
MAX_BYTES = 1 << 24
"""Largest size of a profile."""


class Profile(NamedTuple):
    """The calls of one rank of an application."""

    tool: str
    calls: list[Calls]
    ignored: list[str]
    """Calls without a corresponding operation, each once, except completions and receives."""
    notes: tuple[str, ...] = ()
    """Remarks about the profile for the reader."""
    recorded: Recorded | None = None
    """The run that was recorded, where the file has times; its calls then begin with those that took most."""


def read(path: Path) -> Profile:
    """Read a file whose tool is recognised by its content.

    Raises RankbenchError if it cannot be read, is not a known profile, or lists no calls.
    """
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise RankbenchError(f"{path}: cannot be read ({error.strerror})") from None
    text = raw.decode("utf-8", errors="replace")
    known = units.modules(profiles)
    tool = next((module for module in known.values() if module.recognises(text)), None)
    if tool is None or len(raw) > MAX_BYTES:
        names = ", ".join(module.NAME for module in known.values())
        raise RankbenchError(f"{path}: not a known profile (allowed: {names})")
    profile: Profile = tool.read(text, str(path))
    if not profile.calls:
        raise RankbenchError(f"{path}: {profile.tool} lists no call that moves data")
    return profile


def choose_calls(path: Path) -> tuple[list[Calls], Recorded]:
    """Return the calls of a profile that are measured for it: where times are known, those that took most of it.

    Raises RankbenchError as `read` does.
    """
    profile = read(path)
    file = str(path.absolute())
    if not profile.recorded:
        return profile.calls, Recorded(file=file)
    recorded = msgspec.structs.replace(profile.recorded, file=file)
    chosen: list[Calls] = []
    share = 0.0
    for call in profile.calls:
        if share >= COVERED or len(chosen) == MOST_CALLS:
            break
        chosen.append(call)
        share += call.seconds / recorded.mpi_s if recorded.mpi_s else 0.0
    rest = recorded.covered - share
    left_out = len(profile.calls) - len(chosen)
    if left_out and rest > 0:
        what = (
            f"{left_out} kinds of calls that took less time" if left_out > 1 else "a kind of call that took less time"
        )
        recorded = msgspec.structs.replace(recorded, uncovered=[*recorded.uncovered, Uncovered(what=what, share=rest)])
    return chosen, recorded


def parse_count(text: str, where: str) -> int:
    """Return a number of calls or bytes. Raises RankbenchError, with `where` in front, for others and beyond 2^62."""
    if len(text) >= MAX_DIGITS or not (text.isascii() and text.isdigit()) or int(text) > LARGEST:
        shown = text if len(text) <= MAX_DIGITS else f"{text[:MAX_DIGITS]}..."
        raise RankbenchError(f"{where}: found {shown!r}, expected a whole number up to 2^62")
    return int(text)


def convert_counts(counts: Mapping[tuple[str, int], float], ranks: int) -> tuple[list[Calls], list[str]]:
    """Return the calls of one rank, and calls without an operation, from counts over all ranks by name and bytes.

    Names are without `MPI_`.
    """
    calls: dict[tuple[str, int], float] = {}
    ignored = []
    for (name, size_bytes), count in counts.items():
        operation = find_operation(name)
        if operation:
            key = operation, size_bytes
            calls[key] = calls.get(key, 0.0) + count / ranks
        elif name.lower() not in OTHER_END | COMPLETION:
            ignored.append(f"MPI_{name}")
    callses = [
        Calls(operation=name, size_bytes=size, calls=count) for (name, size), count in calls.items() if count > 0
    ]
    return callses, list(dict.fromkeys(ignored))


def find_operation(name: str) -> str:
    """Return the operation of an MPI call, named without `MPI_`; empty if there is none.

    A nonblocking or persistent call counts as its operation: a profile does not show when it completes.
    """
    plain = name.lower().removesuffix("_init").removesuffix("_replace").removesuffix("_c")
    if plain in SENDS:
        return "pingpong"
    if plain in OTHER_END | COMPLETION or plain in MANAGING or plain.startswith(MANAGING_PREFIXES):
        return ""
    collective = plain.removeprefix("i")
    return collective if collective in NONBLOCKING else WITH_REQUEST.get(plain, plain)


NONBLOCKING = {
    *("allgather", "allgatherv", "allreduce", "alltoall", "alltoallv", "alltoallw", "barrier", "bcast", "exscan"),
    *("gather", "gatherv", "reduce", "reduce_scatter", "reduce_scatter_block", "scan", "scatter", "scatterv"),
    *("neighbor_allgather", "neighbor_allgatherv", "neighbor_alltoall", "neighbor_alltoallv", "neighbor_alltoallw"),
}
WITH_REQUEST = {f"r{name}": name for name in ("put", "get", "accumulate", "get_accumulate")}
"""One-sided calls that are completed by a request, and their operations."""
MANAGING = {"finalize", "initialized", "finalized", "abort", "wtime", "wtick", "pcontrol", "init", "init_thread"}
MANAGING_PREFIXES = (
    "comm_",
    "group_",
    "type_",
    "info_",
    "op_",
    "attr_",
    "cart",
    "dist_graph",
    "graph_",
    "intercomm_",
    "error",
    *(f"get_{what}" for what in ("address", "count", "elements", "hw_resource", "library", "processor", "version")),
    "request_",
    "file_",
)
"""Prefixes of calls that manage objects and are not communication of an application's inner loop."""
