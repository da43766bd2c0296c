"""What MPI_THREAD_MULTIPLE costs each candidate: calls that were measured with it and without. Pure.

The two are measured by different launches of one block, so they are paired by block, where the reference shows the same
level of the machine for both.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import polars as pl

from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.statistics.contrasts import Contrast, judge
from rankbench.analysis.statistics.pairing import tabulate_blocks
from rankbench.analysis.statistics.references import is_alike
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
    values = view.judged_values
    slower = values.join(names, on="case").with_columns(case="usual", candidate=MULTIPLE + pl.col("candidate"))
    both = pl.concat([values.filter(pl.col("case").is_in(list(multiples))), slower.drop("usual")])
    margin = math.log1p(view.campaign.plan.threshold)
    logs = [
        tabulate_blocks(both.drop("visit_ns", strict=False), name, MULTIPLE + name)
        .filter(is_alike("hop_ns", "hop_ns_other"))
        .select("case", "block", "log", candidate=pl.lit(name), margin=pl.lit(margin))
        for name in view.candidates
    ]
    contrasts = judge(pl.concat(logs), ["case", "candidate"], view.campaign.plan.confidence)
    return [
        LevelCost(multiples[usual], cases[usual], candidate, contrast)
        for contrast in contrasts
        for usual, candidate in [contrast.key]
        if math.isfinite(contrast.high)
    ]
