"""Effects of placements on cases: ratios within blocks, the machine's own differences, steps along the sizes."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import fakes
import msgspec
import numpy as np
import polars as pl
import pytest
from fakes import campaigns, hierarchy, placement_campaigns, verdicts

from rankbench.analysis import statistics
from rankbench.analysis.questions import placements
from rankbench.model import Machine, State

SIZES = tuple(2**power for power in range(3, 20))


def make_machine() -> Machine:
    return msgspec.structs.replace(fakes.make_machine(), cpus=hierarchy.CPUS, host="n1")


def test_a_case_is_compared_at_every_two_placements(tmp_path: Path) -> None:
    factors = {"same-l2": 1.0, "same-l3": 1.3, "two-sockets": 3.0}
    store = placement_campaigns.make_store(
        tmp_path / "made", lambda _name, place, _size: 200 * factors[place], names=tuple(factors)
    )
    effects = placements.placement_effects(statistics.compute_launch_values(store.samples()), store.campaign)
    values = {(effect.ratio.base, effect.ratio.other): effect.ratio.ratio for effect in effects if ".8." in effect.line}
    assert values == {
        ("same-l2", "same-l3"): pytest.approx(1.3, rel=0.02),
        ("same-l2", "two-sockets"): pytest.approx(3.0, rel=0.02),
        ("same-l3", "two-sockets"): pytest.approx(3.0 / 1.3, rel=0.02),
    }
    assert {effect.line for effect in effects} == {
        "pingpong.blocking.8.byte..none",
        "pingpong.blocking.1024.byte..none",
    }
    assert {effect.ratio.blocks for effect in effects} == {6}


def test_only_cases_with_equal_numbers_of_ranks_are_compared() -> None:
    two, many = (
        msgspec.structs.replace(verdicts.LINE[0], placement=place, ranks=n) for place, n in (("a", 2), ("b", 8))
    )
    other = msgspec.structs.replace(two, placement="c")
    between = [placement_campaigns.make_case("pingpong", 8, place) for place in ("a", "b")]
    wider = msgspec.structs.replace(between[1], ranks=8)
    record = campaigns.make_record(cases=[two, many, other, between[0], wider])
    pingpong = msgspec.structs.replace(hierarchy.OPERATIONS[0], between_two=True)
    operations = [pingpong, *(operation for operation in record.operations if operation.name == "allreduce")]
    groups = placements.list_same_cases(msgspec.structs.replace(record, operations=operations))
    assert [list(cases.values()) for cases in groups.values()] == [[two, other], [between[0], wider]]


def test_a_ratio_can_be_inverted() -> None:
    (comparison,) = statistics.compare(compare_two_candidates(3.0), [("alpha", "beta")], 0.03)
    back = placements.invert(comparison)
    assert (back.base, back.other) == ("beta", "alpha")
    assert [back.ratio, back.low, back.high] == pytest.approx(
        [1 / comparison.ratio, 1 / comparison.high, 1 / comparison.low]
    )
    unbounded = placements.invert(msgspec.structs.replace(comparison, low=0.0, high=math.inf))
    assert (unbounded.low, unbounded.high) == (0.0, math.inf)


def compare_two_candidates(factor: float) -> pl.DataFrame:
    rows = [
        ("case", name, block, 2 * block + (name == "beta"), (100.0 + block) * (factor if name == "beta" else 1))
        for block in range(4)
        for name in campaigns.CANDIDATES
    ]
    return pl.DataFrame(rows, schema=["case", "candidate", "block", "launch", "figure_ns"], orient="row")


# --- the machine without MPI ------------------------------------------------------------------------------------------


def test_the_exchange_is_that_between_the_cpus_of_the_ranks() -> None:
    around = placement_campaigns.make_state(lambda first, second: 10.0 * first + second, 1.0)
    launch = placement_campaigns.make_launch(1, 1, "alpha", "two-sockets", around)
    assert placements.exchange_ns(launch, [0, 1], make_machine()) == pytest.approx(4.0)


def test_unmeasured_pairs_of_cpus_are_represented_by_similar_ones() -> None:
    """On a machine of many CPUs a ring of pairs is measured, and some far pairs."""
    around = placement_campaigns.make_state(placement_campaigns.find_exchange_ns, 1.0)
    ring = [pair for pair in around.exchange if pair.cpus in {(2, 3), (5, 6), (1, 6)}]
    launch = placement_campaigns.make_launch(
        1, 1, "alpha", "two-sockets", msgspec.structs.replace(around, exchange=ring)
    )
    assert placements.exchange_ns(launch, [0, 1], make_machine()) == pytest.approx(150.0)
    near = placement_campaigns.make_launch(1, 1, "alpha", "same-l2", msgspec.structs.replace(around, exchange=ring))
    assert placements.exchange_ns(near, [0, 1], make_machine()) == pytest.approx(50.0)
    assert math.isnan(placements.exchange_ns(near, [0, 1], fakes.make_machine()))


@pytest.mark.parametrize(
    ("placement", "around"),
    [
        ("nodes", placement_campaigns.make_state(placement_campaigns.find_exchange_ns, 1.0)),
        ("same-l2", None),
        ("same-l2", State(cpus=[0, 1])),
    ],
)
def test_an_unmeasured_exchange_is_unknown(placement: str, around: State | None) -> None:
    assert math.isnan(
        placements.exchange_ns(
            placement_campaigns.make_launch(1, 1, "alpha", placement, around), [0, 1], make_machine()
        )
    )


def test_shared_caches_of_ranks_are_reported_if_launches_agree() -> None:
    near, far, nodes = (
        placement_campaigns.make_launch(1, 1, "alpha", place, None) for place in ("same-l2", "two-sockets", "nodes")
    )
    assert placements.find_shared_kinds([near, near], [0, 1], make_machine()) == {
        "host",
        "socket",
        "NUMA node",
        "L3",
        "L2",
    }
    assert placements.find_shared_kinds([far], [0, 1], make_machine()) == {"host"}
    assert placements.find_shared_kinds([nodes], [0, 1], make_machine()) == set()
    assert placements.find_shared_kinds([near, far], [0, 1], make_machine()) is None
    assert placements.find_shared_kinds([near], [0, 1, 2], make_machine()) is None
    assert [placements.one_host(hosts) for hosts in ({"host"}, set(), None)] == [True, False, False]


def test_copying_counts_read_and_written_bytes() -> None:
    launch = placement_campaigns.make_launch(
        1, 1, "alpha", "same-l2", placement_campaigns.make_state(placement_campaigns.find_exchange_ns, 1.0)
    )
    assert placements.measure_copying([launch]) == pytest.approx(5e9)
    assert math.isnan(placements.measure_copying([placement_campaigns.make_launch(1, 1, "alpha", "same-l2", None)]))


# --- jumps ------------------------------------------------------------------------------------------------------------


def list_jumps(
    time_ns: Callable[[int], float], spread: float = 0.01, seed: int = 1, blocks: int = 6
) -> list[tuple[int, int]]:
    random = np.random.default_rng(seed)
    rows = [
        (str(size), "alpha", block, 1, time_ns(size) * random.lognormal(0, spread))
        for size in SIZES
        for block in range(blocks)
    ]
    launch_values = pl.DataFrame(rows, schema=["case", "candidate", "block", "launch", "figure_ns"], orient="row")
    found_jumps = placements.find_jumps(launch_values, {size: str(size) for size in SIZES}, "alpha")
    return [(jump.smaller_bytes, jump.larger_bytes) for jump in found_jumps]


@pytest.mark.parametrize("limit", [8, 256, 8192, SIZES[-2]])
@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_a_switch_of_protocol_is_a_jump_at_any_size(limit: int, factor: float) -> None:
    assert list_jumps(lambda size: (500 + size / 4) * (factor if size > limit else 1)) == [(limit, 2 * limit)]


@pytest.mark.parametrize("spread", [fakes.mark_thorough(0.01), 0.1, fakes.mark_thorough(0.3)])
def test_a_smooth_curve_has_no_jumps_in_95_of_100_tries(spread: float) -> None:
    assert sum(bool(list_jumps(lambda size: 500 + size / 4, spread, seed)) for seed in range(100)) <= 5


def test_a_step_just_large_enough_for_a_jump_is_rarely_reported() -> None:
    """Times are level but for one step of a quarter: measured steps are larger in half of the tries."""
    results = [list_jumps(lambda size: 1250.0 if size > 256 else 1000.0, 0.02, seed) for seed in range(100)]
    assert sum(map(bool, results)) <= 5


def test_two_blocks_do_not_determine_jumps() -> None:
    assert list_jumps(lambda size: 500.0 if size > 256 else 100.0, blocks=2) == []
