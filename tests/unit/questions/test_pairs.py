"""Groups of similar pairs: found where planted, not invented if all pairs are alike, and compared with levels."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from rankbench.analysis.questions import pairs
from rankbench.analysis.questions.pairs import Table

THRESHOLD = 0.03
CORES, SOCKETS = 4, 2
"""Ranks 0 to 7 are on the cores of host 0, four on each socket, 8 to 15 on those of host 1."""
TRUTH_NS = {2: 200.0, 1: 600.0, 0: 5000.0}
"""Within one socket, across sockets, across hosts."""


def find_level(first: int, second: int) -> int:
    if first // (CORES * SOCKETS) != second // (CORES * SOCKETS):
        return 0
    return 2 if first // CORES == second // CORES else 1


def draw_times(
    truth_ns: Callable[[int, int], float], seed: int, *, ranks: int = 16, blocks: int = 5, spread: float = 0.02
) -> Table:
    """Return times of all pairs in both directions; each launch as a whole is slower or faster, too."""
    random = np.random.default_rng(seed)
    every = list(itertools.permutations(range(ranks), 2))
    true = np.array([[truth_ns(*pair)] for pair in every])
    state = random.lognormal(0, 0.2, (1, blocks))
    times_ns = true * state * random.lognormal(0, spread, (len(every), blocks))
    return Table(every, list(range(1, blocks + 1)), times_ns)


def find_time_ns(first: int, second: int) -> float:
    return TRUTH_NS[find_level(first, second)]


@pytest.mark.parametrize("seed", range(10))
def test_the_levels_of_two_hosts_with_two_sockets_are_found(seed: int) -> None:
    table = draw_times(find_time_ns, seed)
    grouped = pairs.group_pairs(table, THRESHOLD)
    assert [{find_level(*pair) for pair in group} for group in grouped] == [{2}, {1}, {0}]
    assert [len(group) for group in grouped] == [48, 64, 128]
    assert pairs.check_fit(table, grouped, find_level) == pairs.Fit([], [])


def test_groups_may_be_close_and_of_few_pairs() -> None:
    """Four ranks, 10% between sockets: six pairs, of which two are near."""
    near = {(0, 1), (1, 0), (2, 3), (3, 2)}
    table = draw_times(lambda *pair: 200.0 if pair in near else 220.0, 3, ranks=4, spread=0.005)
    assert [sorted(group) for group in pairs.group_pairs(table, THRESHOLD)] == [
        sorted(near),
        sorted(set(table.pairs) - near),
    ]


@pytest.mark.parametrize("ranks", [4, 16])
@pytest.mark.parametrize("spread", [0.005, 0.05, 0.3])
def test_equal_pairs_have_no_groups_in_95_of_100_tries(ranks: int, spread: float) -> None:
    tries = (draw_times(lambda _first, _second: 300.0, seed, ranks=ranks, spread=spread) for seed in range(100))
    assert sum(len(pairs.group_pairs(table, THRESHOLD)) > 1 for table in tries) <= 5


def test_equal_pairs_with_outliers_have_no_groups() -> None:
    """One time in ten is three times as long, for any pair: scatter need not be normal."""
    alarms = 0
    for seed in range(100):
        table = draw_times(lambda _first, _second: 300.0, seed, ranks=8)
        wild = np.random.default_rng(seed).random(table.times_ns.shape) < 0.1
        alarms += len(pairs.group_pairs(table._replace(times_ns=np.where(wild, 3, 1) * table.times_ns), THRESHOLD)) > 1
    assert alarms <= 5


@pytest.mark.parametrize("seed", range(20))
def test_evenly_increasing_times_have_no_groups(seed: int) -> None:
    """As on a mesh of cores, where the distance grows hop by hop: times lie anywhere between 40 and 60 ns."""
    true = np.random.default_rng(seed).uniform(40, 60, (8, 8))
    table = draw_times(lambda first, second: float(true[first, second]), seed, ranks=8, spread=0.001)
    assert len(pairs.group_pairs(table, THRESHOLD)) == 1


def test_differences_below_the_threshold_are_no_groups() -> None:
    table = draw_times(lambda *pair: 204.0 if find_level(*pair) == 0 else 200.0, 1, spread=0.0005)
    assert [len(pairs.group_pairs(table, threshold)) for threshold in (THRESHOLD, 0.01)] == [1, 2]


def test_two_launches_do_not_determine_the_scatter() -> None:
    table = draw_times(find_time_ns, 1, blocks=2)
    assert pairs.group_pairs(table, THRESHOLD) == [table.pairs]


# --- levels -----------------------------------------------------------------------------------------------------------


def test_levels_are_compared_within_launches() -> None:
    first, second, third = pairs.level_times(draw_times(find_time_ns, 1), find_level, THRESHOLD)
    assert [(time.level, time.pairs) for time in (first, second, third)] == [(2, 48), (1, 64), (0, 128)]
    assert first.ratio is None
    for level_time, truth in ((second, 3.0), (third, 25.0)):
        assert level_time.ratio
        assert level_time.ratio.different
        assert level_time.ratio.low < truth < level_time.ratio.high
        assert level_time.ratio.high / level_time.ratio.low < 1.03, "the state of the launches, 20%, has no part in it"
    assert first.typical_ns == pytest.approx(200, rel=0.3)


def test_without_launches_there_are_no_levels() -> None:
    assert pairs.level_times(Table([], [], np.empty((0, 0))), find_level, THRESHOLD) == []


@pytest.mark.parametrize("seed", range(10))
def test_a_slow_pair_among_equal_ones_is_named(seed: int) -> None:
    slow = {(4, 6), (6, 4)}
    table = draw_times(lambda *pair: find_time_ns(*pair) * (1.4 if pair in slow else 1), seed)
    fit = pairs.check_fit(table, pairs.group_pairs(table, THRESHOLD), find_level)
    ((level_number, odd, factor),) = fit.misfits
    assert (level_number, odd, fit.divided) == (2, sorted(slow), [])
    assert factor == pytest.approx(1.4, rel=0.05)


def test_a_slow_pair_is_named_although_it_takes_as_long_as_another_level() -> None:
    table = draw_times(lambda *pair: 600.0 if pair == (0, 3) else find_time_ns(*pair), 1)
    fit = pairs.check_fit(table, pairs.group_pairs(table, THRESHOLD), find_level)
    assert [(misfit.level, misfit.pairs) for misfit in fit.misfits] == [(2, [(0, 3)])]


def test_a_level_that_hides_a_smaller_one_is_reported_as_divided() -> None:
    """Two cores of a socket share an unreported cache."""
    table = draw_times(lambda *pair: 100.0 if pair[0] // 2 == pair[1] // 2 else find_time_ns(*pair), 1)
    fit = pairs.check_fit(table, pairs.group_pairs(table, THRESHOLD), find_level)
    assert fit == pairs.Fit([], [2])


# --- from values -----------------------------------------------------------------------------------------------------


def test_blocks_without_a_pair_are_left_out() -> None:
    keys = {(0, 1): "there", (1, 0): "back", (0, 2): "never"}
    rows = [("there", 1, 10.0), ("back", 1, 12.0), ("there", 2, 11.0), ("there", 3, 9.0), ("back", 3, 8.0)]
    launch_values = pl.DataFrame([*rows, ("other", 1, 5.0)], schema=["case", "block", "figure_ns"], orient="row")
    pair_table = pairs.tabulate_pairs(launch_values, keys)
    assert (pair_table.pairs, pair_table.blocks, pair_table.times_ns.tolist()) == (
        [(0, 1), (1, 0)],
        [1, 3],
        [[10, 9], [12, 8]],
    )
    empty = pairs.tabulate_pairs(launch_values.clear(), keys)
    assert (empty.pairs, empty.blocks, pairs.group_pairs(empty, THRESHOLD)) == ([], [], [[]])
