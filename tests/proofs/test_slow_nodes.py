"""Emulated nodes: a slow node and a slow link are found, and equal nodes raise no more alarms than stated."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from cluster.sweeps import RATE_MBIT, busy_node, slow_link, slow_node, sweep_nodes

from proofs.judging import BUDGET_S, UndecidedError, check_repeatedly
from rankbench.fleet.sweep_records import Finding, Sweep

pytestmark = pytest.mark.needs("namespaces", "ip")

NODES = 8
CONTROL_GROUPS = Path("/sys/fs/cgroup/cpu")
UNLIKELY = 1e-3
LEAST_SWEEPS = 5


@pytest.fixture
def sweep(home: Path, tmp_path: Path) -> Callable[..., Sweep]:
    """Return a function that sweeps, each time with another seed, and prints what it found."""
    seeds = iter(range(1, 10_000))

    def sweep_once(before: str = "", rounds: str = "3", **options: int) -> Sweep:
        seed = next(seeds)
        result = sweep_nodes(
            tmp_path / str(seed), home, "mpich", before, seed=seed, rounds=rounds, **{"nodes": NODES, **options}
        )[1]
        print(
            f"{result.rounds} rounds, {result.launches} launches, {result.seconds:.0f} s: "
            + ("; ".join(map(describe, result.findings)) or "nothing slow"),
            flush=True,
        )
        return result

    return sweep_once


def describe(finding: Finding) -> str:
    """Return a finding as text."""
    return (
        f"{finding.of} {' '.join(finding.nodes)} {finding.trait} {finding.ratio:.2f} "
        f"({finding.low:.2f} to {finding.high:.2f}), {finding.slower} of {finding.launches}"
    )


def name_findings(result: Sweep) -> list[tuple[str, list[str], str]]:
    """Return the findings without numbers."""
    return [(finding.of, finding.nodes, finding.trait) for finding in result.findings]


@pytest.mark.parametrize("share", [0.5, 0.7, 0.9])
def test_a_node_that_sends_slowly_is_found(sweep: Callable[..., Sweep], share: float) -> None:
    def attempt() -> None:
        result = sweep(slow_node("n3", round(RATE_MBIT * share)), threshold=5, alarm=1)
        assert ("node", ["n3"], "sending") in name_findings(result)
        ratio = next(finding.ratio for finding in result.findings if finding.nodes == ["n3"])
        assert 0.75 / share < ratio < 1.25 / share

    check_repeatedly(attempt)


@pytest.mark.parametrize("share", [0.7, 0.9])
def test_a_slow_link_is_no_slow_node(sweep: Callable[..., Sweep], share: float) -> None:
    def attempt() -> None:
        names = name_findings(sweep(slow_link("n3", "n6", round(RATE_MBIT * share)), "all", threshold=5, alarm=1))
        assert ("link", ["n3", "n6"], "sending") in names
        assert not [name for name in names if name[0] == "node" and name[2] == "sending"]

    check_repeatedly(attempt)


@pytest.mark.skipif(not CONTROL_GROUPS.is_dir(), reason="no first version of control groups limits a node's CPU")
@pytest.mark.parametrize("share", [0.2, 0.4])
def test_a_node_whose_cpu_is_busy_is_found(sweep: Callable[..., Sweep], share: float) -> None:
    """Four nodes on two cores have half of one each."""

    def attempt() -> None:
        result = sweep(busy_node("n3", share), threshold=5, alarm=1, nodes=4)
        assert name_findings(result) == [("node", ["n3"], "cpu")]
        assert 0.75 * 0.5 / share < result.findings[0].ratio < 1.25 * 0.5 / share

    check_repeatedly(attempt)


def test_equal_nodes_raise_no_more_alarms_than_stated(sweep: Callable[..., Sweep]) -> None:
    """With an alarm of 10 %: at 1 % nothing could be refuted within the budget."""
    alarm, began_s = 10, time.monotonic()
    sweeps = alarms = 0
    while sweeps < LEAST_SWEEPS or time.monotonic() - began_s < BUDGET_S:
        alarms += bool(sweep(threshold=5, alarm=alarm).findings)
        sweeps += 1
        probability = sum(
            math.comb(sweeps, k) * (alarm / 100) ** k * (1 - alarm / 100) ** (sweeps - k)
            for k in range(alarms, sweeps + 1)
        )
        assert probability > UNLIKELY, (
            f"{alarms} of {sweeps} sweeps found something slow, at most {alarm}% were claimed"
        )
    print(f"{alarms} of {sweeps} sweeps of equal nodes found something slow; claimed: at most {alarm}%")
    if alarms > alarm / 100 * sweeps * 2:
        raise UndecidedError(f"{alarms} of {sweeps} sweeps")
