"""The core under real libraries: every operation in every form, its data checks, its table and its errors."""

from __future__ import annotations

import json
import os
import statistics
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
        assert done.exit_code in {0, 2, 3}, done.printed
        records = [json.loads(line) for line in path.read_text().splitlines()]
        return [record for record in records if record["record"] == "case"]


def _core(library: Library, home: Path) -> Core:
    made = build.build(library, home)
    return Core(library, made, build.describe(made))


@pytest.fixture(scope="module", params=WHEELS)
def core(request: pytest.FixtureRequest, home: Path, reach: list[Library]) -> Core:
    return _core(libraries.choose(request.param, [one for one in reach if one.source == "pypi"]), home)


def typical_ns(record: dict[str, Any], of: str = "time_ns") -> float:
    """Return the median of a case's samples."""
    return float(statistics.median(record["series"][0][of]))


@pytest.mark.parametrize("ranks", [2, 4])
def test_every_operation_in_every_form_delivers_right_data(core: Core, ranks: int, tmp_path: Path) -> None:
    """Four ranks are more than two cores: a few samples are enough, it is the data that count."""
    names = ",".join(operation.name for operation in core.description.operations)
    short = ["--start", "none", "--samples", "5", "--limit", "60", "--sizes", "8,4K"]
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


@pytest.mark.parametrize("start", [start.name for start in fakes.description().starts])
@pytest.mark.proof
def test_every_start_gives_the_samples_that_were_asked_for(core: Core, start: str, tmp_path: Path) -> None:
    """Only the rules of MPIPerf have stages of a fixed length, so that there may be a few samples more."""
    asked = ["--op", "allreduce,pingpong", "--sizes", "8", "--start", start, "--samples", "333", "--limit", "20"]
    scheduled = next(one.scheduled for one in core.description.starts if one.name == start)
    for record in core.stream(tmp_path, 2, *asked):
        (series,) = record["series"]
        discarded = record["late"] + (record["overrun"] if start == "window-mpiperf" else 0)
        assert 333 <= record["valid"] < (341 if start == "window-mpiperf" else 334)
        assert record["stopped"] == "samples"
        assert record["taken"] == record["valid"] + discarded == len(series["time_ns"])
        assert (record["late"] == 0) or scheduled
        compared = scheduled or record["operation"] == "allreduce"
        assert len(series["skew_ns"]) == (record["taken"] if compared else 0)
        assert all(skew_ns >= 0 for skew_ns in series["skew_ns"])


@pytest.mark.proof
def test_ranks_leave_a_barrier_further_apart_than_they_enter_a_window(core: Core, tmp_path: Path) -> None:
    """Rank 1 waits a microsecond longer in each call; without a start it begins the next one that much later."""

    def skew_ns(start: str) -> float:
        asked = ["--op", "wait-up", "--start", start, "--samples", "500", "--limit", "20"]
        return typical_ns(core.stream(tmp_path, 2, *asked)[0], "skew_ns")

    assert skew_ns("window") < 0.2 * skew_ns("none")


@pytest.mark.parametrize(
    ("rule", "stopped"),
    [
        (["--samples", "40"], "samples"),
        (["--samples", "100000", "--tries", "70"], "tries"),
        (["--samples", "100000", "--rse", "0.5", "--least", "20"], "rse"),
        (["--samples", "100000", "--interval", "0.5", "--least", "20"], "interval"),
        (["--samples", "100000000", "--limit", "0.05"], "time"),
    ],
)
@pytest.mark.proof
def test_a_case_ends_by_the_rule_that_comes_first(core: Core, rule: list[str], stopped: str, tmp_path: Path) -> None:
    limit = [] if "--limit" in rule else ["--limit", "60"]
    (record,) = core.stream(tmp_path, 2, "--op", "wait-up", *rule, *limit)
    assert record["stopped"] == stopped
    assert record["valid"] >= 20
    assert record["taken"] == 70 or stopped != "tries"
    assert record["valid"] == 40 or stopped != "samples"


@pytest.mark.proof
def test_the_relative_standard_error_that_ends_a_case_is_that_of_its_samples(core: Core, tmp_path: Path) -> None:
    asked = ["--start", "window-mpiperf", "--samples", "5000", "--rse", "0.01", "--limit", "60"]
    (record,) = core.stream(tmp_path, 2, "--op", "barrier", *asked)
    (series,) = record["series"]
    bad = {*series["late"], *series["overrun"]}
    valid = [time_ns for index, time_ns in enumerate(series["time_ns"]) if index not in bad]
    error = statistics.stdev(valid) / len(valid) ** 0.5 / statistics.fmean(valid)
    assert len(valid) == record["valid"] >= 10
    assert error <= 0.01 or record["stopped"] == "samples"
    assert record["stopped"] == "rse" or error > 0.01


@pytest.mark.proof
def test_windows_discard_few_rounds(core: Core, tmp_path: Path) -> None:
    records = core.stream(tmp_path, 2, "--op", "allreduce,barrier,alltoall", "--sizes", "8:64K:x8", "--samples", "1000")
    assert sum(record["late"] for record in records) < 0.1 * sum(record["taken"] for record in records)


