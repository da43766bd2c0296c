"""Launches of the core in turns: the order of their cases, and launches that end early or do not rest."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fakes
import msgspec
import pytest
from fakes import mark_thorough

from mpi.test_core import core
from mpi.test_progress import keeping_library
from rankbench import launch, libraries
from rankbench.model import Outcome, Placement, RankbenchError, Step

if TYPE_CHECKING:
    from mpi.test_core import Core

__all__ = ["core", "keeping_library"]

CORE = Path(fakes.__file__).parents[2] / "core"
SIZES = (8, 16, 32)
"""Sizes of the launches, by their places: they identify the launch of a record."""


def make_step(
    core: Core, folder: Path, place: int, arguments: Sequence[str], settings: dict[str, str] | None = None
) -> Step:
    """Return a step that launches two ranks."""
    placement = Placement(name="here", nodes=1, ranks_per_node=2, binding="none")
    line = libraries.find_family(core.library).make_launch_line(
        core.library, placement, settings or {}, [str(core.core_build.binary), "--quiet", *arguments]
    )
    output = folder / f"output{place}"
    return Step(command=line, output=output, watch=output, limit_s=120)


def make_case(size: int, **other: object) -> str:
    fields = {"operation": "allreduce", "bytes": size, "start": "barrier", "samples": 5, "limit_s": 60} | other
    return " ".join(["case", *(f"{key}={value}" for key, value in fields.items())])


def write_job(folder: Path, place: int, *cases: str) -> str:
    path = folder / f"job{place}"
    path.write_text("\n".join(["rankbench-job 1", *cases, ""]))
    return str(path)


PAGES = pytest.mark.parametrize("over_hosts", [False, True], ids=["launcher", "hosts"])
"""The owner of the page: the launcher, or the ranks of each host."""


def list_pages() -> list[Path]:
    return list(Path("/dev/shm").glob("rankbench-turns-*"))


@PAGES
def test_cases_are_measured_in_turns_and_ended_launches_are_skipped(
    core: Core, tmp_path: Path, *, over_hosts: bool
) -> None:
    """All launches write into one pipe, a line at a time, which shows their order.

    One launch has fewer cases than the others: it passes the first turn, and has ended before their third.
    """
    cases = [[make_case(size)] * 3 for size in SIZES]
    cases[1] = ["pass 1", make_case(SIZES[1])]
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    lines: list[dict[str, Any]] = []
    jobs = [write_job(tmp_path, place, *lines) for place, lines in enumerate(cases)]

    def read_pipe() -> None:
        with pipe.open() as stream:
            lines.extend(map(json.loads, stream))

    keep = os.open(pipe, os.O_RDWR)  # So that the reader meets no end before all launches have written.
    reader = threading.Thread(target=read_pipe)
    reader.start()
    with closing(launch.Turns(len(SIZES), 1, over_hosts=over_hosts)) as turns:
        steps = [
            make_step(core, tmp_path, place, [*turns.arguments(place), "--stream", str(pipe), "--job", jobs[place]])
            for place in range(len(SIZES))
        ]
        outcomes = launch.run_together(steps, turns.end_launch)
    os.close(keep)
    reader.join()
    assert [outcome.exit_code for outcome in outcomes if isinstance(outcome, Outcome)] == [0, 0, 0]
    measured = [line["bytes"] for line in lines if line["record"] == "case"]
    assert measured == [8, 32, 16, 32, 8, 32, 8], "of each round the order is another"
    slots = [(line["position"], line["after"]) for line in lines if line["record"] == "begin"]
    assert slots == [(0, 2), (2, 0), (0, 2), (1, 1), (2, 2), (0, 0), (1, 2)]
    marks = [line["record"] for line in lines if line["record"] in {"begin", "case"}]
    assert marks == ["begin", "case"] * 7, "no launch begins a case before another has ended its own"
    rests = [(line["waited_s"], line["busy_s"]) for line in lines if line["record"] == "end"]
    assert len(rests) == len(SIZES)
    assert all(waited_s > 0 for waited_s, _ in rests)
    assert list_pages() == []


def run_beside(core: Core, folder: Path, other: str, *, over_hosts: bool) -> tuple[Outcome, Outcome, list[str]]:
    """Run a job of two cases beside another; return how both ended and the statuses of the first job's cases."""
    with closing(launch.Turns(2, 2, over_hosts=over_hosts)) as turns:
        steps = [
            make_step(
                core,
                folder,
                place,
                [*turns.arguments(place), "--stream", str(folder / f"stream{place}"), "--job", file],
            )
            for place, file in enumerate([write_job(folder, 0, make_case(8), make_case(16)), other])
        ]
        first, second = launch.run_together(steps, turns.end_launch)
    assert isinstance(first, Outcome)
    assert isinstance(second, Outcome)
    records = [json.loads(line) for line in (folder / "stream0").read_text().splitlines()]
    return first, second, [record["status"] for record in records if record["record"] == "case"]


