"""Campaigns of two ranks at several placements on the machine of `hierarchy`; functions give times and exchanges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import numpy as np

from fakes import campaigns, hierarchy
from rankbench import store
from rankbench.model import Campaign, Case, CaseResult, Exchange, Launch, Placement, State
from rankbench.store import Store

SEATS = {
    "same-l2": (("n1", 0), ("n1", 1)),
    "same-l3": (("n1", 0), ("n1", 2)),
    "two-sockets": (("n1", 0), ("n1", 4)),
    "nodes": (("n1", 0), ("n2", 0)),
}
"""Host and CPU of both ranks, by placement."""
SOCKETS = ("same-l3", "two-sockets")
SMALL = (8, 1024)
CACHE_BYTES = 32 << 20
COPY_BYTES_PER_S = 8 * 2 * 5e9
"""Bytes read and written by eight cores while each copies 5 GB/s."""
SAMPLES = 5


def make_case(operation: str, size_bytes: int, placement: str) -> Case:
    """Return a case of two ranks."""
    copy = hierarchy.make_case(operation, size_bytes, 0, 1)
    return msgspec.structs.replace(copy, placement=placement, ranks=2)


def find_exchange_ns(first: int, second: int) -> float:
    """Return the time of a cache line: three times as long between sockets."""
    return 50.0 if first // hierarchy.CORES == second // hierarchy.CORES else 150.0


def find_equal_exchange(_one: int, _two: int) -> float:
    """Return the time of a cache line on a machine without differences between places."""
    return 50.0


def make_state(between: Callable[[int, int], float], factor: float) -> State:
    """Return the state of the machine, measured between all pairs of CPUs."""
    cpus = range(hierarchy.PER_HOST)
    pairs = [(first, second) for first in cpus for second in cpus if first < second]
    exchange = [Exchange(cpus=pair, median_ns=factor * between(*pair), min_ns=10) for pair in pairs]
    return State(cpus=list(cpus), exchange=exchange, copy_bytes_per_s=COPY_BYTES_PER_S)


def make_record(
    name: str, sizes: Sequence[int], operations: Sequence[str], names: Sequence[str], candidates: Sequence[str]
) -> Campaign:
    """Return the record of the campaign."""
    cases = [make_case(operation, size, place) for operation in operations for size in sizes for place in names]
    campaign = hierarchy.make_record(name, cases, tuple(candidates))
    placements = [Placement(name=name, nodes=1, ranks_per_node=2, binding="core") for name in names]
    plan = msgspec.structs.replace(campaign.plan, placements=placements, question="What does the place of ranks do?")
    return msgspec.structs.replace(campaign, plan=plan)


def make_store(
    folder: Path,
    time_ns: Callable[[str, str, int], float],
    *,
    sizes: Sequence[int] = SMALL,
    operations: Sequence[str] = ("pingpong",),
    names: Sequence[str] = SOCKETS,
    candidates: Sequence[str] = ("alpha",),
    between: Callable[[int, int], float] | None = find_exchange_ns,
    launches: int = 6,
    spread: float = 0.005,
    change: Callable[[Launch], Launch] = lambda launch: launch,
) -> Store:
    """Write the campaign into a store; `time_ns` gives a candidate's time at a placement and size.

    Without `between` the state of the machine is unknown; `change` replaces single launches.
    """
    campaign = make_record(folder.name, sizes, operations, names, candidates)
    campaign_store = store.create(folder, campaign)
    random = np.random.default_rng(7)
    for number, (block, name, place) in enumerate(list_turns(launches, candidates, names), start=1):
        cases = [case for case in campaign.cases if case.placement == place]
        results = [
            make_result(case, time_ns(name, place, case.size_bytes) * random.lognormal(0, spread)) for case in cases
        ]
        around = make_state(between, random.lognormal(0, spread)) if between else None
        campaign_store.append(change(make_launch(number, block, name, place, around)), results)
    return campaign_store


def list_turns(launches: int, candidates: Sequence[str], names: Sequence[str]) -> list[tuple[int, str, str]]:
    """Return block, candidate and placement of every launch."""
    return [(block, name, place) for block in range(1, launches + 1) for name in candidates for place in names]


def make_launch(number: int, block: int, candidate: str, placement: str, around: State | None) -> Launch:
    """Return a launch whose ranks ran at their placement."""
    record = campaigns.make_launch(number, block, 0, candidate, placement)
    ranks = []
    for rank, (host, cpu) in enumerate(SEATS[placement]):
        seat = hierarchy.CPUS[cpu]
        ranks.append(
            msgspec.structs.replace(
                record.ranks[0], rank=rank, host=host, cpu=cpu, core=seat.core, socket=seat.socket, numa=seat.numa
            )
        )
    return msgspec.structs.replace(record, ranks=ranks, before=around, after=around)


def make_result(case: Case, typical_ns: float) -> CaseResult:
    """Return a case of one launch without scatter within it."""
    return hierarchy.take_samples(case, [round(typical_ns * (1 + index / 10000), 2) for index in range(SAMPLES)])
