"""From rows of a table to what the store keeps: times in nanoseconds, and all that was printed beside them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rankbench.model import CaseResult, CaseStatus, Series

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankbench.model import Case
    from rankbench.suites import Row, Table

NANOSECONDS = 1e9


def result(table: Table, case: Case, rows: Sequence[Row]) -> CaseResult:
    """Return what was measured of a case: a sample, or one for each call where the tool prints them all."""
    scale = {
        name: rows[0].numbers[table.roles[name]] * table.scale for name in ("pure", "compute") if name in table.roles
    }
    values = [row.numbers[table.roles["value"]] * table.scale for row in rows]
    per_second = table.operation.metric in {"bandwidth", "rate"}
    moved = case.size_bytes if table.operation.metric == "bandwidth" else 0
    status, reason = judged(values, rows, comparable=moved > 0 or table.operation.metric != "bandwidth")
    times = []
    if status == CaseStatus.OK:
        times = [NANOSECONDS * (moved or 1) / value if per_second else value for value in values]
    return CaseResult(
        case=case,
        status=status,
        reason=reason,
        taken=len(values),
        valid=len(times),
        ranks=case.ranks,
        moved_bytes=moved,
        moved_messages=1 if table.operation.metric == "rate" else 0,
        pure_ns=scale.get("pure", 0.0),
        compute_ns=scale.get("compute", 0.0),
        printed=dict(zip(table.columns, rows[0].numbers, strict=True)) if len(rows) == 1 else {},
        series=[Series(rank=-1, time_ns=times, last_rank=[], late=[], overrun=[])] if times else [],
    )


def judged(values: Sequence[float], rows: Sequence[Row], *, comparable: bool) -> tuple[CaseStatus, str]:
    """Return what became of a case, and why it has no figures. What a tool gave up it says without a value."""
    wrong = next((row.wrong for row in rows if row.wrong), "")
    if wrong:
        return CaseStatus.FAILED if any(map(math.isnan, values)) else CaseStatus.WRONG_DATA, wrong
    if not comparable:
        return CaseStatus.NOT_RUN, "an empty message has no bandwidth"
    if not all(value > 0 for value in values):
        return CaseStatus.NOT_RUN, "printed as nought: the tool prints too few digits"
    return CaseStatus.OK, ""
