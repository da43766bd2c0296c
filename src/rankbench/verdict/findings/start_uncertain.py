"""Starts that limit a figure: clocks that agree too badly for so short a call, ranks that were seen to begin apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankbench.model import Finding, Summary
from rankbench.quantities import format_time
from rankbench.statistics.estimators import START_BOUND
from rankbench.verdict.evidence import Evidence, counted, listed

if TYPE_CHECKING:
    from collections.abc import Iterator

TITLE = "Uncertain starts"
TITLES_SHOWN = 3


def find(evidence: Evidence) -> Iterator[Finding]:
    """Yield what is not known of starts as a warning, and what is known, and thus part of the time, as a note."""
    own = [one for one in evidence.summaries if one.candidate in evidence.names]
    if unknown := [one for one in own if one.doubt]:
        yield _unknown(evidence, unknown)
    main = {one.case.key for one in evidence.main if evidence.campaign.scheduled(one.case)}
    if apart := [one for one in own if one.case in main and one.skew_ns > START_BOUND * one.typical_ns > 0]:
        yield _apart(evidence, apart)


def _unknown(evidence: Evidence, found: list[Summary]) -> Finding:
    worst = max(found, key=_bound_share)
    return Finding(
        kind="start_uncertain",
        title="Starts too uncertain to judge",
        text=(
            f"In {_where(evidence, found)} ranks' clocks may differ by more than {START_BOUND:.0%} of the time of a "
            f"call; worst is {worst.candidate} in {evidence.full_title(evidence.case[worst.case])}: {worst.doubt}. "
            "These figures are shown, and take part in no comparison."
        ),
        advice=(
            'Measure larger messages there, or use a start that needs no common clock (start = "barrier"); '
            "`rankbench clock` shows how well clocks agree here."
        ),
        cases=_cases(evidence, found),
        severity="warning",
    )


def _apart(evidence: Evidence, found: list[Summary]) -> Finding:
    worst = max(found, key=lambda one: one.skew_ns / one.typical_ns)
    return Finding(
        kind="start_uncertain",
        title="Ranks began measurably apart",
        text=(
            f"In {_where(evidence, found)} the last rank began later than the first by more than {START_BOUND:.0%} of "
            f"the time, at most by {format_time(worst.skew_ns)} of {format_time(worst.typical_ns)} ({worst.candidate}, "
            f"{evidence.full_title(evidence.case[worst.case])}). This is measured, and part of the time."
        ),
        advice="Nothing is wrong; but a difference of that size between calls so short may be one of starts.",
        cases=_cases(evidence, found),
        severity="note",
    )


def _bound_share(summary: Summary) -> float:
    return summary.bound_ns / summary.typical_ns if summary.typical_ns > 0 else float("inf")


def _cases(evidence: Evidence, found: list[Summary]) -> list[str]:
    keys = {one.case for one in found}
    return [key for key in evidence.case if key in keys]


def _where(evidence: Evidence, found: list[Summary]) -> str:
    titles = list(dict.fromkeys(evidence.title(evidence.case[key]) for key in _cases(evidence, found)))
    shown = (
        titles if len(titles) <= TITLES_SHOWN + 1 else [*titles[:TITLES_SHOWN], f"{len(titles) - TITLES_SHOWN} more"]
    )
    return f"{counted(len(_cases(evidence, found)), 'case')} ({listed(shown)})"
