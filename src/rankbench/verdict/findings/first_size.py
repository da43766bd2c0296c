"""The first size of a foreign program takes many times as long as the next ones.

Why: Most programs warm up each size by a few calls. Connection setup can take longer than these, and is then
part of the mean of the first size. Rates are compared as times, in which small sizes are similar.

What to do: Leave the first size out, begin with a size that nobody reads, or give the program more warm-up.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from rankbench.language import Text, say, sentences
from rankbench.model import Finding
from rankbench.verdict import measures
from rankbench.verdict.lines import Line, find_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankbench.verdict.measures import Measure
    from rankbench.verdict.view import CampaignView

TITLE = "First size"
FAR = 5.0
"""How often the first size must take what the longer of the next two takes, in the same launch."""
NEXT = 2
SMALL_BYTES = 1024
"""Messages up to here differ little in their times."""


class First(NamedTuple):
    """A launch whose first size took far too long."""

    line: Line
    candidate: str
    first_ns: float
    next_ns: float
    launches: int
    """Those that have the first size."""


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield one note per line whose first size took far too long in some launch."""
    for line in find_lines(view, 1 + NEXT):
        sizes = list(line.verdicts)[: 1 + NEXT]
        if not sizes[0] and view.operations[line.cases[sizes[0]].operation].metric == "bandwidth":
            continue  # Of nothing there is no bandwidth.
        if line.cases[sizes[0]].suite and sizes[-1] <= SMALL_BYTES and (found := list(firsts(view, line, sizes))):
            yield _finding(view, line, sizes, found)


def firsts(view: CampaignView, line: Line, sizes: list[int]) -> Iterator[First]:
    """Yield the launches in which the first size took far longer than each of the next."""
    keys = [line.verdicts[size].case.key for size in sizes]
    frame = view.judged_figures.filter(pl.col("case").is_in(keys)).sort("candidate", "launch")
    by_candidate = groupby(frame.select("candidate", "launch", "case", "figure_ns").rows(), key=lambda row: row[0])
    for name, rows in by_candidate:
        by_launch = [{key: figure for *_, key, figure in own} for _, own in groupby(rows, key=lambda row: row[1])]
        whole = [one for one in by_launch if one.keys() == set(keys)]
        for one in whole:
            if name in view.candidates and one[keys[0]] >= FAR * max(one[key] for key in keys[1:]):
                yield First(line, name, one[keys[0]], one[keys[1]], len(whole))


def _told(view: CampaignView, sizes: list[int], own: list[First]) -> Text:
    """Say of a candidate's launches how far the worst one is off, in what the benchmark shows."""
    worst = max(own, key=lambda one: one.first_ns / one.next_ns)
    first, following = (_measure(view, worst, size) for size in sizes[:2])
    fields = {
        "candidate": worst.candidate,
        "size": sizes[0],
        "next_size": sizes[1],
        "n": len(own),
        "n_all": worst.launches,
    }
    if not first.per_second:
        return say(
            "{candidate}: {first:time} at {size:size} where {next_size:size} takes {next:time} in the same launch "
            "({n} of {n_all:count launch}).",
            first=worst.first_ns,
            next=worst.next_ns,
            **fields,
        )
    return say(
        "{candidate}: {first} at {size:size} where {next_size:size} has {next} in the same launch, {ratio:ratio} as "
        "much where {usual:ratio} would be usual ({n} of {n_all:count launch}).",
        first=first.spelt(worst.first_ns),
        next=following.spelt(worst.next_ns),
        ratio=following.value(worst.next_ns) / first.value(worst.first_ns),
        usual=following.moved / first.moved,
        **fields,
    )


def _measure(view: CampaignView, one: First, size: int) -> Measure:
    case = one.line.cases[size]
    summary = view.summary_of[case.key, one.candidate]
    return measures.choose_measure(case, view.operations[case.operation], summary.moved_bytes, summary.moved_messages)


def _finding(view: CampaignView, line: Line, sizes: list[int], found: list[First]) -> Finding:
    texts = [_told(view, sizes, list(own)) for _, own in groupby(found, key=lambda one: one.candidate)]
    return Finding(
        kind="first_size",
        title=say("{title}: the first size counts more than its message", title=view.title(line.cases[sizes[0]])),
        text=sentences(texts),
        advice=say(
            "What is set up at the first calls stands in the first size. Leave it out, let the program begin with a "
            "size that nobody reads, or give it more warm-up."
        ),
        cases=[line.verdicts[sizes[0]].case.key, line.verdicts[sizes[1]].case.key],
        severity="note",
    )
