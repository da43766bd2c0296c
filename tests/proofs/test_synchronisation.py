"""Every synchronisation, on clocks that differ by known amounts: errors never exceed their bounds.

The truth is computed here, from the set clocks. The size of errors is measured by `tools/measure-synchronisation`.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from cluster.conftest import core
from cluster.nodes import Delay, Lab, compile_preload, start_nodes
from cluster.study import METHODS, ROUNDING_NS, STAGES, Clock, Core, Offset, make_clocks, run_study

__all__ = ["core"]

RUNS = 2
STUDY = ("--clock", "clock_gettime", "--sync", "all", "--runs", str(RUNS), "--wait", "0.05")
ONE_RUN = ("--clock", "clock_gettime", "--sync", "all", "--runs", "1", "--wait", "0.05")


@pytest.fixture(scope="module")
def single(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """One node, whose ranks use shared memory; time namespaces do not prevent this (`test_nodes.py`)."""
    with start_nodes(tmp_path_factory.mktemp("single") / "nodes", (0,), shared=[home]) as nodes:
        yield nodes


@pytest.fixture(scope="module")
def pair(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Two nodes, each with its own clock."""
    with start_nodes(tmp_path_factory.mktemp("pair") / "nodes", (3_000_000_001, 5), shared=[home]) as nodes:
        yield nodes


def check_offsets(offsets_seen: Sequence[Offset], clocks: Sequence[Clock], runs: int = RUNS) -> None:
    """Check that each method has each rank's offset at each stage of each run, within its bound."""
    keys = [(offset.synchronisation, offset.run, offset.rank, offset.stage) for offset in offsets_seen]
    assert sorted(keys) == sorted(itertools.product(METHODS, range(runs), range(len(clocks)), STAGES))
    for offset in offsets_seen:
        assert abs(offset.compute_error_ns(clocks)) <= offset.bound_ns + ROUNDING_NS, offset
    assert {offset.offset_ns for offset in offsets_seen if offset.rank == 0} == {0}


def check_truth(offsets_seen: Sequence[Offset], clocks: Sequence[Clock]) -> None:
    """Check the core's truth: it is known if clocks differ by their namespaces alone."""
    assert {(offset.rank, offset.truth_ns) for offset in offsets_seen} == {
        (rank, clock.ahead_ns - clocks[0].ahead_ns) for rank, clock in enumerate(clocks)
    }


# --- networks ---------------------------------------------------------------------------------------------------------


def test_offsets_by_shared_memory_are_within_bounds(core: Core, single: Lab) -> None:
    clocks = make_clocks(2)
    offsets_seen = run_study(single, core, clocks, STUDY)
    check_offsets(offsets_seen, clocks)
    check_truth(offsets_seen, clocks)


def test_offsets_by_tcp_are_within_bounds(core: Core, pair: Lab) -> None:
    """The clocks are those of the nodes."""
    clocks = [Clock(offset_ns) for offset_ns in pair.offsets_ns]
    offsets_seen = run_study(pair, core, clocks, STUDY, of_nodes=True)
    check_offsets(offsets_seen, clocks)
    check_truth(offsets_seen, clocks)
    assert min(offset.bound_ns for offset in offsets_seen if offset.rank) > 0


@pytest.mark.parametrize("core", ["mpich"], indirect=True)
@pytest.mark.parametrize("ranks", [3, 4])
def test_offsets_by_tcp_between_several_nodes_are_within_bounds(
    core: Core, home: Path, tmp_path: Path, ranks: int
) -> None:
    clocks = make_clocks(ranks)
    with start_nodes(tmp_path / "nodes", (0,) * ranks, shared=[home]) as nodes:
        check_offsets(run_study(nodes, core, clocks, STUDY), clocks)


