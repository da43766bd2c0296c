"""Contrasts between values within launches: found where planted, and rarely elsewhere."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from rankbench.analysis.statistics.contrasts import Claim, compare_within_launches, decide_contrasts, judge
from rankbench.analysis.statistics.moderation import moderate_spread

NONE = np.log1p(0.03)


def make_values(rows: list[tuple[str, int, float]]) -> pl.DataFrame:
    """Return the values of alpha: case, launch and time; each launch is a block of its own."""
    frame = pl.DataFrame(rows, ["case", "launch", "figure_ns"], orient="row")
    return frame.with_columns(candidate=pl.lit("alpha"), block=pl.col("launch"))


def test_a_case_is_compared_with_the_sum_of_its_parts_in_each_launch() -> None:
    frame = make_values([("a", 1, 30.0), ("b", 1, 10.0), ("c", 1, 5.0), ("a", 2, 40.0), ("b", 2, 20.0), ("c", 2, 20.0)])
    logs = compare_within_launches(frame, [Claim("a", ("b", "c"), 1.03), Claim("b", ("c",), 1.25)])
    assert [(row["claim"], row["block"]) for row in logs.iter_rows(named=True)] == [(0, 1), (0, 2), (1, 1), (1, 2)]
    assert logs["log"].to_list() == pytest.approx([math.log(2), 0, math.log(2), 0])
    assert logs["margin"].to_list() == pytest.approx([math.log(1.03)] * 2 + [math.log(1.25)] * 2)


def test_a_launch_without_a_part_or_its_time_is_left_out() -> None:
    frame = make_values([("a", 1, 30.0), ("b", 1, 10.0), ("a", 2, 30.0), ("b", 2, 10.0), ("c", 2, 0.0), ("b", 3, 1.0)])
    assert compare_within_launches(frame, [Claim("a", ("b", "c"), 1.0)]).is_empty()
    assert compare_within_launches(frame, []).is_empty()


def test_a_ratio_is_certain_only_beyond_its_margin() -> None:
    logs = pl.DataFrame(
        {
            "claim": [0] * 6 + [1] * 6 + [2] * 2,
            "log": [math.log(1.1)] * 6 + [math.log(1.02)] * 6 + [math.log(9)] * 2,
            "margin": [NONE] * 14,
        }
    )
    results = judge(logs, ["claim"])
    assert [(contrast.key, contrast.blocks, contrast.sure) for contrast in results] == [
        ((0,), 6, True),
        ((1,), 6, False),
        ((2,), 2, False),
    ]
    assert [round(contrast.ratio, 6) for contrast in results] == [1.1, 1.02, 9.0]
    assert results[0].low < 1.1 < results[0].high < 1.102
    assert results[2].high == math.inf


def test_without_claims_there_are_no_results() -> None:
    assert decide_contrasts([], [], [], [], []) == []


@pytest.mark.costly
@pytest.mark.parametrize("launches", [3, 5, 10])
@pytest.mark.thorough
def test_claims_that_are_barely_false_are_rarely_made(launches: int) -> None:
    """All of 50 ratios are exactly at the margin: at most 2 of 100 campaigns may find any ratio beyond it."""
    random = np.random.default_rng(1)
    invented = 0
    for _ in range(100):
        logs = NONE + 0.1 * random.standard_normal((launches, 50))
        keys = [(number,) for number in range(50)]
        results = decide_contrasts(keys, [launches] * 50, logs.mean(axis=0), logs.std(axis=0, ddof=1), [NONE] * 50)
        invented += any(contrast.sure for contrast in results)
    assert invented <= 2


def test_intervals_have_their_stated_coverage() -> None:
    random = np.random.default_rng(2)
    logs = math.log(1.2) + 0.1 * random.standard_normal((6, 2000))
    keys = [(number,) for number in range(2000)]
    results = decide_contrasts(keys, [6] * 2000, logs.mean(axis=0), logs.std(axis=0, ddof=1), [0.0] * 2000, 0.9)
    share = np.mean([contrast.low <= 1.2 <= contrast.high for contrast in results])
    assert share == pytest.approx(0.9, abs=0.02)


# --- moderated scatter ------------------------------------------------------------------------------------------------


def draw_scatters(true: np.ndarray, launches: int, seed: int = 3) -> np.ndarray:
    """Return standard deviations estimated from so many launches."""
    return np.asarray((true * np.random.default_rng(seed).standard_normal((launches, len(true)))).std(axis=0, ddof=1))


def test_equal_scatter_is_estimated_from_all_comparisons() -> None:
    values = draw_scatters(np.full(200, 0.05), 5)
    drawn, degrees = moderate_spread(values, np.full(200, 4), np.full(200, fill_value=True))
    assert np.log(drawn / 0.05).std() < np.log(values / 0.05).std() / 3
    assert degrees.min() > 12


def test_unequal_scatter_is_estimated_separately() -> None:
    true = np.geomspace(0.001, 1, 200)
    values = draw_scatters(true, 5)
    drawn, degrees = moderate_spread(values, np.full(200, 4), np.full(200, fill_value=True))
    assert degrees.max() < 6
    assert np.abs(np.log(drawn / values)).mean() < 0.25


def test_few_comparisons_do_not_determine_the_usual_scatter() -> None:
    values = np.array([0.1, 0.2, 0.3])
    drawn, degrees = moderate_spread(values, np.full(3, 4), np.array([True, True, False]))
    assert (drawn.tolist(), degrees.tolist()) == ([0.1, 0.2, 0.3], [4, 4, 4])


@pytest.mark.parametrize("widest", [1.0, 30.0])
@pytest.mark.thorough
def test_moderated_claims_err_as_rarely_if_scatter_differs(widest: float) -> None:
    """As above, with scatter from 1% to 30 times that."""
    random = np.random.default_rng(4)
    invented, detections = 0, 0
    for _ in range(100):
        wide = 0.01 * np.exp(random.uniform(0, np.log(widest), 60))
        logs = NONE + wide * random.standard_normal((5, 60)) + np.where(np.arange(60) < 10, 10 * wide, 0)
        keys = [(number,) for number in range(60)]
        results = decide_contrasts(keys, [5] * 60, logs.mean(axis=0), logs.std(axis=0, ddof=1), [NONE] * 60)
        invented += sum(contrast.sure for contrast in results[10:])
        detections += sum(contrast.sure for contrast in results[:10])
    assert invented <= 0.02 * detections
    assert detections >= 900
