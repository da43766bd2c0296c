"""Campaigns on a machine of known hierarchy: 2 hosts of 2 sockets of 4 cores, of which two share an L2.

Ranks alternate between sockets, so that their order is not the machine's. A function gives the time between two
ranks; `find_time_by_level` follows the hierarchy, but the shared L2 makes no difference.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np

import fakes
from fakes import campaigns, kinds
from rankbench import store
from rankbench.model import Campaign, Case, CaseResult, CaseStatus, Cpu, RankFact, Series
from rankbench.store import Store

HOSTS = ("n1", "n2")
SOCKETS, CORES = 2, 4
PER_HOST = SOCKETS * CORES
RANKS = len(HOSTS) * PER_HOST
PLACEMENT = "2x8"
CPUS = [
    Cpu(number=cpu, core=cpu, socket=cpu // CORES, numa=cpu // CORES, caches={"L2": cpu // 2 * 2, "L3": cpu // 4 * 4})
    for cpu in range(PER_HOST)
]
SOCKET_NS, SOCKETS_NS, HOSTS_NS = 200.0, 600.0, 5000.0
SAMPLES = 5
MESSAGES = 64
OPERATIONS = [
    kinds.make_operation(
        name,
        "point-to-point",
        kinds.make_number_option("from", 0, 4095),
        kinds.make_number_option("to", 1, 4095),
        metric=metric,
        start="none",
        between_two=True,
        ranks_exactly=2,
        messages=messages,
    )
    for name, metric, messages in (("pingpong", "latency", 1), ("bandwidth", "bandwidth", MESSAGES))
]


def find_seat(rank: int) -> tuple[str, int]:
    """Return host and CPU of a rank: alternating between the sockets of the first host, then those of the second."""
    host, place = divmod(rank, PER_HOST)
    core, socket = divmod(place, SOCKETS)
    return HOSTS[host], socket * CORES + core


def find_time_by_level(_candidate: str, first: int, second: int) -> float:
    """Return the true time between two ranks, by their places."""
    (host, cpu), (other_host, other) = find_seat(first), find_seat(second)
    if host != other_host:
        return HOSTS_NS
    return SOCKET_NS if cpu // CORES == other // CORES else SOCKETS_NS


def find_equal_time(_candidate: str, _first: int, _second: int) -> float:
    """Return the same time for all pairs."""
    return SOCKET_NS


def make_case(operation: str, size_bytes: int, first: int, second: int) -> Case:
    """Return the case between two ranks."""
    options = {name: str(rank) for name, rank, usual in (("from", first, 0), ("to", second, 1)) if rank != usual}
    return Case(
        operation=operation,
        form="blocking",
        size_bytes=size_bytes,
        datatype="byte",
        placement=PLACEMENT,
        ranks=RANKS,
        start="none",
        options=options,
    )


def make_cases(operations: tuple[str, ...] = ("pingpong",), ranks: int = RANKS, size_bytes: int = 8) -> list[Case]:
    """Return the cases between all pairs of the first ranks, in both directions."""
    every = [(first, second) for first in range(ranks) for second in range(ranks) if first != second]
    return [make_case(operation, size_bytes, *pair) for operation in operations for pair in every]


def make_facts(moved: dict[int, int], ranks: int) -> list[RankFact]:
    """Return the places of ranks; `moved` has other CPUs for some."""
    rank_facts = []
    for rank in range(ranks):
        host, cpu = find_seat(rank)
        cpu_facts = CPUS[moved.get(rank, cpu)]
        rank_facts.append(
            RankFact(
                rank=rank,
                host=host,
                cpu=cpu_facts.number,
                cpus=str(cpu_facts.number),
                clock=host,
                libmpi="/opt/lib/libmpi.so",
                core=cpu_facts.core,
                socket=cpu_facts.socket,
                numa=cpu_facts.numa,
            )
        )
    return rank_facts


def make_record(name: str, wanted: list[Case], candidates: tuple[str, ...]) -> Campaign:
    """Return the record of the campaign."""
    campaign = campaigns.make_record(name, wanted, candidates, (PLACEMENT,), control=False)
    placement = msgspec.structs.replace(campaign.plan.placements[0], nodes=len(HOSTS), ranks_per_node=PER_HOST)
    return msgspec.structs.replace(
        campaign,
        operations=OPERATIONS,
        plan=msgspec.structs.replace(campaign.plan, placements=[placement], question="Which ranks are near?"),
        machine=msgspec.structs.replace(fakes.make_machine(2 * PER_HOST, SOCKETS), cpus=CPUS, host=HOSTS[0]),
    )


def make_store(
    folder: Path,
    time_ns: Callable[[str, int, int], float] = find_time_by_level,
    *,
    candidates: tuple[str, ...] = campaigns.CANDIDATES,
    wanted: list[Case] | None = None,
    launches: int = 5,
    spread: float = 0.02,
    seed: int = 1,
    moved: Callable[[int], dict[int, int]] = lambda _launch: {},
) -> Store:
    """Write the campaign into a store; `moved` gives the ranks of a launch on other CPUs than usual."""
    chosen = make_cases() if wanted is None else wanted
    campaign_store = store.create(folder, make_record(folder.name, chosen, candidates))
    random = np.random.default_rng(seed)
    ranks = 1 + max(max(find_ends(case)) for case in chosen)
    turns = [(block, name) for block in range(1, launches + 1) for name in candidates]
    for launch, (block, name) in enumerate(turns, start=1):
        state = random.lognormal(0, 0.1)
        results = [make_result(case, time_ns(name, *find_ends(case)) * state, spread, random) for case in chosen]
        launched = campaigns.make_launch(launch, block, 0, name, PLACEMENT)
        campaign_store.append(msgspec.structs.replace(launched, ranks=make_facts(moved(launch), ranks)), results)
    return campaign_store


def find_ends(case: Case) -> tuple[int, int]:
    """Return the two ranks of a case."""
    return int(case.options.get("from", "0")), int(case.options.get("to", "1"))


def make_result(case: Case, true_ns: float, spread: float, random: np.random.Generator) -> CaseResult:
    """Return a case of one launch: a message of no more than a few bytes, or a window of messages at 10 B/ns."""
    messages = MESSAGES if case.operation == "bandwidth" else 1
    typical = (true_ns + messages * case.size_bytes / 10) * random.lognormal(0, spread)
    return take_samples(case, (typical * random.lognormal(0, spread / 10, SAMPLES)).round(2).tolist())


def take_samples(case: Case, times: list[float]) -> CaseResult:
    """Return a case of one launch with these samples."""
    messages = MESSAGES if case.operation == "bandwidth" else 1
    return CaseResult(
        case=case,
        status=CaseStatus.OK,
        sample_count=len(times),
        valid=len(times),
        stopped="samples",
        ranks=2,
        moved_bytes=messages * case.size_bytes,
        moved_messages=messages,
        series=[Series(rank=0, time_ns=times, last_rank=[], late=[], overrun=[])],
    )
