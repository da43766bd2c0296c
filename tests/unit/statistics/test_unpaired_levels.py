"""Two campaigns with different shares of near and far visits, compared at each level."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from fakes.level_figures import draw_values, list_levels

from rankbench.analysis.statistics.unpaired import compare_unpaired
from rankbench.analysis.statistics.unpaired_levels import AtLevels, compare_at_levels, compute_far_share

if TYPE_CHECKING:
    import polars as pl

CASES, BLOCKS = 10, 15
EQUAL = np.zeros((1, CASES))


def make_side(
    share: float, *, seed: int, slower_far: float = 1.0, slower_near: float = 1.0, blocks: int = BLOCKS
) -> pl.DataFrame:
    """Return a campaign with this share of far visits; the first case may be slower at a level."""
    near, far = EQUAL.copy(), EQUAL.copy()
    near[0, 0], far[0, 0] = math.log(slower_near), math.log(slower_far)
    values = np.repeat([1.0, 0.0], [round(share * blocks), blocks - round(share * blocks)])
    return draw_values(near, far, values, seed=seed)


def compare_sides(then: pl.DataFrame, now: pl.DataFrame) -> list[AtLevels]:
    return compare_at_levels(then, now, [("a", "a")], 0.05, levels=list_levels(CASES))


@pytest.mark.thorough
def test_another_mix_of_near_and_far_is_no_difference() -> None:
    """The same library with 20% far launches then and 80% now: 40 times 10 cases."""
    plain, wrong = 0, 0
    for seed in range(40):
        then, now = make_side(0.2, seed=seed), make_side(0.8, seed=1000 + seed)
        plain += sum(comparison.ratio > 1.05 for comparison in compare_unpaired(then, now, [("a", "a")], 0.05))
        levelses = compare_sides(then, now)
        wrong += sum(at.different for at_levels in levelses for at in (at_levels.levels or {}).values())
        assert not any(at_levels.overall.different for at_levels in levelses)
    assert plain == 40 * CASES
    assert wrong == 0


def test_visits_of_both_levels_within_launches_are_divided() -> None:
    then, now = (draw_values(EQUAL, EQUAL, np.full(BLOCKS, share), seed=seed) for seed, share in ((1, 0.25), (2, 0.75)))
    for at_levels in compare_sides(then, now):
        assert at_levels.levels
        assert list(at_levels.levels) == ["near", "far"]
        assert 0.95 < at_levels.overall.ratio < 1.05
        assert not at_levels.overall.different


def test_the_share_of_far_visits_counts_all_cases_with_levels() -> None:
    frame = make_side(0.4, seed=1)
    assert compute_far_share(frame, list_levels(CASES)) == pytest.approx(0.4)
    assert compute_far_share(frame, list_levels(CASES // 2)) == pytest.approx(0.4)
    assert math.isnan(compute_far_share(frame, {}))


@pytest.mark.parametrize("level", ["near", "far"])
def test_a_library_slower_at_one_level_is_found_there(level: str) -> None:
    levelses = compare_sides(make_side(0.4, seed=1), make_side(0.6, seed=2, **{f"slower_{level}": 1.4}))  # type: ignore[arg-type]
    (slow,) = (at_levels for at_levels in levelses if any(at.different for at in (at_levels.levels or {}).values()))
    assert slow.levels
    assert slow.overall.case == slow.levels[level].case == "case 00"
    assert slow.levels[level].ratio == pytest.approx(1.4, rel=0.1)
    assert [name for name, at in slow.levels.items() if at.different] == [level]
    assert slow.overall.different


def test_slower_near_and_faster_far_is_no_overall_difference() -> None:
    levelses = compare_sides(make_side(0.4, seed=1), make_side(0.6, seed=2, slower_near=1.4, slower_far=0.7))
    (mixed,) = (at_levels for at_levels in levelses if any(at.different for at in (at_levels.levels or {}).values()))
    assert not mixed.overall.different


def test_without_a_common_level_the_difference_is_unknown() -> None:
    for at_levels in compare_sides(make_side(0.0, seed=1), make_side(1.0, seed=2)):
        assert at_levels.levels == {}
        assert (
            at_levels.overall.low,
            at_levels.overall.high,
            at_levels.overall.p_adjusted,
            at_levels.overall.different,
        ) == (
            0.0,
            math.inf,
            1.0,
            False,
        )


def test_cases_of_one_level_are_compared_directly() -> None:
    then, now = make_side(0.4, seed=1), make_side(0.6, seed=2)
    plain = compare_unpaired(then, now, [("a", "a")], 0.05)
    assert [
        compare_at_level.overall for compare_at_level in compare_at_levels(then, now, [("a", "a")], 0.05, levels={})
    ] == plain
