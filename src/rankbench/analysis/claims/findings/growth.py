"""The memory of a rank grows with every visit of a case.

Why: A library that does not free what calls use takes all memory of a long run, and becomes slower before that.

What to do: Report it to the vendor, with the call.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from rankbench.analysis.questions.view import CampaignView
from rankbench.language import say
from rankbench.model import CaseStatus, Finding

TITLE = "Growing memory"
LEAST_BYTES = 1 << 16
"""Growth in every visit of a launch. A rank's own memory grows by pages, and first uses in the first visits only."""
FEWEST, MOST_PARTS = 3, 0.75
"""Launches, and the share of them, that show it."""


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield one finding for each candidate whose memory grows."""
    if "leaked_bytes" not in view.case_rows.columns or view.campaign.plan.sampling.passes == 1:
        return  # The only visit of a launch has first uses, too.
    rows = view.case_rows.filter(pl.col("status") == CaseStatus.OK)
    grown = pl.col("leaked_bytes") >= LEAST_BYTES
    cases = (
        rows.group_by("candidate", "case", maintain_order=True)
        .agg(pl.len(), grown.mean().alias("share"), pl.col("leaked_bytes", "taken", "calls").median())
        .filter(pl.col("len") >= FEWEST, pl.col("share") >= MOST_PARTS)
        .sort("leaked_bytes", descending=True, maintain_order=True)
    )
    for name in view.candidates:
        leaks = cases.filter(pl.col("candidate") == name)
        if leaks.is_empty():
            continue
        worst = leaks.row(0, named=True)
        calls = worst["taken"] * worst["calls"] / view.campaign.plan.sampling.passes
        yield Finding(
            kind="growth",
            title=say("The memory of {name} grows with every call", name=name),
            text=say(
                "In {grew} of {launches:count launch} the memory of a rank of {name} grew in every visit of {case}, by "
                "{grown:memory} or more, at most {each:memory} per call (medians). This is so in {n:count case}.",
                case=view.full_title(view.case_of[worst["case"]]),
                name=name,
                grown=worst["leaked_bytes"],
                each=worst["leaked_bytes"] / max(calls, 1.0),
                grew=round(worst["share"] * worst["len"]),
                launches=worst["len"],
                n=leaks.height,
            ),
            advice=say("Report it to the vendor. In a long run such a library uses up the memory of its node."),
            cases=leaks["case"].to_list(),
            severity="warning",
        )
