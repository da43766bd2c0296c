"""Values that are shown agree with the comparisons, whatever the machine did; otherwise they are medians."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import fakes
import numpy as np
import polars as pl
import pytest
from fakes import level_figures as fake
from hypothesis import given
from hypothesis import strategies as st

from rankbench.analysis.statistics import compare, median_interval
from rankbench.analysis.statistics.level_values import agree, agree_values
from rankbench.model import Comparison, Level, Summary
from rankbench.model.verdicts import LevelValue

CASES, BLOCKS = 8, 8
PAIRS = list(itertools.combinations(fake.NAMES, 2))
MACHINES = ["one state", "two states", "few visits of one state", "disturbed launches", "disturbed and two states"]


class Quotient(NamedTuple):
    """The quotient of two values of a case, and what was decided about it."""

    case: str
    quotient: float
    result: Comparison | Level

    @property
    def agrees(self) -> bool:
        """The quotient lies in the interval."""
        return self.result.low <= self.quotient <= self.result.high


def draw_campaign(machine: str, seed: int, blocks: int) -> pl.DataFrame:
    """Return values of launches of three candidates that differ by up to 10%, and react differently to far cores."""
    random = np.random.default_rng(seed)
    near = random.normal(0, 0.05, (3, CASES))
    far = near + random.normal(0, 0.3, (3, CASES))
    share = {"one state": np.zeros(blocks), "few visits of one state": np.arange(blocks) == 1}.get(
        machine, random.random(blocks).round(1)
    )
    frame = fake.draw_values(near, far, np.asarray(share), seed=seed, scatter=0.05)
    return disturb(frame, random) if "disturbed" in machine else frame


def disturb(frame: pl.DataFrame, random: np.random.Generator) -> pl.DataFrame:
    """Return the values with one launch in six up to 300 times slower, and a few that are absent."""
    factor = np.where(random.random(len(frame)) < 1 / 6, random.uniform(1, 300, len(frame)), 1.0)
    visits = [[time * slow for time in times] for times, slow in zip(frame["visit_ns"], factor, strict=True)]
    slower = frame.with_columns(pl.Series("visit_ns", visits), figure_ns=pl.col("figure_ns") * factor)
    return slower.filter(pl.Series(random.random(len(frame)) > 0.1))


def summarise(frame: pl.DataFrame) -> list[Summary]:
    """Return the medians over launches."""
    rows = frame.group_by("case", "candidate", maintain_order=True).agg("figure_ns").iter_rows()
    return [make_summary(case, name, np.array(values)) for case, name, values in rows]


def make_summary(case: str, name: str, values: np.ndarray) -> Summary:
    low, high, coverage = median_interval(values)
    middle = float(np.median(values))
    return Summary(
        case, name, len(values), 1, 0, 0, typical_ns=middle, low_ns=low, high_ns=high, coverage=coverage
    )  # fmt: skip


def evaluate(machine: str, seed: int, blocks: int = BLOCKS) -> tuple[list[Comparison], list[Summary], list[Summary]]:
    """Return the comparisons of a simulated campaign, its medians, and the values to show."""
    frame = draw_campaign(machine, seed, blocks)
    levels = {} if machine in {"one state", "disturbed launches"} else fake.list_levels(CASES)
    comparisons, medians = compare(frame, PAIRS, 0.03, levels=levels), summarise(frame)
    return comparisons, medians, agree_values(medians, comparisons, frame, levels, 0.95)


def list_quotients(comparisons: list[Comparison], values: list[Summary]) -> Iterator[Quotient]:
    """Yield the quotient of the shown values with what the comparison says of it: of the case, or of each level."""
    value_of = {(summary.case, summary.candidate): summary for summary in values}
    for comparison in comparisons:
        base, other = (value_of[comparison.case, name] for name in (comparison.base, comparison.other))
        yield Quotient(comparison.case, other.typical_ns / base.typical_ns, comparison)
        for level in comparison.levels:
            parts = base.at(level.name), other.at(level.name)
            if level.enough and parts[0] and parts[1]:
                yield Quotient(comparison.case, parts[1].typical_ns / parts[0].typical_ns, level)


@pytest.mark.costly
@pytest.mark.parametrize("blocks", [3, 5, fakes.mark_thorough(8), fakes.mark_thorough(20)])
@pytest.mark.parametrize("machine", MACHINES)
def test_quotients_of_values_lie_in_the_intervals_of_ratios(machine: str, blocks: int) -> None:
    compared = 0
    for seed in range(4):
        comparisons, _, values = evaluate(machine, seed, blocks)
        for _, quotient, result in list_quotients(comparisons, values):
            compared += 1
            assert result.low * (1 - 1e-9) <= quotient <= result.high * (1 + 1e-9)
            assert not result.different or (quotient > 1) == (result.ratio > 1)
    assert compared >= 4 * CASES


def test_medians_alone_contradict_comparisons() -> None:
    wrong = 0
    for seed in range(4):
        comparisons, medians, _ = evaluate("disturbed and two states", seed)
        wrong += sum(not quotient.agrees for quotient in list_quotients(comparisons, medians))
    assert wrong > 15


def test_medians_that_agree_stay_as_they_are() -> None:
    comparisons, medians, values = evaluate("one state", 1)
    moved_cases = {quotient.case for quotient in list_quotients(comparisons, medians) if not quotient.agrees}
    assert len(moved_cases) < CASES
    pairs = [pair for pair in zip(medians, values, strict=True) if pair[0].case not in moved_cases]
    assert all(median == value for median, value in pairs)


def test_a_value_lies_in_its_interval() -> None:
    for machine, seed in itertools.product(MACHINES, range(2)):
        _, _, values = evaluate(machine, seed)
        every: list[Summary | LevelValue] = [*values, *(level for summary in values for level in summary.levels)]
        assert all(value.low_ns <= value.typical_ns <= value.high_ns for value in every)


def test_a_level_has_the_median_of_its_visits() -> None:
    near, far = np.log([[0.2], [0.3], [0.4]]), np.log([[0.5], [0.6], [0.7]])
    frame = fake.draw_values(near, far, np.array([0.0, 0.25, 0.5, 0.75, 1.0]), scatter=0.0)
    levels = fake.list_levels(1)
    comparisons = compare(frame, PAIRS, 0.03, levels=levels)
    value = agree_values(summarise(frame), comparisons, frame, levels, 0.95)[0]
    assert [(level.name, level.launches) for level in value.levels] == [("near", 4), ("far", 4)]
    assert [level.typical_ns for level in value.levels] == pytest.approx([200, 500 * np.e])
    at = value.at("far")
    assert at
    assert (at.typical_ns, at.launches) == (value.levels[1].typical_ns, 4)
    assert value.typical_ns == pytest.approx(np.sqrt(200 * 500 * np.e))  # Half of the visits are far.


def test_bounds_that_contradict_each_other_are_met_as_well_as_can_be() -> None:
    values = agree(np.zeros(3), [(0, 1, 0.1, 0.1), (1, 2, 0.1, 0.1), (0, 2, 0.5, 0.5)])
    assert values == pytest.approx([-0.2, 0.0, 0.2])


bound = st.tuples(st.integers(0, 3), st.integers(0, 3)).filter(lambda ends: ends[0] != ends[1])


@given(st.lists(st.floats(-3, 3), min_size=4, max_size=4), st.lists(bound, max_size=8), st.integers(0, 100))
def test_values_are_moved_by_the_least_amount(logs: list[float], pairs: list[tuple[int, int]], seed: int) -> None:
    random = np.random.default_rng(seed)
    truth = random.normal(0, 1, 4)
    bounds = [
        (first, second, truth[second] - truth[first] - half, truth[second] - truth[first] + half)
        for (first, second), half in zip(pairs, random.uniform(0.01, 0.5, len(pairs)), strict=True)
    ]
    values = agree(np.array(logs), bounds)
    for first, second, low, high in bounds:
        assert low - 1e-6 <= values[second] - values[first] <= high + 1e-6
    # The projection onto a convex set makes an obtuse angle with every point of the set, of which the truth is one.
    assert (np.array(logs) - values) @ (truth - values) <= 1e-5
