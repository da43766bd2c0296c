"""The store: one folder per campaign. Launches are added; measured values are never rewritten.

`docs/reference/formats.md` has every file and column. A launch's JSON is written last and commits it: parquet files
without one are leftovers of a killed run, are not read, and are replaced when the launch is made again. The store
does not judge.
"""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import os
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote, unquote

import msgspec

from rankbench import files, locking, units
from rankbench.model import Campaign, DamagedFileError, Launch, Look, RankbenchError, StoredTable
from rankbench.model.program_records import HEAD, decode
from rankbench.model.sum_bits import SumRow
from rankbench.store import rank_facts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from rankbench.locking import Lock
    from rankbench.model import CaseResult, RankFact, Usage
    from rankbench.model.program_records import RunRecord
    from rankbench.store import tables
else:
    tables = units.load_lazily("rankbench.store.tables")  # It loads Polars, which preparing a job does not need.

FORMAT = 1
ALONE = "alone"
"""Subfolder for launches that were made alone beside those in turns, in folders of the same names."""
FOLDERS = ("launches", "cases", "samples", rank_facts.FOLDER, "evidence", "looks", "work", "job", "records", ALONE)
"""Subfolders of a campaign's folder; only the holder of its lock writes to them."""
LOCK = "lock"
LOCK_FOLDER = locking.name_folder(Path(LOCK)).name
ELSEWHERE = "choose another folder with --results"
RESTORE = "restore it or run the plan again"
RECORDS, PROFILE, RECORDED_WITH = "records", "profile", "with-"
RUNS, RUN = "runs", "@"
"""The folder of several recorded runs of one candidate, and what comes before the number of each."""
SUMS = "sums.json"
"""The subfolder with what a program called; in it the profile of the plan, and one record for each candidate."""
SMALL = 1 << 20
"""Samples of up to this many bytes on disk are held in memory, where they need some 50 MB."""
Kind = TypeVar("Kind", bound=msgspec.Struct)
Numbered = TypeVar("Numbered", Launch, "_TablesField")


