"""Stored samples are far below what the core estimated while it measured them.

Why: Each launch stores an estimate of its times apart from the samples. Where most samples are far below, they were
changed since.

What to do: Take the campaign from a copy, or measure again. Do not use these times.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from rankbench.analysis.questions.view import CampaignView
from rankbench.language import say
from rankbench.model import CaseStatus, Finding

TITLE = "Samples contradict estimates"
LEAST_RATIO = 0.7
"""Of samples to estimates: medians over the launches and cases of a candidate are 1.0 to 1.1, on busy machines, too."""
FEWEST = 10
"""Launches and cases, for a median."""


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield an error for each candidate whose samples are below the estimates."""
    columns = {"status", "estimate_ns"}
    if not columns <= set(view.case_rows.columns) or view.launch_values.is_empty():
        return
    timed = [case.key for case in view.campaign.cases if case.quantity == "time"]
    rows = view.case_rows.filter(
        pl.col("status") == CaseStatus.OK, pl.col("estimate_ns") > 0, pl.col("case").is_in(timed)
    ).select("case", "candidate", "launch", "estimate_ns")
    keys = ["case", "candidate", "launch"]
    ratios = rows.join(view.launch_values.select(*keys, "middle_ns"), on=keys).with_columns(
        ratio=pl.col("middle_ns") / pl.col("estimate_ns")
    )
    medians = ratios.group_by("candidate", maintain_order=True).agg(pl.col("ratio").median(), pl.len())
    for name, ratio, number in medians.iter_rows():
        if number < FEWEST or ratio >= LEAST_RATIO:
            continue
        low = ratios.filter(pl.col("candidate") == name, pl.col("ratio") < LEAST_RATIO)
        yield Finding(
            kind="contradiction",
            title=say("Samples changed after they were measured: {name}", name=name),
            text=say(
                "The medians of {name}'s samples are {ratio:ratio} what its launches estimated while they measured "
                "(median of {n:count value|values}). The samples were changed after they had been measured.",
                name=name,
                ratio=ratio,
                n=number,
            ),
            advice=say("Do not use these times: take the campaign from a copy, or measure again."),
            cases=low["case"].unique(maintain_order=True).to_list(),
            severity="failure",
        )
