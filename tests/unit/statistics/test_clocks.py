"""Figures on clocks: over runs and ranks but rank 0, and nothing said where nothing is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from fakes import study as fake

from rankbench.samples import study
from rankbench.statistics import clocks

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any


def _study(tmp_path: Path, **truth: Any) -> study.Study:
    path = tmp_path / "stream"
    path.write_text(fake.text(fake.lines(**truth)))
    return study.read(path)


def test_errors_are_over_runs_and_ranks_but_rank_0(tmp_path: Path) -> None:
    """Two ranks and four runs are off by 20, 21, 22, 23 and by 21, 22, 23, 24 ns."""
    found = clocks.accuracies(_study(tmp_path, ranks=3, runs=4).offsets)
    assert [(accuracy.source, accuracy.synchronisation, accuracy.stage) for accuracy in found] == [
        ("tsc", method, "fresh") for method in fake.METHODS
    ]
    for one in found:
        assert one.offsets == 8
        assert one.error_ns
        assert (one.error_ns.p50, one.error_ns.max) == (22.0, 24.0)
        assert one.error_ns.p95 == pytest.approx(23.65)
        assert one.bound_ns == clocks.Spread(p50=50.0, p95=50.0, max=50.0)
        assert (one.likely_ns.max, one.within_likely) == (23.0, 1.0)
        assert one.outside == []


def test_errors_beyond_their_bounds_are_found(tmp_path: Path) -> None:
    """By more than the rounding of a reading: 24 ns are beyond 22 ns, 23 ns are not."""
    found = clocks.accuracies(_study(tmp_path, ranks=3, runs=4, bound_ns=22.0).offsets)
    assert [[(offset.rank, offset.run, offset.excess_ns) for offset in part.outside] for part in found] == [
        [(2, 3, 2.0)]
    ] * 3


def test_how_many_errors_are_within_what_is_likely_is_reported(tmp_path: Path) -> None:
    """Of 20, 21, 22, 23 and 21, 22, 23, 24 ns three are beyond 21 ns and the rounding of a reading."""
    found = clocks.accuracies(_study(tmp_path, ranks=3, runs=4, likely_ns=21.0).offsets)
    assert [accuracy.within_likely for accuracy in found] == [5 / 8] * 3


def test_without_truth_there_are_bounds_and_no_errors(tmp_path: Path) -> None:
    offsets = _study(tmp_path, truth_ns=None).offsets
    assert {accuracy.error_ns for accuracy in clocks.accuracies(offsets)} == {None}
    assert {accuracy.within_likely for accuracy in clocks.accuracies(offsets)} == {None}
    assert {accuracy.bound_ns.max for accuracy in clocks.accuracies(offsets)} == {50.0}


@pytest.mark.parametrize(("truth_ns", "shared"), [(0.0, True), (1e9, False), (None, None)])
def test_whether_ranks_share_a_clock_follows_from_the_truth(
    tmp_path: Path, truth_ns: float | None, shared: bool | None
) -> None:
    assert clocks.read_one_clock(_study(tmp_path, truth_ns=truth_ns).offsets, "tsc") is shared


def test_costs_are_of_the_run_that_took_most(tmp_path: Path) -> None:
    linear, *_ = clocks.costs(_study(tmp_path, ranks=3, runs=4).synchronisations)
    assert (linear.duration_ns, linear.most_messages, linear.rank_0_bytes) == (1001.5, 400, 3200)


def test_drift_is_reported_by_the_method_that_is_surest_of_it(tmp_path: Path) -> None:
    found = clocks.drifts(_study(tmp_path, ranks=3, runs=4).offsets)
    assert [(drift.source, drift.synchronisation, drift.rank, drift.runs) for drift in found] == [
        ("tsc", "tree", 1, 4),
        ("tsc", "tree", 2, 4),
    ]
    for one in found:
        assert one.ppm == pytest.approx(one.rank * 0.001)
        assert one.low_ppm == pytest.approx(one.rank * 0.00085)
        assert one.high_ppm == pytest.approx(one.rank * 0.00115)
        assert one.coverage == pytest.approx(0.875)


def test_a_source_is_as_good_as_on_the_worst_rank(tmp_path: Path) -> None:
    tsc, wtime = clocks.sources(_study(tmp_path).clocks)
    assert (tsc.name, tsc.usable, tsc.cost_ns) == ("tsc", True, 21.2)
    assert (wtime.name, wtime.usable, wtime.reason) == ("MPI_Wtime", False, "it steps")