class Store:
    """The folder of a campaign, from `create` or `open`."""

    def __init__(self, folder: Path, campaign: Campaign, lock_file: Lock | None = None) -> None:
        self.folder = folder
        self.campaign = campaign
        self._lock = lock_file
        self._read: dict[str, tuple[list[Path], pl.LazyFrame]] = {}
        self._checked: set[Path] = set()
        self._launches: dict[Path, tuple[tuple[int, int] | None, Launch | None]] = {}
        self._alone: Store | None = None
        self._facts: Sequence[RankFact] = []
        self._rank_table = ""

    def lock(self) -> None:
        """Lock this folder against other runs until this process ends."""
        self._lock = lock(self.folder)

    def unlock(self) -> None:
        """Release the lock."""
        if self._lock:
            self._lock.close()
            self._lock = None

    @property
    def alone(self) -> Store:
        """The launches that were made alone, to compare them with those in turns. They are no part of the results."""
        if self._alone is None:
            self._alone = Store(self.folder / ALONE, self.campaign)
        return self._alone

    def list_all_launches(self) -> list[Launch]:
        """Return the launches of the campaign, then those that were made alone."""
        return [*self.launches(), *self.alone.launches()]

    def append_alone(self, launch: Launch, results: Sequence[CaseResult]) -> None:
        """Add a launch that was made alone."""
        for kind in ("launches", "cases", "samples"):
            files.make_folder(files.make_folder(self.folder / ALONE) / kind)
        self.alone.append(launch, results)

    def keep_evidence(self, launch: Launch, results: Sequence[CaseResult]) -> list[CaseResult]:
        """Write what was received instead of the expected data, one file per case; return rows that name the files."""
        rows = []
        for place, result in enumerate(results, 1):
            if result.evidence:
                path = files.make_folder(self.folder / "evidence") / f"{launch.number:06}-{place}.json"
                head = {"case": result.case.key, "candidate": launch.candidate, "reason": result.reason}
                _write_json(path, head | msgspec.structs.asdict(result.evidence))
                reason = f"{result.reason}; the bytes are in evidence/{path.name}"
                result = msgspec.structs.replace(result, reason=reason, evidence=None)
            rows.append(result)
        return rows

    def append(self, launch: Launch, results: Sequence[CaseResult]) -> None:
        """Add a launch with its cases, atomically: readers see all of it or nothing."""
        name = f"{launch.number:06}"
        if (self.folder / "launches" / f"{name}.json").exists():
            raise ValueError(f"launch {launch.number} is stored already, and nothing measured is rewritten")
        content = {
            "cases": tables.encode_frame(tables.case_rows([(launch, results)])),
            "samples": tables.encode_frame(tables.sample_rows(self.campaign, [(launch, results)])),
        }
        for kind, table in content.items():
            _write(self.folder / kind / f"{name}.parquet", table)
        rank_table = self._keep_ranks(launch.ranks) if launch.ranks else ""
        stored = {
            kind: StoredTable(bytes=len(table), sha256=hashlib.sha256(table).hexdigest())
            for kind, table in content.items()
        }
        record = msgspec.structs.replace(launch, tables=stored, ranks=[], rank_table=rank_table)
        _write_json(self.folder / "launches" / f"{name}.json", record)

    def _keep_ranks(self, facts: Sequence[RankFact]) -> str:
        """Write where ranks ran, unless an earlier launch had the same facts; return the name of the file."""
        if facts == self._facts:
            return self._rank_table
        name, content = rank_facts.encode_facts(facts)
        path = files.make_folder(self.folder / rank_facts.FOLDER) / name
        if not path.exists():
            _write(path, content)
        self._facts, self._rank_table = list(facts), name
        return name

    def append_look(self, look: Look) -> None:
        """Add an interim analysis. Repeated after a kill, it is the same."""
        files.make_folder(self.folder / "looks")
        _write_json(self.folder / "looks" / f"{look.block:06}.json", look)

    def looks(self) -> list[Look]:
        """Return the interim analyses in the order of their blocks."""
        return [_read_json(path, Look) for path in sorted((self.folder / "looks").glob("*.json"))]

    def change_plan(self, campaign: Campaign) -> None:
        """Replace the record by one whose plan measures the same."""
        _write(self.folder / "plan.toml", campaign.plan.text.encode())
        _write_json(self.folder / "campaign.json", campaign)
        self.campaign = campaign

    def add_usage(self, usage: Sequence[Usage]) -> None:
        """Add the reports of checks that a job made after the campaign was created."""
        self.campaign = msgspec.structs.replace(self.campaign, usage=list(usage))
        _write_json(self.folder / "campaign.json", self.campaign)

    def keep_record(self, content: bytes, candidate: str = "", run: int = 0) -> None:
        """Write what a program called: the profile that the plan names, or what was recorded with a candidate.

        Args:
            content: the record.
            candidate: empty: the profile.
            run: the number of the candidate's recorded run, from 1; 0: the record that stands for all.
        """
        name = f"{RECORDED_WITH}{quote(candidate, safe='')}" if candidate else PROFILE
        folder = self.folder / RECORDS / (RUNS if run else "")
        files.make_folder(folder)
        _write(folder / f"{name}{RUN}{run}.json" if run else folder / f"{name}.json", content)

    def program_runs(self, candidate: str) -> list[RunRecord]:
        """Return the recorded runs of the program with a candidate, in their order."""
        name = f"{RECORDED_WITH}{quote(candidate, safe='')}{RUN}"
        paths = (self.folder / RECORDS / RUNS).glob("*.json")
        numbered = {int(path.stem.removeprefix(name)): path for path in paths if path.stem.startswith(name)}
        return [decode(path.read_bytes(), str(path)) for _, path in sorted(numbered.items())]

    def records(self) -> dict[str, RunRecord]:
        """Return the records of a program by candidate; of no candidate: the plan's profile, unless it is a report."""
        contents = {path: path.read_bytes() for path in sorted((self.folder / RECORDS).glob("*.json"))}
        return {
            unquote(path.stem.removeprefix(RECORDED_WITH)) if path.stem != PROFILE else "": decode(content, str(path))
            for path, content in contents.items()
            if HEAD.encode() in content[:200]
        }

    def keep_sum_rows(self, rows: Sequence[SumRow]) -> None:
        """Write what is known of the bits of sums."""
        files.make_folder(self.folder / RECORDS)
        _write(self.folder / RECORDS / SUMS, msgspec.json.encode(rows))

    def sum_rows(self) -> list[SumRow]:
        """Return what is known of the bits of sums. Raises RankbenchError if that is damaged."""
        path = self.folder / RECORDS / SUMS
        if not path.exists():
            return []
        try:
            return msgspec.json.decode(files.read_regular(path), type=list[SumRow])
        except msgspec.MsgspecError as error:
            raise RankbenchError(f"{path}: damaged ({error}); remove it, and run again") from None

    def launches(self) -> list[Launch]:
        """Return the committed launches in the order of their numbers."""
        return [self._read_launch(path) for path in sorted((self.folder / "launches").glob("*.json"))]

    def _read_launch(self, path: Path) -> Launch:
        """Return a committed launch, which never changes: who follows a campaign asks for all of them repeatedly."""
        state = path.stat()
        known, launch = self._launches.get(path, (None, None))
        if launch is None or known != (state.st_mtime_ns, state.st_size):
            launch = _read_numbered(path, Launch)
            if launch.rank_table:
                table = self.folder / rank_facts.FOLDER / Path(launch.rank_table).name
                launch = msgspec.structs.replace(launch, ranks=rank_facts.RankTable(table))
            self._launches[path] = (state.st_mtime_ns, state.st_size), launch
        return launch

    def list_files(self) -> list[Path]:
        """Return the files of the campaign's record, of records of a program, and of its committed launches."""
        folders = [self.folder, self.folder / ALONE]
        records = [record for folder in folders for record in sorted((folder / "launches").glob("*.json"))]
        tables = [
            record.parents[1] / kind / f"{record.stem}.parquet" for kind in ("cases", "samples") for record in records
        ]
        ranks = [table for folder in folders for table in sorted((folder / rank_facts.FOLDER).glob("*.parquet"))]
        profiles = sorted((self.folder / RECORDS).glob("*.json"))
        return [self.folder / "campaign.json", *profiles, *records, *tables, *ranks]

    def cases(self) -> pl.DataFrame:
        """Return one row per case and committed launch; the columns are `tables.CASE_COLUMNS`."""
        return self._scan("cases", tables.CASE_COLUMNS).collect()

    def samples(self) -> pl.LazyFrame:
        """Return one row per sample of the committed launches; the columns are `tables.SAMPLE_COLUMNS`."""
        return tables.drop_single_ranks(self._scan("samples", tables.SAMPLE_COLUMNS))

    def rank_samples(self) -> pl.LazyFrame:
        """Return one row per sample and rank, if the plan has `every_rank`."""
        return self._scan("samples", tables.SAMPLE_COLUMNS).filter("by_rank")

    def write_derived(self, frames: Mapping[str, pl.DataFrame], records: Mapping[str, object]) -> None:
        """Write derived data: frames as NAME.parquet, records as NAME.json."""
        for name, frame in frames.items():
            _write(self.folder / f"{name}.parquet", tables.encode_frame(frame.lazy()))
        for name, record in records.items():
            _write_json(self.folder / f"{name}.json", record)

    def _scan(self, kind: str, columns: Mapping[str, type[pl.DataType]]) -> pl.LazyFrame:
        records = sorted((self.folder / "launches").glob("*.json"))
        paths = [self._check_table(kind, record) for record in records]
        if not paths:
            return tables.make_empty_frame(columns)
        if sum(path.stat().st_size for path in paths) > SMALL:
            return tables.scan(paths, columns)
        # Opening many small files takes longer than reading them, and an evaluation needs them a dozen times.
        if kind not in self._read or self._read[kind][0] != paths:
            self._read[kind] = paths, tables.read(paths, columns).lazy()
        return self._read[kind][1]

    def _check_table(self, kind: str, record: Path) -> Path:
        """Return the path of a launch's table, which is as it was written when it was first read."""
        path = self.folder / kind / f"{record.stem}.parquet"
        if path not in self._checked:
            tables.check_end(path)
            written = _read_numbered(record, _TablesField).tables.get(kind)
            if written and (path.stat().st_size, hash_file(path)) != (written.bytes, written.sha256):
                raise DamagedFileError(f"{path}: damaged (it is not as it was written); {RESTORE}")
            self._checked.add(path)
        return path


