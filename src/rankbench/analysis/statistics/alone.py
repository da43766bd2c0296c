"""Whether candidates compare alike in turns, while others wait, and alone, as an application runs. Pure.

Some launches of a campaign are made alone, each candidate's after the other's. The ratio of two candidates has a value
from these and one from the launches in turns, which are paired within blocks. Launches that are made alone are not
paired, so that the error of their ratio follows from how much the launches of each candidate scatter from block to
block.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import polars as pl

from rankbench.analysis.statistics.decision import Estimate, Family, decide
from rankbench.analysis.statistics.pairing import pair_logs
from rankbench.model import AloneComparison

FEWEST = 3
"""Blocks of launches in turns, for their scatter."""


def compare_alone(
    in_turns: pl.DataFrame, alone: pl.DataFrame, pairs: Sequence[tuple[str, str]], threshold: float, confidence: float
) -> list[AloneComparison]:
    """Return the pairs and cases whose ratio alone differs from that in turns by more than the threshold.

    Args:
        in_turns: values of launches, as `compute_launch_values` returns them, that count.
        alone: the same of launches that were made alone.
        pairs: candidates to compare.
        threshold: a smaller difference of the ratios does not matter.
        confidence: of the intervals.
    """
    tested, estimates = [], []
    for base, other in pairs:
        together = _by_case(pair_logs(in_turns, [(base, other)]))
        for case, logs in _by_case(pair_logs(alone, [(base, other)])).items():
            paired = together.get(case, [])
            if len(paired) < FEWEST:
                continue
            scatter = sum(_variance(in_turns, case, name) for name in (base, other))
            error = math.sqrt(scatter / len(logs) + np.var(paired, ddof=1) / len(paired))
            tested.append((case, base, other, float(np.mean(logs)), float(np.mean(paired))))
            estimates.append(Estimate(float(np.mean(logs) - np.mean(paired)), max(error, 1e-3), len(paired) - 1))
    decisions = decide(estimates, threshold, confidence, family=Family("bonferroni"))
    return [
        AloneComparison(
            case=case,
            base=base,
            other=other,
            alone=math.exp(log),
            in_turns=math.exp(paired_log),
            change=decision.ratio,
            low=decision.low,
            high=decision.high,
        )
        for (case, base, other, log, paired_log), decision in zip(tested, decisions, strict=True)
        if decision.different
    ]


def _by_case(logs: pl.DataFrame) -> dict[str, list[float]]:
    return dict(logs.group_by("case", maintain_order=True).agg("log").iter_rows())


def _variance(launch_values: pl.DataFrame, case: str, candidate: str) -> float:
    """Return the variance of the logarithms of a candidate's values over blocks."""
    values = launch_values.filter(case=case, candidate=candidate)["figure_ns"].log()
    return float(np.var(values.to_numpy(), ddof=1))
