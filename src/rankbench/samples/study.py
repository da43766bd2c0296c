"""The core's study of the clocks, as `rankbench-core --clocks` streams it, read back whole or broken off.

Its lines are the records; `core/study/study.c` writes them.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from rankbench import samples
from rankbench.model import Stream
from rankbench.samples import records

ROUNDING_NS = 1.0


class Clock(records.Line, frozen=True, kw_only=True, tag="clock"):
    """One time source as one rank sees it."""

    source: str
    rank: int
    usable: bool
    reason: str
    """Why it is not usable, or what it rests on."""
    resolution_ns: float
    cost_ns: float
    """Time that one reading takes."""


class Offset(records.Line, frozen=True, kw_only=True, tag="offset"):
    """A rank's clock less rank 0's, as a synchronisation found it."""

    source: str
    synchronisation: str
    run: int
    rank: int
    stage: str
    """`fresh`: right after the synchronisation; `aged`: after a wait; `between`: between two synchronisations."""
    offset_ns: float
    bound_ns: float
    """How far the true offset may lie from it, at most."""
    likely_ns: float
    """How far it likely lies from it: no farther in 19 of 20 cases."""
    drift_ppm: float
    truth_ns: float | None
    """The true offset, where one kernel shows it."""

    @property
    def error_ns(self) -> float | None:
        """Return how far the offset is from the truth, where that is known."""
        return None if self.truth_ns is None else abs(self.offset_ns - self.truth_ns)

    @property
    def excess_ns(self) -> float:
        """Return how far the truth lies outside the bound; 0 where it lies within, or is not known.

        Readings are whole nanoseconds, so that one of them is no error.
        """
        excess = (self.error_ns or 0.0) - self.bound_ns
        return excess if excess > ROUNDING_NS else 0.0


class Synchronisation(records.Line, frozen=True, kw_only=True, tag="synchronisation"):
    """What one synchronisation took."""

    source: str
    synchronisation: str
    run: int
    duration_ns: float
    rank_0_messages: int
    most_messages: int
    """Of the busiest rank."""
    rank_0_bytes: int
    most_bytes: int


class Study(msgspec.Struct, frozen=True, kw_only=True):
    """All that a study found. `stream` shows about the launch and has no cases."""

    stream: Stream
    clocks: list[Clock]
    offsets: list[Offset]
    synchronisations: list[Synchronisation]


_decoder: msgspec.json.Decoder[records.Line] = msgspec.json.Decoder(records.Head | Clock | Offset | Synchronisation)


def read(path: Path) -> Study:
    """Read a study. It ends at a line that is no record of one, which its stream's `damage` names."""
    lines, damage = samples.decode(path, _decoder)
    return Study(
        stream=samples.stream(path, lines, damage, []),
        clocks=[line for line in lines if isinstance(line, Clock)],
        offsets=[line for line in lines if isinstance(line, Offset)],
        synchronisations=[line for line in lines if isinstance(line, Synchronisation)],
    )
