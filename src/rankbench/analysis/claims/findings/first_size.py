"""The first size of a foreign program takes many times as long as the next ones.

Why: Most programs warm up each size by a few calls. Connection setup can take longer than these, and is then
part of the mean of the first size. Rates are converted to
times first, since times of small sizes are similar.

What to do: Leave the first size out, begin with a size that nobody reads, or give the program more warm-up.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

import polars as pl

from rankbench.analysis.claims.lines import Line, find_lines
from rankbench.analysis.questions import measures
from rankbench.analysis.questions.measures import Measure
from rankbench.analysis.questions.view import CampaignView
from rankbench.language import Text, say, sentences
from rankbench.model import Finding

TITLE = "First size"
FAR = 5.0
"""Least ratio of the first size to the slower of the next two, in the same launch."""
NEXT = 2
SMALL_BYTES = 1024
"""Messages up to here differ little in their times."""


class First(NamedTuple):
    """A launch whose first size is far too slow."""

    line: Line
    candidate: str
    first_ns: float
    next_ns: float
    launches: int
    """Those that have the first size."""


def find(view: CampaignView) -> Iterator[Finding]:
    """Yield one note per line whose first size is far too slow in a launch."""
    for line in find_lines(view, 1 + NEXT):
        sizes = list(line.verdicts)[: 1 + NEXT]
        if not sizes[0] and view.operations[line.cases[sizes[0]].operation].metric == "bandwidth":
            continue  # Of nothing there is no bandwidth.
        if line.cases[sizes[0]].suite and sizes[-1] <= SMALL_BYTES and (firsts := list(find_firsts(view, line, sizes))):
            yield _make_finding(view, line, sizes, firsts)


def find_firsts(view: CampaignView, line: Line, sizes: list[int]) -> Iterator[First]:
    """Yield the launches in which the first size is far slower than each of the next."""
    keys = [line.verdicts[size].case.key for size in sizes]
    frame = view.judged_values.filter(pl.col("case").is_in(keys)).sort("candidate", "launch")
    by_candidate = groupby(frame.select("candidate", "launch", "case", "figure_ns").rows(), key=lambda row: row[0])
    for name, rows in by_candidate:
        by_launch = [{key: value for *_, key, value in group} for _, group in groupby(rows, key=lambda row: row[1])]
        complete = [times for times in by_launch if times.keys() == set(keys)]
        for times in complete:
            if name in view.candidates and times[keys[0]] >= FAR * max(times[key] for key in keys[1:]):
                yield First(line, name, times[keys[0]], times[keys[1]], len(complete))


def _describe_first(view: CampaignView, sizes: list[int], launches: list[First]) -> Text:
    """Describe the worst launch of a candidate, in the unit of the benchmark."""
    worst = max(launches, key=lambda first_: first_.first_ns / first_.next_ns)
    first, following = (_choose_measure(view, worst, size) for size in sizes[:2])
    fields = {
        "candidate": worst.candidate,
        "size": sizes[0],
        "next_size": sizes[1],
        "n": len(launches),
        "n_all": worst.launches,
    }
    if not first.per_second:
        return say(
            "{candidate}: {first:time} at {size:size}, but {next:time} at {next_size:size} in the same launch ({n} "
            "of {n_all:count launch}).",
            first=worst.first_ns,
            next=worst.next_ns,
            **fields,
        )
    return say(
        "{candidate}: {first} at {size:size}, but {next} at {next_size:size} in the same launch, {ratio:ratio} where "
        "{usual:ratio} is usual ({n} of {n_all:count launch}).",
        first=first.format(worst.first_ns),
        next=following.format(worst.next_ns),
        ratio=following.value(worst.next_ns) / first.value(worst.first_ns),
        usual=following.moved / first.moved,
        **fields,
    )


def _choose_measure(view: CampaignView, first: First, size: int) -> Measure:
    case = first.line.cases[size]
    summary = view.summary_of[case.key, first.candidate]
    return measures.choose_measure(case, view.operations[case.operation], summary.moved_bytes, summary.moved_messages)


def _make_finding(view: CampaignView, line: Line, sizes: list[int], firsts: list[First]) -> Finding:
    texts = [
        _describe_first(view, sizes, list(group)) for _, group in groupby(firsts, key=lambda first: first.candidate)
    ]
    return Finding(
        kind="first_size",
        title=say("{title}: the first size includes setup", title=view.title(line.cases[sizes[0]])),
        text=sentences(texts),
        advice=say(
            "Setup in the first calls counts as time of the first size. Ignore that size, begin with a size that is "
            "not needed, or use more warm-up."
        ),
        cases=[line.verdicts[sizes[0]].case.key, line.verdicts[sizes[1]].case.key],
        severity="note",
    )
