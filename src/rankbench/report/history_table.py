"""A history as a table, as CSV and as lines. Nothing is computed here; `history_charts` draws it."""

from __future__ import annotations

import math

import polars as pl

from rankbench.across.trend import History, Series, Turn
from rankbench.language import render, say
from rankbench.quantities import format_ratio
from rankbench.report.tables import Cell, Table

COLUMNS = ["case", "candidate", "first", "last", "last / first", "history"]
BARS = "▁▂▃▄▅▆▇█"
WIDEST = 40
"""Campaigns of a row's bars: the newest."""
FLAT = 1.2
"""Largest over smallest from which on bars have their full height, so that a calm series looks calm."""
MARK = "°"
"""Of changes that are no larger than that of the raw probes."""


def heading(history: History) -> str:
    """Return what it is the history of."""
    first, last = history.pasts[0], history.pasts[-1]
    return f"{len(history.pasts)} campaigns, {first.name} ({first.date}) to {last.name} ({last.date})"


def make_table(history: History) -> Table:
    """Return one row per case and candidate: at first, at last, the ratio of the two, and a bar for each campaign."""
    rows = []
    for column in (column for column in history.series if len(column.points) > 1):
        measure, first, last = history.measure(column.case), column.points[0], column.points[-1]
        ratio = format_ratio(last.typical_ns / first.typical_ns)
        values = (measure.format(first.typical_ns), measure.format(last.typical_ns), ratio, bars(history, column))
        rows.append([Cell(column.title), Cell(column.candidate), *map(Cell, values)])
    return Table(heading(history), [*COLUMNS], rows)


def bars(history: History, column: Series) -> str:
    """Return a bar for each campaign, higher where the case took longer; a blank where it was not measured."""
    logs = {point.campaign: math.log(point.typical_ns) for point in column.points}
    low, high = min(logs.values()), max(logs.values())
    span = max(high - low, math.log(FLAT))
    bottom = (low + high - span) / 2
    steps = {place: BARS[round((log - bottom) / span * (len(BARS) - 1))] for place, log in logs.items()}
    return "".join(steps.get(place, " ") for place in range(len(history.pasts))[-WIDEST:])


def list_changes(history: History) -> list[str]:
    """Return a line for each change: regressions by what they cost, then improvements by what they save."""
    return [describe_change(column, turn) for column, turn in history.changes]


def csv(history: History) -> str:
    """Return the changes in the same order as comma-separated values."""
    columns = ("case", "candidate", "since", "campaign", "ratio", "low", "high", "p_adjusted", "cost_ns", "share")
    rows = [
        (column.case, column.candidate, turn.since, turn.name, *(getattr(turn, name) for name in columns[4:]))
        for column, turn in history.changes
    ]
    texts = dict.fromkeys(columns[:4], pl.String)
    schema = {name: texts.get(name, pl.Float64) for name in columns}
    return pl.DataFrame(rows, schema, orient="row").write_csv()


def machine(history: History) -> list[str]:
    """Return a line for each change that all cases and candidates share: `the machine: 1.20× slower since ...`."""
    return [
        (
            f"the machine: all cases and candidates {format_ratio(max(step.ratio, 1 / step.ratio))} "
            f"{'slower' if step.ratio > 1 else 'faster'} since {history.pasts[step.at].date} (campaign "
            f"{history.pasts[step.at].name}), not counted above"
        )
        for step in reversed(history.machine)
    ]


def describe_change(column: Series, turn: Turn) -> str:
    """Return `allreduce 8 B, openmpi: 1.31× slower, +5% of its time, since 2026-03-02 (campaign night-17: ...)`."""
    return render(
        say(
            "{case}, {candidate}: {change} since {date} (campaign {name}: {why})"
            if column.memory
            else "{case}, {candidate}: {change}, {share:+.2g}% of its time, since {date} (campaign {name}: {why})",
            case=column.title,
            candidate=column.candidate,
            change=size(column, turn),
            share=turn.share * 100,
            date=turn.since,
            name=turn.name,
            why=", ".join(map(render, turn.reasons)) or "its record has nothing new",
        )
    )


def size(column: Series, turn: Turn) -> str:
    """Return how large a change is: `1.31× slower`."""
    above = turn.ratio > 1
    factor = format_ratio(turn.ratio if above else 1 / turn.ratio) + MARK * turn.explained
    if column.memory:
        return f"{factor} more memory" if above else f"{factor} less memory"
    return f"{factor} slower" if above else f"{factor} faster"
