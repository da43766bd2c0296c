"""The core under real libraries: every operation in every form, its data checks, its table and its errors."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import fakes
import pytest

from mpi.conftest import WHEELS
from rankbench import build, launch, libraries
from rankbench.model import Description, Library, Placement, Step

if TYPE_CHECKING:
    from collections.abc import Callable

FLIP = Path(__file__).parents[1] / "fakes" / "flip.c"
STALL = FLIP.with_name("stall.c")
CALLS = {
    "pingpong.blocking": "MPI_Recv",
    "bandwidth.nonblocking": "MPI_Irecv",
    **{f"{name}.blocking": f"MPI_{name.title()}" for name in ("bcast", "reduce", "allreduce", "allgather", "alltoall")},
    **{f"{name}.nonblocking": f"MPI_I{name}" for name in ("bcast", "reduce", "allreduce", "allgather", "alltoall")},
    **{
        f"{name}.persistent": f"MPI_{name.title()}_init"
        for name in ("bcast", "reduce", "allreduce", "allgather", "alltoall")
    },
}

WRONG = {"intel-mpi-2021.18.1": {("allgather", "persistent")}}
"""Libraries that deliver wrong data, which the core must say: from the second start on, Intel's persistent allgather
leaves the own block of every rank but 0 as it was."""


class Run(NamedTuple):
    """How a launch ended and all that it printed."""

    exit_code: int
    printed: str


class Core(NamedTuple):
    """The core built for one library."""

    library: Library
    made: build.Build
    description: Description

    def run(self, ranks: int, *arguments: str, before: tuple[str, ...] = ()) -> Run:
        """Launch it as the library's family does; what hangs is ended after two silent minutes."""
        placement = Placement(name="here", nodes=1, ranks_per_node=ranks, binding="none")
        program = [*before, str(self.made.binary), *arguments]
        line = libraries.family_of(self.library).launch_line(self.library, placement, {}, program)
        with tempfile.TemporaryDirectory() as folder:
            output = Path(folder) / "output"
            outcome = launch.run(Step(command=line, output=output, watch=output, limit_s=120))
            assert not outcome.hung, output.read_text()
            return Run(outcome.exit_code or 0, output.read_text())

    def stream(self, tmp_path: Path, ranks: int, *arguments: str) -> list[dict[str, Any]]:
        """Launch it and return the case records of its stream."""
        path = tmp_path / "stream"
        done = self.run(ranks, "--quiet", "--stream", str(path), *arguments)
        assert done.exit_code in {0, 3}, done.printed
        records = [json.loads(line) for line in path.read_text().splitlines()]
        return [record for record in records if record["record"] == "case"]


def _core(library: Library, home: Path) -> Core:
    made = build.build(library, home)
    return Core(library, made, build.describe(made))


@pytest.fixture(scope="module", params=WHEELS)
def core(request: pytest.FixtureRequest, home: Path, reach: list[Library]) -> Core:
    return _core(libraries.choose(request.param, [one for one in reach if one.source == "pypi"]), home)


@pytest.mark.parametrize("ranks", [2, 4])
def test_every_operation_in_every_form_delivers_right_data(core: Core, ranks: int, tmp_path: Path) -> None:
    """Four ranks are more than two cores: a few samples are enough, it is the data that count."""
    names = ",".join(operation.name for operation in core.description.operations)
    short = ["--samples", "5", "--limit", "0.1", "--sizes", "8,4K"]
    records = core.stream(tmp_path, ranks, "--op", names, *short)
    for form in ("nonblocking", "persistent"):
        those = ",".join(one.name for one in core.description.operations if form in one.forms)
        records += core.stream(tmp_path, ranks, "--op", those, "--form", form, *short)
    wrong = {(one["operation"], one["form"]) for one in records if one["status"] == "wrong-data"}
    assert wrong == WRONG.get(core.library.name, set())
    assert [one for one in records if one["status"] not in {"ok", "wrong-data"}] == []
    ran = {(one["operation"], one["form"]) for one in records}
    assert ran == {(one.name, form) for one in core.description.operations for form in one.forms}
    assert all(one["valid"] >= 1 for one in records if one["status"] == "ok")


