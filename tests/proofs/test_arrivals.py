"""Ranks arrive at chosen times, and times count from the last arrival."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mpi.test_core import Core, list_valid
from mpi.test_operations import MILLISECOND_NS

from proofs.judging import repeat


def measure_calmest(
    core: Core, tmp_path: Path, options: dict[str, object], cases: int, samples: int
) -> list[dict[str, Any]]:
    """Measure one barrier many times; return the third of the cases with the fewest late rounds."""
    case = {"operation": "barrier", "samples": samples, "limit_s": 2} | options
    records = core.run_job(tmp_path, 2, [case] * cases)
    return sorted(records, key=lambda record: float(record["late"] / max(1, record["taken"])))[: cases // 3]


@repeat
def test_times_count_from_the_last_rank_to_arrive(core: Core, tmp_path: Path) -> None:
    """Ranks arrive up to two milliseconds apart, longer than a barrier takes, and begin as far apart as requested."""
    for arrival in ("staggered", "one-late"):
        calm = measure_calmest(core, tmp_path, {"arrival": arrival, "spread_us": 2000}, cases=6, samples=20)
        assert {record["spread_ns"] for record in calm} == {2 * MILLISECOND_NS}
        away_ns = sorted(
            abs(skew_ns - 2 * MILLISECOND_NS) for record in calm for skew_ns in list_valid(record, "skew_ns")
        )
        shortest_ns = min(min(list_valid(record, "time_ns")) for record in calm)
        print(
            f"{arrival}: a tenth of the rounds begin within {away_ns[len(away_ns) // 10] / 1000:.2f} us of 2 ms apart; "
            f"shortest barrier {shortest_ns / 1000:.2f} us after the last arrival"
        )
        assert away_ns[len(away_ns) // 10] < 0.05 * MILLISECOND_NS
        assert shortest_ns < 0.5 * MILLISECOND_NS


@repeat
def test_random_arrivals_are_spread_evenly(core: Core, tmp_path: Path) -> None:
    """Two times drawn from an interval are a third of it apart on average; more only if disturbed.

    Ranks that have their CPUs in turns, not at once, begin in time the more often the further apart they are
    scheduled: the mean of rounds in time is then up to half the interval.
    """
    calm = measure_calmest(core, tmp_path, {"arrival": "random", "spread_us": 2000}, cases=12, samples=50)
    values = [skew_ns for record in calm for skew_ns in list_valid(record, "skew_ns")]
    skews = [skew_ns for skew_ns in values if skew_ns < 2.1 * MILLISECOND_NS]
    undisturbed = sum(record["late"] for record in calm) < 0.1 * sum(record["taken"] for record in calm)
    share = sum(skews) / len(skews) / (2 * MILLISECOND_NS / 3)
    print(f"{len(skews)} rounds: {share:.3f} of the expected distance{'' if undisturbed else ', disturbed'}")
    assert 0.8 < share < (1.2 if undisturbed else 1.7)
