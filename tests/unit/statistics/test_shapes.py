"""Steps along the sizes: none on a smooth curve, whatever its start, bandwidth and sizes; planted ones are found."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from fakes import mark_thorough

from rankbench.analysis.statistics.shapes import Curve, Step, compute_excesses, find_steps, list_curves

SIZES = [1 << power for power in range(3, 21)]
FIRST, SECOND = 12, 16
"""Indices of 32 KiB and of 512 KiB, from which on times are different."""


def draw_curve(times: np.ndarray, spread: float = 0.0, launches: int = 6, seed: int = 1, line: int = 0) -> Curve:
    noise = spread * np.random.default_rng(seed).standard_normal((launches, len(times)))
    return Curve(line, "alpha", SIZES[: len(times)], list(range(launches)), np.log(times) + noise)


def make_smooth(start_ns: float = 500, bytes_per_ns: float = 4) -> np.ndarray:
    return start_ns + np.array(SIZES) / bytes_per_ns


def list_steps(results: list[Step]) -> list[tuple[int, int, bool]]:
    return [(step.smaller_bytes, step.larger_bytes, step.up) for step in results]


def test_values_become_a_row_per_launch_and_a_column_per_size() -> None:
    rows = [("a8", 1, 1, 1.0), ("a64", 1, 1, np.e), ("a64", 2, 4, np.e**2), ("x", 1, 1, 5.0)]
    frame = pl.DataFrame(rows, ["case", "block", "launch", "figure_ns"], orient="row").with_columns(
        candidate=pl.lit("alpha")
    )
    (result,) = list_curves(frame, [{8: "a8", 64: "a64"}])
    assert (result.line, result.candidate, result.sizes, result.blocks) == (0, "alpha", [8, 64], [1, 2])
    assert result.logs == pytest.approx(np.array([[0, 1], [np.nan, 2]]), nan_ok=True)


@pytest.mark.parametrize("sizes", [SIZES, SIZES[::3], [8, 64, 1 << 20], [24, 100, 5000, 70000]])
@pytest.mark.parametrize(("start_ns", "bytes_per_ns"), [(0, 1), (500, 4), (1e6, 4), (1, 0.001)])
def test_a_constant_and_a_linear_part_leave_no_residual(sizes: list[int], start_ns: float, bytes_per_ns: float) -> None:
    logs = np.log(start_ns + np.array([sizes]) / bytes_per_ns)
    assert max(excess.max() for excess in compute_excesses(sizes, logs)) <= 1e-9


def test_a_step_up_and_a_step_down_are_found_at_their_sizes() -> None:
    times = make_smooth()
    times[FIRST:] *= 2
    times[SECOND:] /= 1.8
    results = find_steps([draw_curve(times, 0.02)], 0.03)
    assert list_steps(results) == [(SIZES[FIRST - 1], SIZES[FIRST], True), (SIZES[SECOND - 1], SIZES[SECOND], False)]
    assert results[0].excess.low < 2 * 0.98 < results[0].excess.high * 1.1
    assert results[0].factor == pytest.approx(2 * make_smooth()[FIRST] / make_smooth()[FIRST - 1], rel=0.03)


def test_a_single_slow_size_is_a_step_up_and_a_step_down() -> None:
    times = make_smooth()
    times[FIRST] *= 1.8
    assert list_steps(find_steps([draw_curve(times, 0.02)], 0.03)) == [
        (SIZES[FIRST - 1], SIZES[FIRST], True),
        (SIZES[FIRST], SIZES[FIRST + 1], False),
    ]


@pytest.mark.parametrize(("place", "factor"), [(1, 2.0), (17, 4.0), (1, 0.5), (17, 0.5)])
def test_the_first_and_the_last_step_may_be_jumps_too(place: int, factor: float) -> None:
    times = make_smooth()
    times[place:] *= factor
    assert (SIZES[place - 1], SIZES[place], factor > 1) in list_steps(find_steps([draw_curve(times, 0.01)], 0.03))


def test_a_small_step_or_one_in_few_launches_is_not_reported() -> None:
    times = make_smooth()
    times[FIRST:] *= 1.15
    assert find_steps([draw_curve(times, 0.01)], 0.03) == []
    times[FIRST:] *= 2
    assert find_steps([draw_curve(times, 0.01, launches=2)], 0.03) == []
    assert find_steps([], 0.03) == []


def test_a_size_missing_in_some_launches_is_judged_by_the_others() -> None:
    times = make_smooth()
    times[FIRST:] *= 2
    base = draw_curve(times, 0.01, launches=8)
    base.logs[:3, FIRST] = np.nan
    (step,) = find_steps([base], 0.03)
    assert (step.smaller_bytes, step.excess.blocks) == (SIZES[FIRST - 1], 5)


@pytest.mark.thorough
@pytest.mark.parametrize(("spread", "launches"), [(0.01, 5), mark_thorough(0.1, 5), (0.3, 10)])
def test_noise_alone_rarely_makes_a_step(spread: float, launches: int) -> None:
    """Ten smooth curves per campaign: at most 2 of 100 campaigns may report any step."""
    shapes = [make_smooth(start_ns, bytes_per_ns) for start_ns in (0, 500, 5000) for bytes_per_ns in (1, 4, 50)]
    invented = 0
    for seed in range(100):
        noise_curves = [
            draw_curve(times, spread, launches, 100 * seed + line, line) for line, times in enumerate(shapes)
        ]
        invented += bool(find_steps(noise_curves, 0.03))
    assert invented <= 2


def test_a_step_of_50_percent_is_found_in_nearly_every_campaign() -> None:
    times = make_smooth()
    times[FIRST:] *= 1.5
    results = [list_steps(find_steps([draw_curve(times, 0.03, 8, seed)], 0.03)) for seed in range(100)]
    assert sum((SIZES[FIRST - 1], SIZES[FIRST], True) in result for result in results) >= 95
