"""Rings between nodes: the cost of a hop follows the links, and every ring passes through the right nodes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from cluster.conftest import core
from cluster.nodes import Delay, Lab, run_launch, start_nodes
from cluster.study import Core

__all__ = ["core"]

DELAYS_NS = (1_000_000, 6_000_000)
"""Processors sleep meanwhile; the 0.2 ms that some of them take to wake up are small compared with the difference."""
LAUNCHES = 3
YIELD_SETTINGS = {"openmpi": ["OMPI_MCA_mpi_yield_when_idle=1"], "intel-mpi": ["I_MPI_WAIT_MODE=1"], "mpich": []}
"""Lets ranks yield to each other, since the nodes share two CPUs."""


def measure_rounds(nodes: Lab, core: Core, ranks: int, *arguments: str) -> list[dict[str, Any]]:
    """Launch rings and return the cases' records."""
    stream = nodes.folder / "stream"
    program = [
        *YIELD_SETTINGS[core.library.family],
        str(core.binary),
        "--op",
        "ring",
        "--quiet",
        "--stream",
        str(stream),
    ]
    process = run_launch(nodes, core.library, ranks, ["env", *program, *arguments])
    assert process.exit_code == 0, process.printed
    records = [msgspec.json.decode(line) for line in stream.read_bytes().splitlines()]
    return [record for record in records if record["record"] == "case"]


@pytest.mark.parametrize("ranks", [2, 4])
def test_a_longer_delay_of_a_link_adds_to_every_hop(core: Core, home: Path, tmp_path: Path, ranks: int) -> None:
    """A ring of all nodes; 5 ms more on each link are 5 ms more per hop, within 5%.

    The shortest round of some launches counts: other work of the machine only adds time.
    """
    costs = []
    arguments = ["--sizes", "4", "--samples", "30", "--limit", "30", "--with", f"grid={ranks}"]
    for delay_ns in DELAYS_NS:
        with start_nodes(
            tmp_path / str(delay_ns), (0,) * ranks, delay=Delay(delay_ns, delay_ns), shared=[home]
        ) as nodes:
            records = [record for _ in range(LAUNCHES) for record in measure_rounds(nodes, core, ranks, *arguments)]
        for record in records:
            assert (record["status"], record["hops"], record["grid"]) == ("ok", ranks, [ranks])
            over_rings, ring = record["series"]
            assert (ring["rank"], ring["time_ns"]) == (0, over_rings["time_ns"])
        costs.append(min(min(record["series"][0]["time_ns"]) for record in records) / ranks)
    before_ns, after_ns = costs
    print(f"{ranks} nodes, links of 1 ms: {before_ns / 1e6:.3f} ms a hop")
    print(f"{ranks} nodes, links of 6 ms: {after_ns / 1e6:.3f} ms a hop, {(after_ns - before_ns) / 1e6:.3f} ms more")
    assert after_ns - before_ns == pytest.approx(DELAYS_NS[1] - DELAYS_NS[0], rel=0.05)


def test_rings_of_one_direction_are_within_nodes_and_those_of_the_other_between_nodes(
    core: Core, home: Path, tmp_path: Path
) -> None:
    """Two nodes, two ranks on each, as a 2x2 grid: each row is a node, so that direction right stays within one.

    Rounds within a node take microseconds, or as long as ranks wait for a CPU: shorter than the links at least once.
    """
    delay_ns = 10_000_000
    with start_nodes(tmp_path / "nodes", (0, 0), delay=Delay(delay_ns, delay_ns), shared=[home]) as nodes:
        by_direction = {}
        for direction in ("right", "left", "down", "up"):
            arguments = ["--sizes", "4", "--samples", "20", "--limit", "30", "--with", f"direction={direction}"]
            (record,) = measure_rounds(nodes, core, 4, *arguments)
            assert (record["status"], record["grid"], record["hops"]) == ("ok", [2, 2], 2)
            by_direction[direction] = {series["rank"]: min(series["time_ns"]) / 2 for series in record["series"][1:]}
    for direction, rings in by_direction.items():
        print(
            f"{direction}: {', '.join(f'ring of rank {rank} {hop_ns / 1000:.1f} us' for rank, hop_ns in rings.items())}"
        )
    assert {direction: set(rings) for direction, rings in by_direction.items()} == {
        "right": {0, 2},
        "left": {0, 2},
        "down": {0, 1},
        "up": {0, 1},
    }
    assert min(*by_direction["down"].values(), *by_direction["up"].values()) > delay_ns
    assert max(*by_direction["right"].values(), *by_direction["left"].values()) < delay_ns
