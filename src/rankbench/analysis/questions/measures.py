"""What the values of a case are and how they are shown: a time, an amount per second computed from it, or memory.

Measured values are times in nanoseconds, or bytes. They are converted where they are shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rankbench.model import Case, Operation
from rankbench.quantities import format_count, format_memory, format_rate, format_time

NANOSECONDS = 1e9
MEGA = 1e6


@dataclass(frozen=True)
class Measure:
    """How the values of one case are reported."""

    kind: Literal["time", "bandwidth", "rate", "memory"]
    name: str
    """In a word or two: `latency`, `overall time`."""
    moved: float = 0.0
    """What is moved in the measured time, in the unit that is reported per second."""
    counted: str = "messages"
    """What a rate counts."""

    @property
    def heading(self) -> str:
        """Return the name with the unit, where values have one in common."""
        return {
            "rate": f"{self.name} in {self.counted}/s",
            "memory": "memory that the library holds per rank",
            "bandwidth": f"{self.name} in MB/s (1 MB = 10^6 B)",
            "time": self.name,
        }[self.kind]

    @property
    def of_samples(self) -> Measure:
        """Return how single samples are reported: as times, even where values are a rate."""
        return self if self.kind == "memory" else Measure("time", "time")

    @property
    def what(self) -> str:
        """Return what ratios are of: memory, or times for everything else."""
        return "memory" if self.kind == "memory" else "time"

    @property
    def per_second(self) -> bool:
        """Return whether values are inverse to times, so that more is better and an interval's ends change places."""
        return self.kind in {"bandwidth", "rate"}

    @property
    def unit(self) -> str:
        """Return the unit that values have in common and that their texts lack."""
        return {"bandwidth": "MB/s", "rate": f"{self.counted}/s"}.get(self.kind, "")

    def value(self, raw: float) -> float:
        """Return the value that is shown: MB/s, messages a second, else the measured value itself."""
        return NANOSECONDS * self.moved / raw if self.per_second and raw else raw

    def grow(self, before: Measure, factor: float, sizes: float) -> float:
        """Return by which factor the value that is shown grows from another case's, if the measured one does by this.

        `sizes` is the factor of the message size, by which bytes grow where it is not known what is moved.
        """
        if not self.per_second:
            return factor
        known = self.moved > 0 < before.moved
        return (self.moved / before.moved if known else sizes if self.kind == "bandwidth" else 1.0) / factor

    def text(self, raw: float) -> str:
        """Return the value as text; the unit of a bandwidth or a rate is in the heading."""
        formats = {"time": format_time, "bandwidth": format_rate, "rate": format_count, "memory": format_memory}
        return formats[self.kind](self.value(raw))

    def format(self, raw: float) -> str:
        """Return the value with its unit."""
        return self.text(raw) + {"bandwidth": " MB/s", "rate": "/s"}.get(self.kind, "")

    def interval(self, low: float, high: float) -> str:
        """Return an interval, the smaller value first."""
        first, last = (self.text(end) for end in ((high, low) if self.per_second else (low, high)))
        return f"{first} to {last}"


def choose_measure(case: Case, operation: Operation, moved_bytes: int = 0, moved_messages: int = 0) -> Measure:
    """Return the measure of a case of which one sample moves so much, over all ranks together.

    Where that is not known, as of imported campaigns, it is what the operation says of one call.
    """
    if case.quantity == "memory":
        return Measure("memory", "memory")
    if case.quantity == "overlap":
        return Measure("time", "overall time")
    if operation.metric == "bandwidth":
        return Measure("bandwidth", "bandwidth", (moved_bytes or operation.messages * case.size_bytes) / MEGA)
    if operation.metric == "rate":
        moved = moved_messages or operation.messages
        if operation.foreign and operation.foreign.meaning.trip == "round":
            return Measure("rate", "round-trip rate", moved, "round trips")
        return Measure("rate", "message rate", moved)
    return Measure("time", operation.metric)


def measure_per_node(case: Case, nodes: int, moved_bytes: int = 0, _moved_messages: int = 0) -> Measure | None:
    """Return the bandwidth of each of so many nodes, if a sample of the case is a time in which bytes are moved."""
    if case.quantity != "time" or not moved_bytes:
        return None
    return Measure("bandwidth", "bandwidth per node", moved_bytes / nodes / MEGA)
