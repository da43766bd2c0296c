"""Every way to synchronise clocks, against clocks that differ by known amounts: never further off than it says.

The truth is computed here, from what the clocks were set to. How far off they are is measured by
`tools/measure-synchronisation`.
"""

from __future__ import annotations

import itertools
import time
from typing import TYPE_CHECKING

import pytest
from cluster.conftest import core
from cluster.nodes import Delay, cluster, preload
from cluster.study import METHODS, ROUNDING_NS, STAGES, Clock, Offset, clocks_apart, offsets

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from cluster.nodes import Lab
    from cluster.study import Core

__all__ = ["core"]

RUNS = 2
STUDY = ("--clock", "clock_gettime", "--sync", "all", "--runs", str(RUNS), "--wait", "0.05")
ONE_RUN = ("--clock", "clock_gettime", "--sync", "all", "--runs", "1", "--wait", "0.05")


@pytest.fixture(scope="module")
def single(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """One node, whose ranks talk by shared memory; time namespaces do not part them (`test_nodes.py`)."""
    with cluster(tmp_path_factory.mktemp("single") / "nodes", (0,), shared=[home]) as nodes:
        yield nodes


@pytest.fixture(scope="module")
def pair(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Two nodes, each with a clock of its own."""
    with cluster(tmp_path_factory.mktemp("pair") / "nodes", (3_000_000_001, 5), shared=[home]) as nodes:
        yield nodes


def check(offsets_seen: Sequence[Offset], clocks: Sequence[Clock], runs: int = RUNS) -> None:
    """Each method shows each rank's offset at each stage of each run, within its bound."""
    keys = [(offset.synchronisation, offset.run, offset.rank, offset.stage) for offset in offsets_seen]
    assert sorted(keys) == sorted(itertools.product(METHODS, range(runs), range(len(clocks)), STAGES))
    for offset in offsets_seen:
        assert abs(offset.off_ns(clocks)) <= offset.bound_ns + ROUNDING_NS, offset
    assert {offset.offset_ns for offset in offsets_seen if offset.rank == 0} == {0}


def check_truth(offsets_seen: Sequence[Offset], clocks: Sequence[Clock]) -> None:
    """Where clocks differ by their namespaces alone, the core itself knows the truth."""
    assert {(offset.rank, offset.truth_ns) for offset in offsets_seen} == {
        (rank, clock.ahead_ns - clocks[0].ahead_ns) for rank, clock in enumerate(clocks)
    }


# --- how the ranks talk -----------------------------------------------------------------------------------------------


def test_by_shared_memory(core: Core, single: Lab) -> None:
    clocks = clocks_apart(2)
    offsets_seen = offsets(single, core, clocks, STUDY)
    check(offsets_seen, clocks)
    check_truth(offsets_seen, clocks)


def test_by_tcp(core: Core, pair: Lab) -> None:
    """The clocks are the nodes'."""
    clocks = [Clock(offset_ns) for offset_ns in pair.offsets_ns]
    offsets_seen = offsets(pair, core, clocks, STUDY, of_nodes=True)
    check(offsets_seen, clocks)
    check_truth(offsets_seen, clocks)
    assert min(offset.bound_ns for offset in offsets_seen if offset.rank) > 0


@pytest.mark.parametrize("core", ["mpich"], indirect=True)
@pytest.mark.parametrize("ranks", [3, 4])
def test_by_tcp_between_several_nodes(core: Core, home: Path, tmp_path: Path, ranks: int) -> None:
    clocks = clocks_apart(ranks)
    with cluster(tmp_path / "nodes", (0,) * ranks, shared=[home]) as nodes:
        check(offsets(nodes, core, clocks, STUDY), clocks)


@pytest.mark.parametrize("core", ["mpich"], indirect=True)
@pytest.mark.parametrize(
    ("ranks", "delay"),
    [(2, Delay(200_000, 200_000)), (2, Delay(700_000, 100_000)), (4, Delay(100_000, 700_000))],
    ids=str,
)
def test_by_links_that_take_their_time(core: Core, home: Path, tmp_path: Path, ranks: int, delay: Delay) -> None:
    """What no exchange can see is in the bound: half of the two ways together, at least."""
    clocks = clocks_apart(ranks)
    with cluster(tmp_path / "nodes", (0,) * ranks, delay=delay, shared=[home]) as nodes:
        offsets_seen = offsets(nodes, core, clocks, ONE_RUN)
    check(offsets_seen, clocks, runs=1)
    assert min(offset.bound_ns for offset in offsets_seen if offset.rank) >= sum(delay) / 2


# --- which clocks -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("core", ["mpich"], indirect=True)
def test_ranks_that_share_a_clock_share_its_offset(core: Core, pair: Lab) -> None:
    """Two ranks on each node: what reads rank 0's clock is exact."""
    clocks = [Clock(offset_ns) for offset_ns in pair.offsets_ns for _ in range(2)]
    offsets_seen = offsets(pair, core, clocks, STUDY, of_nodes=True)
    check(offsets_seen, clocks)
    assert {(offset.offset_ns, offset.bound_ns) for offset in offsets_seen if offset.rank == 1} == {(0, 0)}
    assert min(offset.bound_ns for offset in offsets_seen if offset.rank > 1) > 0


@pytest.mark.parametrize("core", ["openmpi"], indirect=True)
def test_every_source(core: Core, single: Lab) -> None:
    """Time namespaces shift CLOCK_MONOTONIC alone. Ranks that share a clock are compared where that is asked."""
    shifted = clocks_apart(2)
    arguments = ("--clock", "all", "--sync", "all", "--runs", "1", "--wait", "0.05", "--separate-clocks")
    offsets_seen = offsets(single, core, shifted, arguments)
    for source in {offset.source for offset in offsets_seen} - {"MPI_Wtime"}:
        clocks = shifted if source == "clock_gettime" else [Clock(), Clock()]
        of_source = [offset for offset in offsets_seen if offset.source == source]
        check(of_source, clocks, runs=1)
        check_truth(of_source, clocks)
        assert min(offset.bound_ns for offset in of_source if offset.rank) > 0
    assert {offset.truth_ns for offset in offsets_seen if offset.source == "MPI_Wtime"} == {None}
    assert {offset.source for offset in offsets_seen} >= {"clock_gettime", "gettimeofday", "MPI_Wtime"}


# --- drift ------------------------------------------------------------------------------------------------------------

PPM = (0, 80, -55)


def drifting() -> list[Clock]:
    """Return clocks that reported the same some seconds before now and have parted since."""
    origin_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW) - 5_000_000_000
    return [Clock(ahead_ns=0, ppm=ppm, origin_ns=origin_ns) for ppm in PPM]


@pytest.mark.parametrize("core", ["mpich"], indirect=True)
@pytest.mark.parametrize("nodes", ["single", "several"])
def test_clocks_that_drift(core: Core, home: Path, tmp_path: Path, nodes: str) -> None:
    """Offsets right after, extrapolated and interpolated are right; the drift is where it is said to be, and not 0.

    In two seconds the slower of them goes 110 us astray, which is more than what exchanges are unsure of.
    """
    clocks = drifting()
    study = ("--clock", "clock_gettime", "--sync", "all", "--runs", "1", "--wait", "2")
    offsets_ns = (0,) if nodes == "single" else (0,) * len(clocks)
    with cluster(tmp_path / "nodes", offsets_ns, shared=[home]) as up:
        offsets_seen = offsets(up, core, clocks, study, preload=preload("drift", up.folder))
    check(offsets_seen, clocks, runs=1)
    for offset in offsets_seen:
        ppm = clocks[offset.rank].ppm
        assert abs(offset.drift_ppm - ppm) <= offset.drift_bound_ppm, offset
    for rank in range(1, len(clocks)):
        surest = min(
            (offset for offset in offsets_seen if offset.rank == rank), key=lambda offset: offset.drift_bound_ppm
        )
        assert abs(surest.drift_ppm) > surest.drift_bound_ppm
