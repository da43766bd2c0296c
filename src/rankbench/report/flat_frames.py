"""Summaries and comparisons as flat frames, for readers who go on with Polars, DuckDB or a spreadsheet."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import polars as pl

from rankbench.analysis.questions.view import CampaignView
from rankbench.language import render
from rankbench.model import Case, Comparison, Summary

FIELDS = ("blocks", "ratio", "low", "high")
LEVEL_COLUMNS = [f"{level}_{field}" for level in ("near", "far") for field in FIELDS]


def list_summaries(view: CampaignView) -> Iterator[tuple[Case, str, Summary]]:
    """Yield every summary with its case and state: of each level where values are by level. A/A twins are included."""
    for case in view.campaign.cases:
        levels = view.list_levels(case)
        for _, summary in view.summaries_of.get(view.key(case), ()):
            for level in levels if summary.levels else ("",):
                if at := summary.at(level):
                    yield case, level, at


def make_frames(view: CampaignView) -> dict[str, pl.DataFrame]:
    """Return one row per summary, at each level that has values, and one per comparison, A/A twins included; each with
    the columns that make up its case, for programs that do not take keys apart. Tables without rows are omitted.
    """
    verdict = view.verdict
    comparisons = [
        {**comparison_row(comparison), "control": control}
        for control, part in ((False, verdict.comparisons), (True, verdict.control))
        for comparison in part
    ]
    summaries = [{"state": state, **summary_row(summary)} for _, state, summary in list_summaries(view)]
    cases = pl.DataFrame(list(map(case_row, view.campaign.cases)))
    frames = {
        "summary": pl.DataFrame(summaries),
        "comparisons": pl.DataFrame(comparisons, schema_overrides=dict.fromkeys(LEVEL_COLUMNS, pl.Float64)),
    }
    return {
        name: cases.join(frame, on="case", maintain_order="left_right")
        for name, frame in frames.items()
        if not frame.is_empty()
    }


def case_row(case: Case) -> dict[str, object]:
    """Return what makes up a case, and the unit of its values."""
    return {
        "case": case.key,
        "operation": case.operation,
        "form": case.form,
        "size_bytes": case.size_bytes,
        "datatype": case.datatype,
        "ranks": case.ranks,
        "placement": case.placement,
        "start": case.start,
        "memory": case.memory.label,
        "options": " ".join(f"{name}={value}" for name, value in case.options.items()),
        "quantity": case.quantity,
        "unit": "bytes" if case.quantity == "memory" else "ns",
    }


def comparison_row(comparison: Comparison) -> dict[str, object]:
    """Return a comparison whose levels are columns, empty where there are none."""
    row: dict[str, object] = {**msgspec.structs.asdict(comparison), **dict.fromkeys(LEVEL_COLUMNS)}
    del row["levels"]
    level_fields = {f"{level.name}_{field}": getattr(level, field) for level in comparison.levels for field in FIELDS}
    return {**row, **level_fields}


def summary_row(summary: Summary) -> dict[str, object]:
    """Return a summary whose failures and warnings are one text each."""
    failures = ", ".join(f"{status} in {count}" for status, count in sorted(summary.failures.items()))
    row: dict[str, object] = msgspec.structs.asdict(summary)
    del row["levels"]
    warnings = "; ".join(map(render, summary.warnings))
    return {**row, "doubt": render(summary.doubt), "failures": failures, "warnings": warnings}
