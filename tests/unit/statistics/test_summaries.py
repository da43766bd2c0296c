"""Summaries: the samples that count, the reported counts, and caveats."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats
from unit.statistics.test_estimators import make_launch
from wording import WORDING, find_lines

from rankbench.analysis import statistics
from rankbench.language import render
from rankbench.model import Summary

OTHER_COLUMNS = {"moved_bytes": 0, "moved_messages": 0, "pure_ns": 0.0, "compute_ns": 0.0, "growth_bytes": 0,
          "printed_bytes": 0, "fallback": ""}  # fmt: skip
"""Other columns of a case of the usual quantity."""


def make_cases(*rows: dict[str, object]) -> pl.DataFrame:
    """Return rows of the store's cases: successful and without remarks, unless a row says otherwise."""
    usual = {"status": "ok", "reason": "", "cause": "", "late": 0, "overrun": 0, "sync_bound_ns": 0.0, "moved": ""}
    usual |= {"cost_ns": 5.0, **OTHER_COLUMNS}
    return pl.DataFrame([{"case": "c", "candidate": "a", "launch": 1, **usual, **row} for row in rows])


def make_summary(*launches: pl.LazyFrame, confidence: float = 0.95, rows: pl.DataFrame | None = None) -> Summary:
    """Summarise the only case of the only candidate."""
    samples = pl.concat(launches)
    launch_values = statistics.compute_launch_values(samples)
    (result,) = statistics.summarise(launch_values, samples, make_cases({}) if rows is None else rows, confidence)
    return result


@pytest.mark.parametrize("per_second", [False, True])
def test_a_mean_has_its_error_over_launches(*, per_second: bool) -> None:
    """The standard error of the mean over the mean, of times or of rates; of one launch there is none."""
    launches = [make_launch([time] * 3, number) for number, time in enumerate((100.0, 110.0, 125.0))]
    samples, rows = pl.concat(launches), make_cases({})
    values = statistics.compute_launch_values(samples)
    (result,) = statistics.summarise(values, samples, rows, per_second=["c"] if per_second else [])
    figures = values["figure_ns"].to_numpy() ** (-1 if per_second else 1)
    assert result.launches_rse == pytest.approx(figures.std(ddof=1) / np.sqrt(3) / figures.mean())
    assert np.isnan(make_summary(launches[0]).launches_rse)


def test_a_summary_has_caveats() -> None:
    times = enumerate((100.0, 110.0, 105.0))
    launches = [make_launch([time] * 3, number, skew_ns=9.0, error_ns=2.1) for number, time in times]
    moved = {"late": 2, "sync_bound_ns": 20.0, "cost_ns": 6.0, "moved": "rank 1 from CPU 0 to CPU 1"}
    rows = make_cases({}, moved, {"overrun": 1}, {"status": "crashed"})
    result = make_summary(*launches, rows=rows)
    assert result.typical_ns == 105.0
    assert (result.low_ns, result.high_ns, result.coverage) == (100.0, 110.0, 0.75)
    assert (result.launches, result.samples, result.late, result.overrun, result.failures) == (
        3,
        9,
        2,
        1,
        {"crashed": 1},
    )
    assert [render(words) for words in result.warnings] == WORDING


@pytest.mark.parametrize(("slow", "skew_ns", "says"), [(5, 0.0, True), (5, 250.0, False), (0, 0.0, False)])
def test_slow_rounds_among_discarded_ones_are_reported(slow: int, skew_ns: float, *, says: bool) -> None:
    """Lateness alone makes no round slow."""
    times_ns = [100.0 + skew_ns] * 10 + [100.0] * 90
    times_ns[:slow] = [300.0] * slow
    launches = [make_launch(times_ns, number, 10, skew_ns=[skew_ns] * 10 + [0.0] * 90) for number in range(6)]
    sentence = "of 60 rounds that do not count 50% were slow, of the others 0.0%: the tail is longer than stated"
    assert (sentence in list(map(render, make_summary(*launches).warnings))) == says


def test_a_summary_has_the_real_places_of_misplaced_ranks() -> None:
    reason = "ranks 0 and 1 are on one socket, sockets asks for two"
    elsewhere: dict[str, object] = {"status": "not-as-asked", "reason": f"not as asked: {reason}"}
    result = make_summary(
        make_launch([100.0]), rows=make_cases({}, {"status": "crashed", "reason": "SIGSEGV"}, elsewhere)
    )
    assert (result.launches, result.failures, result.elsewhere) == (1, {"crashed": 1, "not-as-asked": 1}, reason)


@pytest.mark.parametrize(("confidence", "enough"), [(0.90, 5), (0.95, 6), (0.99, 8)])
def test_the_interval_has_the_requested_confidence_from_this_many_launches_on(confidence: float, enough: int) -> None:
    launches = [make_launch([100.0 + number], number) for number in range(enough)]
    assert make_summary(*launches, confidence=confidence).coverage >= confidence
    assert not make_summary(*launches, confidence=confidence).warnings
    few = make_summary(*launches[1:], confidence=confidence)
    assert few.coverage < confidence
    assert render(few.warnings[0]).endswith(f"{enough} or more give {confidence:.0%}")


def test_a_single_launch_has_mpiperf_s_interval() -> None:
    times = np.random.default_rng(3).lognormal(7, 0.2, 30)
    result = make_summary(make_launch(list(times)), confidence=0.99)
    middle = np.sort(times)[7:-7]
    low, high = stats.t.interval(0.99, len(middle) - 1, loc=middle.mean(), scale=stats.sem(middle))
    assert result.trimmed_mean_ns == pytest.approx(middle.mean())
    assert (result.trimmed_low_ns, result.trimmed_high_ns) == pytest.approx((low, high))


