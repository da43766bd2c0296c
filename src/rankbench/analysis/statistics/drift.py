"""Whether calls become slower, or faster, from the first visit of a launch to the last. Pure.

Launches of a block take turns, so that a machine that changes meanwhile changes for all candidates.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import polars as pl

from rankbench.analysis.statistics.decision import Estimate, Family, decide

LEVEL = 0.01
"""Largest adjusted p-value, as of other findings."""
FEWEST = 5
"""Launches of a candidate in a case."""


class Drift(NamedTuple):
    """The last visit of a launch over its first, in one case of a candidate."""

    case: str
    candidate: str
    ratio: float
    low: float
    high: float
    launches: int


def find_drifts(launch_values: pl.DataFrame, threshold: float, confidence: float) -> list[Drift]:
    """Return where the ratio differs from 1 by more than the threshold, in the order of cases.

    The ratios of launches are independent; p-values are adjusted over all cases and candidates (Benjamini, Hochberg).
    """
    if "visit_ns" not in launch_values.columns:
        return []
    ends = launch_values.filter(pl.col("visit_ns").list.len() > 1).with_columns(
        first=pl.col("visit_ns").list.first(), last=pl.col("visit_ns").list.last()
    )
    logs = (
        ends.filter(pl.col("first") > 0, pl.col("last") > 0)
        .with_columns(log=(pl.col("last") / pl.col("first")).log())
        .group_by("case", "candidate", maintain_order=True)
        .agg("log")
        .filter(pl.col("log").list.len() >= FEWEST)
    )
    estimates = []
    for values in logs["log"].to_list():
        error = max(float(np.std(values, ddof=1)) / math.sqrt(len(values)), 1e-3)
        estimates.append(Estimate(float(np.mean(values)), error, len(values) - 1))
    decisions = decide(estimates, threshold, confidence, family=Family("fdr", LEVEL))
    return [
        Drift(case, candidate, decision.ratio, decision.low, decision.high, len(values))
        for (case, candidate, values), decision in zip(logs.iter_rows(), decisions, strict=True)
        if decision.different
    ]
