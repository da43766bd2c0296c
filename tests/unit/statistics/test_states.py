"""Which launches had the machine in the same state."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec
import pytest
from fakes import campaigns

from rankbench.model import Exchange, State
from rankbench.statistics import states

if TYPE_CHECKING:
    from rankbench.model import Launch


def launch(
    number: int, before: State | None, after: State | None, block: int = 1, cpus: tuple[int, ...] = (0, 1)
) -> Launch:
    """Return a launch whose ranks ran on some CPUs."""
    record = campaigns.launch(number, block, 0, "alpha", "socket")
    ranks = [msgspec.structs.replace(record.ranks[0], rank=rank, cpu=cpu) for rank, cpu in enumerate(cpus)]
    return msgspec.structs.replace(record, before=before, after=after, ranks=ranks)


def steady(number: int, exchange_ns: float, block: int = 1) -> Launch:
    return launch(number, campaigns.state(exchange_ns), campaigns.state(exchange_ns), block)


def state(times_ns: dict[tuple[int, int], float]) -> State:
    """Return a state with several pairs of CPUs."""
    pairs = [Exchange(cpus=cpus, median_ns=time_ns, min_ns=time_ns) for cpus, time_ns in times_ns.items()]
    return State(cpus=sorted({cpu for cpus in times_ns for cpu in cpus}), exchange=pairs)


@pytest.mark.parametrize(("after_ns", "changing"), [(50 * 1.14, False), (50 * 1.16, True), (50 / 1.16, True)])
def test_a_state_that_changed_during_a_launch_is_known(after_ns: float, changing: bool) -> None:
    (conditions,) = states.find_states([launch(1, campaigns.state(50), campaigns.state(after_ns))])
    assert conditions.changing is changing


def test_one_probe_that_failed_leaves_the_other() -> None:
    before, after, neither = states.find_states(
        [
            launch(1, campaigns.state(50), None),
            launch(2, None, campaigns.state(210)),
            launch(3, State(cpus=[0]), State(cpus=[0])),
        ]
    )
    assert [before.exchange_ns, after.exchange_ns] == pytest.approx([50, 210])
    assert not neither.known
    assert not before.changing


def test_only_pairs_of_cpus_in_use_count() -> None:
    far = {(0, 1): 50.0, (0, 2): 300.0, (1, 2): 300.0}
    (conditions,) = states.find_states([launch(1, state(far), state(far))])
    assert conditions.exchange_ns == pytest.approx(50)


def test_where_no_pair_in_use_was_measured_all_stand_for_them() -> None:
    (conditions,) = states.find_states([launch(1, state({(4, 5): 210.0}), state({(4, 5): 210.0}))])
    assert conditions.exchange_ns == pytest.approx(210)


def test_a_pair_that_was_not_measured_both_times_does_not_count() -> None:
    values, part = {(0, 1): 50.0, (0, 2): 400.0, (1, 2): 400.0}, {(0, 1): 51.0}
    first = launch(1, state(values), state(part), cpus=(0, 1, 2))
    second = launch(2, state(part), state(values), cpus=(0, 1, 2))
    assert [conditions.exchange_ns for conditions in states.find_states([first, second])] == pytest.approx(
        [math.sqrt(50 * 51)] * 2
    )


def test_a_launch_that_was_never_made_met_nothing() -> None:
    assert states.find_states([msgspec.structs.replace(steady(1, 50), command=[])]) == []


def test_groups_are_steady_states_with_a_gap_between() -> None:
    launches = [
        *(steady(number, 210 + number) for number in range(3)),
        *(steady(number, 50 + number) for number in range(3, 8)),
    ]
    launches += [launch(8, campaigns.state(50), campaigns.state(210)), launch(9, None, None)]
    groups = states.group_states(states.find_states(launches))
    assert [[conditions.launch.number for conditions in group] for group in groups] == [[3, 4, 5, 6, 7], [0, 1, 2]]
