"""Results of a clock study: error of offsets, their bounds and estimates, cost of synchronisation.

Rank 0 is left out of all results on offsets: they are reported relative to it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from rankbench.analysis.statistics import median_interval
from rankbench.model import Record, SourceFact
from rankbench.samples.study import ROUNDING_NS, Clock, Offset, Synchronisation


class Spread(Record, frozen=True):
    """Quantiles of something over runs and ranks."""

    p50: float
    p95: float
    max: float


class Accuracy(Record, frozen=True):
    """Accuracy of one method with one source at one stage, over all runs and ranks."""

    source: str
    synchronisation: str
    stage: str
    offsets: int
    bound_ns: Spread
    likely_ns: Spread
    error_ns: Spread | None
    """None if the truth of some offset is unknown."""
    within_likely: float | None
    """Share of errors within the estimated error, nominally 95%; None: unknown."""
    outside: list[Offset]
    """Offsets whose error exceeds their bound; there must be none."""


class Cost(Record, frozen=True):
    """Cost of one method with one source: medians over runs, counts of the most expensive run."""

    source: str
    synchronisation: str
    duration_ns: float
    rank_0_messages: int
    most_messages: int
    rank_0_bytes: int
    most_bytes: int


class Drift(Record, frozen=True):
    """How much faster a rank's clock runs than rank 0's: the median over runs and its interval."""

    source: str
    synchronisation: str
    rank: int
    runs: int
    ppm: float
    low_ppm: float
    high_ppm: float
    coverage: float


def summarise_sources(clocks: Sequence[Clock]) -> list[SourceFact]:
    """Return each source over all ranks: usable where every rank can use it, as coarse and costly as on the worst."""
    parts: defaultdict[str, list[Clock]] = defaultdict(list)
    for clock in clocks:
        parts[clock.source].append(clock)
    return [_source(name, part) for name, part in parts.items()]


def compute_accuracies(offsets: Iterable[Offset]) -> list[Accuracy]:
    """Return the accuracy of each method with each source at each stage."""
    parts: defaultdict[tuple[str, str, str], list[Offset]] = defaultdict(list)
    for offset in offsets:
        if offset.rank:
            parts[offset.source, offset.synchronisation, offset.stage].append(offset)
    return [_accuracy(*key, part) for key, part in parts.items()]


def compute_costs(synchronisations: Iterable[Synchronisation]) -> list[Cost]:
    """Return the cost of each method with each source."""
    parts: defaultdict[tuple[str, str], list[Synchronisation]] = defaultdict(list)
    for synchronisation in synchronisations:
        parts[synchronisation.source, synchronisation.synchronisation].append(synchronisation)
    return [_cost(*key, part) for key, part in parts.items()]


def compute_drifts(offsets: Iterable[Offset]) -> list[Drift]:
    """Return the drift of each rank by each source, from the method with the narrowest interval."""
    parts: defaultdict[tuple[str, str, int], dict[int, float]] = defaultdict(dict)
    for offset in offsets:
        if offset.rank:
            parts[offset.source, offset.synchronisation, offset.rank][offset.run] = offset.drift_ppm
    all_drifts = sorted((_drift(*key, np.array(list(part.values()))) for key, part in parts.items()), key=_width)
    surest = {(drift.source, drift.rank): drift for drift in reversed(all_drifts)}
    return [surest[key] for key in dict.fromkeys((source, rank) for source, _, rank in parts)]


def read_one_clock(offsets: Iterable[Offset], source: str) -> bool | None:
    """Return whether all ranks read one clock with a source; None: unknown."""
    truths = [offset.truth_ns for offset in offsets if offset.source == source and offset.rank]
    return None if None in truths else not any(truths)


def _source(name: str, of_ranks: list[Clock]) -> SourceFact:
    worst = min(of_ranks, key=lambda of_rank: (of_rank.usable, of_rank.rank))
    return SourceFact(
        name=name,
        usable=worst.usable,
        reason=worst.reason,
        resolution_ns=max(of_rank.resolution_ns for of_rank in of_ranks),
        cost_ns=max(of_rank.cost_ns for of_rank in of_ranks),
    )


def _spread(values: Sequence[float]) -> Spread:
    p50, p95 = np.quantile(values, [0.5, 0.95])
    return Spread(p50=float(p50), p95=float(p95), max=max(values))


def _accuracy(source: str, synchronisation: str, stage: str, part: list[Offset]) -> Accuracy:
    errors = [offset.error_ns for offset in part if offset.error_ns is not None]
    known = len(errors) == len(part)
    within = [error <= offset.likely_ns + ROUNDING_NS for error, offset in zip(errors, part, strict=known)]
    return Accuracy(
        source=source,
        synchronisation=synchronisation,
        stage=stage,
        offsets=len(part),
        bound_ns=_spread([offset.bound_ns for offset in part]),
        likely_ns=_spread([offset.likely_ns for offset in part]),
        error_ns=_spread(errors) if known else None,
        within_likely=sum(within) / len(part) if known else None,
        outside=[offset for offset in part if offset.excess_ns > 0],
    )


def _cost(source: str, synchronisation: str, part: list[Synchronisation]) -> Cost:
    return Cost(
        source=source,
        synchronisation=synchronisation,
        duration_ns=float(np.median([synchronisation.duration_ns for synchronisation in part])),
        rank_0_messages=max(synchronisation.rank_0_messages for synchronisation in part),
        most_messages=max(synchronisation.most_messages for synchronisation in part),
        rank_0_bytes=max(synchronisation.rank_0_bytes for synchronisation in part),
        most_bytes=max(synchronisation.most_bytes for synchronisation in part),
    )


def _drift(source: str, synchronisation: str, rank: int, ppm: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Drift:
    low, high, coverage = median_interval(ppm)
    return Drift(
        source=source,
        synchronisation=synchronisation,
        rank=rank,
        runs=len(ppm),
        ppm=float(np.median(ppm)),
        low_ppm=low,
        high_ppm=high,
        coverage=coverage,
    )


def _width(drift: Drift) -> float:
    return drift.high_ppm - drift.low_ppm
