"""The store on real files: committed launches survive everything, and unreadable files are reported in one line."""

from __future__ import annotations

import contextlib
import os
import re
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import pytest
from fakes import campaigns
from polars.testing import assert_frame_equal
from wording import WORDING, refuses

from rankbench import store
from rankbench.language import Text, as_data
from rankbench.model import CaseResult, CaseStatus, Claim, Memory, RankbenchError, Series
from rankbench.store import Store

CASE, OTHER = campaigns.make_cases()[:2]
STEPS_OF_APPEND = 9
"""Three files, each synced, renamed, and its folder synced."""


class Killed(BaseException):
    """The end of the process, at a known step."""


def make_result(count: int = 3, **changes: Any) -> CaseResult:
    series = Series(rank=0, time_ns=[100.0 + i for i in range(count)], last_rank=[], late=[0], overrun=[1])
    case_result = CaseResult(
        case=CASE, status=CaseStatus.OK, sample_count=count, valid=count - 1, late=1, overrun=1, series=[series]
    )
    return msgspec.structs.replace(case_result, **changes)


def append_launch(to: Store, number: int, *results: CaseResult) -> None:
    to.append(campaigns.make_launch(number, 1, 0, "alpha", "socket"), results or [make_result()])


@pytest.fixture
def campaign_store(tmp_path: Path) -> Store:
    """A store with one launch."""
    new = store.create(tmp_path / "c", campaigns.make_record("c", [CASE, OTHER]))
    append_launch(new, 1)
    return new


def test_appended_launches_are_read_back(campaign_store: Store) -> None:
    crashed = CaseResult(case=OTHER, status=CaseStatus.CRASHED, reason="signal 11")
    append_launch(campaign_store, 2, make_result(), crashed)
    again = store.open(campaign_store.folder)
    assert again.campaign == campaign_store.campaign
    assert [launch.number for launch in again.launches()] == [1, 2]
    cases = again.cases()
    assert dict(cases.schema) == {name: kind() for name, kind in store.tables.CASE_COLUMNS.items()}
    assert cases.select("launch", "case", "status", "reason").rows() == [
        (1, CASE.key, "ok", ""),
        (2, CASE.key, "ok", ""),
        (2, OTHER.key, "crashed", "signal 11"),
    ]
    samples = again.samples().collect()
    assert dict(samples.schema) == {name: kind() for name, kind in store.tables.SAMPLE_COLUMNS.items()}
    assert samples.select("launch", "index", "time_ns", "last_rank", "late", "overrun").rows() == [
        (number, index, 100.0 + index, 0, index == 0, index == 1) for number in (1, 2) for index in range(3)
    ]


def collect_samples(campaign_store: Store, *columns: str) -> list[tuple[object, ...]]:
    return campaign_store.samples().select(columns).collect().rows()


def test_samples_have_skew_bound_and_likely_error(campaign_store: Store) -> None:
    """Without readings the skew is unknown, and clocks without a bound are one clock."""
    series = Series(
        rank=-1,
        time_ns=[5.0, 6.0],
        last_rank=[1, 0],
        late=[],
        overrun=[],
        skew_ns=[1.5, 2],
        bound_ns=[3, 4],
        error_ns=[1, 2],
    )
    append_launch(campaign_store, 2, make_result(series=[series]))
    assert collect_samples(campaign_store, "launch", "skew_ns", "bound_ns", "error_ns") == [
        *((1, None, 0.0, 0.0) for _ in range(3)),
        (2, 1.5, 3.0, 1.0),
        (2, 2.0, 4.0, 2.0),
    ]


def test_overruns_are_discarded_if_the_start_says_so(campaign_store: Store) -> None:
    discarding = msgspec.structs.replace(CASE, start="window-mpiperf")
    append_launch(campaign_store, 2, make_result(case=discarding))
    assert collect_samples(campaign_store, "start", "late", "overrun", "discarded") == [
        (start, index == 0, index == 1, index == 0 or (index == 1 and start == "window-mpiperf"))
        for start in (CASE.start, "window-mpiperf")
        for index in range(3)
    ]


