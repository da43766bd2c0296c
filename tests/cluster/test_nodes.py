"""The basis of clock tests: nodes are separate, clocks differ as set, links delay, and nothing is left."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cluster.nodes import Lab, compile_preload, list_processes, run_launch, start_nodes
from rankbench import lab
from rankbench.lab import LabRequest, setup
from rankbench.lab.setup import CLOCKS, compile_program
from rankbench.model import RankbenchError

if TYPE_CHECKING:
    from cluster.study import Core

pytestmark = pytest.mark.needs("namespaces", "ip")

TESTS = Path(__file__).parents[1]
OFFSETS_NS = (0, 5_000_000_001, 123_456_789)
MESSAGE_BYTES = 65536


@pytest.fixture(scope="module")
def trio(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with start_nodes(tmp_path_factory.mktemp("trio") / "nodes", OFFSETS_NS, shared=[home]) as nodes:
        yield nodes


# --- clocks -----------------------------------------------------------------------------------------------------------

AHEAD = """
import time
def reading():
    before, monotonic, after = time.time_ns(), time.monotonic_ns(), time.time_ns()
    return after - before, monotonic - (before + after) // 2
print(*min(reading() for _ in range(10000)))
"""
"""How far CLOCK_MONOTONIC is ahead of CLOCK_REALTIME, which time namespaces do not change, and the uncertainty (ns)."""


def test_clocks_differ_as_set(trio: Lab) -> None:
    """CLOCK_REALTIME is slewed together with CLOCK_MONOTONIC, so their difference is constant."""
    readings = [trio.on(node, [sys.executable, "-c", AHEAD]).split() for node in trio.nodes]
    (first_unsure_ns, first_ns), *others = ((int(unsure), int(ahead)) for unsure, ahead in readings)
    for offset_ns, (unsure_ns, ahead_ns) in zip(OFFSETS_NS[1:], others, strict=True):
        assert abs(ahead_ns - first_ns - offset_ns) <= unsure_ns + first_unsure_ns


@pytest.mark.parametrize("offset_ns", [0, 1, 999_999_999, 5_000_000_001, -1, -999_999_999, -1_000_000_000])
def test_an_offset_is_set_to_the_nanosecond(offset_ns: int, tmp_path: Path) -> None:
    shown = ["cat", "/proc/self/timens_offsets"]
    command = ["unshare", "--user", "--map-root-user", str(compile_program(CLOCKS, tmp_path)), str(offset_ns), *shown]
    sentence = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    offsets = re.findall(r"(\w+) +(-?\d+) +(\d+)", sentence)
    assert {clock: int(s) * 10**9 + int(ns) for clock, s, ns in offsets} == {
        "monotonic": offset_ns,
        "boottime": offset_ns,
    }


DRIFTING = """
import ctypes, select, time
class Timeval(ctypes.Structure):
    _fields_ = [("s", ctypes.c_long), ("us", ctypes.c_long)]
class Timespec(ctypes.Structure):
    _fields_ = [("s", ctypes.c_long), ("ns", ctypes.c_long)]
libc, preloaded = ctypes.CDLL("libc.so.6"), ctypes.CDLL(None)
def true_ns(clock):
    now = Timespec()
    libc.clock_gettime(clock, ctypes.byref(now))
    return now.s * 10**9 + now.ns
def timeofday_ns():
    now = Timeval()
    preloaded.gettimeofday(ctypes.byref(now), None)
    return now.s * 10**9 + now.us * 1000
READERS = {"monotonic": (1, time.monotonic_ns), "realtime": (0, time.time_ns), "gettimeofday": (0, timeofday_ns)}
for _ in range(3):
    for name, (clock, reading_ns) in READERS.items():
        print(name, true_ns(4), true_ns(clock), reading_ns(), true_ns(clock), true_ns(4))
    select.select([], [], [], 0.1)
