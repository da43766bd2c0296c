"""Candidates that could not do what was asked: crashes, hangs, wrong data, refusals, calls that are not there."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rankbench.model import Finding, LaunchStatus
from rankbench.verdict.evidence import Evidence, counted, listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankbench.model import Launch

TITLE = "What failed"

_SAYINGS = {
    "wrong-data": ("delivered wrong data", "Do not use this library for these calls; report it to its developers."),
    "crashed": ("crashed", "Read the launch's log; try the library's newest version or another transport."),
    "hung": ("made no progress", "Read the launch's log; raise launch_limit in the plan if the case is just slow."),
    "failed": ("returned an error", "Read the reason in the table of failures."),
    "refused": ("could not be run as asked", "Read the reason in the table of failures."),
    "lacking": ("does not have the call", "Nothing is wrong: choose another library or form where you need it."),
}


def find(evidence: Evidence) -> Iterator[Finding]:
    """Yield one finding per candidate and kind of failure."""
    for name in evidence.names:
        for status, (saying, advice) in _SAYINGS.items():
            if cases := _befallen(evidence, name, status):
                yield Finding(
                    kind="failures",
                    title=f"{name} {saying}",
                    text=f"{name} {saying} in {_where(evidence, cases)}.",
                    advice=advice,
                    cases=cases,
                    severity="note" if status == "lacking" else "failure",
                )
        yield from _not_started(evidence, name)


def _befallen(evidence: Evidence, name: str, status: str) -> list[str]:
    """Return the cases that ended so; those that were refused with their whole launch are told of as that."""
    whole = {one.placement for one in _refused(evidence, name)} if status == "refused" else set()
    return [
        key
        for key, case in evidence.case.items()
        if (one := evidence.summary.get((key, name))) and status in one.failures and case.placement not in whole
    ]


def _where(evidence: Evidence, cases: list[str]) -> str:
    titles = list(dict.fromkeys(evidence.title(evidence.case[key]) for key in cases))
    shown = titles if len(titles) <= 4 else [*titles[:3], f"{len(titles) - 3} more"]
    return f"{counted(len(cases), 'case')} ({listed(shown)})"


def _refused(evidence: Evidence, name: str) -> list[Launch]:
    return [one for one in evidence.launches if one.candidate == name and one.status is LaunchStatus.REFUSED]


def _not_started(evidence: Evidence, name: str) -> Iterator[Finding]:
    tried = sum(one.candidate == name for one in evidence.launches)
    for reason, count in Counter(one.reason for one in _refused(evidence, name)).items():
        part = f"did not start in {count} of {tried} launches" if count < tried else "was not measured"
        yield Finding(
            kind="failures",
            title=f"{name} {'did not always start' if count < tried else 'took no part'}",
            text=f"{name} {part}: {reason}",
            advice="`rankbench find` checks every library and says what to change.",
            cases=[],
            severity="failure",
        )