def is_running(folder: Path) -> bool:
    """Return whether a process of this host, or of a host that shares its locks, runs the campaign of a folder."""
    return locking.is_locked(folder / LOCK)


def lock(folder: Path) -> Lock:
    """Return the lock on a campaign's folder, which excludes other runs until it is closed or this process ends.

    Raises RankbenchError if another process has it, or the folder cannot be locked.
    """
    files.refuse_links(folder / name for name in (LOCK, LOCK_FOLDER, *FOLDERS))
    try:
        return locking.lock(folder / LOCK)
    except BlockingIOError as error:
        advice = f"; {error.strerror}" if (folder / LOCK_FOLDER).exists() else ""
        raise RankbenchError(
            f"{folder}: another rankbench is running this campaign; wait for it or choose another --name{advice}"
        ) from None
    except OSError as error:
        raise RankbenchError(f"{folder}: cannot be locked ({error.strerror}); {ELSEWHERE}") from None


def discard_empty(folder: Path, new: Sequence[Path]) -> None:
    """Remove the new folders of a campaign, innermost first, if they have nothing but the caller's lock."""
    if {path.name for path in folder.iterdir()} <= {LOCK, LOCK_FOLDER}:
        shutil.rmtree(folder / LOCK_FOLDER, ignore_errors=True)
        (folder / LOCK).unlink()
        with contextlib.suppress(OSError):  # Another run may have begun in it.
            for path in new:
                path.rmdir()