def test_several_launches_have_no_interval_of_their_samples() -> None:
    result = make_summary(make_launch([100.0, 101.0, 102.0]), make_launch([103.0, 104.0, 105.0], 2))
    assert result.trimmed_mean_ns == 102.5
    assert np.isnan([result.trimmed_low_ns, result.trimmed_high_ns]).all()


def test_launches_with_uncertain_starts_are_left_out_if_there_are_others() -> None:
    certain = [make_launch([100.0, 102.0, 104.0], number, error_ns=1.0) for number in (1, 2)]
    result = make_summary(*certain, make_launch([10.0] * 3, 3, error_ns=5.0))
    assert (result.launches, result.uncertain, render(result.doubt)) == (2, 1, "")
    assert (result.typical_ns, result.min_ns, result.samples) == (102.0, 100.0, 6)
    assert find_lines(map(render, result.warnings), "1 launches are left") == WORDING


def test_with_uncertain_starts_only_values_are_reported_and_not_judged() -> None:
    result = make_summary(
        *(make_launch([29_300.0] * 3, number, bound_ns=40_000.0, error_ns=12_000.0) for number in (1, 2))
    )
    assert (result.launches, result.uncertain, result.typical_ns) == (0, 2, 29_300.0)
    assert render(result.doubt) == WORDING
    assert result.warnings == []


def test_a_time_of_zero_is_uncertain_without_a_share() -> None:
    result = make_summary(make_launch([0.0] * 3, bound_ns=60.0, error_ns=40.0))
    assert render(result.doubt) == WORDING


def test_discarded_samples_are_counted() -> None:
    assert make_summary(make_launch([1.0, 2.0, 3.0, 4.0], discarded=3)).discarded == 3


def test_a_case_without_samples_is_a_row_without_values() -> None:
    samples = make_launch([1.0]).filter(pl.lit(value=False))
    rows = make_cases({"status": "crashed"}, {"status": "crashed"})
    (result,) = statistics.summarise(statistics.compute_launch_values(samples), samples, rows)
    assert (result.launches, result.samples, result.failures, result.warnings) == (0, 0, {"crashed": 2}, [])
    assert np.isnan(result.typical_ns)


def test_clocks_do_not_matter_if_each_rank_uses_its_own() -> None:
    samples = make_launch([100.0] * 3, bound_ns=60.0, error_ns=50.0)
    launch_values = statistics.compute_launch_values(samples, by_ranks=["c"])
    (result,) = statistics.summarise(launch_values, samples, make_cases({"sync_bound_ns": 60.0}))
    assert (result.launches, render(result.doubt), result.bound_ns, result.error_ns) == (1, "", 60.0, 50.0)
    assert [words for words in result.warnings if "clocks" in render(words)] == []


def test_overlap_is_computed_per_launch_and_limited_to_0_to_1() -> None:
    launches = [make_launch([overall] * 3, number) for number, overall in enumerate((200.0, 140.0, 90.0), start=1)]
    alike: dict[str, object] = {"pure_ns": 100.0, "compute_ns": 100.0}
    rows = make_cases(*({"launch": number, **alike} for number in (1, 2, 3)))
    result = make_summary(*launches, rows=rows)
    assert (result.overlap, result.pure_ns, result.compute_ns, result.typical_ns) == (0.6, 100.0, 100.0, 140.0)
    alone = make_summary(launches[0], rows=rows[:1]), make_summary(launches[2], rows=rows[2:])
    assert [row.overlap for row in alone] == [0.0, 1.0]


def test_a_plain_time_has_no_overlap() -> None:
    result = make_summary(make_launch([100.0] * 3))
    assert np.isnan([result.overlap, result.pure_ns, result.compute_ns]).all()


def test_moved_data_and_memory_growth_are_reported() -> None:
    launches = [make_launch([4096.0], number) for number in (1, 2, 3)]
    moved: dict[str, object] = {"moved_bytes": 512, "moved_messages": 64}
    rows = make_cases(*({"launch": number, "growth_bytes": 100 * number, **moved} for number in (1, 2, 3)))
    result = make_summary(*launches, rows=rows)
    assert (result.moved_bytes, result.moved_messages, result.growth_bytes) == (512, 64, 200.0)


def test_launches_without_results_have_no_memory_growth() -> None:
    certain, doubted = make_launch([100.0] * 3, 1, error_ns=1.0), make_launch([100.0] * 3, 2, error_ns=50.0)
    rows = make_cases({"growth_bytes": 10}, {"launch": 2, "growth_bytes": 90})
    assert make_summary(certain, doubted, rows=rows).growth_bytes == 10.0


def test_the_mean_of_bandwidths_is_not_that_of_the_mean_time() -> None:
    """2949, 3185 and 9.09 MB/s of 1000 bytes have the mean 2047.7 MB/s; the mean time would give 27."""
    bandwidths = (2949.0, 3185.0, 9.09)
    samples = pl.concat([make_launch([1e6 / bandwidth], number) for number, bandwidth in enumerate(bandwidths)])
    launch_values = statistics.compute_launch_values(samples)
    (result,) = statistics.summarise(launch_values, samples, make_cases({}), 0.95, ["c"])
    assert 1e6 / result.mean_ns == pytest.approx(sum(bandwidths) / 3)
    (result,) = statistics.summarise(launch_values, samples, make_cases({}), 0.95)
    assert result.mean_ns == pytest.approx(sum(1e6 / bandwidth for bandwidth in bandwidths) / 3)
