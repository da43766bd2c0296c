"""Summaries and comparisons as flat frames, for readers who go on with Polars, DuckDB or a spreadsheet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import polars as pl

if TYPE_CHECKING:
    from rankbench.model import Summary
    from rankbench.verdict.evaluation import Evaluation


def frames(evaluation: Evaluation) -> dict[str, pl.DataFrame]:
    """Return one row per summary and one per comparison, those of the A/A control included."""
    verdict = evaluation.verdict
    comparisons = [
        {**msgspec.structs.asdict(comparison), "control": control}
        for control, found in ((False, verdict.comparisons), (True, verdict.control))
        for comparison in found
    ]
    return {
        "summary": pl.DataFrame([summary_row(summary) for summary in verdict.summaries]),
        "comparisons": pl.DataFrame(comparisons),
    }


def summary_row(summary: Summary) -> dict[str, object]:
    """Return a summary whose failures and warnings are one text each."""
    failures = ", ".join(f"{status} in {count}" for status, count in sorted(summary.failures.items()))
    row: dict[str, object] = msgspec.structs.asdict(summary)
    return {**row, "failures": failures, "warnings": "; ".join(summary.warnings)}
