"""Locks between processes, with and without locks of the file system."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from wording import WORDING

from rankbench import locking, store
from rankbench.model import RankbenchError

HOLD = """
import errno, fcntl, os, sys, time
from pathlib import Path
from rankbench import locking
if sys.argv[2] == "none":
    def refuse(file, operation): raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    fcntl.flock = refuse
lock = locking.lock(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(1000)
"""


@pytest.fixture(params=["flock", "none"])
def locks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return what locks the file system has."""

    def refuse(_file: object, _operation: int) -> None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    if request.param == "none":
        monkeypatch.setattr(fcntl, "flock", refuse)
    return str(request.param)


def hold(path: Path, locks: str) -> subprocess.Popen[str]:
    """Return a process that holds a lock until it is killed."""
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(path), locks], stdout=subprocess.PIPE, text=True)
    assert process.stdout
    assert process.stdout.readline() == "held\n"
    return process


def test_a_lock_excludes_others_until_it_is_released(tmp_path: Path, locks: str) -> None:
    path = tmp_path / "lock"
    assert not locking.is_locked(path)
    with locking.lock(path):
        assert locking.is_locked(path)
        with pytest.raises(BlockingIOError):
            locking.lock(path)
        assert locking.name_folder(path).exists() == (locks == "none")
    assert not locking.is_locked(path)
    assert [file.name for file in tmp_path.iterdir()] == ["lock"]


def test_the_lock_of_a_killed_process_is_taken_over(tmp_path: Path, locks: str) -> None:
    path = tmp_path / "lock"
    process = hold(path, locks)
    assert locking.is_locked(path)
    with pytest.raises(BlockingIOError):
        locking.lock(path)
    process.kill()
    process.communicate()
    assert not locking.is_locked(path)
    locking.lock(path).close()


def test_a_process_waits_for_a_lock(tmp_path: Path, locks: str) -> None:
    path = tmp_path / "lock"
    process = hold(path, locks)
    locked: list[locking.Lock] = []
    thread = threading.Thread(target=lambda: locked.append(locking.lock(path, wait=True)))
    thread.start()
    time.sleep(0.05)
    assert not locked
    process.kill()
    process.communicate()
    thread.join(60)
    assert len(locked) == 1
    locked[0].close()


@pytest.mark.parametrize(
    ("place", "word", "is_held"),
    [(0, "elsewhere", True), (1, "an-earlier-boot", False), (2, "pid:[1]", True), (4, "1", False)],
)
@pytest.mark.parametrize("locks", ["none"], indirect=True)
def test_a_lock_folder_is_stale_only_where_its_process_is_known_to_have_ended(
    tmp_path: Path, locks: str, place: int, word: str, *, is_held: bool
) -> None:
    """Nothing is known of other hosts and containers; numbers of processes are used again."""
    path = tmp_path / "lock"
    lock = locking.lock(path)
    owner = locking.name_folder(path) / locking.OWNER
    words = owner.read_text().split()
    words[place] = word
    owner.write_text(" ".join(words))
    assert locking.is_locked(path) == is_held, locks
    if is_held:
        with pytest.raises(BlockingIOError, match="rm -r"):
            locking.lock(path)
    else:
        locking.lock(path).close()
    lock.close()


@pytest.mark.parametrize("locks", ["none"], indirect=True)
def test_a_campaign_that_runs_elsewhere_is_refused_with_the_way_out(tmp_path: Path, locks: str) -> None:
    with store.lock(tmp_path), pytest.raises(RankbenchError) as error:
        store.lock(tmp_path)
    assert str(error.value) == WORDING, locks


def test_other_errors_of_locks_are_reported(tmp_path: Path) -> None:
    (tmp_path / "lock").mkdir()
    with pytest.raises(RankbenchError, match="cannot be locked"):
        store.lock(tmp_path)
