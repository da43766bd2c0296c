"""Launches with the machine in the same state."""

from __future__ import annotations

import math

import msgspec
import pytest
from fakes import campaigns

from rankbench.analysis.statistics import states
from rankbench.model import Exchange, Launch, State


def make_launch(
    number: int, before: State | None, after: State | None, block: int = 1, cpus: tuple[int, ...] = (0, 1)
) -> Launch:
    """Return a launch whose ranks ran on some CPUs."""
    record = campaigns.make_launch(number, block, 0, "alpha", "socket")
    ranks = [msgspec.structs.replace(record.ranks[0], rank=rank, cpu=cpu) for rank, cpu in enumerate(cpus)]
    return msgspec.structs.replace(record, before=before, after=after, ranks=ranks)


def make_steady_launch(number: int, exchange_ns: float, block: int = 1) -> Launch:
    return make_launch(number, campaigns.make_state(exchange_ns), campaigns.make_state(exchange_ns), block)


def make_state(times_ns: dict[tuple[int, int], float]) -> State:
    """Return a state with several pairs of CPUs."""
    pairs = [Exchange(cpus=cpus, median_ns=time_ns, min_ns=time_ns) for cpus, time_ns in times_ns.items()]
    return State(cpus=sorted({cpu for cpus in times_ns for cpu in cpus}), exchange=pairs)


@pytest.mark.parametrize(("after_ns", "changing"), [(50 * 1.14, False), (50 * 1.16, True), (50 / 1.16, True)])
def test_a_change_of_state_during_a_launch_is_known(after_ns: float, changing: bool) -> None:
    (conditions,) = states.find_states([make_launch(1, campaigns.make_state(50), campaigns.make_state(after_ns))])
    assert conditions.changing is changing


def test_after_one_failed_probe_the_other_counts() -> None:
    before, after, neither = states.find_states(
        [
            make_launch(1, campaigns.make_state(50), None),
            make_launch(2, None, campaigns.make_state(210)),
            make_launch(3, State(cpus=[0]), State(cpus=[0])),
        ]
    )
    assert [before.exchange_ns, after.exchange_ns] == pytest.approx([50, 210])
    assert not neither.known
    assert not before.changing


def test_only_pairs_of_used_cpus_count() -> None:
    far = {(0, 1): 50.0, (0, 2): 300.0, (1, 2): 300.0}
    (conditions,) = states.find_states([make_launch(1, make_state(far), make_state(far))])
    assert conditions.exchange_ns == pytest.approx(50)


def test_without_measured_pairs_of_used_cpus_all_pairs_count() -> None:
    (conditions,) = states.find_states([make_launch(1, make_state({(4, 5): 210.0}), make_state({(4, 5): 210.0}))])
    assert conditions.exchange_ns == pytest.approx(210)


def test_a_pair_measured_only_once_does_not_count() -> None:
    values, part = {(0, 1): 50.0, (0, 2): 400.0, (1, 2): 400.0}, {(0, 1): 51.0}
    first = make_launch(1, make_state(values), make_state(part), cpus=(0, 1, 2))
    second = make_launch(2, make_state(part), make_state(values), cpus=(0, 1, 2))
    assert [conditions.exchange_ns for conditions in states.find_states([first, second])] == pytest.approx(
        [math.sqrt(50 * 51)] * 2
    )


def test_a_launch_that_did_not_start_has_no_state() -> None:
    assert states.find_states([msgspec.structs.replace(make_steady_launch(1, 50), command=[])]) == []


def test_groups_are_steady_states_separated_by_a_gap() -> None:
    launches = [
        *(make_steady_launch(number, 210 + number) for number in range(3)),
        *(make_steady_launch(number, 50 + number) for number in range(3, 8)),
    ]
    launches += [make_launch(8, campaigns.make_state(50), campaigns.make_state(210)), make_launch(9, None, None)]
    groups = states.group_states(states.find_states(launches))
    assert [[conditions.launch.number for conditions in group] for group in groups] == [[3, 4, 5, 6, 7], [0, 1, 2]]
