"""Turns rows of a table into case results: times in nanoseconds, with all printed columns."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rankbench.foreign import LineError, Row, Table
from rankbench.model import Case, CaseResult, CaseStatus, Series

NANOSECONDS = 1e9
LONGEST_NS = 1e15
"""11 days: longer than any call."""


def refuse_impossible_values(table: Table, file: str) -> None:
    """Raise RankbenchError for a row whose value cannot be the time or the rate of a call."""
    places = [table.roles[name] for name in ("value", "pure", "compute") if name in table.roles]
    per_second = table.operation.metric in {"bandwidth", "rate"}
    for row in table.rows:
        for place in places:
            value = row.numbers[place] * table.scale
            moved = row.size_bytes if table.operation.metric == "bandwidth" else 1
            time_ns = NANOSECONDS * moved / value if per_second and value else value
            if math.isinf(value) or time_ns >= LONGEST_NS or (per_second and moved and time_ns == 0 != value):
                raise LineError(
                    file,
                    row.line,
                    f"{table.columns[place]} is {row.numbers[place]:g}, expected a time below 10^15 ns, or what is "
                    "moved in one",
                )


def make_case_result(table: Table, case: Case, rows: Sequence[Row]) -> CaseResult:
    """Return the result of a case: a sample for each row that has a value; NaN stands for none."""
    value = table.roles["value"]
    measured = [row for row in rows if not math.isnan(row.numbers[value])]
    first = measured[0] if measured else rows[0]
    scale = {
        name: first.numbers[table.roles[name]] * table.scale for name in ("pure", "compute") if name in table.roles
    }
    values = [row.numbers[value] * table.scale for row in measured]
    per_second = table.operation.metric in {"bandwidth", "rate"}
    moved = case.size_bytes if table.operation.metric == "bandwidth" else 0
    if measured:
        status, reason = choose_status(values, measured, comparable=moved > 0 or table.operation.metric != "bandwidth")
    else:
        status, reason = CaseStatus.REFUSED, explain_no_value(table, first)
    times = []
    if status == CaseStatus.OK:
        times = [NANOSECONDS * (moved or 1) / value if per_second else value for value in values]
    return CaseResult(
        case=case,
        status=status,
        reason=reason,
        rounding_ns=find_rounding_ns(table, measured, times),
        sample_count=len(rows),
        valid=len(times),
        ranks=case.ranks,
        moved_bytes=moved,
        moved_messages=1 if table.operation.metric == "rate" else 0,
        pure_ns=scale.get("pure", 0.0) if measured else 0.0,
        compute_ns=scale.get("compute", 0.0) if measured else 0.0,
        printed=dict(zip(table.columns, rows[0].numbers, strict=True)) if len(rows) == 1 else {},
        series=[Series(rank=-1, time_ns=times, last_rank=[], late=[], overrun=[])] if times else [],
    )


def find_rounding_ns(table: Table, rows: Sequence[Row], times_ns: Sequence[float]) -> float:
    """Return how far a time may be from the truth since its row has a last digit; of several rows the most.

    A rate and its time have the same relative rounding.
    """
    value = table.roles["value"]
    return max(
        (
            time_ns * table.rounding * 10.0**-row.decimals / row.numbers[value]
            for row, time_ns in zip(rows, times_ns, strict=False)
            if row.decimals is not None
        ),
        default=0.0,
    )


def choose_status(values: Sequence[float], rows: Sequence[Row], *, comparable: bool) -> tuple[CaseStatus, str]:
    """Return the status of a case with values, and the reason if they cannot be used."""
    if wrong := next((row.wrong for row in rows if row.wrong), ""):
        return CaseStatus.WRONG_DATA, wrong
    if not comparable:
        return CaseStatus.NOT_RUN, "an empty message has no bandwidth"
    if not all(value > 0 for value in values):
        return CaseStatus.BELOW, "printed as 0: below the last digit printed"
    return CaseStatus.OK, ""


def explain_no_value(table: Table, row: Row) -> str:
    """Return why a row has no value: the tool's own message, or the numbers that it printed instead."""
    pairs = zip(table.columns, row.numbers, strict=True)
    counts = ", ".join(f"{name} {number:g}" for name, number in pairs if not math.isnan(number))
    return row.wrong or f"no valid measurement{f' ({counts})' if counts else ''}"