def test_samples_of_single_ranks_are_not_samples_of_the_case(campaign_store: Store) -> None:
    column = Series(rank=-1, time_ns=[5.0, 6.0], last_rank=[1, 0], late=[1], overrun=[])
    views = [Series(rank=rank, time_ns=[3.0 + rank] * 2, last_rank=[], late=[], overrun=[]) for rank in (0, 1)]
    append_launch(campaign_store, 2, make_result(series=[column, *views]))
    assert collect_samples(campaign_store, "launch", "series") == [(1, 0)] * 3 + [(2, -1)] * 2
    ranks = campaign_store.rank_samples().select("launch", "series", "index", "time_ns", "discarded").collect()
    assert ranks.rows() == [(2, rank, index, 3.0 + rank, index == 1) for rank in (0, 1) for index in (0, 1)]


def test_cases_and_samples_have_the_state_of_memory(campaign_store: Store) -> None:
    cold = msgspec.structs.replace(CASE, memory=Memory(cache="cold", alignment=64))
    append_launch(campaign_store, 2, make_result(case=cold, synchronisations=2, stopped="rse"))
    assert campaign_store.cases().select("case", "memory", "synchronisations", "stopped").rows() == [
        (CASE.key, "", 0, ""),
        (f"{CASE.key}.cold.a64", "cold, aligned to 64", 2, "rse"),
    ]
    assert collect_samples(campaign_store, "case", "memory")[-1] == (f"{CASE.key}.cold.a64", "cold, aligned to 64")


def test_cases_and_samples_have_options_and_their_results(campaign_store: Store) -> None:
    overlap = msgspec.structs.replace(CASE, options={"quantity": "overlap", "tests": "8"})
    append_launch(
        campaign_store,
        2,
        make_result(case=overlap, ranks=1, moved_bytes=16, moved_messages=2, pure_ns=5.5, compute_ns=6.0),
    )
    append_launch(campaign_store, 3, make_result(growth_bytes=-4096, spread_ns=2000.0))
    assert campaign_store.cases().select("case", "options", "ranks", "active_ranks").rows() == [
        (CASE.key, "", 2, 0),
        (f"{CASE.key}.quantity=overlap.tests=8", "quantity=overlap, tests=8", 2, 1),
        (CASE.key, "", 2, 0),
    ]
    brought = ("moved_bytes", "moved_messages", "pure_ns", "compute_ns", "growth_bytes", "spread_ns")
    assert campaign_store.cases().select(brought).rows() == [
        (0, 0, 0.0, 0.0, 0, 0.0),
        (16, 2, 5.5, 6.0, 0, 0.0),
        (0, 0, 0.0, 0.0, -4096, 2000.0),
    ]
    assert collect_samples(campaign_store, "launch", "options")[3] == (2, "quantity=overlap, tests=8")


def test_a_folder_name_may_look_like_a_pattern(tmp_path: Path) -> None:
    new = store.create(tmp_path / "c[1]*", campaigns.make_record())
    append_launch(new, 1, make_result())
    assert new.cases().height == 1


def test_output_of_a_foreign_tool_is_stored(campaign_store: Store) -> None:
    append_launch(campaign_store, 2, make_result(printed={"Min Latency(us)": 0.8, "Iterations": 100.0}))
    assert campaign_store.cases()["printed"].to_list() == ["", '{"Min Latency(us)":0.8,"Iterations":100.0}']


def test_a_campaign_without_launches_has_all_columns(tmp_path: Path) -> None:
    new = store.create(tmp_path / "c", campaigns.make_record())
    assert new.launches() == []
    assert list(new.cases().columns) == list(store.tables.CASE_COLUMNS)
    assert new.samples().collect().shape == (0, len(store.tables.SAMPLE_COLUMNS))


