"""Values as points with their intervals, and lines over launches."""

from __future__ import annotations

import dataclasses

from rankbench.analysis.questions.measures import Measure
from rankbench.model import Summary
from rankbench.plots.chart import Row

NO_INTERVAL = "not known"
"""Of intervals that would cover with too little, or are too wide."""


def shorten(value: float) -> float:
    """Return a number short enough to be embedded thousands of times."""
    return float(f"{value:.5g}")


def make_point(summary: Summary, measure: Measure) -> Row:
    """Return a summary as a point whose form spells it."""
    counts = {"candidate": summary.candidate, "launches": summary.launches, "samples": summary.samples}
    return {**ends(summary, measure), **counts}


def format_values(summary: Summary, measure: Measure) -> Row:
    """Return the texts that show a summary in a tooltip."""
    return {
        "candidate": summary.candidate,
        "typical": measure.format(summary.typical_ns),
        "interval": measure.interval(summary.low_ns, summary.high_ns) if summary.has_interval else NO_INTERVAL,
        "launches": summary.launches,
        "samples": summary.samples,
    }


def list_times(summary: Summary) -> tuple[float, float, float]:
    """Return the typical value and the ends of its interval; three times the value where no interval is shown."""
    typical_ns = summary.typical_ns
    return (typical_ns, summary.low_ns, summary.high_ns) if summary.has_interval else (typical_ns,) * 3


def drop_moved(measure: Measure) -> Measure:
    """Return a measure without what is moved, which makes no difference to a form."""
    return dataclasses.replace(measure, moved=0)


def ends(summary: Summary, measure: Measure) -> Row:
    """Return value and interval of a point. The ends of the interval change places when a time becomes a bandwidth."""
    values = [measure.value(value) for value in list_times(summary)]
    numbers = {"value": values[0], "low": min(values[1:]), "high": max(values[1:])}
    return {name: shorten(value) for name, value in numbers.items()}
