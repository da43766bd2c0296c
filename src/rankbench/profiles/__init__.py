"""What an application calls: read from the text of a profiler, one file per tool, or from a person's own table.

Counts are those of one rank: a profile that sums over ranks is divided by their number. Of a message the sender's call
counts, and stands for the time that the message takes; the receive at its other end is the same time once more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rankbench import profiles, units
from rankbench.model import Calls, RankbenchError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

SENDS = {f"{progress}{mode}send" for progress in ("", "i") for mode in ("", "b", "s", "r")}
OTHER_END = {"recv", "irecv", "mrecv", "imrecv", "probe", "iprobe", "mprobe", "improbe"}
COMPLETION = {f"{verb}{how}" for verb in ("wait", "test") for how in ("", "all", "any", "some")} | {"start", "startall"}
MAX_DIGITS = 20
LARGEST = 1 << 62
MAX_BYTES = 1 << 24
"""Longest text that is taken for a profile."""


class Profile(NamedTuple):
    """What one rank of an application calls."""

    tool: str
    calls: list[Calls]
    ignored: list[str]
    """Calls that no operation stands for, each once, less those that complete others or are their other end."""
    notes: tuple[str, ...] = ()
    """What the reader of the figures must know of the profile."""


def read(path: Path) -> Profile:
    """Read a file whose tool is recognised by its content.

    Raises RankbenchError where it cannot be read, is no profile that is known, or holds no calls.
    """
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise RankbenchError(f"{path}: cannot be read ({error.strerror})") from None
    text = raw.decode("utf-8", errors="replace")
    known = units.modules(profiles)
    tool = next((module_type for module_type in known.values() if module_type.recognises(text)), None)
    if tool is None or len(raw) > MAX_BYTES:
        names = ", ".join(module_type.NAME for module_type in known.values())
        raise RankbenchError(f"{path}: no profile that is known (allowed: {names})")
    profile: Profile = tool.read(text, str(path))
    if not profile.calls:
        raise RankbenchError(f"{path}: {profile.tool} reports no call that moves data")
    return profile


def parse_count(text: str, where: str) -> int:
    """Return a number of calls or bytes. Raises RankbenchError, which begins with `where`, at one beyond 2^62."""
    if len(text) >= MAX_DIGITS or not (text.isascii() and text.isdigit()) or int(text) > LARGEST:
        shown = text if len(text) <= MAX_DIGITS else f"{text[:MAX_DIGITS]}..."
        raise RankbenchError(f"{where}: found {shown!r}, expected a whole number up to 2^62")
    return int(text)


def convert_counts(counts: Mapping[tuple[str, int], float], ranks: int) -> tuple[list[Calls], list[str]]:
    """Return calls, and what no operation stands for, from counts over all ranks by name without `MPI_` and bytes."""
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
    return callses, drop_duplicates(ignored)


def find_operation(name: str) -> str:
    """Return the operation that stands for an MPI call, named without `MPI_`; nothing where none does.

    A nonblocking or persistent call is counted as its operation: when it completes, a profile does not show.
    """
    plain = name.lower().removesuffix("_init").removesuffix("_replace").removesuffix("_c")
    if plain in SENDS:
        return "pingpong"
    if plain in OTHER_END | COMPLETION or plain in MANAGING or plain.startswith(MANAGING_PREFIXES):
        return ""
    collective = plain.removeprefix("i")
    return collective if collective in NONBLOCKING else plain


NONBLOCKING = {
    *("allgather", "allgatherv", "allreduce", "alltoall", "alltoallv", "alltoallw", "barrier", "bcast", "exscan"),
    *("gather", "gatherv", "reduce", "reduce_scatter", "reduce_scatter_block", "scan", "scatter", "scatterv"),
    *("neighbor_allgather", "neighbor_allgatherv", "neighbor_alltoall", "neighbor_alltoallv", "neighbor_alltoallw"),
}
MANAGING = {"finalize", "initialized", "finalized", "abort", "wtime", "wtick", "pcontrol", "init", "init_thread"}
MANAGING_PREFIXES = (
    "comm_",
    "group_",
    "type_",
    "info_",
    "op_",
    "attr_",
    "cart",
    "graph_",
    "error",
    "get_",
    "request_",
    "file_",
)
"""How names of calls begin that make or ask for something and are no communication of an application's inner loop."""


def drop_duplicates(names: Iterable[str]) -> list[str]:
    """Return names in their order, each once."""
    return list(dict.fromkeys(names))
