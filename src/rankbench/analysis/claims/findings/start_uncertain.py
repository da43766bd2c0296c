"""Clocks agree too badly for so short a call, or ranks were seen to begin far apart.

Why: The time could be wrong by more than 5%. Such values are shown and take part in no comparison.

What to do: Measure larger messages, or use `start = "barrier"`. `rankbench verify --clocks` shows how well clocks
agree.
"""

from __future__ import annotations

from collections.abc import Iterator

from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.questions.wording import shorten
from rankbench.analysis.statistics.launch_values import START_BOUND
from rankbench.language import Text, say
from rankbench.model import Finding, Summary

TITLE = "Uncertain starts"
TITLES_SHOWN = 3


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield uncertain starts as a warning, and as a note delays that are part of the time and not asked for."""
    shown = [summary for summary in view.summaries if summary.candidate in view.candidates]
    if unknown := [summary for summary in shown if summary.doubt and summary.uncertain]:
        yield _make_unknown(view, unknown)
    main = {
        main_verdict.case.key
        for main_verdict in view.main_verdicts
        if view.campaign.scheduled(main_verdict.case) and "arrival" not in main_verdict.case.options
    }
    if apart := [
        summary for summary in shown if summary.case in main and summary.skew_ns > START_BOUND * summary.typical_ns > 0
    ]:
        yield _make_skew(view, apart)


def _make_unknown(view: CampaignView, summaries: list[Summary]) -> Finding:
    worst = max(summaries, key=_find_error_share)
    return Finding(
        kind="start_uncertain",
        title=say("Starts too uncertain to judge"),
        text=say(
            "In {where} the estimated error of start synchronisation is more than {bound:.0%} of the time of a call; "
            "the worst is {name} in {case}: {doubt}. These values are shown and not compared.",
            where=_describe_cases(view, summaries),
            bound=START_BOUND,
            name=worst.candidate,
            case=view.full_title(view.case_of[worst.case]),
            doubt=worst.doubt,
        ),
        advice=say(
            'Measure larger messages there, or use a start that needs no common clock (start = "barrier"). '
            "`rankbench verify --clocks` shows how well clocks agree here."
        ),
        cases=_list_cases(view, summaries),
        severity="warning",
    )


def _make_skew(view: CampaignView, summaries: list[Summary]) -> Finding:
    worst = max(summaries, key=lambda summary: summary.skew_ns / summary.typical_ns)
    return Finding(
        kind="start_uncertain",
        title=say("Ranks did not begin together"),
        text=say(
            "In {where} the last rank began later than the first by more than {bound:.0%} of the time of a call, at "
            "most {skew:time} of {typical:time} ({name}, {case}). This delay is measured and included in the time.",
            where=_describe_cases(view, summaries),
            bound=START_BOUND,
            skew=worst.skew_ns,
            typical=worst.typical_ns,
            name=worst.candidate,
            case=view.full_title(view.case_of[worst.case]),
        ),
        advice=say(
            "This is not an error, but a difference of that size between such short calls may come from the start."
        ),
        cases=_list_cases(view, summaries),
        severity="note",
    )


def _find_error_share(summary: Summary) -> float:
    return summary.error_ns / summary.typical_ns if summary.typical_ns > 0 else float("inf")


def _list_cases(view: CampaignView, summaries: list[Summary]) -> list[str]:
    keys = {summary.case for summary in summaries}
    return [key for key in view.case_of if key in keys]


def _describe_cases(view: CampaignView, summaries: list[Summary]) -> Text:
    cases = _list_cases(view, summaries)
    titles = list(dict.fromkeys(view.title(view.case_of[key]) for key in cases))
    return say("{n:count case} ({titles:and})", n=len(cases), titles=shorten(titles, TITLES_SHOWN))
