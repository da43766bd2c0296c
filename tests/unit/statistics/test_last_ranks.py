"""Which rank ended last, launch by launch."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from fakes import campaigns, imports

from rankbench.analysis.questions.view import NO_LAST_RANKS
from rankbench.analysis.statistics.ranks import tabulate_last_ranks, tabulate_ranks


def test_shares_of_last_ranks_are_per_launch_and_only_of_operations_timed_by_all(tmp_path: Path) -> None:
    store = campaigns.make_campaign(tmp_path / "made", launches=3, control=False, samples=40)
    frame = tabulate_last_ranks(store.samples())
    assert dict(frame.schema) == dict(NO_LAST_RANKS.schema)
    assert {case.split(".")[0] for case in frame["case"]} == {"barrier", "allreduce"}
    together = frame.group_by("case", "candidate", "block").agg(pl.col("last").sum())
    assert together["last"].to_list() == pytest.approx([1.0] * together.height)
    assert together.height == 5 * 2 * 3


def test_discarded_samples_do_not_count() -> None:
    rows = [(rank, False) for rank in (2, 2, 0, 2)] + [(1, True)]
    samples = pl.LazyFrame(rows, ["last_rank", "discarded"], orient="row").with_columns(
        case=pl.lit("a"), candidate=pl.lit("alpha"), block=1, launch=1, series=-1, ranks=4
    )
    assert tabulate_last_ranks(samples).select("rank", "last").rows() == [(0, 0.25), (2, 0.75)]


def test_operations_without_recorded_last_ranks_are_left_out(tmp_path: Path) -> None:
    """Results of foreign tools are over all ranks and do not say which rank ended last."""
    store = imports.import_campaign(tmp_path, {"A": [imports.format_latencies((8, 1.5))] * 3})
    assert tabulate_last_ranks(store.samples()).is_empty()
    assert tabulate_ranks(store.samples(), store.rank_samples()).is_empty()
