"""The fastest library changes along the sizes, and both sides are significant.

Why: One library for all sizes is then not the best choice.

What to do: Choose by the sizes that your application sends. Measure more sizes to find the exact point.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rankbench.analysis.claims.lines import describe_runs, describe_undecided, find_lines
from rankbench.analysis.questions.certainty import Change, find_changes
from rankbench.analysis.questions.spans import Run, find_runs
from rankbench.analysis.questions.view import CampaignView
from rankbench.language import Text, say, sentences
from rankbench.model import Finding

TITLE = "Crossovers"
MOST_CHANGES = 3
"""Changes given with their ratios; where there are more, winners alternate."""


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield the lines along which the fastest changes, with the winners of their cases."""
    for line in find_lines(view, 2):
        runs = find_runs(line.ranked)
        if changes := list(find_changes(view, runs)):
            yield _make_finding(view, runs, changes, describe_undecided(line.ranked, runs))


def _make_finding(view: CampaignView, runs: Sequence[Run], changes: list[Change], undecided: list[Text]) -> Finding:
    title = view.title(runs[0].cases[0][1].case)
    fastest = say("In {title}, {winners:;}.", title=title, winners=[*describe_runs(runs), *undecided])
    described = [_describe_change(view, change) for change in changes[:MOST_CHANGES]]
    more = [say("The fastest changes {n:count time} in all.", n=len(changes))] if len(changes) > MOST_CHANGES else []
    ends = [verdict.case.key for run in runs for _, verdict in (run.cases[0], run.cases[-1])]
    return Finding(
        kind="crossover",
        title=say("{title}: the fastest depends on the size", title=title),
        text=sentences([fastest, *described, *more]),
        advice=say("Choose by the sizes that your application sends. Measure more sizes to find the exact points."),
        cases=list(dict.fromkeys(ends)),
        severity="note",
        spans=[run.record for run in runs],
    )


def _describe_change(view: CampaignView, change: Change) -> Text:
    sizes = [view.case_of[comparison.case].size_bytes for comparison in change]
    sides = [
        say(
            "at {size:size} {other} is {ratio:ratio} slower than {base} ({low:ratio} to {high:ratio})",
            size=size,
            other=comparison.other,
            ratio=comparison.ratio,
            base=comparison.base,
            low=comparison.low,
            high=comparison.high,
        )
        for size, comparison in zip(sizes, change, strict=True)
    ]
    return say(
        "With an error of 1%, the change is between {first:size} and {last:size}: {sides:and}.",
        first=sizes[0],
        last=sizes[1],
        sides=sides,
    )
