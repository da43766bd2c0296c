"""Communication and memory of the core with more ranks: real ranks, and ranks simulated by SimGrid."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from rankbench import build, launch, libraries
from rankbench.model import Library, Placement, Step

PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="cluster" prefix="n" suffix="" radical="0-1023" speed="1Gf" bw="1.25GBps" lat="1us"/>
</platform>
"""
SIMULATION = ("--cfg=smpi/simulate-computation:no", "--cfg=smpi/wtime:1e-6", "--log=root.thresh:error")
"""Only messages take time, and each reading of a clock takes a microsecond: simulated ranks wait by reading a clock."""


class Cost(NamedTuple):
    """Messages and bytes sent and received by one rank: by rank 0, and by the rank with most of them."""

    rank_0_messages: int
    most_messages: int
    rank_0_bytes: int
    most_bytes: int


def read_records(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the records of a stream."""
    return map(json.loads, path.read_text().splitlines())


def read_cost(record: dict[str, Any]) -> Cost:
    """Return the cost in a record."""
    return Cost(*(record[name] for name in Cost._fields))


def build_simulator(home: Path) -> build.Build:
    """Return the unchanged core, built for SimGrid's MPI."""
    library = Library(
        name="simgrid",
        family="unknown",
        version="",
        source="path",
        prefix="/usr",
        wrapper="/usr/bin/smpicc",
        launcher="",
    )
    return build.build(library, home)


def simulate(core: build.Build, folder: Path, ranks: int, *arguments: str) -> Path:
    """Run the core on simulated ranks, whose clocks are the simulation's, and return its stream."""
    platform, stream = folder / "platform.xml", folder / f"stream-{ranks}"
    platform.write_text(PLATFORM)
    simulated = ["smpirun", "-np", str(ranks), "-platform", str(platform), *SIMULATION, str(core.binary)]
    options = ["--clock", "clock_gettime", "--quiet", "--stream", str(stream), *arguments]
    process = subprocess.run([*simulated, *options], capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stdout + process.stderr
    return stream


def launch_real(library: Library, home: Path, folder: Path, ranks: int, *arguments: str) -> Path:
    """Launch the core and return its stream."""
    placement = Placement(name="here", nodes=1, ranks_per_node=ranks, binding="none")
    stream = folder / f"stream-{ranks}"
    program = [str(build.build(library, home).binary), "--quiet", "--stream", str(stream), *arguments]
    line = libraries.find_family(library).make_launch_line(library, placement, {}, program)
    outcome = launch.run(Step(command=line, output=folder / "output", watch=stream, limit_s=300))
    assert outcome.exit_code == 0, (folder / "output").read_text()
    return stream


STUDY = ("--clocks", "--separate-clocks", "--runs", "1", "--wait", "0.01", "--sync")


def read_synchronisation_cost(stream: Path) -> Cost:
    """Return the cost of one synchronisation."""
    return next(read_cost(record) for record in read_records(stream) if record["record"] == "synchronisation")


def read_memory_bytes(stream: Path) -> tuple[int, int]:
    """Return the memory of rank 0's process, and the largest of any rank."""
    end = next(record for record in read_records(stream) if record["record"] == "end")
    return end["rank_0_memory_bytes"], end["most_memory_bytes"]


def measure_collection(core: build.Build, folder: Path, ranks: int) -> tuple[float, float]:
    """Return messages per stage of 128 samples, and bytes per sample, that rank 0 sends and receives to collect
    samples.

    Two runs differ only in their number of samples, since simulated time has no noise.
    """
    few, many = 128, 256
    ends = []
    for samples in (few, many):
        options = ("--op", "wait-null", "--start", "none", "--samples", str(samples), "--limit", "1000")
        ends.append(
            next(
                read_cost(record)
                for record in read_records(simulate(core, folder, ranks, *options))
                if record["record"] == "end"
            )
        )
    less, more = ends
    stages = (many - few) / 128
    return (
        (more.rank_0_messages - less.rank_0_messages) / stages,
        (more.rank_0_bytes - less.rank_0_bytes) / (many - few),
    )
