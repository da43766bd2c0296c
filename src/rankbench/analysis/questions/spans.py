"""Spans: neighbouring cases along a number that grows (bytes, nodes, ranks) in which the same candidates win.

Spans rest on the verdict of each case and on nothing else, so that they say what tables and maps show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from rankbench.language import Text, Words, clauses, say
from rankbench.model import CaseVerdict, Span

Cases = Sequence[tuple[int, CaseVerdict]]
Wording = Callable[[list[int]], Text]


class Run(NamedTuple):
    """A span with the verdicts of its cases."""

    names: list[str]
    """Candidates that are among the winners of every case."""
    cases: list[tuple[int, CaseVerdict]]
    """By the number that grows, in ascending order."""

    @property
    def alone(self) -> bool:
        """Return whether one candidate is the only winner, at least at both ends of the span."""
        return len(self.names) == 1 and self.cases[0][1].winners == self.names

    @property
    def shared(self) -> list[tuple[int, CaseVerdict]]:
        """The cases in which others may be as fast."""
        return [(number, verdict) for number, verdict in self.cases if verdict.winners != self.names]

    @property
    def record(self) -> Span:
        """The span as data."""
        return Span(
            candidates=self.names,
            cases=[verdict.case.key for _, verdict in self.cases],
            undecided=[verdict.case.key for _, verdict in self.shared],
        )


def find_runs(cases: Cases) -> list[Run]:
    """Return the spans of cases in ascending order. Cases in which nobody is slower than others begin and end none.

    A span of a single winner passes over cases which that candidate shares with others. Between such spans, several
    winners that neighbouring cases have in common make a span of their own.
    """
    alone = _find_single(cases)
    inside = {number for run in alone for number, _ in run.cases}
    gaps = [list(gap) for outside, gap in groupby(cases, lambda case: case[0] not in inside) if outside]
    return sorted([*alone, *(run for gap in gaps for run in _find_shared(gap))], key=lambda run: run.cases[0][0])


def _find_single(cases: Cases) -> list[Run]:
    """Return the spans of single winners."""
    runs: list[Run] = []
    since: list[tuple[int, CaseVerdict]] = []
    for number, verdict in cases:
        since.append((number, verdict))
        if len(verdict.winners) == 1 < len(verdict.ranking):
            _extend(runs, since, runs[-1].names if runs else [], verdict.winners)
            since = []
    return runs


def _extend(runs: list[Run], since: list[tuple[int, CaseVerdict]], before: list[str], names: list[str]) -> None:
    """Continue the last span to the last of the cases since its end, or begin a new one with that case."""
    if before == names and all(set(names) <= set(verdict.winners) for _, verdict in since):
        runs[-1].cases.extend(since)
    else:
        runs.append(Run(names, since[-1:]))


def _find_shared(cases: Cases) -> Iterator[Run]:
    """Yield the spans of several winners, which some other candidate is slower than."""
    run: Run | None = None
    since: list[tuple[int, CaseVerdict]] = []
    for number, verdict in cases:
        since.append((number, verdict))
        if len(verdict.winners) == len(verdict.ranking):
            continue
        names = [name for name in run.names if all(name in case.winners for _, case in since)] if run else []
        if run and names:
            run = Run(names, [*run.cases, *since])
        else:
            if run:
                yield run
            run = Run(verdict.winners, since[-1:])
        since = []
    if run:
        yield run


# --- in words ---------------------------------------------------------------------------------------------------------


def describe_run(run: Run, where: Words, at: Wording) -> Text:
    """Return `a is fastest from 8 B to 1 KiB (undecided at 64 B)`, given the place and how to name single cases."""
    if not run.alone:
        several = len(run.names) > 1
        return say(
            "{names:and} are among the fastest {where}" if several else "{names:and} is among the fastest {where}",
            names=run.names,
            where=where,
        )
    notes = [*_list_notes(run, at)]
    text = say("{name} is fastest {where}", name=run.names[0], where=where)
    return say("{clause} ({notes})", clause=text, notes=clauses(notes)) if notes else text


def _list_notes(run: Run, at: Wording) -> Iterator[Text]:
    """Yield in which cases of a span others are equivalent, in which levels differ, and in which it is undecided."""
    equivalent = [number for number, verdict in run.shared if verdict.decided]
    unlike = [number for number, verdict in run.shared if verdict.differs]
    undecided = [number for number, verdict in run.shared if not verdict.decided and not verdict.differs]
    if equivalent:
        yield say("equivalent to others {at}", at=at(equivalent))
    if unlike:
        yield say("different near and far {at}", at=at(unlike))
    if undecided:
        yield say("undecided {at}", at=at(undecided))
