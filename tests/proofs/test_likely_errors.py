"""19 of 20 errors of synchronised clocks are within the likely error, which is far below the bound.

The truth is known, since the clocks were set. Links between the emulated nodes are symmetric.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster.conftest import core
from cluster.nodes import Lab, start_nodes
from cluster.study import METHODS, Core, Offset, make_clocks, run_study

from proofs.judging import check_median

__all__ = ["core"]

STUDY = ("--clock", "clock_gettime", "--runs", "10", "--wait", "0.05")
LEAST_SHARE = 0.9
"""For a small sample; the claim is 0.95."""


@pytest.fixture(params=[1, 2], ids=["shared memory", "tcp"], scope="module")
def nodes(home: Path, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Lab]:
    """One node or two. Each rank has its own clock."""
    with start_nodes(tmp_path_factory.mktemp("lab") / "nodes", (0,) * request.param, shared=[home]) as up:
        yield up


def measure_offsets(nodes: Lab, core: Core, method: str) -> list[Offset]:
    return [offset for offset in run_study(nodes, core, make_clocks(2), [*STUDY, "--sync", method]) if offset.rank]


@pytest.mark.parametrize("core", ["mpich", "openmpi"], indirect=True)
@pytest.mark.parametrize("method", METHODS)
def test_errors_are_within_the_likely_error_as_often_as_stated(core: Core, nodes: Lab, method: str) -> None:
    def measure_share() -> float:
        return statistics.mean(offset.is_as_likely(make_clocks(2)) for offset in measure_offsets(nodes, core, method))

    check_median(measure_share, LEAST_SHARE, 1)


@pytest.mark.parametrize("core", ["openmpi"], indirect=True)
def test_the_likely_error_is_far_below_the_bound(core: Core, nodes: Lab) -> None:
    def measure_ratio() -> float:
        fresh = [offset for offset in measure_offsets(nodes, core, "tree") if offset.stage == "fresh"]
        return statistics.median(offset.likely_ns / offset.bound_ns for offset in fresh)

    check_median(measure_ratio, 0, 0.5)