@pytest.mark.proof
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


@pytest.mark.proof
def test_clocks_that_differ_are_synchronised(core: Core, tmp_path: Path) -> None:
    """MPI_Wtime counts from elsewhere on each rank of some libraries; the windows must agree nevertheless."""
    clock = ["--clock", "MPI_Wtime", "--samples", "300", "--limit", "20"]
    (record,) = core.stream(tmp_path, 2, "--op", "allreduce", "--sizes", "8", *clock)
    assert record["valid"] >= 300
    assert 0 < record["sync_bound_ns"] < 1e6
    (series,) = record["series"]
    assert max(series["bound_ns"]) <= record["sync_bound_ns"] <= max(series["bound_ns"]) + 1


def test_one_kernel_one_clock(core: Core, tmp_path: Path) -> None:
    """Nothing is compared; every sample's start is bounded by what was measured of it."""
    (record,) = core.stream(tmp_path, 2, "--op", "allreduce", "--sizes", "8", "--samples", "10")
    assert (record["sync_bound_ns"], record["synchronisations"]) == (0, 0)
    assert record["series"][0]["bound_ns"] == []


def test_ranks_can_be_synchronised_as_if_they_had_clocks_of_their_own(core: Core, tmp_path: Path) -> None:
    asked = ["--op", "allreduce", "--sizes", "8", "--samples", "200", "--limit", "20", "--separate-clocks"]
    (record,) = core.stream(tmp_path, 2, *asked)
    assert record["synchronisations"] >= 2
    assert len(record["series"][0]["bound_ns"]) == record["taken"]
    assert record["sync_bound_ns"] > 0


@pytest.mark.parametrize("ranks", [2, 3])
def test_the_samples_of_every_rank_add_up_to_those_of_all(core: Core, ranks: int, tmp_path: Path) -> None:
    asked = ["--op", "wait-up,pingpong", "--sizes", "8", "--samples", "100", "--limit", "20", "--ranks"]
    up, pingpong = core.stream(tmp_path, ranks, *asked)
    together, *single = up["series"]
    assert [one["rank"] for one in up["series"]] == [-1, *range(ranks)]
    assert together["time_ns"] == [max(times) for times in zip(*(one["time_ns"] for one in single), strict=True)]
    for index, last_rank in enumerate(together["last_rank"]):
        assert single[last_rank]["time_ns"][index] == together["time_ns"][index]
    assert set.union(*(set(one["late"]) for one in single)) == set(together["late"])
    assert [one["rank"] for one in pingpong["series"]] == [0]


MEMORY = [
    ["--cache", "cold"],
    ["--pages", "untouched"],
    ["--pages", "huge"],
    ["--alignment", "64"],
    ["--alignment", "65536"],
    ["--buffers", "in-place"],
    ["--root", "1"],
    ["--root", "-1"],
    ["--root", "-1", "--buffers", "in-place", "--cache", "cold"],
]


@pytest.mark.parametrize("asked", MEMORY, ids=" ".join)
def test_data_are_right_wherever_buffers_lie(core: Core, asked: list[str], tmp_path: Path) -> None:
    """What makes no sense for an operation is refused, and nothing else is."""
    rooted = [one.name for one in core.description.operations if one.rooted]
    in_place = [one.name for one in core.description.operations if one.in_place]
    names = [one.name for one in core.description.operations if one.kind == "collective"]
    short = ["--start", "barrier", "--sizes", "0,1000,64K", "--samples", "20", "--limit", "60"]
    records = core.stream(tmp_path, 2, "--op", ",".join(names), *short, *asked)
    for record in records:
        rooted_or_not = record["operation"] in rooted or "--root" not in asked
        can = rooted_or_not and (record["operation"] in in_place or "in-place" not in asked)
        assert (record["status"], record["reason"] == "") == (("ok", True) if can else ("refused", False))
    assert any(record["status"] == "ok" for record in records)


def test_a_persistent_request_keeps_its_buffers_and_its_root(core: Core, tmp_path: Path) -> None:
    form = ["--form", "persistent", "--sizes", "8", "--samples", "20"]
    (cold,) = core.stream(tmp_path, 2, "--op", "bcast", *form, "--cache", "cold")
    assert cold["reason"] == "a persistent request keeps its buffers from call to call"
    (rotating,) = core.stream(tmp_path, 2, "--op", "bcast", *form, "--root", "-1")
    assert rotating["reason"] == "a persistent request keeps its root from call to call"
    (in_place,) = core.stream(tmp_path, 2, "--op", "allreduce", *form, "--buffers", "in-place")
    assert in_place["status"] == "ok"


@pytest.mark.proof
def test_cold_buffers_are_slower_than_warm_ones(core: Core, tmp_path: Path) -> None:
    """Data that come from memory and not from a cache: 1.3 to 4 times is what is seen."""

    def median_ns(cache: str) -> float:
        asked = ["--op", "bcast", "--sizes", "64K", "--samples", "300", "--limit", "20", "--cache", cache]
        return typical_ns(core.stream(tmp_path, 2, *asked)[0])

    assert median_ns("cold") > 1.1 * median_ns("warm")