@pytest.mark.parametrize("core", ["mpich"], indirect=True)
@pytest.mark.parametrize(
    ("ranks", "delay"),
    [(2, Delay(200_000, 200_000)), (2, Delay(700_000, 100_000)), (4, Delay(100_000, 700_000))],
    ids=str,
)
def test_offsets_over_slow_links_are_within_bounds(
    core: Core, home: Path, tmp_path: Path, ranks: int, delay: Delay
) -> None:
    """The unobservable part is in the bound: at least half of both ways together."""
    clocks = make_clocks(ranks)
    with start_nodes(tmp_path / "nodes", (0,) * ranks, delay=delay, shared=[home]) as nodes:
        offsets_seen = run_study(nodes, core, clocks, ONE_RUN)
    check_offsets(offsets_seen, clocks, runs=1)
    assert min(offset.bound_ns for offset in offsets_seen if offset.rank) >= sum(delay) / 2


# --- clocks -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("core", ["mpich"], indirect=True)
def test_ranks_that_share_a_clock_share_its_offset(core: Core, pair: Lab) -> None:
    """Two ranks on each node: an offset between ranks with rank 0's clock is exact."""
    clocks = [Clock(offset_ns) for offset_ns in pair.offsets_ns for _ in range(2)]
    offsets_seen = run_study(pair, core, clocks, STUDY, of_nodes=True)
    check_offsets(offsets_seen, clocks)
    assert {(offset.offset_ns, offset.bound_ns) for offset in offsets_seen if offset.rank == 1} == {(0, 0)}
    assert min(offset.bound_ns for offset in offsets_seen if offset.rank > 1) > 0


@pytest.mark.parametrize("core", ["openmpi"], indirect=True)
def test_offsets_of_every_source_are_within_bounds(core: Core, single: Lab) -> None:
    """Time namespaces shift only CLOCK_MONOTONIC. Ranks that share a clock are compared on request."""
    shifted = make_clocks(2)
    arguments = ("--clock", "all", "--sync", "all", "--runs", "1", "--wait", "0.05", "--separate-clocks")
    offsets_seen = run_study(single, core, shifted, arguments)
    for source in {offset.source for offset in offsets_seen} - {"MPI_Wtime"}:
        clocks = shifted if source == "clock_gettime" else [Clock(), Clock()]
        of_source = [offset for offset in offsets_seen if offset.source == source]
        check_offsets(of_source, clocks, runs=1)
        check_truth(of_source, clocks)
        assert min(offset.bound_ns for offset in of_source if offset.rank) > 0
    assert {offset.truth_ns for offset in offsets_seen if offset.source == "MPI_Wtime"} == {None}
    assert {offset.source for offset in offsets_seen} >= {"clock_gettime", "gettimeofday", "MPI_Wtime"}


# --- drift ------------------------------------------------------------------------------------------------------------

PPM = (0, 80, -55)


def make_drifting_clocks() -> list[Clock]:
    """Return clocks that were equal some seconds ago and have drifted apart since."""
    origin_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW) - 5_000_000_000
    return [Clock(ahead_ns=0, ppm=ppm, origin_ns=origin_ns) for ppm in PPM]


@pytest.mark.parametrize("core", ["mpich"], indirect=True)
@pytest.mark.parametrize("nodes", ["single", "several"])
def test_offsets_of_drifting_clocks_are_within_bounds(core: Core, home: Path, tmp_path: Path, nodes: str) -> None:
    """Offsets right after, extrapolated and interpolated are correct; the drift is as reported, and not 0.

    In two seconds the slowest clock deviates by 110 us, which is more than the uncertainty of exchanges.
    """
    clocks = make_drifting_clocks()
    study = ("--clock", "clock_gettime", "--sync", "all", "--runs", "1", "--wait", "2")
    offsets_ns = (0,) if nodes == "single" else (0,) * len(clocks)
    with start_nodes(tmp_path / "nodes", offsets_ns, shared=[home]) as up:
        offsets_seen = run_study(up, core, clocks, study, preload=compile_preload("drift", up.folder))
    check_offsets(offsets_seen, clocks, runs=1)
    for offset in offsets_seen:
        ppm = clocks[offset.rank].ppm
        assert abs(offset.drift_ppm - ppm) <= offset.drift_bound_ppm, offset
    for rank in range(1, len(clocks)):
        surest = min(
            (offset for offset in offsets_seen if offset.rank == rank), key=lambda offset: offset.drift_bound_ppm
        )
        assert abs(surest.drift_ppm) > surest.drift_bound_ppm
