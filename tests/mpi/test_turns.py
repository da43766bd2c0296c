"""Launches of the core that measure in turn: the order of their cases, and launches that end or do not rest."""

from __future__ import annotations

import json
import os
import threading
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from mpi.test_core import ONE_LIBRARY, core
from rankbench import launch, libraries
from rankbench.model import Outcome, Placement, RankbenchError, Step

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mpi.test_core import Core

__all__ = ["core"]

SIZES = (8, 16, 32)
"""Of the launches, by their places: what tells whose record it is."""


def step(
    core: Core, folder: Path, place: int, arguments: Sequence[str], settings: dict[str, str] | None = None
) -> Step:
    """Return how a launch of two ranks is made."""
    placement = Placement(name="here", nodes=1, ranks_per_node=2, binding="none")
    line = libraries.family_of(core.library).launch_line(
        core.library, placement, settings or {}, [str(core.made.binary), "--quiet", *arguments]
    )
    output = folder / f"output{place}"
    return Step(command=line, output=output, watch=output, limit_s=120)


def case(size: int, **other: object) -> str:
    told = {"operation": "allreduce", "bytes": size, "samples": 5, "limit_s": 60} | other
    return " ".join(["case", *(f"{key}={value}" for key, value in told.items())])


def job(folder: Path, place: int, *cases: str) -> str:
    path = folder / f"job{place}"
    path.write_text("\n".join(["rankbench-job 1", *cases, ""]))
    return str(path)


def test_cases_are_measured_in_turn_and_a_launch_that_ends_is_passed_over(core: Core, tmp_path: Path) -> None:
    """All write into one pipe, a line at a time, so that their order is seen; one has fewer cases than the others."""
    counts = (3, 1, 3)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    lines: list[dict[str, Any]] = []
    jobs = [job(tmp_path, place, *[case(size)] * counts[place]) for place, size in enumerate(SIZES)]

    def read() -> None:
        with pipe.open() as stream:
            lines.extend(map(json.loads, stream))

    keep = os.open(pipe, os.O_RDWR)  # So that the reader meets no end before all have written.
    reader = threading.Thread(target=read)
    reader.start()
    with closing(launch.Turns(len(SIZES))) as turns:
        steps = [
            step(
                core,
                tmp_path,
                place,
                [*turns.arguments(place), "--stream", str(pipe), "--job", jobs[place]],
            )
            for place, size in enumerate(SIZES)
        ]
        outcomes = launch.run_together(steps, turns.ended)
    os.close(keep)
    reader.join()
    assert [outcome.exit_code for outcome in outcomes if isinstance(outcome, Outcome)] == [0, 0, 0]
    measured = [line["bytes"] for line in lines if line["record"] == "case"]
    assert measured == [8, 16, 32, 8, 32, 8, 32]
    marks = [line["record"] for line in lines if line["record"] in {"begin", "case"}]
    assert marks == ["begin", "case"] * 7, "no launch begins a case before another has ended its own"
    rests = [(line["waited_s"], line["busy_s"]) for line in lines if line["record"] == "end"]
    assert len(rests) == len(SIZES)
    assert all(waited_s > 0 for waited_s, _ in rests)


@ONE_LIBRARY
def test_a_launch_that_does_not_start_holds_up_nobody(core: Core, tmp_path: Path) -> None:
    with closing(launch.Turns(2)) as turns:
        steps = [
            step(
                core,
                tmp_path,
                place,
                [*turns.arguments(place), "--stream", str(tmp_path / f"stream{place}"), "--job", file],
            )
            for place, file in enumerate([job(tmp_path, 0, case(8), case(16)), str(tmp_path / "no such file")])
        ]
        one, other = launch.run_together(steps, turns.ended)
    assert isinstance(one, Outcome)
    assert isinstance(other, Outcome)
    assert (one.exit_code, other.exit_code) == (0, 2)
    records = [json.loads(line) for line in (tmp_path / "stream0").read_text().splitlines()]
    assert [record["status"] for record in records if record["record"] == "case"] == ["ok", "ok"]


@ONE_LIBRARY
def test_a_step_that_cannot_start_is_told_beside_the_others(core: Core, tmp_path: Path) -> None:
    with closing(launch.Turns(2)) as turns:
        good = step(core, tmp_path, 0, [*turns.arguments(0), "--job", job(tmp_path, 0, case(8))])
        line = good.command
        bad = Step(
            command=type(line)(arguments=["/nowhere/mpiexec"], environment={}),
            output=tmp_path / "output1",
            watch=tmp_path / "output1",
            limit_s=9,
        )
        one, other = launch.run_together([good, bad], turns.ended)
    assert isinstance(one, Outcome)
    assert one.exit_code == 0
    assert isinstance(other, RankbenchError)
    assert str(other) == "/nowhere/mpiexec: No such file or directory"


@ONE_LIBRARY
@pytest.mark.parametrize(
    ("told", "answer"),
    [
        ("2/2:/dev/null", "not PLACE/LAUNCHES:FILE, of up to 64 launches"),
        ("0/65:/dev/null", "not PLACE/LAUNCHES:FILE, of up to 64 launches"),
        ("0/2", "not PLACE/LAUNCHES:FILE, of up to 64 launches"),
        ("0/2:/no/such/file", "No such file or directory"),
        ("0/2:/dev/null", "too short"),
    ],
)
def test_turns_that_make_no_sense_are_one_line(core: Core, told: str, answer: str) -> None:
    done = core.run(1, "--quiet", "--op", "barrier", "--turns", told)
    assert (done.exit_code, done.printed) == (2, f"rankbench-core: --turns {told}: {answer}\n")