def test_a_launch_without_cases_is_stored(campaign_store: Store) -> None:
    campaign_store.append(campaigns.make_launch(2, 1, 1, "beta", "socket"), [])
    assert len(campaign_store.launches()) == 2
    assert campaign_store.cases()["launch"].to_list() == [1]


def test_an_uncommitted_launch_is_not_read_and_is_replaced(campaign_store: Store) -> None:
    append_launch(campaign_store, 2, make_result(7), make_result(7, case=OTHER))
    (campaign_store.folder / "launches/000002.json").unlink()
    assert campaign_store.cases()["launch"].unique().to_list() == [1]
    assert campaign_store.samples().collect()["launch"].unique().to_list() == [1]
    append_launch(campaign_store, 2, make_result(4))
    assert campaign_store.cases()["case"].to_list() == [CASE.key, CASE.key]
    assert campaign_store.samples().collect().group_by("launch").len().sort("launch").rows() == [(1, 3), (2, 4)]


def test_a_stored_launch_is_never_rewritten(campaign_store: Store) -> None:
    with refuses(ValueError):
        append_launch(campaign_store, 1, make_result(9))
    assert campaign_store.samples().collect().height == 3


def simulate_kill(monkeypatch: pytest.MonkeyPatch, step: int) -> list[str]:
    """End the process at a sync or rename, counted from 0; return the steps before it."""
    reached: list[str] = []

    def count_step(name: str, act: Callable[..., object]) -> Callable[..., object]:
        def act_or_die(*arguments: object) -> object:
            reached.append(name)
            if len(reached) > step:
                raise Killed
            return act(*arguments)

        return act_or_die

    monkeypatch.setattr(os, "fsync", count_step("sync", os.fsync))
    monkeypatch.setattr(Path, "rename", count_step("rename", Path.rename))
    return reached


