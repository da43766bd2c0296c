"""A store's samples part by part: what is worked out for each launch or candidate needs no others in memory.

A million rounds of each of many cases have no room at once: polars takes some hundred bytes for each row that it
groups. A campaign of fewer rows than ROWS_JUDGED is one part.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import polars as pl

from rankbench.plan.footprint import ROWS_JUDGED

T = TypeVar("T")

READ = (
    *("case", "candidate", "block", "launch", "series", "ranks", "last_rank", "time_ns", "discarded"),
    *("visit", "visit_hop_ns", "visit_position", "visit_after", "visit_waited", "skew_ns", "bound_ns", "error_ns"),
)
"""Columns of a store's samples that an evaluation reads."""


def hold(samples: pl.LazyFrame, rows: int = ROWS_JUDGED) -> pl.LazyFrame:
    """Return the samples with the columns READ, in memory if they are one part: they are read a dozen times."""
    needed = samples.select(READ)
    count: int = needed.select(pl.len()).collect().item()
    return needed.collect().lazy() if count <= rows else needed


def divide_by_launch(samples: pl.LazyFrame, rows: int = ROWS_JUDGED) -> Iterator[pl.LazyFrame]:
    """Yield the samples in the order of their launches: so many rows at once, or one launch."""
    sizes: list[tuple[int, int]] = samples.group_by("launch").len().sort("launch").collect().rows()
    for launches in _batches(sizes, rows):
        yield (
            samples.filter(pl.col("launch").is_between(launches[0], launches[-1]))
            if len(launches) < len(sizes)
            else samples
        )


def divide_by_case(samples: pl.LazyFrame, rows: int = ROWS_JUDGED) -> Iterator[pl.LazyFrame]:
    """Yield the samples in the order of their cases: so many rows at once, or a candidate's of one case."""
    sizes = samples.group_by("case", "candidate").len().sort("case", "candidate").collect()
    of_case: list[tuple[str, int]] = sizes.group_by("case", maintain_order=True).agg(pl.col("len").sum()).rows()
    for cases in _batches(of_case, rows):
        chosen = samples.filter(pl.col("case").is_in(cases)) if len(cases) < len(of_case) else samples
        frame = sizes.filter(pl.col("case").is_in(cases))
        if frame["len"].sum() <= rows:
            yield chosen
        else:
            yield from (chosen.filter(pl.col("candidate") == name) for name in frame["candidate"])


def _batches(sizes: list[tuple[T, int]], rows: int) -> Iterator[list[T]]:
    """Yield neighbours that have so many rows together at most, or alone; of nothing, one batch of nothing."""
    batch: list[T] = []
    rows_in_batch = 0
    for name, length in sizes:
        if batch and rows_in_batch + length > rows:
            yield batch
            batch, rows_in_batch = [], 0
        batch.append(name)
        rows_in_batch += length
    yield batch
