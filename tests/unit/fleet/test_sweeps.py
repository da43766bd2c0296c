"""Sweeps over simulated fleets: what is slow is found as what it is, and equal nodes are left alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from fakes import mark_thorough

from rankbench.fleet import sweep
from rankbench.fleet.outliers import Measured
from rankbench.fleet.sweep import Fleet, Limits, Outcome
from rankbench.fleet.sweep_records import Finding
from rankbench.samples.rounds import Round

NOISE = 0.04
Slow = Callable[[int, int], float]
"""How many times as long something takes from one node to another."""


class World:
    """Nodes with noise of heavy tails: a twentieth of the values are up to three times as slow."""

    def __init__(self, nodes: int, each: int, seed: int, drift: float = 0.3) -> None:
        """All of a round share its own drift."""
        self.fleet = Fleet(
            [f"n{node}" for node in range(nodes)], [*range(0, nodes * each + 1, each)], [*range(each)] * nodes
        )
        self.generator = np.random.default_rng(seed)
        self.drift = drift
        self.cores: dict[int, float] = {}
        self.stretch: dict[int, float] = {}
        self.sends: Slow = lambda _, __: 1.0
        self.answers: Slow = lambda _, __: 1.0
        self.accidents = 0.0
        self.accident = np.ones(nodes)

    def draw(self, count: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """Return times that differ by chance only."""
        times = np.exp(self.generator.normal(0, NOISE, count))
        return times * np.where(self.generator.random(count) < 0.05, self.generator.uniform(1, 3, count), 1)

    def measure(self, planned: Sequence[Round]) -> list[Measured]:
        """Measure rounds in one launch, in which each node has an accident of its own."""
        self.accident = np.exp(self.generator.normal(0, self.accidents, self.fleet.nodes))
        return [Measured(round_, self.measure_round(round_)) for round_ in planned]

    def measure_round(self, round_: Round) -> dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]]:
        """Return what a round measures."""
        common = np.exp(self.generator.normal(0, self.drift))
        if round_.kind == "nodes":
            ranks = self.fleet.first[-1]
            slow = np.array([self.cores.get(rank, 1.0) for rank in range(ranks)])
            slow *= np.repeat(self.accident, ranks // self.fleet.nodes)
            return {
                "step_ns": self.draw(ranks) * common * slow,
                "copied_bytes_per_s": 1e10 / (self.draw(ranks) * common),
            }
        nodes = self.fleet.nodes
        values = {
            name: np.full(nodes, np.nan) for name in ("message_ns", "sent_bytes_per_s", "allreduce_ns", "stretch")
        }
        groups = np.array(round_.nodes).reshape(-1, round_.size)
        if round_.kind == "groups":
            for group in groups:
                worst = max(self.answers(int(a), int(b)) for a in group for b in group if a != b)
                values["allreduce_ns"][group] = 5000 * common * worst * self.draw(1)
            return {"allreduce_ns": values["allreduce_ns"]}
        # On nodes with CPUs of their own nearly all of these are equal.
        waits = np.where(self.generator.random(nodes) < 0.1, self.generator.uniform(1, 1.1, nodes), 1)
        values["stretch"][groups.ravel()] = [self.stretch.get(node, 1.0) * waits[node] for node in groups.ravel()]
        for a, b in groups:
            values["message_ns"][[a, b]] = 1000 * common * self.answers(int(a), int(b)) * self.draw(1)
            values["message_ns"][[a, b]] *= self.accident[a] * self.accident[b]
            for sender, receiver in ((a, b), (b, a)):
                values["sent_bytes_per_s"][sender] = 1e10 / (
                    common * self.sends(int(sender), int(receiver)) * self.draw(1)[0]
                )
        del values["allreduce_ns"]
        return values

    def sweep(self) -> Outcome:
        """Return what a sweep finds."""
        return sweep.sweep(self.fleet, self.measure, self.generator, Limits())


def list_found(outcome: Outcome) -> set[tuple[str, tuple[str, ...], str]]:
    return {(finding.of, tuple(finding.nodes), finding.trait) for finding in outcome.findings}


@pytest.mark.costly
@pytest.mark.parametrize(
    ("nodes", "each", "sweeps"),
    [(1, 4, 12), (2, 2, 12), (3, 1, 12), (4, 2, 12), (8, 1, 12), mark_thorough(9, 2, 300), mark_thorough(40, 4, 100)],
)
def test_equal_nodes_are_left_alone(nodes: int, each: int, sweeps: int) -> None:
    """One sweep in a hundred may find something; more than these have a probability of one in a thousand."""
    outcomes = [World(nodes, each, seed).sweep() for seed in range(sweeps)]
    assert sum(bool(outcome.findings) for outcome in outcomes) <= {12: 1, 100: 5, 300: 10}[sweeps]
    assert any(outcome.doubts.suspects for outcome in outcomes)


def test_an_accident_of_each_launch_is_no_finding() -> None:
    """As where the system runs a rank beside something else for as long as the launch lasts."""
    for seed in range(12):
        world = World(8, 2, seed)
        world.accidents = 0.2
        assert not world.sweep().findings


def test_a_node_that_sends_slowly_is_distinguished_from_one_that_receives_slowly() -> None:
    for seed in range(5):
        world = World(8, 1, seed)
        world.sends = lambda sender, receiver: 1.4 if sender == 3 else 1.3 if receiver == 6 else 1.0
        assert list_found(world.sweep()) == {("node", ("n3",), "sending"), ("node", ("n6",), "receiving")}


@pytest.mark.parametrize(("ratio", "most_missing"), [(1.1, 8), (1.3, 0)])
def test_a_slow_link_is_distinguished_from_its_nodes(ratio: float, most_missing: int) -> None:
    """Of 20 directions."""
    missing = 0
    for seed in range(10):
        world = World(8, 1, seed)
        world.sends = lambda sender, receiver: ratio if {sender, receiver} == {2, 5} else 1.0
        outcome = sweep.sweep(world.fleet, world.measure, world.generator, Limits(), rounds=7)
        findings = list_found(outcome)
        assert findings <= {("link", ("n2", "n5"), "sending"), ("link", ("n5", "n2"), "sending")}
        missing += 2 - len(findings)
    assert missing <= most_missing


def test_a_node_that_waits_for_its_cpu_is_reported_where_no_median_shows_it() -> None:
    """Of messages of microseconds only few meet a wait of milliseconds."""
    world = World(8, 1, 1)
    world.stretch = {4: 1.3}
    outcome = world.sweep()
    assert list_found(outcome) == {("node", ("n4",), "cpu")}
    (finding,) = outcome.findings
    assert finding.low <= 1.3 <= finding.high * 1.02


@pytest.mark.parametrize("waiting", [{1: 3.0, 2: 3.0, 3: 3.0}, {2: 1.7}], ids=["most", "one"])
def test_waiting_for_a_cpu_is_not_reported_as_a_slow_link(waiting: dict[int, float]) -> None:
    """As on four emulated nodes of which three shared a core: their messages took 6 ms, and others 7 µs."""
    for seed in range(12):
        world = World(4, 1, seed)
        world.stretch = waiting
        world.sends = lambda a, b: waiting.get(a, 1.0) ** 0.5 * waiting.get(b, 1.0) ** 0.5
        world.answers = lambda a, b: 800.0 if {a, b} <= {*waiting} else 1.0
        assert list_found(world.sweep()) <= {("node", ("n2",), "cpu")}


def test_a_slow_link_of_nodes_that_wait_alike_is_reported() -> None:
    world = World(8, 1, 1)
    world.stretch = dict.fromkeys(range(8), 2.0)
    world.sends = lambda sender, receiver: 1.3 if {sender, receiver} == {2, 5} else 1.0
    outcome = sweep.sweep(world.fleet, world.measure, world.generator, Limits(), rounds=7)
    assert list_found(outcome) == {("link", ("n2", "n5"), "sending"), ("link", ("n5", "n2"), "sending")}


def test_a_link_that_is_slow_in_one_direction_is_reported_in_that_one() -> None:
    world = World(8, 1, 1)
    world.sends = lambda sender, receiver: 1.5 if (sender, receiver) == (2, 5) else 1.0
    outcome = sweep.sweep(world.fleet, world.measure, world.generator, Limits(), rounds=7)
    assert list_found(outcome) == {("link", ("n2", "n5"), "sending")}


def test_a_busy_core_is_reported_and_not_its_node() -> None:
    world = World(6, 8, 3)
    world.cores = {19: 1.8}
    (finding,) = world.sweep().findings
    assert (finding.of, finding.nodes, finding.trait, finding.rank, finding.cpu) == ("core", ["n2"], "compute", 19, 3)


def test_a_slow_node_is_reported_once_and_not_by_its_cores_and_links() -> None:
    world = World(8, 4, 2)
    world.cores = dict.fromkeys(range(12, 16), 2.0)
    world.answers = lambda sender, receiver: 2.0 if 3 in {sender, receiver} else 1.0
    findings = list_found(world.sweep())
    assert findings - {("node", ("n3",), "allreduce")} == {("node", ("n3",), trait) for trait in ("compute", "latency")}


def check_interval(finding: Finding, ratio: float) -> bool:
    """Return whether the interval holds the true ratio."""
    return finding.low <= ratio <= finding.high


@pytest.mark.thorough
def test_intervals_hold_the_true_ratio() -> None:
    covered = []
    for seed in range(20):
        world = World(16, 1, seed)
        world.sends = lambda sender, _: 1.25 if sender == 4 else 1.0
        covered += [check_interval(finding, 1.25) for finding in world.sweep().findings if finding.nodes == ["n4"]]
    assert len(covered) == 20
    assert np.mean(covered) >= 0.8


@pytest.mark.parametrize(("nodes", "rounds"), [(100, 7), mark_thorough(1000, 10)])
def test_slow_nodes_of_many_are_found(nodes: int, rounds: int) -> None:
    world = World(nodes, 1, 5)
    slow = {17, nodes // 4, nodes * 3 // 5}
    world.sends = lambda sender, _: 1.3 if sender in slow else 1.0
    outcome = world.sweep()
    assert list_found(outcome) == {("node", (f"n{node}",), "sending") for node in slow}
    assert outcome.rounds == rounds
