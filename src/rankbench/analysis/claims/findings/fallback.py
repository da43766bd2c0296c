"""A library was set to use an algorithm, could not use it for a call, and used another one.

Why: The times are those of another algorithm than the settings say. By default the library falls back silently.

What to do: Leave the setting out for these calls; the library's message names what it cannot apply. The other
algorithms: `rankbench settings`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from rankbench.analysis.questions.view import CampaignView
from rankbench.language import Text, list_parts, say
from rankbench.model import Finding, Summary
from rankbench.plan.settings import OPTION

TITLE = "Fell back"
REQUEST = "_ALGORITHM"
"""Part of the names of settings that request an algorithm."""


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield a finding for each candidate, request and report of the library, with the cases."""
    reports = [
        (summary.candidate, _find_request(view, summary), summary.fallback, summary)
        for summary in view.summaries
        if summary.fallback
    ]
    for (candidate, request, report), group in groupby(sorted(reports, key=lambda row: row[:3]), lambda row: row[:3]):
        yield _make_finding(view, candidate, request, report, [summary for *_, summary in group])


def _find_request(view: CampaignView, summary: Summary) -> str:
    """Return the settings that request an algorithm, as `NAME=VALUE`: those of the case, else of the candidate."""
    case = view.case_of[summary.case]
    in_case = view.campaign.plan.settings.get(case.options.get(OPTION, ""), {})
    of_candidate = view.campaign.get_candidate(summary.candidate).settings
    chosen = [f"{name}={value}" for name, value in (of_candidate | in_case).items() if REQUEST in name]
    word = case.operation.replace("-", "_").upper()
    return ", ".join([clause for clause in chosen if word in clause] or chosen)


def _make_finding(view: CampaignView, candidate: str, request: str, report: str, summaries: list[Summary]) -> Finding:
    named = {summary.case for summary in summaries}
    cases = [case.key for case in view.cases if case.key in named]
    titles = [view.full_title(view.case_of[case]) for case in cases]
    requested = say(" with {request}", request=request) if request else Text("")
    return Finding(
        kind="fallback",
        title=say("{candidate} did not use the algorithm that it was set to", candidate=candidate),
        text=say(
            "{candidate}{requested} used another algorithm in {cases}. It reports: {report}",
            candidate=candidate,
            requested=requested,
            cases=list_parts(titles),
            report=report,
        ),
        advice=say("Leave this setting out for these calls: their times are those of the library's own choice."),
        cases=cases,
        severity="warning",
    )