def test_the_stand_in_core_describes_itself_as_the_real_one(core: Core) -> None:
    """After a change of the core: `rankbench-core --describe > tests/fakes/description.json`."""
    assert core.description == fakes.description()


@pytest.mark.parametrize("start", ["window", "barrier", "none"])
def test_every_start_gives_the_samples_that_were_asked_for(core: Core, start: str, tmp_path: Path) -> None:
    records = core.stream(
        tmp_path, 2, "--op", "allreduce,pingpong", "--sizes", "8", "--start", start, "--samples", "333"
    )
    for record in records:
        assert record["valid"] == 333
        assert record["taken"] == record["valid"] + record["late"] == len(record["series"][0]["time_ns"])
        assert (record["late"] == 0) or start == "window"


def test_windows_discard_few_rounds(core: Core, tmp_path: Path) -> None:
    records = core.stream(tmp_path, 2, "--op", "allreduce,barrier,alltoall", "--sizes", "8:64K:x8", "--samples", "1000")
    assert sum(record["late"] for record in records) < 0.1 * sum(record["taken"] for record in records)


def test_a_rank_that_loses_its_cpu_while_it_waits_is_late(core: Core, tmp_path: Path) -> None:
    """Stalls of 300 us while waiting must not pass for calls that took 300 us."""
    library, path = tmp_path / "stall.so", tmp_path / "stream"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(STALL), "-ldl"], check=True)
    asked = ("--op", "barrier", "--samples", "50000", "--limit", "5", "--quiet", "--stream", str(path))
    assert core.run(2, *asked, before=("env", f"LD_PRELOAD={library}")).exit_code == 0
    (series,) = next(record["series"] for record in map(json.loads, path.open()) if record["record"] == "case")
    late = set(series["late"])
    valid = [time_ns for index, time_ns in enumerate(series["time_ns"]) if index not in late]
    assert len(late) > 10
    assert sum(time_ns > 250_000 for time_ns in valid) < len(late) / 4


def test_clocks_that_differ_are_synchronised(core: Core, tmp_path: Path) -> None:
    """MPI_Wtime counts from elsewhere on each rank of some libraries; the windows must agree nevertheless."""
    clock = ["--clock", "MPI_Wtime", "--samples", "300"]
    (record,) = core.stream(tmp_path, 2, "--op", "allreduce", "--sizes", "8", *clock)
    assert record["valid"] >= 200
    assert 0 < record["sync_bound_ns"] < 1e6


def test_one_kernel_one_clock(core: Core, tmp_path: Path) -> None:
    (record,) = core.stream(tmp_path, 2, "--op", "allreduce", "--sizes", "8", "--samples", "10")
    assert record["sync_bound_ns"] == 0


