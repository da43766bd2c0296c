"""Invariants of intervals and comparisons."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rankbench.analysis import statistics
from rankbench.analysis.statistics import median_interval
from rankbench.model import Comparison

Blocks = list[tuple[float, float]]

times_ns = st.floats(10.0, 1e9, allow_nan=False)
cases = st.lists(st.lists(st.tuples(times_ns, times_ns), min_size=1, max_size=12), min_size=1, max_size=4)


def _compare_blocks(measured: list[Blocks], pair: tuple[str, str] = ("a", "b")) -> list[Comparison]:
    rows = [
        {"case": f"c{case}", "candidate": name, "block": block, "launch": 2 * block + place, "figure_ns": time}
        for case, blocks in enumerate(measured)
        for block, both in enumerate(blocks)
        for place, (name, time) in enumerate(zip("ab", both, strict=True))
    ]
    return statistics.compare(pl.DataFrame(rows), [pair], threshold=0.03)


@given(st.lists(times_ns, min_size=1, max_size=60))
def test_the_interval_covers_the_median_and_is_the_narrowest_with_95_percent(values: list[float]) -> None:
    low, high, coverage = median_interval(np.array(values))
    count = len(values)
    reaching = [rank for rank in range((count + 1) // 2) if 1 - 2 * stats.binom.cdf(rank, count, 0.5) >= 0.95]
    rank = max(reaching, default=0)
    assert (low, high) == (sorted(values)[rank], sorted(values)[count - 1 - rank])
    assert low <= np.median(values) <= high
    assert (coverage >= 0.95) == (count >= 6)


@given(cases)
def test_exchanging_candidates_inverts_the_ratio_and_keeps_the_verdict(measured: list[Blocks]) -> None:
    for comparison, turned in zip(_compare_blocks(measured), _compare_blocks(measured, ("b", "a")), strict=True):
        assert turned.ratio == pytest.approx(1 / comparison.ratio)
        assert turned.p_adjusted == pytest.approx(comparison.p_adjusted, abs=1e-9)
        assert (turned.low, turned.high) == pytest.approx(
            (1 / comparison.high, 1 / comparison.low if comparison.low else np.inf)
        )


@given(cases, st.lists(st.floats(0.25, 4.0), min_size=12, max_size=12))
def test_a_factor_on_entire_blocks_changes_nothing(measured: list[Blocks], states: list[float]) -> None:
    slowed = [[(a * by, b * by) for (a, b), by in zip(blocks, states, strict=False)] for blocks in measured]
    for comparison, other in zip(_compare_blocks(measured), _compare_blocks(slowed), strict=True):
        assert other.ratio == pytest.approx(comparison.ratio)
        assert other.p_value == pytest.approx(comparison.p_value, abs=1e-6)


@given(cases)
def test_different_requires_blocks_p_value_and_threshold(measured: list[Blocks]) -> None:
    for comparison in _compare_blocks(measured):
        assert comparison.p_adjusted >= comparison.p_value or comparison.p_adjusted == pytest.approx(comparison.p_value)
        if comparison.different:
            assert comparison.blocks >= 3
            assert comparison.p_adjusted <= 0.05
            assert max(comparison.ratio, 1 / comparison.ratio) > 1.03
