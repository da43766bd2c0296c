"""How the time of a campaign was spent, from the records of its launches. Pure.

A launch reports how long each part took on rank 0 (`core/base/time_parts.c`). While launches measure in turn, one of
them measures and the others wait; so the times of all their turns add up to the time between start and end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import groupby, pairwise
from statistics import median_low
from typing import NamedTuple

from rankbench.model import Launch

PARTS = {
    "between": "between launches: storing, evaluating, the machine's state",
    "start": "start and end of launches: processes, MPI_Init, MPI_Finalize",
    "facts": "facts of ranks, clocks and library",
    "hop": "waking up, and measuring hop latency",
    "prepare": "buffers, communicators, datatypes",
    "rehearse": "calls checked before timing",
    "warm_up": "warm-up",
    "calls": "timed calls",
    "rounds": "waiting for common starts, and checking data between timed calls",
    "steer": "deciding on the next stage",
    "renew": "new data",
    "clocks": "comparing clocks",
    "check": "checks after timing",
    "cost": "measuring the overhead of measuring",
    "free": "freeing buffers",
    "write": "writing results",
    "hand_over": "ending a turn",
}
"""The parts, in the order of a campaign."""
OUTSIDE = {"init", "join", "wait"}
"""Parts of a launch during which launches start, or another launch has its turn."""


class PartOfTime(NamedTuple):
    """A part of a campaign's time."""

    part: str
    seconds: float
    share: float
    """Share of the sum of all parts."""


def list_parts(launches: Sequence[Launch]) -> list[PartOfTime]:
    """Return the parts of a campaign's time that are not zero, in the order of `PARTS`."""
    groups = list(_groups(launches))
    total: defaultdict[str, float] = defaultdict(float)
    for group in groups:
        parts = [(part, took) for launch in group for part, took in launch.spent_s.items() if part not in OUTSIDE]
        for part, took in parts:
            total[part] += took
        total["start"] += max(0.0, sum(launch.duration_s for launch in group) - sum(took for _, took in parts))
    total["between"] = _typical_gap_s(groups) * (len(groups) - 1)
    total_s = sum(total.values())
    return [PartOfTime(part, total[part], total[part] / total_s) for part in PARTS if total[part] > 0]


def total_duration_s(launches: Sequence[Launch]) -> float:
    """Return how long a campaign took, from its first launch to the end of its last one."""
    return sum(block_durations_s(launches).values())


def block_durations_s(launches: Sequence[Launch]) -> dict[int, float]:
    """Return how long each block took, and the time before it and between its launches."""
    ordered = sorted(launches, key=lambda launch: launch.started)
    groups = [list(group) for _, group in groupby(ordered, key=lambda launch: launch.started)]
    gap_s = _typical_gap_s(groups)
    block_s: defaultdict[int, float] = defaultdict(float)
    for number, group in enumerate(groups):
        block_s[group[0].block] += sum(launch.duration_s for launch in group) + (gap_s if number else 0.0)
    return dict(block_s)


def _typical_gap_s(groups: Sequence[Sequence[Launch]]) -> float:
    """Return the median time between groups of launches, used for each gap, since an interruption may last days.

    Of two gaps the shorter one is used.
    """
    return median_low(_gap_s(before, after) for before, after in pairwise(groups)) if len(groups) > 1 else 0.0


def _groups(launches: Sequence[Launch]) -> Iterator[list[Launch]]:
    """Yield groups of launches that ran at the same time, in the order of their start."""
    known = [launch for launch in launches if launch.spent_s]
    for started in sorted({launch.started for launch in known}):
        yield [launch for launch in known if launch.started == started]


def _gap_s(before: Sequence[Launch], after: Sequence[Launch]) -> float:
    """Return the time between two groups of launches."""
    began = [datetime.fromisoformat(group[0].started).timestamp() for group in (before, after)]
    return max(0.0, began[1] - began[0] - sum(launch.duration_s for launch in before))
