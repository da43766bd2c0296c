"""Statistics of single ranks, from a store of known truth."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from fakes import campaigns
from fakes.campaigns import Truth

from rankbench.analysis.statistics.ranks import tabulate_ranks

CASES = campaigns.make_cases(lines=[("allreduce", "blocking"), ("pingpong", "blocking")], sizes=(8,))


def list_ranks(folder: Path, truth: Truth) -> pl.DataFrame:
    """Return the statistics of alpha's ranks; the ping-pong, timed by one rank, must be left out."""
    store = campaigns.make_campaign(folder / "made", lambda _candidate, _case: truth, cases=CASES, control=False)
    frame = tabulate_ranks(store.samples(), store.rank_samples())
    return frame.filter(pl.col("candidate") == "alpha")


def test_ends_and_beginnings_are_those_of_each_rank(tmp_path: Path) -> None:
    frame = list_ranks(tmp_path, Truth(rank_ends=(0.5, 1.0), late_share=0.1, spread=0))
    assert frame["case"].unique().to_list() == [CASES[0].key]
    assert frame["rank"].to_list() == [0, 1]
    assert frame["median_ns"].to_list() == pytest.approx([251, 502], rel=0.01)
    assert frame["p90_ns"].to_list() == pytest.approx([251 * 1.026, 502 * 1.026], rel=0.01)
    assert frame["began_ns"].to_list() == [0.0, 1.0]


def test_without_samples_of_ranks_the_last_rank_is_known(tmp_path: Path) -> None:
    frame = list_ranks(tmp_path, Truth())
    assert frame["median_ns"].to_list() == [None, None]
    assert frame["last"].sum() == pytest.approx(1)
    assert frame["last"].to_list() == pytest.approx([0.5, 0.5], abs=0.1)


def test_a_rank_that_was_never_last_is_reported() -> None:
    samples = pl.LazyFrame(
        {
            "case": ["c"] * 4,
            "candidate": ["a"] * 4,
            "block": [1] * 4,
            "launch": [1] * 4,
            "ranks": pl.Series([3] * 4, dtype=pl.Int32),
            "series": pl.Series([-1] * 4, dtype=pl.Int32),
            "last_rank": pl.Series([2, 2, 0, 1], dtype=pl.Int32),
            "discarded": [False, False, False, True],
            "time_ns": [1.0] * 4,
            "skew_ns": [0.0] * 4,
        }
    )
    frame = tabulate_ranks(samples, samples.clear())
    assert frame.select("rank", "last", "samples").rows() == [
        (0, pytest.approx(1 / 3), 3),
        (1, 0.0, 3),
        (2, pytest.approx(2 / 3), 3),
    ]
