"""The fastest library changes with nodes or ranks, or one slows down where others do not.

Why: An answer on two nodes is then no answer on twenty.

What to do: Choose by the numbers that your jobs have. Look at the algorithm that a slow candidate uses there.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from rankbench.analysis.questions import case_labels, scaling
from rankbench.analysis.questions.certainty import find_changes, is_certain, orient_comparison
from rankbench.analysis.questions.scaling import Growth, Site
from rankbench.analysis.questions.spans import Run, describe_run, find_runs
from rankbench.analysis.questions.view import CampaignView
from rankbench.language import Text, list_parts, say, sentences
from rankbench.model import Case, CaseVerdict, Comparison, Finding

TITLE = "Scaling"
STEEP = 1.5
"""Least growth that is reported."""
MOST_SHOWN = 3

Cases = dict["Site", "CaseVerdict"]


class Change(NamedTuple):
    """Successive winners while one of the two numbers grows and the other is fixed."""

    case: Case
    fixed: Text
    """The fixed number: `with 2 ranks per node`."""
    runs: list[Run]
    noun: str
    """Of the number that grows."""

    @property
    def margin(self) -> float:
        """The smaller of the largest margins of the first and of the last span."""
        return min(max(verdict.margin for _, verdict in run.cases) for run in (self.runs[0], self.runs[-1]))


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield a finding per operation whose winner changes, and one per candidate and operation that slows down most."""
    judged = {timed_verdict.case.key: timed_verdict for timed_verdict in view.timed_verdicts}
    lines = {
        line: {place: judged[case.key] for place, case in cases.items() if case.key in judged}
        for line, cases in scaling.find_scaled(view.campaign).items()
    }
    for title, changes in group_changes(view, lines).items():
        yield make_change_finding(title, sorted(changes, key=lambda change: -change.margin))
    yield from find_steep(view, {line: cases for line, cases in lines.items() if cases})


def name_operation(view: CampaignView, case: Case) -> str:
    """Name the cases of an operation that differ in size and placement only."""
    return case_labels.name_line(case, view.operations[case.operation])


def count_units(count: int, noun: str) -> Text:
    """Return `with 1 rank per node`, `on 4 nodes`."""
    return say("on {n:count node}" if noun == "node" else "with {n:count rank} per node", n=count)


# --- who is fastest ---------------------------------------------------------------------------------------------------


def group_changes(view: CampaignView, lines: Mapping[str, Cases]) -> dict[str, list[Change]]:
    """Return the changes of winners by operation."""
    by_title: dict[str, list[Change]] = {}
    for cases in lines.values():
        for change in find_changes_along(view, cases):
            by_title.setdefault(name_operation(view, change.case), []).append(change)
    return by_title


def find_changes_along(view: CampaignView, cases: Cases) -> Iterator[Change]:
    """Yield the changes of one case along the nodes, and along the ranks per node."""
    for grows, stays, noun in ((0, 1, "node"), (1, 0, "rank per node")):
        ordered = sorted(cases, key=lambda place: (place[stays], place[grows]))
        for fixed, places in itertools.groupby(ordered, key=lambda place: place[stays]):
            runs = find_runs([(place[grows], cases[place]) for place in places if is_comparable(view, place)])
            if next(find_changes(view, runs), None):
                stays_at = count_units(fixed, "rank per node" if noun == "node" else "node")
                yield Change(runs[0].cases[0][1].case, stays_at, runs, noun)


def is_comparable(view: CampaignView, place: Site) -> bool:
    """Return whether there are several ranks with a core each."""
    return place.ranks > 1 and not scaling.oversubscribed(place, view.campaign)


def make_change_finding(title: str, changes: list[Change]) -> Finding:
    """Return the finding on one operation: the changes with the largest margins."""
    texts = [describe_change(change) for change in changes[:MOST_SHOWN]]
    rest = len(changes) - MOST_SHOWN
    more = [say("It also changes in {n:count more row} of nodes or ranks.", n=rest)] if rest > 0 else []
    ends = [
        verdict.case.key
        for change in changes[:MOST_SHOWN]
        for run in change.runs
        for _, verdict in (run.cases[0], run.cases[-1])
    ]
    return Finding(
        kind="scaling",
        title=say(
            "{title}: the fastest depends on the number of {growing}", title=title, growing=name_growing(changes)
        ),
        text=sentences([say("In {title}, {changes:;}.", title=title, changes=texts), *more]),
        advice=say(
            "Choose by the number of nodes and ranks of your jobs. The scaling charts show where the curves cross."
        ),
        cases=list(dict.fromkeys(ends)),
        severity="note",
        spans=[run.record for change in changes[:MOST_SHOWN] for run in change.runs],
    )


