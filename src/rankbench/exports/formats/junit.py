"""What became of every case and candidate as JUnit XML: a test case each, and what failed is a failure.

Nothing is held against another campaign or candidate: that is `rankbench gate`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rankbench.across.gate import Check, Outcome
from rankbench.across.two_campaigns import title_case
from rankbench.analysis.evaluation.scales import describe_result
from rankbench.analysis.questions.view import CampaignView
from rankbench.exports import EvaluatedCampaign, write_text
from rankbench.language import NOTHING, render, say
from rankbench.model import BROKEN, Case, Summary
from rankbench.report import junit

TITLE = "a test case per case and candidate; what failed is a failure"
SUFFIX = ".xml"
PLACE = "file"
LOG = say("See `rankbench show` and the launch's log.")


def write(source: EvaluatedCampaign, path: Path) -> Iterator[Path]:
    """Write the document."""
    campaign_view = source.view
    texts = [*campaign_view.campaign.notes, *(render(claim.text) for claim in campaign_view.verdict.conclusion)]
    document = junit.junit(
        list(checks(campaign_view)),
        campaign_view.campaign.name,
        campaign_view.campaign.created,
        texts,
        failure="no values",
    )
    yield write_text(path, document)


def checks(view: CampaignView) -> Iterator[Check]:
    """Yield what became of each case and candidate, A/A twins included."""
    for case in view.campaign.cases:
        for _, summary in view.summaries_of.get(case.key, ()):
            yield check(view, case, summary)


def check(view: CampaignView, case: Case, summary: Summary) -> Check:
    """Return one of them. What a library lacks, or what could not be run as asked, is skipped."""
    broken = any(status in BROKEN for status in summary.failures)
    outcome: Outcome = "failed" if broken else "passed" if summary.launches else "skipped"
    timed = summary.launches and case.quantity != "memory"
    return Check(
        case=case.key,
        title=title_case(view, case),
        candidate=summary.candidate,
        outcome=outcome,
        text=NOTHING if outcome == "passed" else summary.doubt or describe_result(summary, counts=False),
        advice=LOG if broken else NOTHING,
        measured_s=summary.samples * summary.mean_ns / 1e9 if timed else 0.0,
    )
