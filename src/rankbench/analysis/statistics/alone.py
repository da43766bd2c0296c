"""Whether candidates compare alike in turns, while others wait, and alone, as an application runs. Pure.

Some launches of a campaign are made alone, each candidate's after the other's. The ratio of two candidates has a value
from these and one from the launches in turns, which are paired within blocks. Launches that are made alone are not
paired, so that the error of their ratio follows from how much the launches of each candidate scatter from block to
block. A machine whose cores are near at times and far at others may change from one to the next, and libraries differ
in what far cores cost them: launches are compared whose reference is alike (`references`). Where there are none, a call
takes at most as many times as long as a hop does, which is added to the interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from rankbench.analysis.statistics.decision import Estimate, Family, decide
from rankbench.analysis.statistics.pairing import tabulate_blocks
from rankbench.analysis.statistics.references import APART, is_alike
from rankbench.model import AloneComparison

FEWEST = 3
"""Blocks of launches in turns, for their scatter."""
LEAST_ERROR = 1e-3
"""Of a logarithm: values without scatter have an error, too."""


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
        together = tabulate_blocks(in_turns, base, other)
        for (case,), rows in tabulate_blocks(alone, base, other).group_by("case", maintain_order=True):
            changes = compare_blocks(rows, together.filter(case=case))
            if changes:
                tested.append((case, base, other, *np.mean([change[:2] for change in changes], axis=0).tolist()))
                estimates.append(estimate_change(changes))
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


class Change(NamedTuple):
    """One block's ratio alone, and that in turns, as logarithms, with the variances of both."""

    alone: float
    in_turns: float
    alone_variance: float
    in_turns_variance: float
    blocks: int
    """Blocks in turns."""
    offset: float
    """How far the change may be from the truth, since the machine was in another state."""


def compare_blocks(alone: pl.DataFrame, in_turns: pl.DataFrame) -> list[Change]:
    """Return the change of each block alone: against the blocks in turns whose references are like its own, if there
    are such; else against all, and the change may be off by as much as the references differ.
    """
    changes = []
    for row in alone.iter_rows(named=True):
        hops_ns = [hop_ns for hop_ns in (row["hop_ns"], row["hop_ns_other"]) if hop_ns > 0]
        alike = in_turns.filter(
            *(is_alike(name, pl.lit(hop_ns)) for name in ("hop_ns", "hop_ns_other") for hop_ns in hops_ns)
        )
        if len(alike) >= FEWEST and measure_range(hops_ns) < math.log(APART):
            changes.append(make_change(row["log"], alike))
        elif len(in_turns) >= FEWEST:
            others_ns = [*in_turns["hop_ns"].to_list(), *in_turns["hop_ns_other"].to_list()]
            offset = measure_range([*hops_ns, *(hop_ns for hop_ns in others_ns if hop_ns > 0)])
            changes.append(make_change(row["log"], in_turns, offset))
    return [change for change in changes if not change.offset] or changes


def measure_range(hops_ns: Sequence[float]) -> float:
    """Return the logarithm of the longest hop over the shortest one; 0 where none is known."""
    return math.log(max(hops_ns) / min(hops_ns)) if hops_ns else 0.0


def make_change(alone: float, in_turns: pl.DataFrame, offset: float = 0.0) -> Change:
    """Return the change of a ratio alone against that of blocks in turns."""
    scatter = sum(float(np.var(in_turns[name].to_numpy(), ddof=1)) for name in ("time", "time_other"))
    logs = in_turns["log"].to_numpy()
    return Change(alone, float(logs.mean()), scatter, float(np.var(logs, ddof=1)) / len(logs), len(logs), offset)


def estimate_change(changes: Sequence[Change]) -> Estimate:
    """Return the mean change; blocks in turns are the same for several of them, so their error is not averaged."""
    error = sum(change.alone_variance for change in changes) / len(changes) ** 2
    error += max(change.in_turns_variance for change in changes)
    mean = float(np.mean([change.alone - change.in_turns for change in changes]))
    offset = max(change.offset for change in changes)
    return Estimate(mean, max(math.sqrt(error), LEAST_ERROR), min(change.blocks for change in changes) - 1, offset)
