"""The store: one folder per campaign, to which launches are added and in which nothing measured is ever rewritten.

`docs/reference/formats.md` has every file and column. A launch's JSON is written last and commits it: parquet files
without one are leftovers of a killed run, are not read, and are replaced when the launch is made again. The store
does not judge.
"""

from __future__ import annotations

import fcntl
import io
import os
import shlex
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec
import numpy as np
import polars as pl

from rankbench import files
from rankbench.model import Campaign, CaseResult, Launch, Look, RankbenchError, Series, Visit, list_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path
    from typing import IO

    from numpy.typing import NDArray

FORMAT = 13
FOLDERS = ("launches", "cases", "samples", "looks", "work", "job")
"""In a campaign's folder, what is written by those who hold its lock."""
ELSEWHERE = "choose another folder with --results"
RESTORE = "restore it or run the plan again"
MAGIC = b"PAR1"
"""The last bytes of every parquet file."""
SMALL = 1 << 20
"""Bytes on the disk up to which samples are kept in memory: some 50 MB there."""
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
    "memory": pl.String,
    "options": pl.String,
}
_OUTCOME = list_columns(CaseResult)
CASE_COLUMNS = _CASE_OF_LAUNCH | {column.name: getattr(pl, column.polars_type) for column in _OUTCOME.values()}
SAMPLE_COLUMNS = _CASE_OF_LAUNCH | {
    "series": pl.Int32,
    "index": pl.Int32,
    "visit": pl.Int16,
    "visit_hop_ns": pl.Float32,
    "visit_position": pl.Int8,
    "visit_after": pl.Int8,
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
_SINCE: dict[int, dict[str, pl.Expr]] = {
    2: {"memory": pl.lit(""), "discarded": pl.col("late"), "by_rank": pl.lit(value=False)},
    3: {"options": pl.lit("")},
    4: {"moved": pl.when("migrated").then(pl.lit("a rank")).otherwise(pl.lit(""))},
    7: {"error_ns": pl.col("bound_ns")},
    9: {"visit": pl.lit(0, pl.Int16), "visit_hop_ns": pl.lit(0.0, pl.Float32)},
    11: {"visit_position": pl.lit(-1, pl.Int8), "visit_after": pl.lit(-1, pl.Int8)},
    13: {
        "cause": pl.when(pl.col("reason").str.starts_with("no round began in time"))
        .then(pl.lit("late-start"))
        .when(pl.col("reason").str.starts_with("no round ended within the time limit"))
        .then(pl.lit("time-limit"))
        .otherwise(pl.lit(""))
    },
}
for _column in _OUTCOME.values():
    if _column.column.default_before is not None:
        _SINCE.setdefault(_column.column.since, {})[_column.name] = pl.lit(
            _column.column.default_before, CASE_COLUMNS[_column.name]
        )
"""What the columns that a format added would hold in campaigns before it; what nobody measured then is null."""
_LACKING = {
    old: {name: value for since, columns in _SINCE.items() if since > old for name, value in columns.items()}
    for old in range(1, FORMAT)
}
_UNTIL_3 = {"migrated": pl.Boolean}
"""Columns that only campaigns before format 4 have."""
_MOVED_SINCE = 4
_ROWS_AT_ONCE = 100_000


class Store:
    """A campaign's folder. Made by `create` or `open`."""

    def __init__(self, folder: Path, campaign: Campaign, lock_file: IO[bytes] | None = None) -> None:
        self.folder = folder
        self.campaign = campaign
        self._lock = lock_file
        self._read: dict[str, tuple[list[Path], pl.LazyFrame]] = {}

    def lock(self) -> None:
        """Keep other runs out of this folder until this process ends."""
        self._lock = lock(self.folder)

    def unlock(self) -> None:
        """Let other runs in again."""
        if self._lock:
            self._lock.close()
            self._lock = None

    def append(self, launch: Launch, results: Sequence[CaseResult]) -> None:
        """Add a launch with the cases it ran. Either all of it is there afterwards, or nothing that would be read."""
        name = f"{launch.number:06}"
        if (self.folder / "launches" / f"{name}.json").exists():
            raise ValueError(f"launch {launch.number} is stored already, and nothing measured is rewritten")
        heads = [_head(launch, result) for result in results]
        rows = [head | _outcome(result) for head, result in zip(heads, results, strict=True)]
        cases = pl.LazyFrame(rows, CASE_COLUMNS)
        samples = _samples_frame(heads, self._list_series(results))
        _write(self.folder / "cases" / f"{name}.parquet", _parquet(cases))
        _write(self.folder / "samples" / f"{name}.parquet", _parquet(samples))
        _write_json(self.folder / "launches" / f"{name}.json", launch)

    def append_look(self, look: Look) -> None:
        """Add what the campaign saw when it looked. Made again after a kill it is the same."""
        files.make_folder(self.folder / "looks")
        _write_json(self.folder / "looks" / f"{look.block:06}.json", look)

    def looks(self) -> list[Look]:
        """Return the looks in the order of their blocks."""
        return [_read_json(path, Look) for path in sorted((self.folder / "looks").glob("*.json"))]

    def change_plan(self, campaign: Campaign) -> None:
        """Replace the record by one whose plan differs in nothing that is measured."""
        _write(self.folder / "plan.toml", campaign.plan.text.encode())
        _write_json(self.folder / "campaign.json", campaign)
        self.campaign = campaign

    def launches(self) -> list[Launch]:
        """Return the committed launches in the order of their numbers."""
        return [_read_json(path, Launch) for path in sorted((self.folder / "launches").glob("*.json"))]

    def cases(self) -> pl.DataFrame:
        """Return one row per case and committed launch; the columns are CASE_COLUMNS."""
        return self._scan("cases", CASE_COLUMNS).collect()

    def samples(self) -> pl.LazyFrame:
        """Return one row per sample of the committed launches; the columns are SAMPLE_COLUMNS."""
        return self._scan("samples", SAMPLE_COLUMNS).filter(~pl.col("by_rank"))

    def rank_samples(self) -> pl.LazyFrame:
        """Return one row per sample and rank: what single ranks saw of `samples`, where the plan has `every_rank`."""
        return self._scan("samples", SAMPLE_COLUMNS).filter("by_rank")

    def write_derived(self, frames: Mapping[str, pl.DataFrame], records: Mapping[str, object]) -> None:
        """Write what can be made again from the measured values: frames as NAME.parquet, records as NAME.json."""
        for name, frame in frames.items():
            _write(self.folder / f"{name}.parquet", _parquet(frame.lazy()))
        for name, record in records.items():
            _write_json(self.folder / f"{name}.json", record)

    def _scan(self, kind: str, columns: Mapping[str, type[pl.DataType]]) -> pl.LazyFrame:
        committed = [path.stem for path in sorted((self.folder / "launches").glob("*.json"))]
        files = [_check_end(self.folder / kind / f"{name}.parquet") for name in committed]
        if not files:
            return pl.LazyFrame(schema=dict(columns))
        if sum(path.stat().st_size for path in files) > SMALL:
            return self._lazy(files, columns)
        # To open many small files costs more than to read them, and an evaluation looks at them a dozen times.
        if kind not in self._read or self._read[kind][0] != files:
            self._read[kind] = files, self._lazy(files, columns).collect().lazy()
        return self._read[kind][1]

    def _lazy(self, files: list[Path], columns: Mapping[str, type[pl.DataType]]) -> pl.LazyFrame:
        if self.campaign.format == FORMAT:
            return pl.scan_parquet(files, glob=False)
        old = "moved" in columns and self.campaign.format < _MOVED_SINCE
        schema = dict(columns) | (_UNTIL_3 if old else {})
        frame = pl.scan_parquet(files, schema=schema, missing_columns="insert", glob=False)
        lacking = _LACKING[self.campaign.format].items()
        return frame.with_columns(value.alias(name) for name, value in lacking if name in columns).select(list(columns))

    def _list_series(self, results: Iterable[CaseResult]) -> Iterable[_Told]:
        """Yield every series of a launch's cases."""
        for number, result in enumerate(results):
            overruns = self.campaign.discards_overruns(result.case)
            discarded = sorted(result.own_series.find_discarded(overruns=overruns)) if result.own_series else []
            for series in result.series:
                yield _Told(number, series, discarded, by_rank=series is not result.own_series)


def is_running(folder: Path) -> bool:
    """Return whether a process of this host, or of one that shares its locks, is running the campaign of a folder."""
    try:
        with (folder / "lock").open("rb") as handle:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # Nobody has ever run it, or nothing can be locked here.
        return False
    return False


def lock(folder: Path) -> IO[bytes]:
    """Return the lock on a campaign's folder, which keeps other runs out until it is closed or this process ends."""
    files.refuse_links(folder / name for name in ("lock", *FOLDERS))
    try:
        handle = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, files.MODE)
        random = os.fdopen(handle, "r+b")
        fcntl.flock(random, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise RankbenchError(
            f"{folder}: another rankbench is running this campaign; wait for it or choose another --name"
        ) from None
    except OSError as error:
        raise RankbenchError(f"{folder}: cannot be locked ({error.strerror}); {ELSEWHERE}") from None
    return random


def create(folder: Path, campaign: Campaign, lock_file: IO[bytes] | None = None) -> Store:
    """Make the folder of a new campaign. Raises RankbenchError where it cannot be written or holds one already.

    It is locked meanwhile, where the caller does not hold its lock.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RankbenchError(f"{folder}: cannot be written ({error.strerror}); {ELSEWHERE}") from None
    if lock_file:
        return _begin(folder, campaign, lock_file)
    with lock(folder):
        return _begin(folder, campaign)


def _begin(folder: Path, campaign: Campaign, lock_file: IO[bytes] | None = None) -> Store:
    if (folder / "campaign.json").exists():
        raise RankbenchError(f"{folder}: holds a campaign already; choose another --name, or remove the folder")
    try:
        for kind in ("launches", "cases", "samples", "work"):
            files.make_folder(folder / kind)
    except OSError as error:
        raise RankbenchError(f"{folder}: cannot be written ({error.strerror}); {ELSEWHERE}") from None
    _write(folder / "plan.toml", campaign.plan.text.encode())
    _write_json(folder / "campaign.json", campaign)
    return Store(folder, campaign, lock_file)


def open(folder: Path, lock_file: IO[bytes] | None = None) -> Store:  # noqa: A001 - the verb of the room
    """Open the folder of a campaign. Raises RankbenchError if it is none, is damaged, or is of a newer rankbench.

    One of an older format is read as what it would be today; it cannot be gone on with. `lock_file` is its lock, if the
    caller holds it.
    """
    path = folder / "campaign.json"
    if not path.exists():
        raise RankbenchError(
            f"{folder}: not a campaign (it has no campaign.json); name a folder that `rankbench run` made"
        )
    version = _read_json(path, _Formatted).format
    if version not in {*_LACKING, FORMAT}:
        raise RankbenchError(
            f"{path}: format {version}, this rankbench reads formats 1 to {FORMAT}; use the one that wrote it"
        )
    return Store(
        folder, _read_json(path, Campaign, _as_today) if version == 1 else _read_json(path, Campaign), lock_file
    )


def _as_today(record: Any) -> Any:
    """Return the record of a campaign of format 1, whose core knew one clock, as it would be written today."""
    plan = record.get("plan")
    if isinstance(plan, dict):
        plan["starts"], plan["sampling"] = [plan.pop("start", None)], {"good": plan.pop("samples", None)}
        plan |= {"clock": "clock_gettime", "synchronisation": "linear"}
    return record


def newest(results: Path) -> Path:
    """Return the folder of the campaign that was begun last, at or right below a folder."""
    paths = [*results.glob("campaign.json"), *results.glob("*/campaign.json")]
    if not paths:
        raise RankbenchError(f"no campaign in {results}; {_elsewhere(results.parent)}")
    return _last_begun(paths)


def _elsewhere(folder: Path) -> str:
    """Return what to do instead: name a campaign up to two levels below a folder, or make one."""
    near = [path for pattern in ("*/campaign.json", "*/*/campaign.json") for path in folder.glob(pattern)]
    if not near:
        return "name a campaign's folder, or make one: rankbench run PLAN"
    place = str(_last_begun(near))
    return f"{place} is one: rankbench show {shlex.quote(place)}"


def _last_begun(records: Sequence[Path]) -> Path:
    return max(records, key=lambda path: path.stat().st_mtime).parent


class _Formatted(msgspec.Struct):
    """The one field that the record of every format has."""

    format: int


def _head(launch: Launch, result: CaseResult) -> dict[str, Any]:
    case = result.case
    named = {name: getattr(case, name) for name in _CASE_OF_LAUNCH if name in case.__struct_fields__}
    numbers = {"launch": launch.number, "block": launch.block, "candidate": launch.candidate, "case": case.key}
    options = ", ".join(f"{name}={value}" for name, value in case.options.items())
    return {**numbers, **named, "memory": case.memory.label, "options": options}


def _outcome(result: CaseResult) -> dict[str, object]:
    values = msgspec.structs.asdict(result) | {"status": result.status.value}
    values["printed"] = msgspec.json.encode(result.printed).decode() if result.printed else ""
    values |= {"grid": "x".join(map(str, result.grid)), "order": ",".join(map(str, result.order))}
    return {column.name: values[field] for field, column in _OUTCOME.items()}


class _Told(NamedTuple):
    """A series, the number of its case in the launch, and which of its samples do not count."""

    case: int
    series: Series
    discarded: Sequence[int]
    by_rank: bool

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return what is its own of each sample; the skew is NaN where it is not known."""
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


def _samples_frame(heads: Sequence[dict[str, Any]], entries: Iterable[_Told]) -> pl.LazyFrame:
    """Return the samples of a launch. What is equal in all of a case is joined to them while they are written.

    The join is made of slices: of a million rows at once it would need ten times their memory.
    """
    parts = [entry.columns() for entry in entries if entry.series.time_ns]
    if not parts:
        return pl.LazyFrame(schema=SAMPLE_COLUMNS)
    frame = pl.DataFrame({name: np.concatenate([part[name] for part in parts]) for name in parts[0]})
    cases = pl.LazyFrame(heads, _CASE_OF_LAUNCH).with_row_index("number")
    slices = (frame.lazy().slice(first, _ROWS_AT_ONCE) for first in range(0, len(frame), _ROWS_AT_ONCE))
    joined = pl.concat(part.join(cases, on="number", how="left", maintain_order="left") for part in slices)
    return joined.with_columns(pl.col("skew_ns").fill_nan(None)).select(list(SAMPLE_COLUMNS))


def _check_end(path: Path) -> Path:
    """Return the path of a parquet file that is there and has its end."""
    try:
        with path.open("rb") as file:
            length = file.seek(0, os.SEEK_END)
            file.seek(max(0, length - len(MAGIC)))
            complete = file.read() == MAGIC
    except OSError as error:
        raise RankbenchError(f"{path}: cannot be read ({error.strerror}); {RESTORE}") from None
    if not complete:
        raise RankbenchError(f"{path}: damaged (its end is missing); {RESTORE}")
    return path


def _parquet(frame: pl.LazyFrame) -> bytes:
    buffer = io.BytesIO()
    frame.sink_parquet(buffer, compression="zstd")
    return buffer.getvalue()


def _write(path: Path, content: bytes) -> None:
    """Write a file beside its place, see it on the disk, and rename it: a reader meets it whole or not at all."""
    try:
        with files.write_beside(path) as beside, beside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        _sync(path.parent)
    except OSError as error:
        raise RankbenchError(f"{path}: cannot be written ({error.strerror}); what was stored before is safe") from None


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _write_json(path: Path, record: object) -> None:
    _write(path, msgspec.json.format(msgspec.json.encode(record)) + b"\n")


def _read_json(path: Path, kind: type[Kind], upgrade: Callable[[Any], Any] = lambda record: record) -> Kind:
    try:
        return msgspec.convert(upgrade(msgspec.json.decode(path.read_bytes())), kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise RankbenchError(f"{path}: damaged ({error}); {RESTORE}") from None
    except OSError as error:
        raise RankbenchError(f"{path}: cannot be read ({error.strerror}); {RESTORE}") from None