"""
"""Prints the reading of a clock between two true readings of it, and these between two of CLOCK_MONOTONIC_RAW."""


@pytest.mark.parametrize(("rank", "ppm", "shift_ns"), [(0, 0, 0), (1, 50, 1_000_000_007), (2, -20_000, -5), (3, 0, 0)])
def test_a_rank_drifts_as_stated(rank: int, ppm: float, shift_ns: int, tmp_path: Path) -> None:
    origin_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
    drift = {"DRIFT_PPM": "0,50,-20000", "DRIFT_SHIFT_NS": "0,1000000007,-5", "DRIFT_ORIGIN_NS": str(origin_ns)}
    process = subprocess.run(
        [sys.executable, "-c", DRIFTING],
        env={**os.environ, "LD_PRELOAD": str(compile_preload("drift", tmp_path)), "PMI_RANK": str(rank), **drift},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [line.split() for line in process.stdout.splitlines()]
    assert [line[0] for line in lines] == ["monotonic", "realtime", "gettimeofday"] * 3
    for clock, *readings in lines:
        first_ns, before_ns, reading_ns, after_ns, last_ns = map(int, readings)
        ahead_ns = sorted(shift_ns + (raw_ns - origin_ns) * ppm / 1e6 for raw_ns in (first_ns, last_ns))
        coarse_ns = 1000 if clock == "gettimeofday" else 1
        assert before_ns + ahead_ns[0] - coarse_ns <= reading_ns <= after_ns + ahead_ns[1] + 1


# --- real libraries ---------------------------------------------------------------------------------------------------


@pytest.mark.each_library
def test_two_nodes_form_one_world_by_tcp(core: Core, trio: Lab) -> None:
    """Each rank sends 64 KiB; the start alone takes a quarter of that."""
    before = [trio.bytes_sent(node) for node in trio.nodes]
    process = run_launch(trio, core.library, 3, [str(core.binary), "--check"])
    sent = [trio.bytes_sent(node) - count for node, count in zip(trio.nodes, before, strict=True)]
    assert process.exit_code == 0, process.printed
    assert "one world of 3 ranks, data right\n" in process.printed
    assert re.findall(r"rank (\d) on (\w+),", process.printed) == [("0", "n1"), ("1", "n2"), ("2", "n3")]
    assert min(sent) >= MESSAGE_BYTES


def test_ranks_with_separate_clocks_use_shared_memory(core: Core, home: Path, tmp_path: Path) -> None:
    """They send many times more than passes through the node's loopback network."""
    stream = tmp_path / "nodes" / "stream"
    texts = ["--clock", "clock_gettime", "--quiet", "--stream", str(stream)]
    options = ["--op", "bandwidth", "--sizes", str(MESSAGE_BYTES), "--samples", "20", "--limit", "30", *texts]
    with start_nodes(tmp_path / "nodes", (0,), shared=[home]) as single:
        before = single.bytes_sent("n1", "lo")
        process = run_launch(single, core.library, 2, [str(core.binary), *options], clocks_ns=(0, 7_000_000_000))
        passed = single.bytes_sent("n1", "lo") - before
    assert process.exit_code == 0, process.printed
    text = stream.read_text()
    assert '"valid":20' in text
    assert len(set(re.findall(r'"clock":"([^"]+)"', text))) == 2
    assert passed < 20 * 64 * MESSAGE_BYTES / 10


# --- leftovers --------------------------------------------------------------------------------------------------------

HOLDER = """
import sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from cluster.nodes import Delay, start_nodes
with start_nodes(Path(sys.argv[2]), (0, 1000), delay=Delay(1000, 1000)) as pair:
    pair.start(["sleep", "1000"], "n2")
    print(pair.on("n2", ["readlink", *(f"/proc/1/ns/{space}" for space in ("net", "pid", "time", "mnt"))]), flush=True)
    if sys.argv[3] == "fails":
        raise RuntimeError
    if sys.argv[3] == "waits":
        time.sleep(1000)
"""


@pytest.mark.parametrize(
    ("command", "ending"), [("leaves", None), ("fails", None), ("waits", signal.SIGINT), ("waits", signal.SIGKILL)]
)
def test_nodes_leave_no_process_and_no_namespace(command: str, ending: signal.Signals | None, tmp_path: Path) -> None:
    """No process, no namespace, and so no link. Nodes of a killed process end by themselves."""
    folder = tmp_path / "nodes"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(TESTS), str(folder), command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout
    spaces = {holder.stdout.readline().strip() for _ in range(4)}
    assert len(spaces) == 4
    if ending:
        assert list_processes(spaces, folder)
        holder.send_signal(ending)
    _, sentence = holder.communicate()
    assert (holder.returncode, "Error" in sentence) == (
        (-ending, False) if ending else {"leaves": (0, False), "fails": (1, True)}[command]
    )
    tries = 100 if ending == signal.SIGKILL else 1
    while list_processes(spaces, folder) and tries > 1:
        tries -= 1
        time.sleep(0.1)
    assert list_processes(spaces, folder) == []
    assert not spaces & set(re.findall(r"\w+:\[\d+\]", Path("/proc/self/mountinfo").read_text()))


def test_a_missing_right_is_named(tmp_path: Path) -> None:
    """In a user namespace that allows no network namespace."""
    script = 'echo 0 >/proc/sys/user/max_net_namespaces; exec "$@"'
    holder = [sys.executable, "-c", HOLDER, str(TESTS), str(tmp_path / "nodes"), "leaves"]
    process = subprocess.run(
        ["unshare", "--user", "--map-root-user", "sh", "-c", script, "sh", *holder],
        env={**os.environ, "LC_ALL": "C"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.stderr.splitlines()[-1] == (
        "rankbench.model.base.RankbenchError: a lab needs namespaces and mounts, which are not permitted here: "
        "unshare: unshare failed: No space left on device; "
        "be root outside a container, or let users make user namespaces"
    )


def test_a_missing_tool_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(setup, "PACKAGES", {"ip-of-nowhere": "iproute9", "sh": "dash"})
    with (
        pytest.raises(RankbenchError, match=r"^a lab needs iproute9; on Debian: apt-get install iproute9$"),
        lab.up(LabRequest(), tmp_path / "nodes"),
    ):
        pass
