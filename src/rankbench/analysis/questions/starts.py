"""What a start does to a case: cases that differ in nothing but their start, compared within one candidate."""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from rankbench.analysis.statistics import compare, rounding
from rankbench.model import Campaign, Case, Comparison


class StartEffect(NamedTuple):
    """What another start than the usual one does to the time of a case of one candidate."""

    candidate: str
    case: str
    """Key of the case with the other start."""
    usual: str
    """Key of the case with the usual start."""
    ratio: Comparison
    """Its `base` and `other` are the names of the two starts."""


def find_usual_starts(campaign: Campaign) -> dict[str, Case]:
    """Return, by the key of every case, the case that is like it but for the start, and has the usual one.

    That is the start that the core gives the operation; where this was not measured, the first that was.
    """
    defaults = {operation.name: operation.start for operation in campaign.operations}
    chosen: dict[str, Case] = {}
    for case in campaign.cases:
        if case.start == defaults[case.operation]:
            chosen[case.without("start")] = case
        else:
            chosen.setdefault(case.without("start"), case)
    return {case.key: chosen[case.without("start")] for case in campaign.cases}


def compare_starts(launch_values: pl.DataFrame, campaign: Campaign) -> list[StartEffect]:
    """Return what each other start does to each case of each candidate, paired within blocks.

    Args:
        launch_values: result of `compute_launch_values`, less what is not to be judged.
        campaign: the campaign; its A/A twins take no part.
    """
    usual = find_usual_starts(campaign)
    keys = {(usual[case.key].key, case.start): case.key for case in campaign.cases}
    pairs = dict.fromkeys((usual[key].start, start) for (key, start) in keys if usual[key].start != start)
    cases = pl.DataFrame([(key, *at) for at, key in keys.items()], ["case", "usual", "start"], orient="row")
    by_start = rounding.complete(launch_values).join(cases, on="case").drop("case")
    effects: list[StartEffect] = []
    for name in (candidate.name for candidate in campaign.candidates if pairs and not candidate.control_of):
        candidate_values = by_start.filter(pl.col("candidate") == name)
        frame = candidate_values.select("block", "launch", "figure_ns", "rounding", case="usual", candidate="start")
        ratios = compare(frame, list(pairs), campaign.plan.threshold, confidence=campaign.plan.confidence)
        effects += (StartEffect(name, keys[ratio.case, ratio.other], ratio.case, ratio) for ratio in ratios)
    return effects
