"""Comparisons at each level of the reference, against known truth."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
import scipy
from fakes import level_figures as fake

from rankbench.analysis.questions.placements import invert
from rankbench.analysis.statistics import FEWEST_BLOCKS, compare
from rankbench.analysis.statistics.looks import Penalty
from rankbench.model import Comparison

PAIR = [("a", "b")]
HALF = np.array([0.0, 1.0] * 6)


def compare_two(near: float, far: float, share: np.ndarray, cases: int = 12) -> list[Comparison]:
    """Compare two candidates, of which b has these relative times near and far, in the first case only."""
    logs = np.zeros((2, 2, cases))
    logs[:, 1, 0] = np.log([near, far])
    return compare(fake.draw_values(logs[0], logs[1], share), PAIR, 0.03, levels=fake.list_levels(cases))


def test_intervals_of_levels_and_of_both_cover_the_truth() -> None:
    """Candidates react to far cores with a standard deviation of 0.3; a quarter of the blocks is far, consecutively."""
    random, cases = np.random.default_rng(3), 24
    inside: dict[str, list[bool]] = {"near": [], "far": [], "": []}
    wrong = total = 0
    for seed in range(8):
        near, far = np.zeros((2, cases)), random.normal(0, 0.3 / math.sqrt(2), (2, cases))
        share = np.array([1.0] * 4 + [0.0] * 12)
        for comparison in compare(
            fake.draw_values(near, far, share, seed=seed), PAIR, 0.03, levels=fake.list_levels(cases)
        ):
            reaction = far[1, int(comparison.case[5:])] - far[0, int(comparison.case[5:])]
            truths = {"near": 0.0, "far": reaction, "": reaction / 4}
            inside[""].append(comparison.low <= math.exp(truths[""]) <= comparison.high)
            for level in comparison.levels:
                inside[level.name].append(level.low <= math.exp(truths[level.name]) <= level.high)
            wrong += comparison.levels[0].different
            total += 1
    assert {name: np.mean(hits) > 0.9 for name, hits in inside.items()} == {"near": True, "far": True, "": True}
    assert total == 8 * cases
    assert wrong <= 2


def test_a_single_level_changes_nothing() -> None:
    logs = np.random.default_rng(2).normal(0, 0.1, (3, 12))
    launch_values = fake.draw_values(logs, logs, np.zeros(8))
    pairs = [("a", "b"), ("a", "c"), ("b", "c")]
    plain = compare(launch_values, pairs, 0.03, control=[("c", "a")], looks=[5, 8, 20])
    assert compare(launch_values, pairs, 0.03, control=[("c", "a")], looks=[5, 8, 20], levels={}) == plain
    elsewhere = {"another case": fake.LEVELS}
    assert compare(launch_values, pairs, 0.03, control=[("c", "a")], looks=[5, 8, 20], levels=elsewhere) == plain
    assert all(not comparison.levels for comparison in plain)


def test_a_case_that_reverses_is_different_at_each_level_and_not_overall() -> None:
    comparison, *others = compare_two(1.2, 0.85, HALF)
    assert [(level.name, level.blocks, level.share, level.different) for level in comparison.levels] == [
        ("near", 6, 0.5, True),
        ("far", 6, 0.5, True),
    ]
    assert [level.ratio for level in comparison.levels] == pytest.approx([1.2, 0.85], rel=0.03)
    assert comparison.ratio == pytest.approx(math.sqrt(1.2 * 0.85), rel=0.03)
    assert (comparison.blocks, comparison.different, comparison.alike, comparison.reverses) == (12, False, False, True)
    assert not any(other.different or other.reverses for other in others)


def test_a_difference_at_both_levels_holds_overall() -> None:
    comparison = compare_two(1.3, 1.2, HALF)[0]
    assert (comparison.different, comparison.alike, comparison.reverses) == (True, False, False)
    assert comparison.p_adjusted == max(level.p_adjusted for level in comparison.levels)
    assert comparison.low < math.sqrt(1.3 * 1.2) < comparison.high


@pytest.mark.parametrize(("near", "far"), [(1.3, 1.0), (1.0, 1.3)])
def test_a_difference_at_one_level_only_is_undecided_overall(near: float, far: float) -> None:
    comparison = compare_two(near, far, HALF)[0]
    assert (comparison.different, comparison.alike, comparison.reverses) == (False, False, False)


def test_a_level_with_few_blocks_leaves_the_decision_to_the_other() -> None:
    comparison, *others = compare_two(1.2, 0.5, np.array([1.0, 1.0] + [0.0] * 10))
    assert [(level.name, level.blocks, level.enough) for level in comparison.levels] == [
        ("near", 10, True),
        ("far", 2, False),
    ]
    assert not comparison.levels[1].different
    assert comparison.different
    assert comparison.ratio == pytest.approx(1.2, rel=0.03)
    assert comparison.blocks == 12
    # Two rows without a chance would double the correction of the others.
    alone = compare_two(1.2, 0.5, np.zeros(10))
    assert max(other.p_adjusted for other in others) <= max(other.p_adjusted for other in alone) + 0.2


@pytest.mark.parametrize("share", [[0, 1], [0]])
def test_too_few_pairs_decide_nothing(share: list[float]) -> None:
    comparison = compare_two(1.5, 1.5, np.array(share, float))[0]
    assert (comparison.different, comparison.alike, comparison.blocks) == (False, False, len(share))


@pytest.mark.parametrize("share", [[0, 1, 0, 1], [0, 0, 1], [1, 0, 0.5]])
def test_levels_with_few_pairs_have_their_scatter_in_common(share: list[float]) -> None:
    comparison, *others = compare_two(1.5, 1.4, np.array(share, float))
    assert all(level.enough and level.different and level.high < 2 for level in comparison.levels)
    assert comparison.different
    assert comparison.low < 1.5
    assert comparison.high > 1.4
    assert not any(other.different for other in others)


@pytest.mark.thorough
@pytest.mark.parametrize("far", [1.0, 1.5])
def test_few_pairs_at_each_level_hardly_accuse_equal_candidates(far: float) -> None:
    """Candidates are equal near, and in half of the campaigns far, too; five blocks have three or four pairs."""
    random, cases, campaigns = np.random.default_rng(11), 12, 60
    wrong = inside = total = 0
    for seed in range(campaigns):
        logs = np.zeros((2, 2, cases))
        logs[1, 1] = math.log(far)
        share = random.permutation([0.0, 0.0, 1.0, 1.0][: random.integers(3, 5)])
        values = fake.draw_values(logs[0], logs[1], share, seed=seed)
        comparisons = compare(values, PAIR, 0.03, levels=fake.list_levels(cases))
        wrong += any(comparison.different for comparison in comparisons)
        levels = [(level, {"near": 1.0, "far": far}[level.name]) for each in comparisons for level in each.levels]
        inside += sum(level.low <= truth <= level.high for level, truth in levels)
        total += len(levels)
    assert wrong <= 0.05 * campaigns
    assert inside >= 0.93 * total


def test_blocks_with_visits_at_both_levels_count_for_both() -> None:
    comparison = compare_two(1.2, 0.85, np.full(8, 0.5))[0]
    assert [(level.blocks, level.different) for level in comparison.levels] == [(8, True), (8, True)]


def test_visits_of_an_unknown_level_belong_to_neither() -> None:
    logs = np.zeros((2, 12))
    launch_values = fake.draw_values(logs, logs, HALF)
    slow = pl.col("visit_ns").list.eval(pl.element() * 9)
    unknown = launch_values.with_columns(
        visit_hop_ns=pl.lit([0.0] * 4),
        visit_ns=pl.when(pl.col("candidate") == "b").then(slow).otherwise("visit_ns"),
        block=pl.col("block") + 100,
    )
    comparisons = compare(pl.concat([launch_values, unknown]), PAIR, 0.03, levels=fake.list_levels(12))
    assert all(comparison.blocks == 12 and not comparison.different for comparison in comparisons)


def test_a_comparison_at_a_level_can_be_inverted() -> None:
    comparison = compare_two(1.2, 0.85, HALF)[0]
    near = comparison.at("near")
    assert near
    assert (near.ratio, near.different, near.levels) == (comparison.levels[0].ratio, True, [comparison.levels[0]])
    back = invert(comparison)
    assert back.levels[0].ratio == pytest.approx(1 / comparison.levels[0].ratio)
    assert back.levels[0].low == pytest.approx(1 / comparison.levels[0].high)
    plain = compare(fake.draw_values(np.zeros((2, 2)), np.zeros((2, 2)), np.zeros(4)), PAIR, 0.03)[0]
    assert plain.at("near") == plain


@pytest.mark.parametrize("stay", [0.0, 0.8])
@pytest.mark.parametrize("share", [0.1, 0.33, 0.5])
def test_the_correction_for_looks_holds_at_a_level_of_few_blocks(share: float, stay: float) -> None:
    """A level's share of the information at a look is not that of the blocks; false alarms must still be 5%."""
    random, looks, campaigns = np.random.default_rng(1), [5, 7, 10, 15, 22, 33, 49, 60], 4000
    values = random.random((campaigns, looks[-1])) < share
    for block in range(1, looks[-1]):
        values[:, block] = np.where(random.random(campaigns) < stay, values[:, block - 1], values[:, block])
    sums = (random.normal(size=values.shape) * values).cumsum(axis=1)
    alarmed = np.zeros(campaigns, bool)
    for look in looks:
        count = values[:, :look].sum(axis=1)
        p_values = 2 * scipy.stats.norm.sf(np.abs(sums[:, look - 1]) / np.sqrt(np.maximum(count, 1)))
        alarmed |= (count >= FEWEST_BLOCKS) & (Penalty(tuple(looks), look).p_value(p_values) <= 0.05)
    assert alarmed.mean() < 0.055