@pytest.fixture(scope="module")
def flip(core: Core, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    library = tmp_path_factory.mktemp("flip") / "flip.so"
    command = [core.library.wrapper, "-shared", "-fPIC", "-w", "-o", str(library), str(FLIP)]
    subprocess.run(command, check=True, env={**os.environ, **core.library.environment})

    def run(case: str, after: int) -> str:
        operation, form = case.split(".")
        before = ("env", f"LD_PRELOAD={library}", f"FLIP={CALLS[case]}", f"FLIP_AFTER={after}")
        asked = ("--op", operation, "--form", form, "--sizes", "1000", "--samples", "400", "--limit", "5")
        done = core.run(2, *asked, before=before)
        return done.printed if done.exit_code == 3 else f"exit code {done.exit_code}: {done.printed}"

    return run


@pytest.mark.parametrize("case", sorted(CALLS))
def test_a_flipped_byte_is_caught_before_timing(case: str, flip: Callable[..., str]) -> None:
    assert "wrong-data: rank " in flip(case, 0)


@pytest.mark.parametrize("case", ["allreduce.blocking", "bcast.persistent", "pingpong.blocking"])
def test_a_byte_flipped_while_timing_is_caught_after_it(case: str, flip: Callable[..., str]) -> None:
    assert "wrong-data: rank " in flip(case, 50)


def test_a_call_that_the_library_lacks_is_told(home: Path, reach: list[Library], tmp_path: Path) -> None:
    """Debian 12's Open MPI 4.1 has no persistent collectives."""
    old = _core(libraries.choose("openmpi", [one for one in reach if one.version.startswith("4.1")]), home)
    assert "MPI_Allreduce_init" in old.made.receipt.missing
    (record,) = old.stream(tmp_path, 2, "--op", "allreduce", "--form", "persistent", "--sizes", "8")
    assert (record["status"], record["reason"]) == ("lacking", "MPI_Allreduce_init is not in this library")


def test_the_table_is_for_people(core: Core) -> None:
    done = core.run(2, "--op", "pingpong,bandwidth", "--sizes", "8,1K", "--samples", "50")
    lines = [line for line in done.printed.splitlines() if not line.startswith("#")]
    assert lines[0].split() == [
        "operation",
        "form",
        "start",
        "bytes",
        "median",
        "min",
        "p90",
        "p99",
        "samples",
        "late",
        "MB/s",
    ]
    assert [line.split()[0] for line in lines[1:]] == ["pingpong", "pingpong", "bandwidth", "bandwidth"]
    for line in lines[1:]:
        median, least, p90, p99, samples = (float(word) for word in line.split()[4:9])
        assert least <= median <= p90 <= p99
        assert samples == 50
    median, rate = float(lines[-1].split()[4]), float(lines[-1].split()[10])
    assert rate == pytest.approx(64 * 1024 / median, rel=0.01)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--op", "allreduc"], "operation 'allreduc' is not known (allowed: allgather, "),
        (["--op", "bcast", "--form", "fast"], "bcast has no form 'fast' "),
        (["--op", "bcast", "--sizes", "8:4"], "--sizes: '8:4' is not a size or range such as 8, 64K, 8:1M or 8:1M:x4"),
        (["--op", "reduce", "--datatype", "byte"], "reduce: bytes cannot be summed (use int, float or double)"),
        (["--op", "reduce", "--sizes", "1,2,3"], "reduce: none of the sizes is a whole number of float of 4 bytes"),
        (["--op", "bcast", "--start", "soon"], "start 'soon' is not known (allowed: "),
        (["--op", "bcast", "--samples", "none"], "--samples: 'none' is not a number above 0"),
        (["--fast"], "option '--fast' is not known (--help lists all)"),
        (["--op"], "--op needs a value: NAME[,NAME...]"),
        ([], "nothing to measure: name an operation with --op, or a job with --job (--help tells more)"),
        (["--job", "/nowhere/job"], "--job /nowhere/job: No such file or directory"),
        (["--op", "bcast", "--stream", "/nowhere/s"], "--stream /nowhere/s: No such file or directory"),
    ],
)
def test_arguments_that_make_no_sense_get_one_line(core: Core, arguments: list[str], line: str) -> None:
    done = core.run(2, *arguments)
    said = [one for one in done.printed.splitlines() if "rankbench-core:" in one]
    assert len(said) == 1
    assert said[0].startswith(f"rankbench-core: {line}")
    assert done.exit_code != 0


def test_a_damaged_job_is_told_by_line(core: Core, tmp_path: Path) -> None:
    job = tmp_path / "job"
    job.write_text("rankbench-job 1\ncase operation=bcast bytes=8\ncase operation=bcast bites=8\n")
    done = core.run(2, "--job", str(job))
    allowed = "operation, form, bytes, datatype, start, samples, limit_s"
    assert f"rankbench-core: --job {job} line 3: key 'bites' is not known (allowed: {allowed})\n" in done.printed


def test_buffers_that_do_not_fit_are_refused(core: Core) -> None:
    done = core.run(2, "--op", "pingpong", "--sizes", "2000000000000", "--datatype", "double")
    assert "refused: 2000000000000 bytes are more than 2^31-1 elements of double" in done.printed
    done = core.run(2, "--op", "alltoall", "--sizes", "8G", "--datatype", "double")
    assert "GiB on this host do not fit in the " in done.printed
    assert done.exit_code != 0


def test_too_few_ranks_are_told(core: Core) -> None:
    done = core.run(1, "--op", "pingpong", "--sizes", "8")
    assert "refused: pingpong needs 2 ranks, there is 1" in done.printed
    assert done.exit_code == 2
