"""Reads the files in which the recorder's ranks leave what they called.

The layout is that of `recorder/recorder.h`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankbench.model import RankbenchError

LAYOUT = 5
MAGIC = b"RBCALLS\0"
HEADER = np.dtype(
    [
        ("magic", "S8"),
        *((name, "u4") for name in ("layout", "kinds", "level", "message_level")),
        *((name, "u8") for name in ("outside", "last_ticks", "arrivals", "messages", "lost_messages", "first_ticks")),
        *((name, "i8") for name in ("first_ns", "last_ns")),
        ("ticks_per_ns", "f8"),
        *((name, "u8") for name in ("merged_kinds", "lost_requests", "lost_communicators")),
        *((name, "i8") for name in ("first_offset_ns", "last_offset_ns", "offset_bound_ns")),
        *((name, "u4") for name in ("rank", "ranks", "pid", "finalised", "threads", "unused")),
        ("ended_ticks", "u8"),
        ("later_ticks", "u8"),
        ("later_ns", "i8"),
        *(("library", "S1024"), ("version", "S256"), ("host", "S256")),
    ]
)
HEADER_BYTES = 4096
KINDS = 4096
BINS_PER_OCTAVE = 8
BINS = 40 * BINS_PER_OCTAVE
FEATURES = ["bytes", "call", "started", "content", "ranks", "root"]
KIND = np.dtype(
    [
        *(
            (name, "u8")
            for name in ("calls", "ticks", "shortest", "longest", "between", "completed", "pending", "waited")
        ),
        ("partners", [("distance", "i4"), ("unused", "i4"), ("calls", "u8")], 8),
        ("bins", "u4", BINS),
        ("bytes", "u8"),
        *((name, "i4") for name in (*FEATURES[1:], "unused")),
        ("other_partners", "u8"),
        ("name", "S32"),
        ("padding", "V56"),
    ]
)
ARRIVAL = np.dtype(
    [
        *(("communicator", "u8"), ("sequence", "u4"), ("kind", "u4")),
        *((name, "u8") for name in ("begin", "end", "outside")),
    ]
)
MOMENTS = ("posted", "begin", "end")
MESSAGE = np.dtype(
    [
        *(("channel", "u8"), ("sequence", "u4"), ("kind", "u4")),
        *((name, "u8") for name in (*MOMENTS, "outside_posted", "outside_ended")),
    ]
)
ARRIVALS = 131072
SEVERAL = 2
ROOT = SENT = np.uint32(1 << 31)
NS_PER_S = 1e9


class RankFile(NamedTuple):
    """What one rank left."""

    rank: int
    ranks: int
    seconds: float
    ticks_per_ns: float
    finalised: bool
    several_threads: bool
    """Whether more than one called."""
    thread_multiple: bool
    """Whether several could, as the library provides."""
    host: str
    library: str
    version: str
    bound_ns: float
    level: int
    """Of all collectives one in two to this power is among the arrivals."""
    dropped: tuple[int, int, int]
    lost_messages: int
    message_level: int
    """The same of messages."""
    kinds: NDArray[Any]
    arrivals: NDArray[Any]
    begin_ns: NDArray[np.float64]
    """Of each arrival, on the clock of rank 0, relative to `origin_ns`."""
    end_ns: NDArray[np.float64]
    messages: NDArray[Any]
    moments_ns: NDArray[np.float64]
    """Of each message: when its end was posted, and begin and end of the call that completed it; NaN: not known."""
    origin_ns: int


def read_rank(path: Path) -> RankFile:
    """Return what a rank left. Raises RankbenchError if the file is none of this layout."""
    content = path.read_bytes()
    if len(content) < HEADER_BYTES + KINDS * KIND.itemsize or content[:8] != MAGIC:
        raise RankbenchError(f"{path}: not a rank's record of calls")
    fields = dict(zip(HEADER.names or (), np.frombuffer(content, HEADER, 1)[0].item(), strict=True))
    if fields["layout"] != LAYOUT:
        raise RankbenchError(f"{path}: layout {fields['layout']} of a rank's record, expected {LAYOUT}")
    first, last, rate = fields["first_ticks"], fields["last_ticks"], fields["ticks_per_ns"]
    pairs = (last, fields["last_ns"]), (fields["later_ticks"], fields["later_ns"])
    if known := [(ticks, moment) for ticks, moment in pairs if moment > fields["first_ns"]]:
        rate = (known[0][0] - first) / (known[0][1] - fields["first_ns"])
    behind = HEADER_BYTES + KINDS * KIND.itemsize
    events = np.frombuffer(content, ARRIVAL, fields["arrivals"], behind)
    ends = np.frombuffer(content, MESSAGE, fields["messages"], behind + ARRIVALS * ARRIVAL.itemsize)
    shift = (fields["last_offset_ns"] - fields["first_offset_ns"]) if fields["finalised"] else 0
    span = max(1.0, (last - first) / rate)

    def convert(ticks: NDArray[np.uint64]) -> NDArray[np.float64]:
        since = np.asarray((ticks - np.uint64(first)).astype(np.int64), dtype=np.float64) / rate
        return np.where(ticks == 0, np.nan, since * (1 + shift / span))

    return RankFile(
        rank=fields["rank"],
        ranks=fields["ranks"],
        seconds=max(0, last - first) / rate / NS_PER_S,
        ticks_per_ns=rate,
        finalised=bool(fields["finalised"]),
        several_threads=fields["threads"] >= SEVERAL,
        thread_multiple=fields["threads"] > 0,
        host=read_text(fields["host"]),
        library=read_text(fields["library"]),
        version=read_text(fields["version"]),
        bound_ns=float(fields["offset_bound_ns"]),
        level=fields["level"],
        dropped=(fields["merged_kinds"], fields["lost_requests"], fields["lost_communicators"]),
        lost_messages=fields["lost_messages"],
        message_level=fields["message_level"],
        kinds=np.frombuffer(content, KIND, fields["kinds"], HEADER_BYTES),
        arrivals=events,
        begin_ns=convert(events["begin"]),
        end_ns=convert(events["end"]),
        messages=ends,
        moments_ns=np.stack([convert(ends[name]) for name in MOMENTS]),
        origin_ns=fields["first_ns"] + fields["first_offset_ns"],
    )


def read_text(field: bytes) -> str:
    """Return the text of a field that ends at its first zero."""
    return field.partition(b"\0")[0].decode("utf-8", "replace")
