"""Samples in parts: nothing is lost, doubled or divided, and parts are small."""

from __future__ import annotations

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from rankbench.analysis.statistics.parts import divide_by_case, divide_by_launch

SAMPLES = pl.DataFrame(
    [
        (case, candidate, 10 * block + number, index)
        for block in range(3)
        for number, candidate in enumerate(("one", "two"))
        for case, length in (("long", 7), ("short", 2), ("shorter", 1))
        for index in range(length)
    ],
    schema=["case", "candidate", "launch", "index"],
    orient="row",
)
"""Ten samples of a launch; 21 of a candidate's long case."""


@pytest.mark.parametrize(
    ("rows", "sizes"), [(1, [10] * 6), (25, [20] * 3), (59, [50, 10]), (60, [60]), (2_000_000, [60])]
)
def test_launches_are_not_divided(rows: int, sizes: list[int]) -> None:
    parts = [part.collect() for part in divide_by_launch(SAMPLES.lazy(), rows)]
    assert [len(part) for part in parts] == sizes
    assert_frame_equal(pl.concat(parts), SAMPLES, check_row_order=False)
    assert sum(part["launch"].n_unique() for part in parts) == 6


@pytest.mark.parametrize(
    ("rows", "sizes"),
    [(1, [21, 21, 6, 6, 3, 3]), (12, [21, 21, 12, 6]), (18, [21, 21, 18]), (42, [42, 18]), (60, [60])],
)
def test_a_case_of_a_candidate_is_not_divided(rows: int, sizes: list[int]) -> None:
    parts = [part.collect() for part in divide_by_case(SAMPLES.lazy(), rows)]
    assert [len(part) for part in parts] == sizes
    assert_frame_equal(pl.concat(parts), SAMPLES, check_row_order=False)
    assert sum(part.select("case", "candidate").n_unique() for part in parts) == 6


def test_without_samples_there_is_one_part() -> None:
    for parts in (divide_by_launch(SAMPLES.clear().lazy()), divide_by_case(SAMPLES.clear().lazy())):
        (part,) = parts
        assert part.collect().is_empty()
