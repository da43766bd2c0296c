"""A candidate works on few nodes or ranks and fails above a number of them.

Why: A limit of memory, connections or settings is more likely than chance.

What to do: Read the log of the launch that is named; try the newest version or another transport.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from rankbench.analysis.questions.view import CampaignView
from rankbench.campaign.exit_causes import quote_signal, signal_of
from rankbench.language import NOTHING, Text, Words, list_parts, say, sentences
from rankbench.model import BROKEN, CaseStatus, Finding, Launch, LaunchStatus, Placement, Summary

TITLE = "What fails from some number of nodes or ranks on"

AXES: dict[str, Callable[[Placement], int]] = {
    "nodes": lambda placement: placement.nodes,
    "ranks": lambda placement: placement.ranks,
    "ranks per node": lambda placement: placement.ranks_per_node,
}
"""What may be too large, the most likely first."""
START = "MPI_Init"
"""Where a launch ends that never reported a case."""
SIGNS = (
    re.compile(r"signal:? |\bsig[a-z]{3,4}\b|segmentation|bus error", re.IGNORECASE),
    re.compile(r"^(?!\[(?:proxy|mpiexec)\S*@).*(?:signal|fatal|abort|error|fail)", re.IGNORECASE),
    re.compile(r"signal|fatal|abort|error|fail", re.IGNORECASE),
)
"""Lines of a log worth quoting, the best first: a signal, an error, and last messages of hydra itself."""
LOG_CHARACTERS = 120


class PlacementResult(NamedTuple):
    """Failures of one operation, or of the start, of a candidate at one placement."""

    placement: Placement
    tried: int
    failed: int
    saying: Words
    """How it failed: `SIGSEGV`, `no progress`; empty where it did not."""


class Limit(NamedTuple):
    """The number from which on something fails, its axis, and how."""

    axis: str
    least: int
    """The first number at which a launch fails."""
    always: int | None
    """The first number from which on every launch fails; None where some work up to the end."""
    saying: Words


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield one finding for each way in which a candidate fails from a number on."""
    for name in view.candidates:
        by_limit: defaultdict[Limit, list[tuple[str, list[PlacementResult]]]] = defaultdict(list)
        for what, results in _list_results(view, name).items():
            if limit := _find_limit(results):
                by_limit[limit].append((what, results))
        for limit, results_of in by_limit.items():
            yield _make_finding(view, name, limit, results_of)


def _list_results(view: CampaignView, name: str) -> dict[str, list[PlacementResult]]:
    """Return the failures of each operation by placement; where nothing started, those of the start."""
    results: defaultdict[str, list[PlacementResult]] = defaultdict(list)
    for placement in view.campaign.plan.placements:
        launches = [
            launch for launch in view.launches if (launch.candidate, launch.placement) == (name, placement.name)
        ]
        if not launches:
            continue
        begun = [
            launch for launch in launches if launch.facts or launch.status is LaunchStatus.OK
        ]  # Programs report none.
        saying = NOTHING if begun else _describe_end(launches[0])
        results[START].append(PlacementResult(placement, len(launches), 0 if begun else len(launches), saying))
        if begun:
            for operation, summaries in _list_summaries(view, name, placement).items():
                results[operation].append(_make_result(placement, summaries, launches))
    return results


def _list_summaries(view: CampaignView, name: str, placement: Placement) -> dict[str, list[Summary]]:
    by_operation: defaultdict[str, list[Summary]] = defaultdict(list)
    for key, case in view.case_of.items():
        if case.placement == placement.name and (summary := view.summary_of.get((key, name))):
            by_operation[case.operation].append(summary)
    return by_operation


def _make_result(placement: Placement, summaries: Sequence[Summary], launches: Sequence[Launch]) -> PlacementResult:
    """Return the failures of an operation: those of the case that failed most often."""
    worst = max(summaries, key=lambda summary: sum(summary.failures.get(status, 0) for status in BROKEN))
    failures = {status: worst.failures[status] for status in BROKEN if status in worst.failures}
    failed = sum(failures.values())
    return PlacementResult(
        placement, worst.launches + worst.left_out + failed, failed, _describe_failure(failures, launches)
    )


def _describe_failure(failures: dict[CaseStatus, int], launches: Sequence[Launch]) -> Text:
    if not failures:
        return NOTHING
    status = max(failures, key=lambda status: failures[status])
    signals = {_describe_end(launch) for launch in launches if launch.status is LaunchStatus.CRASHED}
    return (
        list_parts(sorted(signals, key=_sort_key)) if status is CaseStatus.CRASHED and signals else _name_status(status)
    )


def _sort_key(how: Words) -> str:
    return how.template if isinstance(how, Text) else how


def _name_status(status: CaseStatus) -> Text:
    return {
        CaseStatus.CRASHED: say("crash"),
        CaseStatus.HUNG: say("no progress"),
        CaseStatus.FAILED: say("error"),
        CaseStatus.WRONG_DATA: say("wrong data"),
    }[status]


def _name_no_start() -> Text:
    """Return how a launch ended that never reported a case, if nothing more is known."""
    return say("no start")


def _describe_end(launch: Launch) -> Words:
    """Return how a launch ended, in a word or two."""
    if launch.status is LaunchStatus.HUNG:
        return _name_status(CaseStatus.HUNG)
    signal = signal_of(launch.exit_code, launch.log, launch.facts.ranks if launch.facts else 0)
    return signal or (_name_status(CaseStatus.CRASHED) if launch.facts else _name_no_start())


