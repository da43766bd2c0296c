"""The shared page of launches that measure in turns, as the launcher writes it."""

from __future__ import annotations

import ctypes
import mmap
import platform
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from rankbench.launch import turn_page

FUTEX_WAIT, WAIT_S = 0, 20


class Time(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))


def wait_on_futex(path: str, place: int, woken: list[int]) -> None:
    """Wait until a word of the page, which is 0, is woken; append -1 after a timeout."""
    with Path(path).open("r+b") as file, mmap.mmap(file.fileno(), turn_page.PAGE_BYTES) as page:
        word = ctypes.c_uint32.from_buffer(page, place)
        limit, number = Time(WAIT_S, 0), turn_page.FUTEX[platform.machine()]
        woken.append(ctypes.CDLL(None).syscall(number, ctypes.byref(word), FUTEX_WAIT, 0, ctypes.byref(limit), None, 0))
        del word


def is_asleep(thread: threading.Thread) -> bool:
    state = Path(f"/proc/self/task/{thread.native_id}/stat").read_text().rpartition(")")[2].split()[0]
    return state == "S"


@pytest.mark.parametrize("place", [turn_page.TURN, turn_page.CHANGES])
def test_waiting_ranks_are_woken_when_a_launch_dies(place: int) -> None:
    with closing(turn_page.Turns(3, 1)) as page:
        path = page.arguments(0)[1].partition(":")[2]
        woken: list[int] = []
        waiting = threading.Thread(target=wait_on_futex, args=(path, place, woken))
        waiting.start()
        until = time.monotonic() + WAIT_S
        while not is_asleep(waiting) and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(0.2)
        page.end_launch(1)
        waiting.join()
        assert woken == [0]
        content = Path(path).read_bytes()
        assert content[turn_page.PRESENCE + 4 :][:4] == turn_page.DONE
        assert content.count(b"\0") == len(content) - 1


def test_a_launch_that_ended_normally_wakes_no_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    woken: list[int] = []
    monkeypatch.setattr(turn_page, "wake", lambda _page, place: woken.append(place))
    with closing(turn_page.Turns(2, 1)) as page:
        page.end_launch(0)
        page.end_launch(0)
    assert woken == [turn_page.TURN, turn_page.CHANGES]


def test_launches_over_several_hosts_have_no_common_page() -> None:
    with closing(turn_page.Turns(2, 1, over_hosts=True)) as page:
        page.end_launch(0)
        assert page.heartbeat(0) is None
