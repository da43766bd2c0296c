"""The core's study of the clocks on emulated nodes, and the true clocks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from cluster.nodes import Lab, run_launch
from rankbench.model import Library

ROUNDING_NS = 1
"""Offsets and bounds are whole nanoseconds in part of the core's arithmetic."""
METHODS = ("linear", "ring", "tree")
STAGES = ("fresh", "aged", "between")


class Core(NamedTuple):
    """The core built for one library."""

    library: Library
    binary: Path


class Clock(NamedTuple):
    """A rank's clock as a function of the machine's clock."""

    ahead_ns: int = 0
    """By its time namespace."""
    ppm: float = 0
    """Its drift, by `tests/fakes/drift.c`, from the moment when it reads `origin_ns`."""
    origin_ns: int = 0

    def find_reading_ns(self, machine_ns: float) -> float:
        """Return the reading at a time of the machine."""
        monotonic_ns = machine_ns + self.ahead_ns
        return monotonic_ns + (monotonic_ns - self.origin_ns) * self.ppm / 1e6

    def find_machine_ns(self, reading_ns: float) -> float:
        """Return the time of the machine at a reading."""
        return self.origin_ns + (reading_ns - self.origin_ns) / (1 + self.ppm / 1e6) - self.ahead_ns


class Offset(msgspec.Struct, frozen=True):
    """A rank's clock minus rank 0's, as estimated by a synchronisation for the moment when the rank's clock reads
    `at_ns`.
    """

    source: str
    synchronisation: str
    run: int
    rank: int
    stage: str
    at_ns: int
    offset_ns: float
    bound_ns: float
    likely_ns: float
    drift_ppm: float
    drift_bound_ppm: float
    truth_ns: float | None

    def compute_error_ns(self, clocks: Sequence[Clock]) -> float:
        """Return the error of the offset."""
        moment_ns = clocks[self.rank].find_machine_ns(self.at_ns)
        return self.offset_ns - (self.at_ns - clocks[0].find_reading_ns(moment_ns))

    def is_as_likely(self, clocks: Sequence[Clock]) -> bool:
        """Return whether the error is within the likely error."""
        return abs(self.compute_error_ns(clocks)) <= self.likely_ns + ROUNDING_NS


def make_clocks(count: int) -> tuple[Clock, ...]:
    """Return clocks that all differ; they are seconds apart, and not in the order of ranks."""
    return tuple(Clock(1_000_000_007 * ((5 * number + 3) % count) + 12_345 * number) for number in range(count))


def run_study(
    nodes: Lab,
    core: Core,
    clocks: Sequence[Clock],
    options: Sequence[str],
    *,
    of_nodes: bool = False,
    preload: Path | None = None,
) -> list[Offset]:
    """Run a study with a clock for each rank, or for each node with `of_nodes`, and return its offsets.

    `preload` is the library that makes clocks drift.
    """
    stream = nodes.folder / "stream"
    program = [str(core.binary), "--clocks", "--quiet", "--stream", str(stream), *options]
    if preload:
        ppm = ",".join(str(clock.ppm) for clock in clocks)
        drift = [f"LD_PRELOAD={preload}", f"DRIFT_PPM={ppm}", f"DRIFT_ORIGIN_NS={clocks[0].origin_ns}"]
        program = ["env", *drift, *program]
    ahead_ns = () if of_nodes else [clock.ahead_ns for clock in clocks]
    process = run_launch(nodes, core.library, len(clocks), program, clocks_ns=ahead_ns)
    assert process.exit_code == 0, process.printed
    lines = stream.read_bytes().splitlines()
    assert lines[-1].startswith(b'{"record":"end"')
    return [msgspec.json.decode(line, type=Offset) for line in lines if line.startswith(b'{"record":"offset"')]
