"""Lines: cases that differ in size only, as curves show them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rankbench.analysis.questions import case_labels
from rankbench.analysis.questions.spans import Cases, Run, describe_run
from rankbench.analysis.questions.view import CampaignView
from rankbench.analysis.questions.wording import describe_sizes
from rankbench.language import Text, say
from rankbench.model import Case, CaseVerdict

MOST_SIZES = 3
"""More sizes than these are counted and not named."""

TIMES = ("time", "overlap")
"""Quantities whose value is a time per call; `overlap` has the overall time of call, computation and wait."""


class Line(NamedTuple):
    """The cases of one line by size, each size once."""

    key: str
    """As `case_labels.make_line_key` returns it."""
    verdicts: dict[int, CaseVerdict]

    @property
    def cases(self) -> dict[int, Case]:
        """Return the cases by size."""
        return {size: verdict.case for size, verdict in self.verdicts.items()}

    @property
    def ranked(self) -> list[tuple[int, CaseVerdict]]:
        """Return the verdicts of the cases that any candidate has values for."""
        return [(size, verdict) for size, verdict in self.verdicts.items() if verdict.ranking]

    @property
    def keys(self) -> dict[int, str]:
        """Return the keys of the cases by size; nothing may be sent in some, which lie on no logarithmic axis."""
        return {size: verdict.case.key for size, verdict in self.verdicts.items() if size}


def find_lines(view: CampaignView, fewest: int) -> list[Line]:
    """Return the lines with so many sizes or more, in the plan's order.

    Their values are times, of an overlap the overall one, and ranks have a core each. What is between every two ranks
    is a matrix.
    """
    by_key: dict[str, list[CaseVerdict]] = {}
    for main_verdict in view.main_verdicts:
        case = main_verdict.case
        if case.quantity in TIMES and case.key not in view.pair_cases and not view.short_of_cores(case):
            by_key.setdefault(case_labels.make_line_key(case), []).append(main_verdict)
    return [
        Line(
            key,
            {
                verdict.case.size_bytes: verdict
                for verdict in sorted(verdicts, key=lambda case_verdict: case_verdict.case.size_bytes)
            },
        )
        for key, verdicts in by_key.items()
        if len(verdicts) >= fewest
    ]


def describe_runs(runs: Sequence[Run]) -> list[Text]:
    """Return who is fastest at which sizes, one clause per span."""
    return [describe_run(run, describe_sizes([verdict.case for _, verdict in run.cases]), name_sizes) for run in runs]


def describe_undecided(cases: Cases, runs: Sequence[Run]) -> list[Text]:
    """Return the sizes that are in no span: where all are equivalent, where levels differ, where it is undecided."""
    inside = {number for run in runs for number, _ in run.cases}
    outside = [(size, verdict) for size, verdict in cases if size not in inside and len(verdict.ranking) > 1]
    equivalent = [size for size, verdict in outside if verdict.decided]
    unlike = [size for size, verdict in outside if verdict.differs]
    undecided = [size for size, verdict in outside if not verdict.decided and not verdict.differs]
    return [
        *([say("all are equivalent {at}", at=name_sizes(equivalent))] if equivalent else []),
        *([say("different near and far {at}", at=name_sizes(unlike))] if unlike else []),
        *([say("undecided {at}", at=name_sizes(undecided))] if undecided else []),
    ]


def name_sizes(sizes: list[int]) -> Text:
    """Return `at 8 B and 1 KiB`, or `at 5 sizes`."""
    if len(sizes) > MOST_SIZES:
        return say("at {n:count size}", n=len(sizes))
    return say("at {sizes:and}", sizes=[say("{size:size}", size=size) for size in sizes])