def _find_limit(results: Sequence[PlacementResult]) -> Limit | None:
    """Return from which number on something fails, if it works below and fails in every placement from there on."""
    failing = [result for result in results if result.failed]
    working = [result.placement for result in results if result.tried and not result.failed]
    for axis, number in AXES.items():
        least = min((number(result.placement) for result in failing), default=0)
        if failing and working and max(map(number, working)) < least:
            at_times = max((number(result.placement) for result in failing if result.failed < result.tried), default=0)
            always = min(
                (number(result.placement) for result in failing if number(result.placement) > at_times), default=None
            )
            return Limit(axis, least, always, failing[0].saying)
    return None


def _make_finding(
    view: CampaignView, name: str, limit: Limit, results_of: Sequence[tuple[str, list[PlacementResult]]]
) -> Finding:
    failing = _choose_worst(results_of)
    start = limit.always or limit.least
    onward = [result for result in failing if AXES[limit.axis](result.placement) >= start]
    below = [result for result in failing if AXES[limit.axis](result.placement) < start]
    where = _describe_start(limit)
    how = limit.saying
    if how != _name_no_start():
        how = say("{ended} in {operations:and}", ended=how, operations=[what for what, _ in results_of])
    launch = _choose_launch(view, name, {result.placement.name for result in onward})
    return Finding(
        kind="limits",
        title=say("{name} {name:of fails|fail} {where}", name=name, where=where),
        text=sentences(
            [
                say(
                    "{name} fails {where} ({n} of {all:count launch}, {how}).",
                    name=name,
                    where=where,
                    n=sum(result.failed for result in onward),
                    all=sum(result.tried for result in onward),
                    how=how,
                ),
                *_describe_below(limit, below),
                _describe_working(limit, results_of),
                *_quote_log(launch),
            ]
        ),
        advice=say(
            "Read the log of launch {n}. Try the newest version of the library or another transport.", n=launch.number
        ),
        cases=_list_cases(view, name, {result.placement.name for result in failing}, {what for what, _ in results_of}),
        severity="failure",
    )


def _describe_start(limit: Limit) -> Text:
    where = {
        "nodes": say("at >= {n} nodes", n=limit.always or limit.least),
        "ranks": say("at >= {n} ranks", n=limit.always or limit.least),
        "ranks per node": say("at >= {n} ranks per node", n=limit.always or limit.least),
    }[limit.axis]
    return where if limit.always else say("sometimes {where}", where=where)


def _describe_below(limit: Limit, results: Sequence[PlacementResult]) -> Iterator[Text]:
    """Yield how many launches fail at each number below the one from which on all fail."""
    number = AXES[limit.axis]
    for n in sorted({number(result.placement) for result in results}):
        there = [result for result in results if number(result.placement) == n]
        yield say(
            "At {where} it fails in {failed} of {all:count launch}.",
            where=_name_numbers(limit.axis, str(n), n),
            failed=sum(result.failed for result in there),
            all=sum(result.tried for result in there),
        )


def _choose_worst(results_of: Sequence[tuple[str, list[PlacementResult]]]) -> list[PlacementResult]:
    """Return the failures of the operation that failed most often."""
    failing = [[result for result in results if result.failed] for _, results in results_of]
    return max(failing, key=lambda results: sum(result.failed for result in results))


def _describe_working(limit: Limit, results_of: Sequence[tuple[str, list[PlacementResult]]]) -> Text:
    numbers = {
        AXES[limit.axis](result.placement) for _, results in results_of for result in results if not result.failed
    }
    below = sorted(numbers)
    return say(
        "It works at {where}.", where=_name_numbers(limit.axis, list_parts(map(str, below)), 1 if below == [1] else 2)
    )


def _name_numbers(axis: str, numbers: Words, n: int) -> Text:
    """Return numbers with their unit, which is singular where `n` is 1."""
    return {
        "nodes": say("{numbers} {n:of node|nodes}", numbers=numbers, n=n),
        "ranks": say("{numbers} {n:of rank|ranks}", numbers=numbers, n=n),
        "ranks per node": say("{numbers} {n:of rank|ranks} per node", numbers=numbers, n=n),
    }[axis]


def _choose_launch(view: CampaignView, name: str, placements: set[str]) -> Launch:
    """Return the launch to quote: the first that failed there, else the first there."""
    there = [launch for launch in view.launches if launch.candidate == name and launch.placement in placements]
    return next((launch for launch in there if launch.status is not LaunchStatus.OK), there[0])


def _quote_log(launch: Launch) -> Iterator[Text]:
    lines = [line.strip() for line in launch.log.splitlines() if line.strip(" -=")]
    matching = (line for pattern in SIGNS for line in lines if pattern.search(line))
    line = quote_signal(launch.log) or next(matching, lines[-1] if lines else "")
    if line:
        yield say("The log of launch {n} says: {line}", n=launch.number, line=line[:LOG_CHARACTERS])


def _list_cases(view: CampaignView, name: str, placements: set[str], operations: set[str]) -> list[str]:
    """Return the cases that have no value because of it."""
    return [
        key
        for key, case in view.case_of.items()
        if case.placement in placements
        and operations & {case.operation, START}
        and (summary := view.summary_of.get((key, name)))
        and summary.failures
    ]
