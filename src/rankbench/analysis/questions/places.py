"""Where ranks ran, and what two of them share: host, socket, NUMA node, caches, core. Pure.

A level is whatever divides the ranks into the same parts: where every socket has one L3 of its own, the two are one
level, since no value of these ranks can distinguish them. Levels come largest first.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from rankbench.language import Text, say
from rankbench.model import Cpu, Launch, Machine, RankFact, list_rank_sets

HOST, SOCKET, NUMA, CORE = "host", "socket", "NUMA node", "core"
CACHES = ("L5", "L4", "L3", "L2", "L1")
KINDS = (HOST, SOCKET, NUMA, *CACHES, CORE)
"""From the largest to the smallest, as far as it is the same on all machines."""
NOWHERE = -1
"""The level of two ranks that share nothing, not even their host."""
Unit = tuple[str, int]
"""A part of a machine: the host, and the system's number of it there."""


class RankLocation(NamedTuple):
    """Where a rank ran."""

    host: str
    cpu: int
    units: dict[str, Unit]
    """The parts of the machine around it, by kind, as far as known."""


@dataclass(frozen=True)
class Level:
    """One division of the ranks."""

    kinds: tuple[str, ...]
    """What it is called, the largest first."""
    units: dict[int, Unit]
    """The part in which each rank is."""
    within: str
    """Kind of the next smaller parts; empty if none is known."""

    @functools.cached_property
    def shared(self) -> bool:
        """Return whether any two ranks are in one part."""
        return len(set(self.units.values())) < len(self.units)

    @property
    def name(self) -> Text:
        """Return what pairs have in common that share this and nothing smaller: `within one socket and L3`."""
        if self.kinds == (HOST,):
            return say("across {parts}", parts=format_plural(self.within)) if self.within else say("within one host")
        return say("on one core") if self.kinds == (CORE,) else say("within one {kinds:and}", kinds=self.kinds)


@dataclass(frozen=True)
class Places:
    """Where all ranks of some launches ran."""

    locations: dict[int, RankLocation]
    """By rank, in the order of the machine; in that of the ranks where launches disagree."""
    levels: list[Level]
    """What any two ranks share, largest parts first."""
    disputed: list[int]
    """Ranks that were not at the same place in all launches: then there are no levels."""

    def level(self, first: int, second: int) -> int:
        """Return the number of the smallest level that two ranks share, or NOWHERE."""
        common = (
            number for number, division in enumerate(self.levels) if division.units[first] == division.units[second]
        )
        return max(common, default=NOWHERE)

    def name(self, level: int) -> Text:
        """Return what pairs of a level have in common."""
        if level != NOWHERE:
            return self.levels[level].name
        return say("across hosts" if self.locations else "anywhere")

    def describe_location(self, rank: int) -> str:
        """Return where a rank ran, in words."""
        place = self.locations.get(rank)
        return f"{place.host} CPU {place.cpu}" if place and rank not in self.disputed else "not known"


def find_places(launches: Iterable[Launch], machine: Machine) -> Places:
    """Return where ranks ran in these launches, which have the same ranks.

    Caches are known of the machine itself. A CPU of another host is taken to share them as the machine's CPU of that
    number does, if it has the same numbers: same core, socket and NUMA node.
    """
    cpus = {cpu.number: cpu for cpu in machine.cpus}
    locations: dict[int, list[RankLocation]] = {}
    for fact in (fact for ranks in list_rank_sets(launches) for fact in ranks):
        locations.setdefault(fact.rank, []).append(locate_rank(fact, cpus))
    first = {rank: locations[rank][0] for rank in sorted(locations)}
    disputed = [rank for rank in first if any(other.units != first[rank].units for other in locations[rank])]
    if disputed:
        return Places(first, [], disputed)
    divided = list_levels(first)
    hosts = list(dict.fromkeys(entry.host for entry in first.values()))

    def place(rank: int) -> tuple[object, ...]:
        path = [level.units[rank] for level in divided]
        return (hosts.index(first[rank].host), *(number for _, number in path), first[rank].cpu, rank)

    ordered = {rank: first[rank] for rank in sorted(first, key=place)}
    return Places(ordered, [level for level in divided if level.shared], [])


def locate_rank(fact: RankFact, cpus: Mapping[int, Cpu]) -> RankLocation:
    """Return where a rank ran, without unknown parts."""
    numbers = {HOST: 0, SOCKET: fact.socket, NUMA: fact.numa, CORE: fact.core}
    cpu = cpus.get(fact.cpu)
    if cpu and (cpu.core, cpu.socket, cpu.numa) == (fact.core, fact.socket, fact.numa):
        numbers |= cpu.caches
    units = {kind: (fact.host, numbers[kind]) for kind in KINDS if numbers.get(kind, -1) >= 0}
    return RankLocation(fact.host, fact.cpu, units)


def list_levels(locations: Mapping[int, RankLocation]) -> list[Level]:
    """Return how each kind of part that is known of every rank divides them, the fewest parts first."""
    kinds = [kind for kind in KINDS if all(kind in place.units for place in locations.values())]
    parts = {kind: {rank: place.units[kind] for rank, place in locations.items()} for kind in kinds}
    kinds.sort(key=lambda kind: len(set(parts[kind].values())))
    merged = [list(alike) for _, alike in itertools.groupby(kinds, key=lambda kind: number_parts(parts[kind]))]
    following = [*(alike[0] for alike in merged[1:]), ""]
    return [
        Level(tuple(kind for kind in alike if kind != HOST) or (HOST,), parts[alike[0]], within)
        for alike, within in zip(merged, following, strict=True)
    ]


def number_parts(units: Mapping[int, Unit]) -> list[int]:
    """Return a division without the names of its parts: each rank's part as the number in which it first appears."""
    order: dict[Unit, int] = {}
    return [order.setdefault(unit, len(order)) for unit in units.values()]


def format_plural(kind: str) -> str:
    """Return `sockets`, `L3 caches`."""
    return f"{kind} caches" if kind in CACHES else f"{kind}s"
