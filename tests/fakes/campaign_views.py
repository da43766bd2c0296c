"""Campaigns of known truth, drawn without a store: a hundred of them in seconds.

A function from candidate and case gives the time of the case. Values are drawn as

    time x state (block, all candidates and cases alike) x spread (launch and case)
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import polars as pl

from fakes import campaigns
from rankbench.analysis import statistics
from rankbench.analysis.claims import make_draft
from rankbench.analysis.questions.view import NO_LAST_RANKS, CampaignView
from rankbench.model import Campaign, Candidate, Case, Summary

if TYPE_CHECKING:
    TimeOf = Callable[[str, Case], float]

SIZES = tuple(1 << power for power in range(3, 21))
LINES = campaigns.make_cases(lines=[("allreduce", "blocking"), ("bcast", "blocking")], sizes=SIZES)
ONE_LINE = campaigns.make_cases(lines=[("allreduce", "blocking")], sizes=SIZES)


def find_smooth_time(candidate: str, case: Case) -> float:
    """Return the time on a smooth curve: beta has a larger start and a larger bandwidth, so that the curves cross."""
    start_ns, bytes_per_ns = {"alpha": (600, 4), "beta": (900, 8)}.get(candidate, (1500, 2))
    return start_ns + case.size_bytes / bytes_per_ns


def find_equal_time(candidate: str, case: Case) -> float:
    """Return the same smooth curve for all candidates."""
    return campaigns.compute_base_ns(case)


@dataclass(frozen=True)
class Noise:
    """The random draws of a campaign."""

    seed: int
    spread: float | Callable[[str, Case], float]
    state: float
    tails: int

    def draw(self, launches: int, cases: Sequence[Case], candidates: Sequence[str]) -> np.ndarray:
        """Return logarithms by launch, candidate and case."""
        random, spread = np.random.default_rng(self.seed), self.spread
        wide = np.array([[spread(name, case) if callable(spread) else spread for case in cases] for name in candidates])
        size = (launches, *wide.shape)
        values = random.standard_t(self.tails, size) if self.tails else random.standard_normal(size)
        return np.asarray(wide * values + self.state * random.standard_normal((launches, 1, 1)))


def make_view(
    time_of: TimeOf,
    *,
    seed: int = 1,
    launches: int = 8,
    spread: float | Callable[[str, Case], float] = 0.02,
    state: float = 0.05,
    tails: int = 0,
    cases: Sequence[Case] = LINES,
    candidates: Sequence[str] = ("alpha", "beta", "gamma"),
    settings: Mapping[str, Mapping[str, str]] | None = None,
    last_ranks: pl.DataFrame = NO_LAST_RANKS,
    **changes: object,
) -> CampaignView:
    """Return the view of a campaign. Candidates with settings are all of one library; a time that is NaN is that of a
    case that failed. Spreads are standard deviations of the logarithm, which is Gaussian, or Student's with `tails`
    degrees of freedom: the fewer, the larger are outliers.
    """
    record = _make_record(cases, candidates, settings or {}, changes)
    launch_values = draw_values(time_of, Noise(seed, spread, state, tails), launches, cases, candidates)
    comparisons = statistics.compare(launch_values, list(itertools.combinations(candidates, 2)), record.plan.threshold)
    launch_records = [
        campaigns.make_launch(number, block, position, name, "socket")
        for number, block, position, name in list_launches(launches, candidates)
    ]
    return CampaignView(
        campaign=record,
        launches=launch_records,
        verdict=make_draft(record, launch_records, make_summaries(launch_values), comparisons),
        launch_values=launch_values.with_columns(uncertain=False, few=False),
        last_ranks=last_ranks,
    )


def _make_record(
    cases: Sequence[Case],
    candidates: Sequence[str],
    settings: Mapping[str, Mapping[str, str]],
    changes: dict[str, object],
) -> Campaign:
    record = campaigns.make_record("planted", cases, candidates, control=False)
    names = [
        Candidate(
            name=candidate,
            library=candidates[0] if candidate in settings else candidate,
            settings=dict(settings.get(candidate, {})),
        )
        for candidate in candidates
    ]
    return msgspec.structs.replace(record, candidates=names, **changes)


def list_launches(launches: int, candidates: Sequence[str]) -> list[tuple[int, int, int, str]]:
    """Return number, block, position and candidate of every launch."""
    return [
        (1 + block * len(candidates) + position, block + 1, position, name)
        for block in range(launches)
        for position, name in enumerate(candidates)
    ]


def draw_values(
    time_of: TimeOf,
    noise: Noise,
    launches: int,
    cases: Sequence[Case],
    candidates: Sequence[str],
) -> pl.DataFrame:
    """Return the values of all launches."""
    times = np.array([[time_of(name, case) for case in cases] for name in candidates])
    logs = noise.draw(launches, cases, candidates)
    rows = list_launches(launches, candidates)
    keys = [case.key for case in cases]
    return pl.DataFrame(
        {
            "case": keys * len(rows),
            "candidate": [name for _, _, _, name in rows for _ in keys],
            "block": [block for _, block, _, _ in rows for _ in keys],
            "launch": [number for number, _, _, _ in rows for _ in keys],
            "figure_ns": (times * np.exp(logs)).ravel(),
        },
        schema_overrides={"block": pl.Int32, "launch": pl.Int32},
    ).filter(pl.col("figure_ns").is_not_nan())


def make_summaries(launch_values: pl.DataFrame) -> list[Summary]:
    """Return the parts of summaries that verdicts need."""
    value = pl.col("figure_ns")
    table = launch_values.group_by("case", "candidate", maintain_order=True).agg(
        value.len().alias("launches"), value.median(), value.min().alias("low"), value.max().alias("high")
    )
    return [
        Summary(case=case, candidate=name, launches=n, samples=n, late=0, overrun=0, typical_ns=middle, low_ns=low,
                high_ns=high, coverage=0.95)
        for case, name, n, middle, low, high in table.iter_rows()
    ]  # fmt: skip
