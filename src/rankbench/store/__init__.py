"""The store: one folder per campaign, to which launches are added and in which nothing measured is ever rewritten.

`docs/formats.md` tells every file and column. A launch's JSON is written last and commits it: parquet files without one
are leftovers of a killed run, are not read, and are replaced when the launch is made again. The store does not judge.
"""

from __future__ import annotations

import fcntl
import os
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import polars as pl

from rankbench.model import Campaign, CaseResult, Launch, RankbenchError, Series

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path
    from typing import IO

FORMAT = 1
Kind = TypeVar("Kind", bound=msgspec.Struct)

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
}
CASE_COLUMNS = _CASE_OF_LAUNCH | {
    "status": pl.String,
    "reason": pl.String,
    "taken": pl.Int64,
    "valid": pl.Int64,
    "late": pl.Int64,
    "overrun": pl.Int64,
    "sync_bound_ns": pl.Float64,
    "drift_ns": pl.Float64,
    "migrated": pl.Boolean,
}
SAMPLE_COLUMNS = _CASE_OF_LAUNCH | {
    "series": pl.Int32,
    "index": pl.Int32,
    "time_ns": pl.Float64,
    "last_rank": pl.Int32,
    "late": pl.Boolean,
    "overrun": pl.Boolean,
}


class Store:
    """A campaign's folder. Made by `create` or `open`."""

    def __init__(self, folder: Path, campaign: Campaign) -> None:
        self.folder = folder
        self.campaign = campaign
        self._lock: IO[bytes] | None = None

    def lock(self) -> None:
        """Keep other runs out of this folder until this process ends."""
        self._lock = (self.folder / "lock").open("wb")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise RankbenchError(
                f"{self.folder}: another rankbench is running this campaign; wait for it or choose another --name"
            ) from None

    def append(self, launch: Launch, results: Sequence[CaseResult]) -> None:
        """Add a launch with the cases it ran. Either all of it is there afterwards, or nothing that would be read."""
        name = f"{launch.number:06}"
        heads = [_head(launch, result) for result in results]
        rows = [head | _outcome(result) for head, result in zip(heads, results, strict=True)]
        cases = pl.DataFrame(rows, CASE_COLUMNS)
        _write(self.folder / "cases" / f"{name}.parquet", lambda path: _parquet(cases, path))
        samples = pl.concat([pl.DataFrame(schema=SAMPLE_COLUMNS), *_series_frames(heads, results)])
        _write(self.folder / "samples" / f"{name}.parquet", lambda path: _parquet(samples, path))
        _write_json(self.folder / "launches" / f"{name}.json", launch)

    def launches(self) -> list[Launch]:
        """Return the committed launches in the order of their numbers."""
        return [_read_json(path, Launch) for path in sorted((self.folder / "launches").glob("*.json"))]

    def cases(self) -> pl.DataFrame:
        """Return one row per case and committed launch; the columns are CASE_COLUMNS."""
        return self._scan("cases", CASE_COLUMNS).collect()

    def samples(self) -> pl.LazyFrame:
        """Return one row per sample of the committed launches; the columns are SAMPLE_COLUMNS."""
        return self._scan("samples", SAMPLE_COLUMNS)

    def write_derived(self, frames: Mapping[str, pl.DataFrame], records: Mapping[str, msgspec.Struct]) -> None:
        """Write what can be made again from the measured values: frames as NAME.parquet, records as NAME.json."""
        for name, frame in frames.items():
            _write(self.folder / f"{name}.parquet", lambda path, frame=frame: _parquet(frame, path))  # type: ignore[misc]
        for name, record in records.items():
            _write_json(self.folder / f"{name}.json", record)

    def _scan(self, kind: str, columns: Mapping[str, type[pl.DataType]]) -> pl.LazyFrame:
        committed = [path.stem for path in sorted((self.folder / "launches").glob("*.json"))]
        files = [self.folder / kind / f"{name}.parquet" for name in committed]
        return pl.scan_parquet(files) if files else pl.LazyFrame(schema=dict(columns))