@PAGES
@pytest.mark.parametrize(
    ("call", "operation"),
    [("MPI_Sendrecv", "allreduce"), mark_thorough("MPI_Send", "allreduce"), mark_thorough("MPI_Bcast", "bcast")],
)
def test_a_library_that_keeps_messages_until_its_next_call_does_not_block_the_turns(
    core: Core, keeping_library: Path, call: str, operation: str, tmp_path: Path, *, over_hosts: bool
) -> None:
    """One rank needs the message that the other keeps after its turn before it can pass the turn on."""
    statuses = []
    keeping = {"LD_PRELOAD": str(keeping_library), "KEEP_CALL": call, "KEEP_RANKS": "0" if call == "MPI_Bcast" else "1"}
    with closing(launch.Turns(2, 2, over_hosts=over_hosts)) as turns:
        steps = []
        for place, settings in enumerate([keeping, {}]):
            stream = tmp_path / f"stream{place}"
            arguments = [
                *turns.arguments(place),
                "--stream",
                str(stream),
                "--job",
                write_job(tmp_path, place, *(make_case(size, operation=operation) for size in (8, 16))),
            ]
            started = make_step(core, tmp_path, place, arguments, settings)
            steps.append(msgspec.structs.replace(started, watch=stream, limit_s=60))
        outcomes = launch.run_together(steps, turns.end_launch)
    for place in range(2):
        records = map(json.loads, (tmp_path / f"stream{place}").read_text().splitlines())
        statuses.append([record["status"] for record in records if record["record"] == "case"])
    assert [outcome.exit_code for outcome in outcomes if isinstance(outcome, Outcome)] == [0, 0]
    assert statuses == [["ok", "ok"]] * 2


def test_the_last_remaining_launch_has_its_next_turn_immediately(core: Core, tmp_path: Path) -> None:
    """The turns of ended launches at the end of a round and the beginning of the next take no time."""
    source, program = Path(fakes.__file__).with_name("turn_order.c"), tmp_path / "turn_order"
    (tmp_path / "missing.h").touch()  # Lists missing calls of the library: none is called here.
    command = [core.library.wrapper, "-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{CORE}", f"-I{tmp_path}"]
    command += ["-o", str(program), str(source)]
    environment = {**os.environ, **core.library.environment}
    subprocess.run(command, check=True, env=environment)
    process = subprocess.run([program], check=True, env=environment, capture_output=True, text=True)
    assert process.stdout == ""


@pytest.mark.parametrize("over_hosts", [False, pytest.param(True, marks=pytest.mark.thorough)])
def test_a_launch_that_does_not_start_does_not_block_the_turns(core: Core, tmp_path: Path, *, over_hosts: bool) -> None:
    """Ranks of another host cannot be observed: there the others wait for a minute, and later ranks are rejected."""
    outcome, other, statuses = run_beside(core, tmp_path, str(tmp_path / "no such file"), over_hosts=over_hosts)
    alone = over_hosts  # If none of the others arrived, they might arrive later and disturb a measurement.
    assert (outcome.exit_code, other.exit_code) == (2 if alone else 0, 2)
    assert statuses == ([] if alone else ["ok", "ok"])
    assert list_pages() == []