def create(folder: Path, campaign: Campaign, lock_file: Lock | None = None) -> Store:
    """Create the folder of a new campaign. Raises RankbenchError if it cannot be written or holds one already.

    It is locked meanwhile, unless the caller holds the lock.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RankbenchError(f"{folder}: cannot be written ({error.strerror}); {ELSEWHERE}") from None
    if lock_file:
        return _begin(folder, campaign, lock_file)
    with lock(folder):
        return _begin(folder, campaign)


def _begin(folder: Path, campaign: Campaign, lock_file: Lock | None = None) -> Store:
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


def open(folder: Path, lock_file: Lock | None = None) -> Store:  # noqa: A001 - the verb of the room
    """Open the folder of a campaign. Raises RankbenchError if it holds none, is damaged, or has another format.

    `lock_file` is its lock, if the caller holds it.
    """
    path = folder / "campaign.json"
    if not path.exists():
        what = "not a campaign (it has no campaign.json)" if folder.is_dir() else "no such folder"
        what = "a file, not the folder of a campaign" if folder.is_file() else what
        near = [folder.parent] if (folder.parent / "campaign.json").exists() else find_similar(folder)
        hint = f"did you mean {near[0]}? " if near else ""
        raise RankbenchError(f"{folder}: {what}; {hint}`rankbench status` shows the campaigns in `results`")
    number = _read_json(path, _FormatField).format
    if number != FORMAT:
        raise RankbenchError(
            f"{path}: format {number}, this rankbench reads format {FORMAT}; use the one that wrote it, or measure "
            "again"
        )
    return Store(folder, _read_json(path, Campaign), lock_file)


def find_similar(folder: Path) -> list[Path]:
    """Return the campaigns beside a folder with names like its own, the most similar first."""
    names = [path.parent.name for path in folder.parent.glob("*/campaign.json")]
    return [folder.parent / name for name in difflib.get_close_matches(folder.name, names)]


def newest(results: Path) -> Path:
    """Return the folder of the newest campaign, at or directly below a folder.

    Raises RankbenchError if there is none.
    """
    paths = [*results.glob("campaign.json"), *results.glob("*/campaign.json")]
    if not paths:
        raise RankbenchError(f"no campaign in {results}; {_elsewhere(results.parent)}")
    return _last_begun(paths)


def _elsewhere(folder: Path) -> str:
    """Return advice: name a campaign up to two levels below the folder, or run one."""
    near = [path for pattern in ("*/campaign.json", "*/*/campaign.json") for path in folder.glob(pattern)]
    if not near:
        return "name a campaign's folder, or make one: rankbench run PLAN"
    place = str(_last_begun(near))
    return f"{place} is one: rankbench show {shlex.quote(place)}"


def _last_begun(records: Sequence[Path]) -> Path:
    """Return the folder of the campaign that began last; that of a damaged record is not known."""
    return max(records, key=lambda path: (_read_created(path), path.stat().st_mtime)).parent


def _read_created(path: Path) -> str:
    with contextlib.suppress(RankbenchError):
        return _read_json(path, _CreatedField).created
    return ""


class _CreatedField(msgspec.Struct):
    """The field that says when a campaign began, ISO 8601, UTC."""

    created: str


class _TablesField(msgspec.Struct):
    """The fields of a launch that say what was written of it."""

    number: int
    tables: dict[str, StoredTable] = {}


class _FormatField(msgspec.Struct):
    """The field that records of all formats have."""

    format: int


def _write(path: Path, content: bytes) -> None:
    """Write a file atomically: write it beside its place, sync it, and rename it."""
    try:
        with files.write_atomically(path) as beside, beside.open("wb") as file:
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


def _read_json(path: Path, kind: type[Kind]) -> Kind:
    try:
        return msgspec.json.decode(files.read_regular(path), type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise DamagedFileError(f"{path}: damaged ({error}); {RESTORE}") from None
    except OSError as error:
        raise DamagedFileError(f"{path}: cannot be read ({error.strerror}); {RESTORE}") from None


def _read_numbered(path: Path, kind: type[Numbered]) -> Numbered:
    """Return the record of a launch, whose number is that of its file."""
    record = _read_json(path, kind)
    if f"{record.number:06}" != path.stem:
        raise DamagedFileError(f"{path}: damaged (it is the record of launch {record.number}); {RESTORE}")
    return record


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