def create(folder: Path, campaign: Campaign) -> Store:
    """Make the folder of a new campaign. Raises RankbenchError where it cannot be written or holds one already."""
    if (folder / "campaign.json").exists():
        raise RankbenchError(f"{folder}: holds a campaign already; choose another --name, or remove the folder")
    try:
        for kind in ("launches", "cases", "samples", "work"):
            (folder / kind).mkdir(parents=True, exist_ok=True)
        (folder / "plan.toml").write_text(campaign.plan.text, encoding="utf-8")
        _write_json(folder / "campaign.json", campaign)
    except OSError as error:
        raise RankbenchError(
            f"{folder}: cannot be written ({error.strerror}); choose another folder with --results"
        ) from None
    return Store(folder, campaign)


def open(folder: Path) -> Store:  # noqa: A001 - the verb of the room
    """Open the folder of a campaign. Raises RankbenchError if it is none, is damaged, or is of a newer rankbench."""
    path = folder / "campaign.json"
    if not path.exists():
        raise RankbenchError(
            f"{folder}: not a campaign (it has no campaign.json); name a folder that `rankbench run` made"
        )
    try:
        found = msgspec.json.decode(path.read_bytes()).get("format")
    except (msgspec.MsgspecError, AttributeError) as error:
        raise RankbenchError(f"{path}: damaged ({error}); restore it or run the plan again") from None
    if found != FORMAT:
        raise RankbenchError(f"{path}: format {found}, this rankbench reads format {FORMAT}; use the one that wrote it")
    return Store(folder, _read_json(path, Campaign))


def _head(launch: Launch, result: CaseResult) -> dict[str, Any]:
    case = result.case
    named = {name: getattr(case, name) for name in _CASE_OF_LAUNCH if name in case.__struct_fields__}
    return {"launch": launch.number, "block": launch.block, "candidate": launch.candidate, "case": case.key} | named


def _outcome(result: CaseResult) -> dict[str, object]:
    names = CASE_COLUMNS.keys() - _CASE_OF_LAUNCH.keys()
    return {name: getattr(result, name) for name in names} | {"status": result.status.value}


def _series_frames(heads: Iterable[dict[str, Any]], results: Iterable[CaseResult]) -> Iterable[pl.DataFrame]:
    for head, result in zip(heads, results, strict=True):
        for series in result.series:
            yield _series_frame(head, series)


def _series_frame(head: dict[str, Any], series: Series) -> pl.DataFrame:
    count = len(series.time_ns)
    index = pl.int_range(count, dtype=pl.Int32, eager=True)
    one_rank = pl.repeat(series.rank, count, dtype=pl.Int32, eager=True)
    return pl.DataFrame(
        {
            **{name: pl.repeat(head[name], count, dtype=kind(), eager=True) for name, kind in _CASE_OF_LAUNCH.items()},
            "series": one_rank,
            "index": index,
            "time_ns": pl.Series(series.time_ns, dtype=pl.Float64),
            "last_rank": pl.Series(series.last_rank, dtype=pl.Int32) if series.last_rank else one_rank,
            "late": index.is_in(series.late),
            "overrun": index.is_in(series.overrun),
        },
        SAMPLE_COLUMNS,
    )


def _parquet(frame: pl.DataFrame, path: Path) -> None:
    frame.write_parquet(path, compression="zstd")


def _write(path: Path, fill: Callable[[Path], object]) -> None:
    """Fill a file beside its place, see it on the disk, and rename it: a reader meets it whole or not at all."""
    beside = path.with_name(path.name + ".part")
    try:
        fill(beside)
        _sync(beside)
        beside.rename(path)
        _sync(path.parent)
    except OSError as error:
        raise RankbenchError(f"{path}: cannot be written ({error.strerror}); what was stored before is safe") from None


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _write_json(path: Path, record: msgspec.Struct) -> None:
    text = msgspec.json.format(msgspec.json.encode(record))
    _write(path, lambda beside: beside.write_bytes(text + b"\n"))


def _read_json(path: Path, kind: type[Kind]) -> Kind:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except msgspec.MsgspecError as error:
        raise RankbenchError(f"{path}: damaged ({error}); restore it or run the plan again") from None
