"""Places of ranks: levels by what divides them, their names, the order of ranks, and launches that disagree."""

from __future__ import annotations

import fakes
import msgspec
import pytest
from fakes import campaigns
from wording import WORDING

from rankbench.analysis.questions.places import NOWHERE, Places, find_places
from rankbench.language import render
from rankbench.model import Cpu, Launch, Machine

TWO_SOCKETS = [
    Cpu(number=cpu, core=cpu, socket=cpu // 4, numa=cpu // 4, caches={"L2": cpu // 2 * 2, "L3": cpu // 4 * 4})
    for cpu in range(8)
]
"""Two sockets of four cores, each with an L3; two cores each share an L2."""
THREADS = [Cpu(number=cpu, core=cpu % 2, socket=0, numa=0, caches={"L2": cpu % 2, "L3": 0}) for cpu in range(4)]
"""One socket of two cores with two hardware threads each."""


def make_machine(cpus: list[Cpu]) -> Machine:
    return msgspec.structs.replace(fakes.make_machine(), cpus=cpus)


def make_launch(*locations: tuple[str, int], cpus: list[Cpu] | None = None) -> Launch:
    """Return a launch whose ranks ran on these hosts and CPUs; without `cpus` the system reports no topology."""
    record = campaigns.make_launch(1, 1, 0, "alpha", "socket")
    known = {cpu.number: cpu for cpu in cpus or ()}
    ranks = []
    for rank, (host, cpu) in enumerate(locations):
        fact = msgspec.structs.replace(record.ranks[0], rank=rank, host=host, cpu=cpu)
        if seat := known.get(cpu):
            fact = msgspec.structs.replace(fact, core=seat.core, socket=seat.socket, numa=seat.numa)
        ranks.append(fact)
    return msgspec.structs.replace(record, ranks=ranks)


def place_ranks(cpus: list[Cpu], *locations: tuple[str, int]) -> Places:
    return find_places([make_launch(*locations, cpus=cpus)], make_machine(cpus))


def test_pairs_that_share_the_same_are_one_level() -> None:
    result = place_ranks(TWO_SOCKETS, *(("n1", cpu) for cpu in range(8)))
    assert [render(level.name) for level in result.levels] == ["across sockets", WORDING, "within one L2"]
    assert [result.level(0, other) for other in range(1, 8)] == [2, 1, 1, 0, 0, 0, 0]
    assert render(result.name(result.level(0, 7))) == "across sockets"


def test_hosts_are_the_largest_parts() -> None:
    result = place_ranks(TWO_SOCKETS, *((host, cpu) for host in ("n1", "n2") for cpu in range(8)))
    assert [level.kinds for level in result.levels] == [("host",), ("socket", "NUMA node", "L3"), ("L2",)]
    assert (result.level(0, 8), render(result.name(NOWHERE))) == (NOWHERE, "across hosts")
    assert result.level(0, 7) == 0


def test_ranks_are_ordered_by_the_machine() -> None:
    """Ranks alternate between hosts and sockets; near ranks become neighbours."""
    locations = [(host, 4 * socket + core) for core in range(2) for socket in range(2) for host in ("b", "a")]
    result = place_ranks(TWO_SOCKETS, *locations)
    assert [(location.host, location.cpu) for location in result.locations.values()] == [
        ("b", 0), ("b", 1), ("b", 4), ("b", 5), ("a", 0), ("a", 1), ("a", 4), ("a", 5),
    ]  # fmt: skip
    assert list(result.locations) == [0, 4, 2, 6, 1, 5, 3, 7]
    assert result.describe_location(6) == "b CPU 5"


def test_one_rank_on_each_socket_is_across_sockets() -> None:
    assert [render(level.name) for level in place_ranks(TWO_SOCKETS, ("n1", 0), ("n1", 4)).levels] == ["across sockets"]


def test_one_rank_on_each_host_shares_nothing() -> None:
    result = place_ranks(TWO_SOCKETS, ("n1", 0), ("n2", 0))
    assert (result.levels, render(result.name(result.level(0, 1)))) == ([], "across hosts")


def test_hardware_threads_share_a_core() -> None:
    result = place_ranks(THREADS, *(("n1", cpu) for cpu in range(4)))
    assert [render(level.name) for level in result.levels] == WORDING
    assert list(result.locations) == [0, 2, 1, 3]


def test_without_topology_only_hosts_are_known() -> None:
    result = find_places([make_launch(("n1", 0), ("n1", 1))], make_machine([]))
    assert [render(level.name) for level in result.levels] == ["within one host"]


def test_caches_are_known_if_cpus_are_numbered_alike() -> None:
    other = [msgspec.structs.replace(cpu, socket=0, numa=0) for cpu in TWO_SOCKETS]
    ranks = [make_launch(("n2", 0), ("n2", 1), ("n2", 4), cpus=cpus) for cpus in (TWO_SOCKETS, other)]
    alike, unlike = (find_places([rank], make_machine(TWO_SOCKETS)) for rank in ranks)
    assert [render(level.name) for level in alike.levels] == WORDING
    assert [render(level.name) for level in unlike.levels] == WORDING


@pytest.mark.parametrize(("cpu", "disputed"), [(1, []), (2, [1]), (4, [1])])
def test_launches_that_disagree_are_reported(cpu: int, disputed: list[int]) -> None:
    first, second = (make_launch(("n1", 0), ("n1", other), cpus=TWO_SOCKETS) for other in (1, cpu))
    result = find_places([first, second], make_machine(TWO_SOCKETS))
    assert result.disputed == disputed
    assert bool(result.levels) == (not disputed)
    assert result.describe_location(1) == ("not known" if disputed else "n1 CPU 1")


def test_without_launches_the_places_are_unknown() -> None:
    result = find_places([], make_machine(TWO_SOCKETS))
    assert (result.locations, result.levels, result.disputed, render(result.name(NOWHERE))) == ({}, [], [], "anywhere")