@pytest.mark.parametrize("step", range(STEPS_OF_APPEND))
def test_a_kill_at_any_step_loses_no_committed_launch(
    campaign_store: Store, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    before = campaign_store.samples().collect()
    with monkeypatch.context() as patch, pytest.raises(Killed):
        simulate_kill(patch, step)
        append_launch(campaign_store, 2)
    again = store.open(campaign_store.folder)
    committed = step == STEPS_OF_APPEND - 1
    assert [launch.number for launch in again.launches()] == ([1, 2] if committed else [1])
    assert_frame_equal(again.samples().filter(pl.col("launch") == 1).collect(), before)
    assert set(again.cases()["launch"]) == ({1, 2} if committed else {1})
    if not committed:
        append_launch(again, 2)
        assert again.samples().collect()["launch"].to_list() == [1, 1, 1, 2, 2, 2]


def test_the_list_of_steps_is_complete(campaign_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        reached = simulate_kill(patch, STEPS_OF_APPEND)
        append_launch(campaign_store, 2)
    assert reached == ["sync", "rename", "sync"] * 3


APPEND_SCRIPT = """
import sys; sys.path[:0] = sys.argv[2:]
from pathlib import Path
from fakes import campaigns
from rankbench import store
from unit.store.test_store import append_launch
store_ = store.create(Path(sys.argv[1]), campaigns.make_record())
store_.lock()
for number in range(1, 100_000):
    append_launch(store_, number)
    print(number, flush=True)
"""


@contextlib.contextmanager
def run_endless(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Run a process that locks a new store and appends launches until it is killed."""
    tests = Path(__file__).parents[2]
    command = [sys.executable, "-c", APPEND_SCRIPT, str(folder), str(tests)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.costly
@pytest.mark.parametrize("count", [1, 2, 7])
def test_sigkill_keeps_every_launch_whose_append_returned(tmp_path: Path, count: int) -> None:
    with run_endless(tmp_path / "c") as process:
        assert process.stdout is not None
        numbers = [int(process.stdout.readline()) for _ in range(count)]
        process.send_signal(signal.SIGKILL)
        numbers += [int(line) for line in process.stdout]
    again = store.open(tmp_path / "c")
    stored = [launch.number for launch in again.launches()]
    assert stored[: len(numbers)] == numbers
    assert len(stored) <= len(numbers) + 1
    assert again.samples().collect()["launch"].to_list() == [number for number in stored for _ in range(3)]


def test_a_campaign_is_locked_until_its_process_ends(tmp_path: Path) -> None:
    with run_endless(tmp_path / "c") as process:
        assert process.stdout is not None
        process.stdout.readline()
        with pytest.raises(RankbenchError) as error:
            store.open(tmp_path / "c").lock()
    assert str(error.value) == WORDING
    store.open(tmp_path / "c").lock()


def test_a_folder_that_cannot_be_locked_is_reported(campaign_store: Store) -> None:
    (campaign_store.folder / "lock").unlink()
    (campaign_store.folder / "lock").mkdir()
    with refuses():
        campaign_store.lock()


@pytest.mark.parametrize("name", ["lock", *store.FOLDERS])
def test_a_folder_with_a_link_is_not_locked(campaign_store: Store, tmp_path: Path, name: str) -> None:
    path = tmp_path / "own"
    path.write_text("mine")
    if (campaign_store.folder / name).exists():
        (campaign_store.folder / name).rename(campaign_store.folder / "elsewhere")
    (campaign_store.folder / name).symlink_to(path)
    with pytest.raises(RankbenchError) as error:
        campaign_store.lock()
    assert str(error.value) == f"{campaign_store.folder}/{name}: is a symbolic link, and a campaign has none; remove it"
    assert path.read_text() == "mine"


def test_a_lock_changes_nothing_in_its_file(campaign_store: Store) -> None:
    (campaign_store.folder / "lock").write_text("kept")
    campaign_store.lock()
    campaign_store.unlock()
    assert (campaign_store.folder / "lock").read_text() == "kept"


def test_no_campaign_begins_in_a_locked_folder(tmp_path: Path) -> None:
    (tmp_path / "c").mkdir()
    with store.lock(tmp_path / "c"), pytest.raises(RankbenchError, match="another rankbench is running"):
        store.create(tmp_path / "c", campaigns.make_record())
    assert [path.name for path in (tmp_path / "c").iterdir()] == ["lock"]
    campaign_store = store.create(tmp_path / "c", campaigns.make_record())
    campaign_store.lock()


def test_a_second_campaign_in_a_folder_is_refused(campaign_store: Store) -> None:
    with refuses():
        store.create(campaign_store.folder, campaign_store.campaign)


def test_a_folder_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("a file in its place")
    with refuses():
        store.create(tmp_path / "results" / "c", campaigns.make_record())


@contextlib.contextmanager
def limit_file_size(size_bytes: int) -> Iterator[None]:
    """Let no file of this process grow longer: what a full disk does, root or not."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_is_reported_and_harms_nothing(campaign_store: Store) -> None:
    with pytest.raises(RankbenchError) as error, limit_file_size(1000):
        append_launch(campaign_store, 2)
    assert str(error.value) == WORDING
    append_launch(campaign_store, 2)
    assert [launch.number for launch in store.open(campaign_store.folder).launches()] == [1, 2]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b'{"format": 1, "na',
        b"\xff",
        b"[1]",
        b'{"name": "cargo"}',
        b'{"format": 1}',
        b'{"format": 1, "name": null}',
        b'{"format": 0}',
        b'{"format": 2, "new": 1}',
        b'{"format": 13, "plan": {}}',
    ],
)
def test_an_unreadable_campaign_record_is_reported(campaign_store: Store, content: bytes) -> None:
    (campaign_store.folder / "campaign.json").write_bytes(content)
    with refuses():
        store.open(campaign_store.folder)


def test_a_folder_without_a_campaign_is_refused(tmp_path: Path) -> None:
    with refuses():
        store.open(tmp_path)


def test_a_damaged_launch_is_reported(campaign_store: Store) -> None:
    (campaign_store.folder / "launches/000001.json").write_text('{"number": "one"}')
    with refuses():
        campaign_store.launches()


def truncate_file(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


@pytest.mark.parametrize("harm", [Path.unlink, truncate_file, lambda path: path.write_bytes(b"")])
def test_damaged_samples_are_reported(campaign_store: Store, harm: Callable[[Path], object]) -> None:
    harm(campaign_store.folder / "samples/000001.parquet")
    with refuses():
        campaign_store.samples()


def test_the_newest_campaign_is_found_at_or_below_a_folder(tmp_path: Path) -> None:
    for age, name in enumerate(("young", "old")):
        store.create(tmp_path / name, campaigns.make_record(name))
        os.utime(tmp_path / name / "campaign.json", (1e9 - age, 1e9 - age))
    assert store.newest(tmp_path) == tmp_path / "young"
    assert store.newest(tmp_path / "old") == tmp_path / "old"


@pytest.mark.parametrize("near", ["demo/demo", "a demo", "too/far/below"])
def test_without_a_campaign_a_nearby_one_is_suggested(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, near: str
) -> None:
    monkeypatch.chdir(tmp_path)
    store.create(Path(near), campaigns.make_record("demo"))
    with refuses():
        store.newest(Path("results"))


def test_derived_files_are_written_and_replaced(campaign_store: Store) -> None:
    for text in ("first", "second"):
        frames = {"summary": pl.DataFrame({"text": [text]})}
        campaign_store.write_derived(frames, {"verdict": as_data(Claim(text=Text(text), cases=[]))})
        assert_frame_equal(pl.read_parquet(campaign_store.folder / "summary.parquet"), frames["summary"])
        assert msgspec.json.decode((campaign_store.folder / "verdict.json").read_bytes())["text"] == text


MILLION = 1_000_000
RAW_BYTES = 8 * MILLION
MEMORY_SCRIPT = """
import resource, sys; sys.path[:0] = sys.argv[3:]
from pathlib import Path
from fakes import campaigns
from rankbench import store
from unit.store import test_store

def peak_bytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

def written(folder):
    new, big = store.create(folder, campaigns.make_record()), test_store.make_result(test_store.MILLION)
    yield
    test_store.append_launch(new, 1, big)

def read(folder):
    old = store.open(folder)
    old.samples().head(1).collect()
    yield
    assert old.samples().select(test_store.pl.col("time_ns").max()).collect().item() == 1_000_099.0

work = globals()[sys.argv[1]](Path(sys.argv[2]))
next(work)
before = peak_bytes()
next(work, None)
print(peak_bytes() - before)
"""


def measure_peak_growth(work: str, folder: Path) -> int:
    """Return by how much the peak memory of a process grows while it does the work."""
    command = [sys.executable, "-c", MEMORY_SCRIPT, work, str(folder), str(Path(__file__).parents[2])]
    environment = os.environ | {"POLARS_MAX_THREADS": "2"}
    return int(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment).stdout)


@pytest.mark.thorough
def test_a_million_samples_of_one_case_are_written_and_read_with_little_memory(tmp_path: Path) -> None:
    """They are written with 18 times their size beside the list in memory, and read lazily with 4 times."""
    assert measure_peak_growth("written", tmp_path / "c") < 18 * RAW_BYTES
    assert measure_peak_growth("read", tmp_path / "c") < 4 * RAW_BYTES
    samples = store.open(tmp_path / "c").samples()
    assert isinstance(samples, pl.LazyFrame)
    counted = samples.select(pl.len(), pl.col("late").sum(), pl.col("overrun").sum()).collect()
    assert counted.rows() == [(MILLION, 1, 1)]
    assert re.search(r"PROJECT 2/\d+ COLUMNS", samples.select("time_ns").explain())
