"""Checks whether ranks ran where their placement says, from the reports of the ranks themselves.

For unbound ranks only the number of nodes is checked.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from rankbench.launch.topology import parse_list
from rankbench.model import CaseResult, CaseStatus, Placement, RankFact
from rankbench.plan.placing import FARTHEST, format_ranges

CPU_FOLDER = Path("/sys/devices/system/cpu")
NOT_AS_ASKED = "not as asked"
MOST_THREADS = 8
"""Most hardware threads of a core, of any processor."""
NUMBERS = {2: "two", 3: "three", 4: "four"}
MOVED = re.compile(r"rank (\d+) from CPU (\d+) to CPU (\d+)")
"""The core's report of a moved rank."""


def check_placement(placement: Placement, ranks: Sequence[RankFact]) -> str:
    """Return one line on ranks that ran elsewhere than the placement says; empty: none."""
    checks = (check_nodes, check_sockets, check_cpus, find_shared_cores)
    reasons = (reason for check in checks for reason in check(placement, ranks))
    return next((f"{NOT_AS_ASKED}: {reason}" for reason in reasons), "")


def check_nodes(placement: Placement, ranks: Sequence[RankFact]) -> Iterator[str]:
    """Yield ranks that share a host and should not, or that should and do not. Ranks fill node after node."""
    first_on: dict[str, RankFact] = {}
    first_of: dict[int, RankFact] = {}
    for rank in ranks:
        node = rank.rank // placement.ranks_per_node
        there, mate = first_on.setdefault(rank.host, rank), first_of.setdefault(node, rank)
        if there.rank // placement.ranks_per_node != node:
            nodes = NUMBERS.get(placement.nodes, str(placement.nodes))
            yield f"ranks {there.rank} and {rank.rank} are on host {rank.host}, {nodes} nodes were asked for"
        if mate.host != rank.host:
            yield f"ranks {mate.rank} and {rank.rank} are on hosts {mate.host} and {rank.host}, one was asked for"


def check_sockets(placement: Placement, ranks: Sequence[RankFact]) -> Iterator[str]:
    """Yield ranks on one socket where the placement alternates sockets, and on two where it says one."""
    kind = placement.name.partition(":")[0]
    if placement.binding == "none" or kind not in {"socket", "sockets", FARTHEST}:
        return
    for fact, other in pairwise(ranks):
        if -1 in {fact.socket, other.socket} or fact.host != other.host:
            continue
        if fact.socket == other.socket and kind != "socket":
            yield f"ranks {fact.rank} and {other.rank} are on one socket, {placement.name} asks for two"
        elif fact.socket != other.socket and kind == "socket":
            on = f"sockets {fact.socket} and {other.socket}"
            yield f"ranks {fact.rank} and {other.rank} are on {on}, {placement.name} asks for one"


def check_cpus(placement: Placement, ranks: Sequence[RankFact]) -> Iterator[str]:
    """Yield ranks that may run on other CPUs than requested, or, without requested CPUs, on more than one core."""
    if placement.binding == "none":
        return
    for rank in ranks:
        allowed, requested = parse_list(rank.cpus), find_requested_cpus(placement, rank.rank)
        if requested and not (allowed and allowed <= requested):
            named = (
                f"CPU {format_ranges(requested)} was"
                if len(requested) == 1
                else f"CPUs {format_ranges(requested)} were"
            )
            yield f"rank {rank.rank} may run on CPUs {rank.cpus}, {named} asked for"
        elif not requested and not on_one_core(rank, ranks):
            yield f"rank {rank.rank} may run on CPUs {rank.cpus} and is not bound to one core"


def find_shared_cores(placement: Placement, ranks: Sequence[RankFact]) -> Iterator[str]:
    """Yield ranks that are bound to the same core and should not be."""
    if placement.binding == "none" or placement.cpus:
        return
    first_on: dict[tuple[str, int], RankFact] = {}
    for rank in ranks:
        first = min(parse_list(rank.cpus), default=rank.cpu)
        fact = first_on.setdefault((rank.host, core(first) if is_here(rank) else first), rank)
        if fact is not rank:
            yield f"ranks {fact.rank} and {rank.rank} are bound to the same core (CPUs {fact.cpus} and {rank.cpus})"


def find_requested_cpus(placement: Placement, rank: int) -> set[int]:
    """Return the CPUs requested for a rank; empty: none are named."""
    return set(placement.cpus[rank % placement.ranks_per_node]) if placement.cpus else set()


def is_here(rank: RankFact) -> bool:
    """Return whether a rank ran on this host, whose cores are known."""
    return rank.host == platform.node()


def on_one_core(rank: RankFact, ranks: Sequence[RankFact]) -> bool:
    """Return whether a rank may run on one core only. On other hosts, cores are known from where ranks ran."""
    allowed = parse_list(rank.cpus)
    if is_here(rank):
        return len({core(cpu) for cpu in allowed}) == 1
    cores = {
        (fact.socket, fact.core) for fact in ranks if fact.host == rank.host and fact.cpu in allowed and fact.core >= 0
    }
    return 1 <= len(allowed) <= MOST_THREADS and len(cores) <= 1


def core(cpu: int) -> int:
    """Return the number of a core of this host: the first CPU among its hardware threads."""
    siblings = CPU_FOLDER / f"cpu{cpu}" / "topology" / "thread_siblings_list"
    return min(parse_list(siblings.read_text(encoding="ascii"))) if siblings.exists() else cpu


# --- results ----------------------------------------------------------------------------------------------------------


def drop_moved(placement: Placement, ranks: Sequence[RankFact], results: Sequence[CaseResult]) -> Iterator[CaseResult]:
    """Yield results in their order; misplaced ranks have no values.

    A moved rank stays where it is, so later results of the launch do not count either.
    """
    reason, moved_before = check_placement(placement, ranks), ""
    for result in results:
        moved = result.moved if has_moved(placement, ranks, result.moved) else ""
        later = moved_before and f"{NOT_AS_ASKED}: {moved_before} in an earlier case"
        text = reason or (moved and f"{NOT_AS_ASKED}: {moved} while it was measured") or later
        moved_before = moved or moved_before
        if text and result.status == CaseStatus.OK:
            yield CaseResult(case=result.case, status=CaseStatus.NOT_AS_ASKED, reason=text)
        else:
            yield result


def has_moved(placement: Placement, ranks: Sequence[RankFact], moved: str) -> bool:
    """Return whether a rank left its core. A move between threads of a core does not count."""
    match = MOVED.fullmatch(moved)
    if placement.binding == "none" or not match:
        return False
    rank, start, end = map(int, match.groups())
    requested = find_requested_cpus(placement, rank)
    if requested or rank >= len(ranks) or is_here(ranks[rank]):
        return end not in requested if requested else core(start) != core(end)
    return end not in parse_list(ranks[rank].cpus)  # These are all of one core, or the check above had failed.