@pytest.mark.proof
def test_fresh_pages_cost_what_touching_them_costs(core: Core, tmp_path: Path) -> None:
    def median_ns(pages: str) -> float:
        asked = ["--op", "allreduce", "--sizes", "64K", "--samples", "300", "--limit", "20", "--pages", pages]
        return typical_ns(core.stream(tmp_path, 2, *asked)[0])

    assert median_ns("untouched") > 1.5 * median_ns("touched")


@pytest.mark.parametrize("alignment", [4, 64, 4096])
def test_buffers_are_aligned_to_what_was_asked_for_and_not_better(core: Core, alignment: int, tmp_path: Path) -> None:
    library = tmp_path / "places.so"
    command = [core.library.wrapper, "-shared", "-fPIC", "-o", str(library), str(FLIP.with_name("places.c"))]
    subprocess.run(command, check=True, env={**os.environ, **core.library.environment})
    asked = ["--op", "allreduce", "--sizes", "8,64K", "--samples", "20", "--alignment", str(alignment)]
    done = core.run(2, *asked, before=("env", f"LD_PRELOAD={library}"))
    found = {int(line.split()[1]) for line in done.printed.splitlines() if line.startswith("aligned ")}
    assert found == {alignment}


def test_the_talk_of_the_core_is_counted(core: Core, tmp_path: Path) -> None:
    path = tmp_path / "stream"
    core.run(3, "--op", "barrier", "--samples", "20", "--quiet", "--stream", str(path))
    end = json.loads(path.read_text().splitlines()[-1])
    assert end["record"] == "end"
    assert 0 < end["rank_0_messages"] <= end["most_messages"]
    assert 0 < end["rank_0_bytes"] <= end["most_bytes"]
    assert 1 << 20 < end["rank_0_memory_bytes"] <= end["most_memory_bytes"]


@pytest.fixture(scope="module")
def flip(core: Core, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    library = tmp_path_factory.mktemp("flip") / "flip.so"
    command = [core.library.wrapper, "-shared", "-fPIC", "-w", "-o", str(library), str(FLIP)]
    subprocess.run(command, check=True, env={**os.environ, **core.library.environment})

    def run(case: str, after: int) -> str:
        operation, form = case.split(".")
        before = ("env", f"LD_PRELOAD={library}", f"FLIP={CALLS[case]}", f"FLIP_AFTER={after}")
        often = ("--samples", "400", "--start", "barrier", "--limit", "60")
        asked = ("--op", operation, "--form", form, "--sizes", "1000", *often)
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
    done = core.run(2, "--op", "pingpong,bandwidth", "--start", "none", "--sizes", "8,1K", "--samples", "50")
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
        "bad",
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
        (["--op", "bcast", "--samples", "none"], "samples: 'none' is not a number"),
        (["--op", "bcast", "--samples", "0"], "bcast: samples must be 1 to 100000000, and tries not below 0"),
        (["--op", "bcast", "--limit", "0"], "bcast: limit_s must be more than 0"),
        (["--op", "bcast", "--rse", "-1"], "bcast: rse and interval must not be below 0, and least not below 1"),
        (["--op", "bcast", "--cache", "lukewarm"], "cache 'lukewarm' is not known (allowed: warm, cold)"),
        (["--op", "bcast", "--buffers", "two"], "buffers 'two' are not known (allowed: separate, in-place)"),
        (["--op", "bcast", "--pages", "big"], "pages 'big' are not known (allowed: touched, untouched, huge)"),
        (["--op", "bcast", "--alignment", "48"], "alignment 48 is no power of two up to 1073741824 (0: pages)"),
        (["--op", "bcast", "--root", "-2"], "root -2 is no rank (-1: rotating)"),
        (["--op", "bcast", "--clock", "sundial"], "time source 'sundial' is not known (allowed: auto, "),
        (["--op", "bcast", "--sync", "never"], "synchronisation 'never' is not known (allowed: "),
        (["--clocks", "--runs", "few"], "--runs: 'few' is not a number above 0"),
        (["--op", "bcast", "--stream", "/tmp", "--quiet"], "--stream /tmp: Is a directory"),
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
    allowed = (
        "operation, form, bytes, datatype, start, cache, buffers, pages, alignment, root, samples, tries, rse, "
        "interval, least, limit_s"
    )
    assert f"rankbench-core: --job {job} line 3: key 'bites' is not known (allowed: {allowed})\n" in done.printed
    job.write_text("rankbench-job 1\nset clock=auto time=now\ncase operation=bcast bytes=8\n")
    done = core.run(2, "--job", str(job))
    allowed = "clock=NAME, sync=NAME, ranks=all"
    assert f"rankbench-core: --job {job} line 2: setting 'time=now' is not known (allowed: {allowed})\n" in done.printed


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