@PAGES
def test_a_launch_killed_in_its_turn_does_not_block_the_turns(core: Core, tmp_path: Path, *, over_hosts: bool) -> None:
    """Its case would last a minute. It is killed after the case began."""
    stream = tmp_path / "stream1"

    def kill_launch() -> None:
        while not stream.exists() or '"record":"begin"' not in stream.read_text():
            time.sleep(0.05)
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if str(stream) in (process / "cmdline").read_text():
                    os.kill(int(process.name), signal.SIGKILL)

    killer = threading.Thread(target=kill_launch)
    killer.start()
    long = write_job(tmp_path, 1, make_case(8, samples=10_000_000))
    outcome, other, statuses = run_beside(core, tmp_path, long, over_hosts=over_hosts)
    killer.join()
    assert (outcome.exit_code, statuses) == (0, ["ok", "ok"])
    assert other.exit_code != 0
    assert outcome.duration_s < 30
    assert list_pages() == []


@pytest.mark.thorough
def test_a_launch_that_waits_for_a_long_turn_shows_life(core: Core, tmp_path: Path) -> None:
    """In the launcher's page: its stream does not change meanwhile, for longer than its limit."""
    jobs = [write_job(tmp_path, 0, make_case(8)), write_job(tmp_path, 1, make_case(8, samples=10_000_000, limit_s=6))]
    Path(jobs[0]).write_text(Path(jobs[0]).read_text().replace("1\n", "1\nset patience=4\n", 1))
    with closing(launch.Turns(2, 1)) as turns:
        steps = []
        for place, file in enumerate(jobs):
            stream = tmp_path / f"stream{place}"
            started = make_step(
                core, tmp_path, place, [*turns.arguments(place), "--stream", str(stream), "--job", file]
            )
            steps.append(msgspec.structs.replace(started, watch=stream, limit_s=30, heartbeat=turns.heartbeat(place)))
        steps[0] = msgspec.structs.replace(steps[0], limit_s=4)
        waiting, long = launch.run_together(steps, turns.end_launch)
    assert isinstance(waiting, Outcome)
    assert isinstance(long, Outcome)
    assert (waiting.exit_code, long.exit_code) == (0, 0)
    assert waiting.duration_s > 5


def test_a_step_that_cannot_start_is_reported_beside_the_others(core: Core, tmp_path: Path) -> None:
    with closing(launch.Turns(2, 2)) as turns:
        good = make_step(core, tmp_path, 0, [*turns.arguments(0), "--job", write_job(tmp_path, 0, make_case(8))])
        line = good.command
        bad = Step(
            command=type(line)(arguments=["/nowhere/mpiexec"], environment={}),
            output=tmp_path / "output1",
            watch=tmp_path / "output1",
            limit_s=9,
        )
        outcome, other = launch.run_together([good, bad], turns.end_launch)
    assert isinstance(outcome, Outcome)
    assert outcome.exit_code == 0
    assert isinstance(other, RankbenchError)
    assert str(other) == "/nowhere/mpiexec: No such file or directory"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("2/2/1:/dev/null", "not PLACE/LAUNCHES/CASES:FILE with up to 64 launches"),
        ("0/65/1:/dev/null", "not PLACE/LAUNCHES/CASES:FILE with up to 64 launches"),
        ("0/2/0:/dev/null", "not PLACE/LAUNCHES/CASES:FILE with up to 64 launches"),
        ("0/2/1:/no/such/file", "No such file or directory"),
        ("0/2/1:/no/such/file-%", "No such file or directory"),
        ("0/2/1:/dev/null", "too short"),
    ],
)
def test_wrong_turns_are_refused_in_one_line(core: Core, text: str, answer: str) -> None:
    process = core.run(1, "--quiet", "--op", "barrier", "--turns", text)
    assert (process.exit_code, process.printed) == (2, f"rankbench-core: --turns {text}: {answer}\n")
