"""Reads the files in which the recorder's ranks leave what they called.

The layout is that of `recorder/recorder.h`.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankbench.model import RankbenchError

LAYOUT = 3
MAGIC = b"RBCALLS\0"
HEADER = struct.Struct("=8s6I2Q2qd6Q3q4IQ1024s256s256s")
HEADER_BYTES = 4096
KINDS = 4096
BINS_PER_OCTAVE = 8
BINS = 40 * BINS_PER_OCTAVE
FEATURES = ["bytes", "call", "started", "content", "ranks", "root"]
KIND = np.dtype(
    [
        ("name", "S32"),
        ("bytes", "u8"),
        *((name, "i4") for name in (*FEATURES[1:], "unused")),
        *(
            (name, "u8")
            for name in ("calls", "ticks", "shortest", "longest", "completed", "pending", "waited", "between")
        ),
        ("other_partners", "u8"),
        ("partners", [("distance", "i4"), ("unused", "i4"), ("calls", "u8")], 8),
        ("bins", "u4", BINS),
    ]
)
ARRIVAL = np.dtype([("communicator", "u8"), ("sequence", "u4"), ("kind", "u4"), ("begin", "u8"), ("end", "u8")])
MESSAGE = np.dtype(
    [("channel", "u8"), ("sequence", "u4"), ("kind", "u4"), *((name, "u8") for name in ("posted", "begin", "end"))]
)
ARRIVALS = 131072
ROOT = SENT = np.uint32(1 << 31)
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
    (_, layout, kinds, rank, ranks, _, level, first, last, first_ns, last_ns, rate, arrivals, *rest) = HEADER.unpack(
        content[: HEADER.size]
    )
    *dropped, messages, lost_messages, first_offset, last_offset, bound = rest[:8]
    finalised, _, message_level, _, _, library, version, host = rest[8:]
    if layout != LAYOUT:
        raise RankbenchError(f"{path}: layout {layout} of a rank's record, expected {LAYOUT}")
    if last_ns > first_ns:
        rate = (last - first) / (last_ns - first_ns)
    table = np.frombuffer(content, KIND, kinds, HEADER_BYTES)
    behind = HEADER_BYTES + KINDS * KIND.itemsize
    events = np.frombuffer(content, ARRIVAL, arrivals, behind)
    ends = np.frombuffer(content, MESSAGE, messages, behind + ARRIVALS * ARRIVAL.itemsize)
    shift = (last_offset - first_offset) if finalised else 0
    span = max(1.0, (last - first) / rate)

    def convert(ticks: NDArray[np.uint64]) -> NDArray[np.float64]:
        since = np.asarray((ticks - np.uint64(first)).astype(np.int64), dtype=np.float64) / rate
        return np.where(ticks == 0, np.nan, since * (1 + shift / span))

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
        lost_messages=lost_messages,
        message_level=message_level,
        kinds=table,
        arrivals=events,
        begin_ns=convert(events["begin"]),
        end_ns=convert(events["end"]),
        messages=ends,
        moments_ns=np.stack([convert(ends[name]) for name in ("posted", "begin", "end")]),
        origin_ns=first_ns + first_offset,
    )


def read_text(field: bytes) -> str:
    """Return the text of a field that ends at its first zero."""
    return field.partition(b"\0")[0].decode("utf-8", "replace")
