"""First calls: the case of a launch with the first call of an operation, and medians of ratios over launches."""

from __future__ import annotations

import polars as pl

from rankbench.analysis.statistics.first_calls import summarise_first_calls, tabulate_first_calls


def make_cases(*rows: tuple[int, str, int, str, float, float]) -> pl.DataFrame:
    """Return cases of launches as in the store: launch, operation, size, status, first and second call."""
    schema = ["launch", "operation", "size_bytes", "status", "first_ns", "second_ns"]
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    key = pl.format("{}.{}", "operation", "size_bytes")
    return frame.with_columns(case=key, candidate=pl.lit("alpha"), form=pl.lit("blocking"), placement=pl.lit("1x2"))


def test_only_the_first_case_of_an_operation_in_a_launch_has_the_first_call() -> None:
    frame = tabulate_first_calls(
        make_cases(
            (1, "bcast", 8, "ok", 900, 100),
            (1, "bcast", 64, "ok", 120, 100),
            (1, "reduce", 8, "ok", 300, 100),
            (2, "bcast", 64, "ok", 700, 100),
            (2, "bcast", 8, "ok", 110, 100),
        )
    )
    assert frame.select("launch", "case", "ratio").rows() == [(1, "bcast.8", 9), (1, "reduce.8", 3), (2, "bcast.64", 7)]


def test_a_case_without_a_call_leaves_the_first_call_to_the_next() -> None:
    frame = tabulate_first_calls(make_cases((1, "bcast", 8, "refused", 0, 0), (1, "bcast", 64, "ok", 700, 100)))
    assert frame["case"].to_list() == ["bcast.64"]


def test_after_a_failed_first_call_no_later_call_counts_as_first() -> None:
    assert tabulate_first_calls(
        make_cases((1, "bcast", 8, "wrong-data", 700, 0), (1, "bcast", 64, "ok", 120, 100))
    ).is_empty()


def test_an_operation_has_the_median_of_ratios_and_the_extremes() -> None:
    launches = [(number, "bcast", 8, "ok", first, 100.0) for number, first in enumerate((400.0, 2000.0, 300.0))]
    row = summarise_first_calls(tabulate_first_calls(make_cases(*launches))).row(0, named=True)
    assert (row["first_ns"], row["second_ns"]) == (400, 100)
    assert (row["ratio"], row["least"], row["largest"], row["launches"]) == (4, 3, 20, 3)


def test_cases_without_recorded_calls_have_none() -> None:
    assert summarise_first_calls(tabulate_first_calls(pl.DataFrame())).is_empty()
