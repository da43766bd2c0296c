"""Second modes of times that occur while cores are far: those are the machine's, not a library's. Pure."""

from __future__ import annotations

import math

import numpy as np
import polars as pl

from rankbench.verdict.view import CampaignView

COINCIDES = 0.5
"""Correlation, over visits, of being slow with being far, above which a mode is one of the machine."""


def has_second_mode(view: CampaignView, case: str, name: str) -> bool:
    """Return whether the times of a candidate have a further mode that repeats over launches."""
    return any(mode.repeats for mode in view.modes.get((case, name), [])[1:])


def follows_level(view: CampaignView, case: str, name: str) -> bool:
    """Return whether the slower of two modes mostly occurs while cores are far, visit by visit."""
    if case not in view.levels:
        return False
    at, modes = view.levels[case], view.modes[case, name]
    launch_values = view.judged_values.filter(pl.col("case") == case, pl.col("candidate") == name)
    visits = launch_values.select("visit_ns", "visit_hop_ns").explode("visit_ns", "visit_hop_ns")
    near, far = pl.col("visit_hop_ns").is_between(1e-9, at.nearest_ns), pl.col("visit_hop_ns") >= at.farthest_ns
    between = math.sqrt(modes[0].mode.location_ns * modes[1].mode.location_ns)
    known = visits.filter(near | far)
    slow, distant = known.select((pl.col("visit_ns") > between).alias("slow"), far.alias("far"))
    if slow.n_unique() < 2 or distant.n_unique() < 2:
        return False
    return float(np.corrcoef(slow.to_numpy(), distant.to_numpy())[0, 1]) > COINCIDES


def list_level_modes(view: CampaignView) -> list[str]:
    """Return the cases in which a candidate has such a mode."""
    return [
        case
        for case in view.case_of
        if any(has_second_mode(view, case, name) and follows_level(view, case, name) for name in view.candidates)
    ]
