"""Which launches met the machine in like state, and what comparing like with like leaves of a comparison."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec
import polars as pl
import pytest
from fakes import campaigns

from rankbench import statistics
from rankbench.model import Exchange, State
from rankbench.statistics import states

if TYPE_CHECKING:
    from rankbench.model import Comparison, Launch


def launch(
    number: int, before: State | None, after: State | None, block: int = 1, cpus: tuple[int, ...] = (0, 1)
) -> Launch:
    """Return a launch whose ranks ran on some CPUs."""
    made = campaigns.launch(number, block, 0, "alpha", "socket")
    ranks = [msgspec.structs.replace(made.ranks[0], rank=rank, cpu=cpu) for rank, cpu in enumerate(cpus)]
    return msgspec.structs.replace(made, before=before, after=after, ranks=ranks)


def steady(number: int, exchange_ns: float, block: int = 1) -> Launch:
    return launch(number, campaigns.state(exchange_ns), campaigns.state(exchange_ns), block)


def state(times_ns: dict[tuple[int, int], float]) -> State:
    """Return a state with several pairs of CPUs."""
    pairs = [Exchange(cpus=cpus, median_ns=time_ns, min_ns=time_ns) for cpus, time_ns in times_ns.items()]
    return State(cpus=sorted({cpu for cpus in times_ns for cpu in cpus}), exchange=pairs)


def pairs(*launches: Launch) -> list[tuple[int, int]]:
    return sorted(states.unlike(launches).iter_rows())


def test_launches_of_a_block_in_unlike_states_are_told_in_both_directions() -> None:
    assert pairs(steady(1, 50), steady(2, 210), steady(3, 52)) == [(1, 2), (2, 1), (2, 3), (3, 2)]


def test_launches_of_other_blocks_are_no_pairs() -> None:
    assert pairs(steady(1, 50, block=1), steady(2, 210, block=2)) == []


@pytest.mark.parametrize(("apart", "told"), [(1.14, []), (1.16, [(1, 2), (2, 1)])])
def test_the_threshold_is_a_ratio(apart: float, told: list[tuple[int, int]]) -> None:
    assert pairs(steady(1, 50), steady(2, 50 * apart)) == told
    assert pairs(steady(1, 50 * apart), steady(2, 50)) == told


def test_a_launch_during_which_the_state_changed_is_like_no_other() -> None:
    changing = launch(2, campaigns.state(50), campaigns.state(210))
    middle = math.sqrt(50 * 210)
    assert pairs(steady(1, middle), changing) == [(1, 2), (2, 1)]
    assert pairs(changing, msgspec.structs.replace(changing, number=3)) == [(2, 3), (3, 2)]


@pytest.mark.parametrize(
    ("changing", "steadily", "restless"), [(5, 14, True), (5, 15, False), (4, 0, False), (5, 0, True)]
)
def test_on_a_machine_that_changes_too_often_launches_have_no_state(
    changing: int, steadily: int, restless: bool
) -> None:
    changed = [launch(number, campaigns.state(50), campaigns.state(210)) for number in range(changing)]
    every = changed + [steady(number, 50) for number in range(changing, changing + steadily)]
    unknown = [launch(number, None, campaigns.state(50)) for number in range(100, 120)]
    assert states.restless(states.met(every + unknown)) is restless
    assert (pairs(*every) == []) is restless


def test_what_is_not_known_leaves_out_no_launch() -> None:
    unknown = launch(2, None, None)
    assert pairs(steady(1, 50), unknown, steady(3, 52)) == []
    alone = State(cpus=[0])
    assert pairs(launch(1, alone, alone), launch(2, alone, alone)) == []


def test_one_probe_that_failed_leaves_the_other() -> None:
    assert pairs(steady(1, 50), launch(2, None, campaigns.state(210))) == [(1, 2), (2, 1)]
    assert pairs(steady(1, 50), launch(2, campaigns.state(51), None)) == []


def test_only_pairs_of_cpus_in_use_count() -> None:
    elsewhere = {(0, 1): 50.0, (0, 2): 60.0, (1, 2): 60.0}
    slow = elsewhere | {(0, 2): 300.0, (1, 2): 300.0}
    near = slow | {(0, 1): 210.0}
    one, two, three = (
        launch(number, state(times), state(times)) for number, times in enumerate((elsewhere, slow, near), 1)
    )
    assert pairs(one, two) == []
    assert pairs(one, three) == [(1, 3), (3, 1)]


def test_where_no_pair_in_use_was_measured_all_stand_for_them() -> None:
    one, two = (
        launch(number, state({(4, 5): time}), state({(4, 5): time})) for number, time in enumerate((50.0, 210.0), 1)
    )
    assert pairs(one, two) == [(1, 2), (2, 1)]


def test_a_pair_that_was_not_measured_both_times_does_not_count() -> None:
    whole, part = {(0, 1): 50.0, (0, 2): 400.0, (1, 2): 400.0}, {(0, 1): 51.0}
    one = launch(1, state(whole), state(part), cpus=(0, 1, 2))
    two = launch(2, state(part), state(whole), cpus=(0, 1, 2))
    assert pairs(one, two) == []
    assert [met.exchange_ns for met in states.met([one, two])] == pytest.approx([math.sqrt(50 * 51)] * 2)


def test_a_launch_that_was_never_made_met_nothing() -> None:
    assert states.met([msgspec.structs.replace(steady(1, 50), command=[])]) == []


def test_groups_are_steady_states_with_a_gap_between() -> None:
    launches = [
        *(steady(number, 210 + number) for number in range(3)),
        *(steady(number, 50 + number) for number in range(3, 8)),
    ]
    launches += [launch(8, campaigns.state(50), campaigns.state(210)), launch(9, None, None)]
    groups = states.groups(states.met(launches))
    assert [[met.launch.number for met in group] for group in groups] == [[3, 4, 5, 6, 7], [0, 1, 2]]


# --- comparing --------------------------------------------------------------------------------------------------------


def figures(base: list[float], other: list[float]) -> pl.DataFrame:
    """Return figures of two candidates, whose launches of block n are 2n and 2n + 1."""
    rows = [
        ("c", name, block, 2 * block + place, figure_ns)
        for block, both in enumerate(zip(base, other, strict=True))
        for place, (name, figure_ns) in enumerate(zip("ab", both, strict=True))
    ]
    return pl.DataFrame(rows, schema=["case", "candidate", "block", "launch", "figure_ns"], orient="row")


def compare(measured: pl.DataFrame, apart: list[int], timeless: tuple[str, ...] = ()) -> Comparison:
    """Compare a with b, where the two launches of some blocks met unlike states."""
    rows = [pair for block in apart for pair in ((2 * block, 2 * block + 1), (2 * block + 1, 2 * block))]
    unlike = pl.DataFrame(rows, schema=states.NONE.schema, orient="row")
    (comparison,) = statistics.compare(measured, [("a", "b")], threshold=0.03, unlike=unlike, timeless=timeless)
    return comparison


def test_blocks_of_unlike_states_do_not_count_and_are_told() -> None:
    measured = figures([100.0, 100.0, 100.0, 100.0, 100.0], [110.0, 440.0, 110.1, 109.9, 430.0])
    found = compare(measured, [1, 4])
    assert (found.blocks, found.left_out, found.different) == (3, 2, True)
    assert found.ratio == pytest.approx(1.1, rel=1e-3)
    assert compare(measured, []).left_out == 0
    assert not compare(measured, []).different


def test_what_is_no_time_is_compared_in_any_state() -> None:
    measured = figures([100.0, 100.0, 100.0], [110.0, 110.1, 109.9])
    assert not compare(measured, [0, 1, 2]).different
    found = compare(measured, [0, 1, 2], timeless=("c",))
    assert (found.blocks, found.left_out, found.different) == (3, 0, True)


def test_fewer_than_three_blocks_in_like_state_cannot_be_judged() -> None:
    found = compare(figures([100.0] * 5, [200.0, 200.1, 199.9, 200.2, 199.8]), [0, 1, 2])
    assert (found.blocks, found.left_out, found.different) == (2, 3, False)


def test_where_no_block_is_left_the_ratio_is_of_all_and_nothing_is_known() -> None:
    found = compare(figures([100.0, 100.0], [200.0, 200.0]), [0, 1])
    assert (found.blocks, found.left_out, found.different) == (0, 2, False)
    assert found.ratio == pytest.approx(2.0)
    assert (found.low, found.high, found.p_value) == (0.0, math.inf, 1.0)
