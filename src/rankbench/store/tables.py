"""Launches as tables: their columns, the rows of a launch, and reading and writing its Parquet files.

Apart from the store itself, since it needs Polars: a campaign can be prepared for a job where that is not installed.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankbench import files, store
from rankbench.model import Campaign, CaseResult, DamagedFileError, Launch, RankFact, Series, Visit, list_columns

MAGIC = b"PAR1"
"""The last bytes of every Parquet file."""
_CASE_OF_LAUNCH = {
    "launch": pl.Int32,
    "block": pl.Int32,
    "candidate": pl.String,
    "case": pl.String,
    "operation": pl.String,
    "form": pl.String,
    "size_bytes": pl.Int64,
    "datatype": pl.String,
    "placement": pl.String,
    "ranks": pl.Int32,
    "start": pl.String,
    "memory": pl.String,
    "options": pl.String,
}
_OUTCOME = list_columns(CaseResult)
CASE_COLUMNS = _CASE_OF_LAUNCH | {column.name: getattr(pl, column.polars_type) for column in _OUTCOME.values()}
RANK_COLUMNS = {
    "rank": pl.Int32,
    "host": pl.String,
    "cpu": pl.Int32,
    "cpus": pl.String,
    "clock": pl.String,
    "libmpi": pl.String,
    "core": pl.Int32,
    "socket": pl.Int32,
    "numa": pl.Int32,
}
SAMPLE_COLUMNS = _CASE_OF_LAUNCH | {
    "series": pl.Int32,
    "index": pl.Int32,
    "visit": pl.Int16,
    "visit_hop_ns": pl.Float32,
    "visit_position": pl.Int8,
    "visit_after": pl.Int8,
    "visit_waited": pl.Float32,
    "time_ns": pl.Float64,
    "last_rank": pl.Int32,
    "late": pl.Boolean,
    "overrun": pl.Boolean,
    "discarded": pl.Boolean,
    "by_rank": pl.Boolean,
    "skew_ns": pl.Float32,
    "bound_ns": pl.Float32,
    "error_ns": pl.Float32,
}
ADDED = {"rounding_ns": 0.0, "rank_share": 0.0, "leaked_bytes": 0, "waited_ns": 0.0, "timed_ns": 0.0}
"""Columns that older files of this format lack, and their value there."""
_ROWS_AT_ONCE = 100_000
Measured = tuple[Launch, Sequence[CaseResult]]
"""A launch and what it measured."""


def _head(launch: Launch, result: CaseResult) -> dict[str, Any]:
    case = result.case
    named = {name: getattr(case, name) for name in _CASE_OF_LAUNCH if name in case.__struct_fields__}
    numbers = {"launch": launch.number, "block": launch.block, "candidate": launch.candidate, "case": case.key}
    options = ", ".join(f"{name}={value}" for name, value in case.options.items())
    return {**numbers, **named, "memory": case.memory.label, "options": options}


def _outcome(result: CaseResult) -> dict[str, object]:
    fields = msgspec.structs.asdict(result) | {"status": result.status.value}
    fields["printed"] = msgspec.json.encode(result.printed).decode() if result.printed else ""
    fields |= {"grid": "x".join(map(str, result.grid)), "order": ",".join(map(str, result.order))}
    return {column.name: fields[field] for field, column in _OUTCOME.items()}


class _MarkedSeries(NamedTuple):
    """A series, the number of its case among those of the table, and which of its samples do not count."""

    case: int
    series: Series
    discarded: Sequence[int]
    by_rank: bool

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns that differ from sample to sample; an unknown skew is NaN."""
        count = len(self.series.time_ns)
        index, marks = np.arange(count, dtype=np.int32), self.series
        visits = marks.visits or [Visit(count)]
        lengths = [visit.samples for visit in visits]
        return {
            "number": np.full(count, self.case, np.uint32),
            "series": np.full(count, marks.rank, np.int32),
            "index": index,
            "visit": np.repeat(np.arange(len(visits), dtype=np.int16), lengths),
            "visit_hop_ns": np.repeat(np.array([visit.hop_ns for visit in visits], np.float32), lengths),
            "visit_position": np.repeat(np.array([visit.position for visit in visits], np.int8), lengths),
            "visit_after": np.repeat(np.array([visit.after for visit in visits], np.int8), lengths),
            "visit_waited": np.repeat(np.array([visit.waited for visit in visits], np.float32), lengths),
            "time_ns": np.asarray(marks.time_ns, float),
            "last_rank": np.asarray(marks.last_rank or np.full(count, marks.rank), np.int32),
            "late": np.isin(index, marks.late),
            "overrun": np.isin(index, marks.overrun),
            "discarded": np.isin(index, self.discarded),
            "by_rank": np.full(count, self.by_rank),
            "skew_ns": np.asarray(marks.skew_ns or np.full(count, np.nan), np.float32),
            "bound_ns": np.asarray(marks.bound_ns or np.zeros(count), np.float32),
            "error_ns": np.asarray(marks.error_ns or np.zeros(count), np.float32),
        }


