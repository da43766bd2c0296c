"""Statistics on clocks: over runs and all ranks but rank 0; unknown values stay unknown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fakes import study as fake

from rankbench.analysis.statistics import clocks
from rankbench.samples import study


def _make_study(tmp_path: Path, **truth: Any) -> study.Study:
    path = tmp_path / "stream"
    path.write_text(fake.encode_records(fake.make_records(**truth)))
    return study.read(path)


def test_errors_are_over_runs_and_ranks_but_rank_0(tmp_path: Path) -> None:
    """Two ranks have errors of 20, 21, 22, 23 and of 21, 22, 23, 24 ns in four runs."""
    accuracies = clocks.compute_accuracies(_make_study(tmp_path, ranks=3, runs=4).offsets)
    assert [(accuracy.source, accuracy.synchronisation, accuracy.stage) for accuracy in accuracies] == [
        ("tsc", method, "fresh") for method in fake.METHODS
    ]
    for accuracy in accuracies:
        assert accuracy.offsets == 8
        assert accuracy.error_ns
        assert (accuracy.error_ns.p50, accuracy.error_ns.max) == (22.0, 24.0)
        assert accuracy.error_ns.p95 == pytest.approx(23.65)
        assert accuracy.bound_ns == clocks.Spread(p50=50.0, p95=50.0, max=50.0)
        assert (accuracy.likely_ns.max, accuracy.within_likely) == (23.0, 1.0)
        assert accuracy.outside == []


def test_errors_beyond_their_bounds_are_found(tmp_path: Path) -> None:
    """Beyond by more than the rounding of a reading: 24 ns are beyond 22 ns, 23 ns are not."""
    accuracies = clocks.compute_accuracies(_make_study(tmp_path, ranks=3, runs=4, bound_ns=22.0).offsets)
    assert [[(offset.rank, offset.run, offset.excess_ns) for offset in part.outside] for part in accuracies] == [
        [(2, 3, 2.0)]
    ] * 3


def test_the_share_of_errors_within_the_likely_error_is_reported(tmp_path: Path) -> None:
    """Of 20, 21, 22, 23 and 21, 22, 23, 24 ns three are beyond 21 ns and the rounding of a reading."""
    accuracies = clocks.compute_accuracies(_make_study(tmp_path, ranks=3, runs=4, likely_ns=21.0).offsets)
    assert [accuracy.within_likely for accuracy in accuracies] == [5 / 8] * 3


def test_without_truth_there_are_bounds_and_no_errors(tmp_path: Path) -> None:
    offsets = _make_study(tmp_path, truth_ns=None).offsets
    assert {accuracy.error_ns for accuracy in clocks.compute_accuracies(offsets)} == {None}
    assert {accuracy.within_likely for accuracy in clocks.compute_accuracies(offsets)} == {None}
    assert {accuracy.bound_ns.max for accuracy in clocks.compute_accuracies(offsets)} == {50.0}


@pytest.mark.parametrize(("truth_ns", "shared"), [(0.0, True), (1e9, False), (None, None)])
def test_shared_clocks_are_known_from_the_truth(tmp_path: Path, truth_ns: float | None, shared: bool | None) -> None:
    assert clocks.read_one_clock(_make_study(tmp_path, truth_ns=truth_ns).offsets, "tsc") is shared


def test_costs_are_those_of_the_most_expensive_run(tmp_path: Path) -> None:
    linear, *_ = clocks.compute_costs(_make_study(tmp_path, ranks=3, runs=4).synchronisations)
    assert (linear.duration_ns, linear.most_messages, linear.rank_0_bytes) == (1001.5, 400, 3200)


def test_drift_is_that_of_the_most_certain_method(tmp_path: Path) -> None:
    drifts = clocks.compute_drifts(_make_study(tmp_path, ranks=3, runs=4).offsets)
    assert [(drift.source, drift.synchronisation, drift.rank, drift.runs) for drift in drifts] == [
        ("tsc", "tree", 1, 4),
        ("tsc", "tree", 2, 4),
    ]
    for drift in drifts:
        assert drift.ppm == pytest.approx(drift.rank * 0.001)
        assert drift.low_ppm == pytest.approx(drift.rank * 0.00085)
        assert drift.high_ppm == pytest.approx(drift.rank * 0.00115)
        assert drift.coverage == pytest.approx(0.875)


def test_a_source_is_rated_by_its_worst_rank(tmp_path: Path) -> None:
    tsc, wtime = clocks.summarise_sources(_make_study(tmp_path).clocks)
    assert (tsc.name, tsc.usable, tsc.cost_ns) == ("tsc", True, 21.2)
    assert (wtime.name, wtime.usable, wtime.reason) == ("MPI_Wtime", False, "it steps")
