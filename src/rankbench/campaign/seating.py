"""Whether ranks sat where their placement says, by what they told of themselves from inside the launch.

Of ranks that are not bound nothing is asked but that they are on as many nodes as the placement has.
"""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from rankbench.launch.topology import numbers
from rankbench.model import CaseResult, CaseStatus
from rankbench.plan.placing import FARTHEST, ranges

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankbench.model import Placement, RankFact

CPU_FOLDER = Path("/sys/devices/system/cpu")
NOT_AS_ASKED = "not as asked"
NUMBERS = {2: "two", 3: "three", 4: "four"}
MOVED = re.compile(r"rank (\d+) from CPU (\d+) to CPU (\d+)")
"""As the core tells it."""


def not_as_asked(placement: Placement, ranks: Sequence[RankFact]) -> str:
    """Return one line on which ranks sat elsewhere than the placement says, nothing if none did."""
    looks = (wrong_nodes, wrong_sockets, wrong_cpus, shared_cores)
    reasons = (reason for look in looks for reason in look(placement, ranks))
    return next((f"{NOT_AS_ASKED}: {reason}" for reason in reasons), "")


def wrong_nodes(placement: Placement, ranks: Sequence[RankFact]) -> Iterator[str]:
    """Yield ranks that share a host and should not, or the other way round: ranks fill node after node."""
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


def wrong_sockets(placement: Placement, ranks: Sequence[RankFact]) -> Iterator[str]:
    """Yield ranks on one socket where sockets take turns, and on two where one is asked for."""
    kind = placement.name.partition(":")[0]
    if placement.binding == "none" or kind not in {"socket", "sockets", FARTHEST}:
        return
    for one, other in pairwise(ranks):
        if -1 in {one.socket, other.socket} or one.host != other.host:
            continue
        if one.socket == other.socket and kind != "socket":
            yield f"ranks {one.rank} and {other.rank} are on one socket, {placement.name} asks for two"
        elif one.socket != other.socket and kind == "socket":
            on = f"sockets {one.socket} and {other.socket}"
            yield f"ranks {one.rank} and {other.rank} are on {on}, {placement.name} asks for one"


def wrong_cpus(placement: Placement, ranks: Sequence[RankFact]) -> Iterator[str]:
    """Yield ranks that may run elsewhere than asked for; where no CPUs are named, on more than one core."""
    if placement.binding == "none":
        return
    for rank in ranks:
        allowed, asked = numbers(rank.cpus), seat(placement, rank.rank)
        if asked and not (allowed and allowed <= asked):
            named = f"CPU {ranges(asked)} was" if len(asked) == 1 else f"CPUs {ranges(asked)} were"
            yield f"rank {rank.rank} may run on CPUs {rank.cpus}, {named} asked for"
        elif not asked and len({core(cpu) for cpu in allowed}) != 1:
            yield f"rank {rank.rank} may run on CPUs {rank.cpus} and is not bound to one core"


def shared_cores(placement: Placement, ranks: Sequence[RankFact]) -> Iterator[str]:
    """Yield ranks that are bound to one core where each should have one of its own."""
    if placement.binding == "none" or placement.cpus:
        return
    first_on: dict[tuple[str, int], RankFact] = {}
    for rank in ranks:
        one = first_on.setdefault((rank.host, core(min(numbers(rank.cpus)))), rank)
        if one is not rank:
            yield f"ranks {one.rank} and {rank.rank} are bound to the same core (CPUs {one.cpus} and {rank.cpus})"


def seat(placement: Placement, rank: int) -> set[int]:
    """Return the CPUs that a rank was asked to sit on, nothing where none are named."""
    return set(placement.cpus[rank % placement.ranks_per_node]) if placement.cpus else set()


def core(cpu: int) -> int:
    """Return a core's name: the first of the CPUs that are its hardware threads."""
    siblings = CPU_FOLDER / f"cpu{cpu}" / "topology" / "thread_siblings_list"
    return min(numbers(siblings.read_text(encoding="ascii"))) if siblings.exists() else cpu


# --- results ----------------------------------------------------------------------------------------------------------


def seated(placement: Placement, ranks: Sequence[RankFact], results: Sequence[CaseResult]) -> Iterator[CaseResult]:
    """Yield results in their order, those of ranks that did not sit as asked without what was measured.

    A rank that was moved stays where it is, so that nothing counts that the launch measures after it.
    """
    reason, moved_before = not_as_asked(placement, ranks), ""
    for result in results:
        moved = result.moved if left_its_seat(placement, result.moved) else ""
        later = moved_before and f"{NOT_AS_ASKED}: {moved_before} in an earlier case"
        said = reason or (moved and f"{NOT_AS_ASKED}: {moved} while it was measured") or later
        moved_before = moved or moved_before
        yield without_samples(result, said) if said and result.status == CaseStatus.OK else result


def left_its_seat(placement: Placement, moved: str) -> bool:
    """Return whether a rank left its core; threads of one core are one place."""
    told = MOVED.fullmatch(moved)
    if placement.binding == "none" or not told:
        return False
    rank, start, end = map(int, told.groups())
    asked = seat(placement, rank)
    return end not in asked if asked else core(start) != core(end)


def without_samples(result: CaseResult, reason: str) -> CaseResult:
    """Return the row of a case that was measured elsewhere than asked for."""
    return CaseResult(case=result.case, status=CaseStatus.NOT_AS_ASKED, reason=reason)
