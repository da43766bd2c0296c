"""The typical value of each case and candidate, as people read it."""

from __future__ import annotations

import math
from collections.abc import Iterator

from rankbench.analysis.questions.view import CampaignView
from rankbench.model import Case, Record, Summary
from rankbench.report.flat_frames import list_summaries

UNITS = {"time": "ns", "memory": "bytes"}
"""Of values whose texts have a unit of their own, by the kind of a case's measure."""


class Value(Record, frozen=True):
    """The typical value of a case, state and candidate as it is shown: a bandwidth where launch values are times.

    Without values, or without an interval, it is null.
    """

    case: str
    candidate: str
    unit: str
    """`ns`, `MB/s` (of 10^6 bytes), `messages/s`, `round trips/s` or `bytes`."""
    value: float | None
    low: float | None
    """Of the interval, the smaller one."""
    high: float | None
    state: str = ""
    """`near` or `far`, where values are of cores that are near each other or far; empty: all visits."""


def list_values(view: CampaignView) -> Iterator[Value]:
    """Yield the value of each case, state and candidate, A/A twins included, in the order of the cases."""
    for case, state, summary in list_summaries(view):
        yield make_value(view, case, state, summary)


def make_value(view: CampaignView, case: Case, state: str, summary: Summary) -> Value:
    """Return the value of a summary in the unit of its case."""
    measure = view.measure(case)
    value, *ends = (finite(measure.value(raw)) for raw in (summary.typical_ns, summary.low_ns, summary.high_ns))
    low, high = reversed(ends) if measure.per_second else ends
    unit = measure.unit or UNITS[measure.kind]
    return Value(case=case.key, candidate=summary.candidate, unit=unit, value=value, low=low, high=high, state=state)


def finite(number: float) -> float | None:
    """Return a number, none where it is not one."""
    return number if math.isfinite(number) else None
