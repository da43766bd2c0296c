"""Ranks waited for a CPU while they were timed.

Why: Other programs ran on the same CPUs, or ranks are more than cores. With the starts `barrier` and `none` such times
are in the results; with scheduled starts only those of long calls.

What to do: Measure when the machine is idle. A control group may also limit the CPU time.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.statistics.dropping import MOST_WAITED
from rankbench.language import say
from rankbench.model import Finding

TITLE = "Ranks waited for a CPU"


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield a warning where ranks waited for more than a tenth of the time in half of all launches and cases."""
    if "timed_ns" not in view.case_rows.columns:
        return
    shares = view.case_rows.filter(pl.col("timed_ns") > 0).with_columns(
        share=pl.col("waited_ns") / pl.col("timed_ns"), crowded=pl.col("case").is_in(_list_crowded(view))
    )
    middle = shares.filter(~pl.col("crowded"))["share"].median()
    if not isinstance(middle, float) or middle <= MOST_WAITED:
        return
    loose = [case.key for case in view.campaign.cases if not view.campaign.scheduled(case)]
    yield Finding(
        kind="waiting",
        title=say("Ranks waited for a CPU"),
        text=say(
            "A rank of a case waited for a CPU for {share:.0%} of the time in which it was timed (median over launches "
            "and cases). In {n:count case} without a scheduled start, waiting is in the times."
            if loose
            else "A rank of a case waited for a CPU for {share:.0%} of the time in which it was timed (median over "
            "launches and cases).",
            share=middle,
            n=len(loose),
        ),
        advice=say("Measure when the machine is idle, or with its CPUs reserved."),
        cases=loose,
        severity="warning",
        plot="state",
    )


def _list_crowded(view: CampaignView) -> list[str]:
    """Return the cases whose ranks share cores by the plan: they wait for each other."""
    return [case.key for case in view.campaign.cases if view.short_of_cores(case)]