def name_growing(changes: Iterable[Change]) -> Text:
    """Return what grows: `nodes`, `ranks per node` or both."""
    return list_parts(dict.fromkeys("nodes" if change.noun == "node" else "ranks per node" for change in changes))


def describe_change(change: Change) -> Text:
    """Return `at 8 B with 1 rank per node alpha is fastest from 2 to 4 nodes and beta is fastest on 8 nodes`."""

    def single(numbers: list[int]) -> Text:
        return list_parts(count_units(count, change.noun) for count in numbers)

    spans = [
        describe_run(run, describe_span(run.cases[0][0], run.cases[-1][0], change.noun), single) for run in change.runs
    ]
    text = say("{fixed} {spans:and}", fixed=change.fixed, spans=spans)
    return say("at {size:size} {text}", size=change.case.size_bytes, text=text) if change.case.size_bytes else text


def describe_span(first: int, last: int, noun: str) -> Text:
    """Return `from 2 to 4 nodes`, `on 8 nodes`, `with 1 rank per node`."""
    if first == last:
        return count_units(first, noun)
    return say(
        "from {first} to {last} nodes" if noun == "node" else "from {first} to {last} ranks per node",
        first=first,
        last=last,
    )


# --- who slows down ---------------------------------------------------------------------------------------------------


def find_steep(view: CampaignView, lines: Mapping[str, Cases]) -> Iterator[Finding]:
    """Yield candidates whose time grows with the nodes, and significantly more than that of most others."""
    cases = {line: {place: verdict.case for place, verdict in cases.items()} for line, cases in lines.items()}
    by_title: dict[tuple[str, str], list[tuple[Growth, list[Comparison]]]] = {}
    for growth in scaling.compare_growth(view.judged_values, view.campaign, cases):
        for name, factor in growth.factor.items():
            beyond = [
                ratio
                for comparison in growth.ratios
                if (ratio := orient_comparison(comparison, name)) and is_certain(ratio)
            ]
            if factor > STEEP and 2 * len(beyond) > len(growth.factor) - 1 > 0:
                title = name_operation(view, cases[growth.step.line][growth.step.more])
                by_title.setdefault((name, title), []).append((growth, beyond))
    for (name, title), growths in by_title.items():
        worst = max(growths, key=lambda item: min(ratio.ratio for ratio in item[1]))
        yield make_steep_finding(name, title, worst, len(growths), cases[worst[0].step.line])


def make_steep_finding(
    name: str, title: str, worst: tuple[Growth, list[Comparison]], times: int, cases: Mapping[Site, Case]
) -> Finding:
    """Return the finding on one candidate and operation: its steepest step."""
    growth, ratios = worst
    step, nearest = growth.step, min(ratios, key=lambda comparison: comparison.ratio)
    size_bytes = cases[step.more].size_bytes
    slower = say(
        "From {fewer} to {more:count node} at {size:size} {fixed}, the time of {name} grows by {factor:ratio}, that "
        "of {others:and}: at least {ratio:ratio} more than {rivals:and} ({low:ratio} to {high:ratio})."
        if size_bytes
        else "From {fewer} to {more:count node} {fixed}, the time of {name} grows by {factor:ratio}, that of "
        "{others:and}: at least {ratio:ratio} more than {rivals:and} ({low:ratio} to {high:ratio}).",
        fewer=step.fewer.nodes,
        more=step.more.nodes,
        size=size_bytes,
        fixed=count_units(step.more.ranks_per_node, "rank per node"),
        name=name,
        factor=growth.factor[name],
        others=[
            say("{name} by {factor:ratio}", name=other, factor=factor)
            for other, factor in growth.factor.items()
            if other != name
        ],
        rivals=[ratio.base for ratio in ratios],
        ratio=nearest.ratio,
        low=nearest.low,
        high=nearest.high,
    )
    again = [say("The same holds for {n:count other step} of nodes or sizes.", n=times - 1)] if times > 1 else []
    return Finding(
        kind="scaling",
        title=say(
            "{name} {name:of slows|slow} down with more nodes in {title}, unlike most others", name=name, title=title
        ),
        text=sentences([slower, *again]),
        advice=say("Check which algorithm it uses there, and whether a setting selects another."),
        cases=[cases[step.fewer].key, cases[step.more].key],
        severity="warning",
    )
