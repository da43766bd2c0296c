"""A sweep over a fleet: all nodes in rounds, then suspects among the others, then what is found. Starts no launch."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from rankbench.fleet import outliers, tournament
from rankbench.fleet.outliers import LinkSlowness, Measured, Speeds, Standing
from rankbench.fleet.sweep_records import OF_CORES, OF_LINKS, TRAIT, TRAITS, Finding, LinkSpeed, NodeSpeed, Of
from rankbench.fleet.tournament import Link
from rankbench.samples.rounds import Round

ROUNDS_OF_NODES = 3
REPEATS = 3
"""How often the first launch repeats each round of pairs."""
GROUP = 4
"""Nodes of a group."""
LEAST_GROUPS = 2
DOUBTFUL = 0.5
"""Who is slower by this share of the threshold is a suspect: a few rounds know no better."""
LEAST_SUSPECTS = 4
SHARE_OF_SUSPECTS = 8
"""One in so many nodes, links and cores may be measured again for each trait, but LEAST_SUSPECTS always."""
LEAST_LAUNCHES, MOST_LAUNCHES = 3, 12
"""Of a confirmation."""
RESERVE = 1.5
"""Launches over those that are enough for a suspect that is the slowest in all."""
ROUNDS_OF_LAUNCH = 3
"""Rounds in which each suspect is measured in a launch."""

WAITING = 1.2
"""Times as long as the node that waits least for its CPU: a node that waits so long is slow with others by it."""

OPPOSITE = {"sending": "receiving", "receiving": "sending", "latency": "latency"}
"""The trait of the node that another one meets."""

Measure = Callable[[Sequence[Round]], Sequence[Measured]]
"""Measures rounds in one launch."""


class Fleet(NamedTuple):
    """The nodes, in the order of their first ranks."""

    hosts: Sequence[str]
    first: Sequence[int]
    """The first rank of each node, and the number of all ranks."""
    cpus: Sequence[int]
    """The CPU of each rank."""
    one_machine: bool = False
    """Whether the nodes are emulated: they share cores, so that each alone has no speed of its own."""

    @property
    def nodes(self) -> int:
        """Return the number of nodes."""
        return len(self.hosts)


class Suspect(NamedTuple):
    """Who looked slow in the first launch: a node or a rank by its number, or a link by those of its nodes."""

    of: Of
    trait: str
    who: int
    other: int = -1
    ratio: float = 1.0


class Doubts(NamedTuple):
    """All suspects, and how many were left out."""

    suspects: list[Suspect]
    left_out: int

    @property
    def nodes(self) -> set[int]:
        """Return all nodes that are suspects or at the end of a link that is one."""
        ends = {suspect.other for suspect in self.suspects if suspect.of == "link"}
        return ends | {suspect.who for suspect in self.suspects if suspect.of != "core"}

    @property
    def links(self) -> list[Link]:
        """Return the links, each once whatever its direction."""
        ends = [(suspect.who, suspect.other) for suspect in self.suspects if suspect.of == "link"]
        return sorted({(min(link), max(link)) for link in ends})


class Outcome(NamedTuple):
    """What a sweep found."""

    findings: list[Finding]
    doubts: Doubts
    nodes: list[NodeSpeed]
    links: list[LinkSpeed]
    launches: int
    rounds: int


class Arranged(NamedTuple):
    """All that was measured, by trait."""

    nodes: dict[str, Speeds]
    cores: dict[str, Speeds]

    @classmethod
    def of(cls, fleet: Fleet, measured: Sequence[Measured]) -> Arranged:
        """Return the speeds of all nodes, and of cores where nodes have several ranks."""
        several = fleet.first[-1] > fleet.nodes
        return cls(
            {trait.name: outliers.arrange(measured, trait, fleet.first) for trait in TRAITS},
            {name: outliers.arrange_cores(measured, TRAIT[name], fleet.first[-1]) for name in OF_CORES if several},
        )


class Limits(NamedTuple):
    """What counts as slow."""

    threshold: float = 0.05
    """The smallest relevant difference."""
    alarm: float = 0.01
    """The probability that a sweep of equal nodes finds anything."""


def sweep(fleet: Fleet, measure: Measure, generator: np.random.Generator, limits: Limits, rounds: int = 0) -> Outcome:
    """Measure a fleet and return what is slow. `rounds`: rounds of pairs; 0: log2 of the number of nodes."""
    usual = max(1, math.ceil(math.log2(max(2, fleet.nodes))))
    planned = plan_first(fleet, rounds or usual, generator)
    first = list(measure(planned))
    doubts = find_suspects(fleet, Arranged.of(fleet, first), limits)
    again: list[Measured] = []
    launches = count_launches(fleet.nodes, doubts, limits) if doubts.suspects else 0
    for launch in range(1, launches + 1):
        planned_again = plan_confirmation(fleet, doubts, generator)
        again += [measured._replace(launch=launch) for measured in measure(planned_again)]
    findings = list(list_findings(fleet, doubts, Arranged.of(fleet, again), limits))
    both = Arranged.of(fleet, [*first, *again])
    nodes = list(_describe_nodes(fleet, both))
    pairs = sum(round_.kind == "pairs" for round_ in planned) // REPEATS
    return Outcome(
        findings=drop_explained(drop_waiting(findings, find_waits(nodes))),
        doubts=doubts,
        nodes=nodes,
        links=list(describe_links(fleet, both)),
        launches=1 + launches,
        rounds=pairs,
    )


# --- the first launch -------------------------------------------------------------------------------------------------


def plan_first(fleet: Fleet, rounds: int, generator: np.random.Generator) -> list[Round]:
    """Return the rounds of the first launch, in random order."""
    nodes = fleet.nodes
    planned = [] if fleet.one_machine else [Round("nodes", list(range(nodes)), 1)] * ROUNDS_OF_NODES
    if nodes > 1:
        pairings = tournament.draw_rounds(nodes, rounds, generator)
        planned += [Round("pairs", pairs, 2) for pairs in pairings] * REPEATS
    if nodes >= LEAST_GROUPS * GROUP:
        planned += [Round("groups", tournament.draw_groups(nodes, GROUP, generator), GROUP) for _ in range(rounds)]
    return [planned[place] for place in generator.permutation(len(planned))]


def find_suspects(fleet: Fleet, first: Arranged, limits: Limits) -> Doubts:
    """Return who looks slower than the others, the slowest first and not too many."""
    chosen: list[Suspect] = []
    left_out = 0
    for group in list_slow(first, 1 + limits.threshold * DOUBTFUL):
        most = max(LEAST_SUSPECTS, fleet.nodes // SHARE_OF_SUSPECTS)
        ordered = sorted(group, key=lambda suspect: -suspect.ratio)
        chosen += ordered[:most]
        left_out += len(ordered[most:])
    return Doubts(chosen, left_out)


def list_slow(first: Arranged, ratio: float) -> Iterator[list[Suspect]]:
    """Yield, for each trait of nodes, cores and links, who is slower than this."""
    for name, speeds in first.nodes.items():
        yield list_above("node", name, speeds, ratio)
    for name, speeds in first.cores.items():
        yield list_above("core", name, speeds, ratio)
    for name in OF_LINKS:
        links = find_links(first, name)
        yield [
            Suspect("link", name, *link, standing.ratio) for link, standing in links.items() if standing.ratio >= ratio
        ]


def list_above(of: Of, trait: str, speeds: Speeds, ratio: float) -> list[Suspect]:
    """Return the nodes or ranks that are slower than this, in the median of the rounds that have others."""
    ratios = np.exp(outliers.find_medians(speeds))
    return [Suspect(of, trait, int(who), ratio=float(ratios[who])) for who in np.flatnonzero(ratios >= ratio)]


def find_links(arranged: Arranged, trait: str) -> dict[Link, LinkSlowness]:
    """Return all links that were measured; those without a direction once."""
    if trait == "sending":
        return outliers.find_links(arranged.nodes["sending"], arranged.nodes["receiving"])
    links = outliers.find_links(arranged.nodes[trait], arranged.nodes[trait])
    return {link: standing for link, standing in links.items() if link[0] < link[1]}


# --- the confirmation -------------------------------------------------------------------------------------------------


def count_launches(nodes: int, doubts: Doubts, limits: Limits) -> int:
    """Return how many launches are enough to be sure of a node that is the slowest of all in each of them."""
    alarm = limits.alarm / len(doubts.suspects)
    enough = RESERVE * math.log(1 / alarm) / math.log(max(2, nodes))
    return min(MOST_LAUNCHES, max(LEAST_LAUNCHES, math.ceil(enough)))


def plan_confirmation(fleet: Fleet, doubts: Doubts, generator: np.random.Generator) -> list[Round]:
    """Return the rounds of a launch in which suspects are measured again among the others, in random order."""
    kinds = {TRAIT[suspect.trait].kind for suspect in doubts.suspects}
    planned: list[Round] = []
    if "nodes" in kinds:
        planned += [Round("nodes", list(range(fleet.nodes)), 1)] * ROUNDS_OF_LAUNCH
    if "pairs" in kinds:
        packed = list(tournament.pack_links(doubts.links, max(1, fleet.nodes // 4)))
        for links in [*packed, []] * ROUNDS_OF_LAUNCH:
            planned.append(Round("pairs", tournament.draw_mixed(fleet.nodes, doubts.nodes, links, generator), 2))
    if "groups" in kinds:
        slow = [suspect.who for suspect in doubts.suspects if suspect.trait == "allreduce"]
        for _ in range(ROUNDS_OF_LAUNCH):
            planned.append(Round("groups", tournament.draw_mixed_groups(fleet.nodes, slow, GROUP, generator), GROUP))
    return [planned[place] for place in generator.permutation(len(planned))]


def list_findings(fleet: Fleet, doubts: Doubts, again: Arranged, limits: Limits) -> Iterator[Finding]:
    """Yield the suspects that are slow in the confirmation, too, and slow enough to matter."""
    effects = {trait: find_effects(doubts, again, trait) for trait in OPPOSITE}
    for name in dict.fromkeys(suspect.trait for suspect in doubts.suspects):
        judges = make_judges(name, doubts, again, effects)
        for suspect in doubts.suspects:
            standing = judges[suspect.of](suspect) if suspect.trait == name else None
            unlikely = standing and standing.chance * len(doubts.suspects) <= limits.alarm
            if standing and unlikely and standing.ratio >= 1 + limits.threshold:
                yield make_finding(fleet, suspect, standing)


def make_judges(
    trait: str, doubts: Doubts, again: Arranged, effects: Mapping[str, outliers.Numbers]
) -> dict[str, Callable[[Suspect], Standing | None]]:
    """Return what judges nodes, cores and links by a trait, without what is known of the nodes that they met."""
    cores = outliers.tabulate_nodes(again.cores[trait]) if trait in again.cores else []
    speeds = again.nodes[trait]
    links: list[dict[Link, float]] = []
    if trait in OPPOSITE:
        others = effects[OPPOSITE[trait]]
        if trait in OF_LINKS:
            without_nodes = outliers.subtract_effects(speeds, effects[trait], others)
            links = outliers.tabulate_links(without_nodes, directed=trait == "sending")
        nothing = np.zeros(len(others))
        speeds = outliers.leave_out_links(outliers.subtract_effects(speeds, nothing, others), doubts.links)
    nodes = outliers.tabulate_nodes(speeds)
    return {
        "node": lambda suspect: outliers.judge_node(nodes, suspect.who),
        "core": lambda suspect: outliers.judge_node(cores, suspect.who),
        "link": lambda suspect: outliers.judge_link(links, (suspect.who, suspect.other)),
    }


def find_effects(doubts: Doubts, again: Arranged, trait: str) -> outliers.Numbers:
    """Return the slowness of suspects, the median of rounds without a link that is one; 0 for other nodes."""
    medians = outliers.find_medians(outliers.leave_out_links(again.nodes[trait], doubts.links))
    suspects = {suspect.who for suspect in doubts.suspects if suspect.of == "node" and suspect.trait == trait}
    chosen = np.isin(np.arange(len(medians)), list(suspects))
    return np.where(chosen, np.maximum(0, np.nan_to_num(medians)), 0)


def make_finding(fleet: Fleet, suspect: Suspect, standing: Standing) -> Finding:
    """Return the record of what a confirmation says of a suspect."""
    core = suspect.of == "core"
    node = int(np.searchsorted(fleet.first, suspect.who, side="right")) - 1 if core else suspect.who
    return Finding(
        of=suspect.of,
        nodes=[fleet.hosts[end] for end in (node, suspect.other) if end >= 0],
        trait=suspect.trait,
        ratio=standing.ratio,
        low=standing.low,
        high=standing.high,
        slower=standing.slower,
        launches=standing.launches,
        chance=standing.chance,
        rank=suspect.who if core else -1,
        cpu=fleet.cpus[suspect.who] if core else -1,
    )


def drop_explained(findings: Sequence[Finding]) -> list[Finding]:
    """Return findings without links and cores of nodes that are slow in the same way, the slowest first."""
    slow = {(finding.nodes[0], finding.trait) for finding in findings if finding.of == "node"}
    unexplained = [finding for finding in findings if finding.of == "node" or not list_causes(finding) & slow]
    return sorted(unexplained, key=lambda finding: -finding.ratio)


def find_waits(nodes: Sequence[NodeSpeed]) -> dict[str, float]:
    """Return how many times as long as the node that waits least each node waits for its CPU."""
    stretch = {node.host: node.values["cpu"] for node in nodes if "cpu" in node.values}
    return {host: value / min(stretch.values()) for host, value in stretch.items()}


def drop_waiting(findings: Sequence[Finding], waits: Mapping[str, float]) -> list[Finding]:
    """Return findings without what nodes do slowly with others that wait longer for their CPUs than the others.

    How slowly is no measure: a message of microseconds that meets a wait takes milliseconds.
    """
    between = {trait.name for trait in TRAITS if trait.kind != "nodes" and trait.name != "cpu"}
    return [
        finding
        for finding in findings
        if finding.trait not in between or max(waits.get(node, 1.0) for node in finding.nodes) < WAITING
    ]


def list_causes(finding: Finding) -> set[tuple[str, str]]:
    """Return the nodes and traits that would explain a slow core or link."""
    if finding.trait == "sending" and finding.of == "link":
        return {(finding.nodes[0], "sending"), (finding.nodes[1], "receiving")}
    return {(node, finding.trait) for node in finding.nodes}


# --- all nodes and links ----------------------------------------------------------------------------------------------


def _describe_nodes(fleet: Fleet, both: Arranged) -> Iterator[NodeSpeed]:
    traits = {
        name: (find_typical(speeds), np.exp(outliers.find_medians(speeds))) for name, speeds in both.nodes.items()
    }
    for node, host in enumerate(fleet.hosts):
        known = {name: of for name, of in traits.items() if not np.isnan(of[0][node])}
        yield NodeSpeed(
            host=host,
            values={name: float(values[node]) for name, (values, _) in known.items()},
            ratios={name: float(ratios[node]) for name, (_, ratios) in known.items() if not np.isnan(ratios[node])},
        )


def find_typical(speeds: Speeds) -> outliers.Numbers:
    """Return the median of each node's values."""
    return np.array([outliers.find_median(column) for column in speeds.values.T])


def describe_links(fleet: Fleet, both: Arranged) -> Iterator[LinkSpeed]:
    """Yield what was measured between nodes."""
    for name in OF_LINKS:
        for (first, second), standing in find_links(both, name).items():
            ends = (fleet.hosts[first], fleet.hosts[second])
            yield LinkSpeed(nodes=ends, trait=name, ratio=standing.ratio, rounds=standing.rounds)
