"""What MPI_THREAD_MULTIPLE costs each candidate: calls that were measured with it and without. Pure.

The two are measured by different launches of one block, so they are paired by block.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import polars as pl

from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.statistics.contrasts import Contrast, judge
from rankbench.analysis.statistics.pairing import pair_logs
from rankbench.model import LEVEL, MULTIPLE, Case

SERIALIZED = (
    "If only one thread of a rank calls at a time, initialise MPI with MPI_THREAD_SERIALIZED or less (mpi4py: "
    'mpi4py.rc.thread_level = "serialized" before MPI is imported).'
)


class LevelCost(NamedTuple):
    """The time of a call with MPI_THREAD_MULTIPLE over that without it, with one candidate."""

    case: Case
    """With it."""
    usual: Case
    """Without it."""
    candidate: str
    ratio: Contrast


def find_costs(view: CampaignView) -> list[LevelCost]:
    """Return what it costs in each case that was measured with and without it, by case and candidate."""
    return view.once("thread levels", lambda: compare_levels(view))


def compare_levels(view: CampaignView) -> list[LevelCost]:
    """Return the same; what is significant is decided for all ratios together."""
    cases = {
        verdict.case.key: verdict.case
        for verdict in view.main_verdicts
        if verdict.case.quantity == "time" and not view.short_of_cores(verdict.case)
    }
    multiples = {
        usual: case
        for case in cases.values()
        if case.options.get(LEVEL) == MULTIPLE and (usual := case.without(LEVEL)) in cases
    }
    if not multiples:
        return []
    names = pl.DataFrame({"usual": list(multiples), "case": [case.key for case in multiples.values()]})
    values = view.judged_values.select("case", "candidate", "block", "figure_ns")
    slower = values.join(names, on="case").with_columns(case="usual", candidate=MULTIPLE + pl.col("candidate"))
    both = pl.concat([values.filter(pl.col("case").is_in(list(multiples))), slower.drop("usual")])
    logs = pair_logs(both, [(name, MULTIPLE + name) for name in view.candidates])
    margin = pl.lit(math.log1p(view.campaign.plan.threshold))
    contrasts = judge(logs.with_columns(margin=margin), ["case", "base"], view.campaign.plan.confidence)
    return [
        LevelCost(multiples[usual], cases[usual], candidate, contrast)
        for contrast in contrasts
        for usual, candidate in [contrast.key]
    ]