def _samples_frame(heads: Sequence[dict[str, Any]], marked: Iterable[_MarkedSeries]) -> pl.LazyFrame:
    """Return the samples of cases. Columns that are constant within a case are joined while they are written.

    The join is made of slices: of a million rows at once it would need ten times their memory.
    """
    parts = [series.columns() for series in marked if series.series.time_ns]
    if not parts:
        return pl.LazyFrame(schema=SAMPLE_COLUMNS)
    frame = pl.DataFrame({name: np.concatenate([part[name] for part in parts]) for name in parts[0]})
    cases = pl.LazyFrame(heads, _CASE_OF_LAUNCH).with_row_index("number")
    slices = (frame.lazy().slice(first, _ROWS_AT_ONCE) for first in range(0, len(frame), _ROWS_AT_ONCE))
    joined = pl.concat(part.join(cases, on="number", how="left", maintain_order="left") for part in slices)
    return joined.with_columns(pl.col("skew_ns", "visit_waited").fill_nan(None)).select(list(SAMPLE_COLUMNS))


def check_end(path: Path) -> Path:
    """Return the path of a complete Parquet file."""
    try:
        with files.open_regular(path) as file:
            length = file.seek(0, os.SEEK_END)
            file.seek(max(0, length - len(MAGIC)))
            complete = file.read() == MAGIC
    except OSError as error:
        raise DamagedFileError(f"{path}: cannot be read ({error.strerror}); {store.RESTORE}") from None
    if not complete:
        raise DamagedFileError(f"{path}: damaged (its end is missing); {store.RESTORE}")
    return path


def encode_frame(frame: pl.LazyFrame) -> bytes:
    """Return a table as the content of a Parquet file."""
    buffer = io.BytesIO()
    frame.sink_parquet(buffer, compression="zstd")
    return buffer.getvalue()


def case_rows(launches: Iterable[Measured]) -> pl.LazyFrame:
    """Return one row per case of each launch; the columns are CASE_COLUMNS."""
    rows = [_head(launch, result) | _outcome(result) for launch, results in launches for result in results]
    return pl.LazyFrame(rows, CASE_COLUMNS)


def sample_rows(campaign: Campaign, launches: Iterable[Measured]) -> pl.LazyFrame:
    """Return one row per sample of each launch; the columns are SAMPLE_COLUMNS."""
    measured = [(launch, result) for launch, results in launches for result in results]
    heads = [_head(launch, result) for launch, result in measured]
    return _samples_frame(heads, _mark_series(campaign, [result for _, result in measured]))


def rank_rows(facts: Sequence[RankFact]) -> pl.LazyFrame:
    """Return one row per rank of a launch; the columns are RANK_COLUMNS."""
    return pl.LazyFrame([msgspec.structs.astuple(fact) for fact in facts], RANK_COLUMNS, orient="row")


def _mark_series(campaign: Campaign, results: Iterable[CaseResult]) -> Iterator[_MarkedSeries]:
    """Yield every series of cases."""
    for number, result in enumerate(results):
        overruns = campaign.discards_overruns(result.case)
        discarded = sorted(result.own_series.find_discarded(overruns=overruns)) if result.own_series else []
        for series in result.series:
            yield _MarkedSeries(number, series, discarded, by_rank=series is not result.own_series)


def make_empty_frame(columns: Mapping[str, type[pl.DataType]]) -> pl.LazyFrame:
    """Return an empty table."""
    return pl.LazyFrame(schema=dict(columns))


def drop_single_ranks(samples: pl.LazyFrame) -> pl.LazyFrame:
    """Return the samples that are not of single ranks."""
    return samples.filter(~pl.col("by_rank"))


def scan(paths: Sequence[Path], columns: Mapping[str, type[pl.DataType]]) -> pl.LazyFrame:
    """Return the rows of Parquet files. Columns that older files lack have their value for what is not known."""
    frame = pl.scan_parquet(list(paths), glob=False, schema=dict(columns), missing_columns="insert")
    return frame.with_columns(pl.col(name).fill_null(value) for name, value in ADDED.items() if name in columns)


def read(paths: Sequence[Path], columns: Mapping[str, type[pl.DataType]]) -> pl.DataFrame:
    """Return the rows of Parquet files. Raises DamagedFileError, with the first file that cannot be read."""
    try:
        return scan(paths, columns).collect()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        if len(paths) > 1:
            for path in paths:
                read([path], columns)
        reason = (str(error).splitlines() or ["no reason"])[0]
        raise DamagedFileError(f"{paths[0]}: damaged ({reason}); {store.RESTORE}") from None
