"""The table of sums: whether their bits are the same on all ranks, from call to call, and in any order of ranks."""

from __future__ import annotations

import msgspec
import polars as pl

from rankbench.analysis.questions.view import CampaignView
from rankbench.model.sum_bits import HEADS, describe_bits, group_alike, join_numbers
from rankbench.report.tables import Cell, Table

TITLE = "Are the bits of a sum the same?"
SHORT = "Bits of sums"
HELP = "Whether the bits of sums are the same on all ranks, in all calls, launches, placements and orders of ranks."
FLAG = "sums"
ORDER = 16
UNASKED = "campaign"
ABSENT = "the bits of sums were not compared; write `sums = true` in the plan, and run again"
MEANING = (
    "Not on N: on N ranks they are not. What is the same only in one order of ranks depends on how ranks are placed. A "
    "candidate whose settings keep the bits beside one whose settings do not shows what they cost."
)


def tables(view: CampaignView) -> list[Table]:
    """Return a table with a row for the sums of each candidate and operation that differ in the same ways."""
    rows = [[Cell(text) for text in describe_bits(alike)] for alike in group_alike(view.sum_rows)]
    return [Table("bits of sums", ["candidate", "operation", "type", "elements", *HEADS], rows)] if rows else []


def sentences(view: CampaignView) -> list[str]:
    """Return what terminals print below the table."""
    return [MEANING] if view.sum_rows else []


def frame(view: CampaignView) -> pl.DataFrame | None:
    """Return one row per candidate and sum, with the numbers of ranks on which bits differ; empty: on none."""
    rows = [
        {
            name: join_numbers(value) if isinstance(value, list) else value
            for name, value in msgspec.structs.asdict(row).items()
        }
        for row in view.sum_rows
    ]
    return pl.DataFrame(rows) if rows else None
