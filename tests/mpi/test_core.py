"""The core under real libraries: every operation in every form, its data checks, its table and its errors."""

from __future__ import annotations

import itertools
import json
import os
import re
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_args

import fakes
import pytest
from fakes import mark_thorough

from mpi.conftest import WHEELS
from rankbench import build, launch, libraries
from rankbench.model import LATE_START, Description, Form, Library, Operation, Placement, Step

FLIP = Path(__file__).parents[1] / "fakes" / "flip.c"
FORMS: tuple[Form, ...] = get_args(Form)
SIZES = (0, 8, 4096)

NEIGHBOURS = ("neighbor_alltoall", "neighbor_alltoallv", "neighbor_alltoallw")
WRONG = {
    "openmpi-5.0.11": {f"{name}.{form}": {2, 3, 4} for name in NEIGHBOURS for form in ("nonblocking", "persistent")},
    "intel-mpi-2021.18.1": {
        "gather.persistent": {2, 3, 4},
        "scatter.persistent": {2},
        "allgather.persistent": {2, 4},
        **{f"{name}.{form}": {2, 3, 4} for name in NEIGHBOURS for form in FORMS},
        "ring-neighbor.blocking.graph=cartesian": {2, 3, 4},
    },
}
"""Known wrong results of libraries, which the core must report, and the numbers of ranks.

If the ranks before and behind are the same, the library exchanges the blocks from both. Intel's persistent gather
delivers the contents of the send buffers from when the request was made, and never the root's own block; its scatter
and its allgather do so from the second start on, allgather with a power of two of ranks.
"""

ENDLESS_CALLS = {
    "openmpi-5.0.11": {"pingpong-partitioned.persistent": {3}},
    "intel-mpi-2021.18.1": {"scatter.persistent": {3, 4}},
}
"""Calls that never end, and the numbers of ranks: Open MPI's partitioned communication unless all of MPI_COMM_WORLD
make such requests, and Intel's persistent scatter at its second start.
"""

CRASHES = {"openmpi-5.0.11": ("pingpong-partitioned",)}
"""Calls in which a library sometimes crashes: in one launch of twenty, in the library's own progress
(`mca_pml_ob1_recv_req_start`), while ranks wait for each other.
"""
PATIENCE_S = 100
"""Limit of a phase of a case: ranks that wait actively are slow if many processes share the CPUs."""
END_CODES = {0, 2, 3}
"""Exit codes of a core that reached its end."""


class Run(NamedTuple):
    """How a launch ended, and everything that it printed."""

    exit_code: int
    printed: str


class Core(NamedTuple):
    """The core built for one library."""

    library: Library
    core_build: build.Build
    description: Description

    def run(self, ranks: int, *arguments: str, before: tuple[str, ...] = (), watch: Path | None = None) -> Run:
        """Launch the core as the library's family does; it is hung if its output does not grow for two minutes."""
        placement = Placement(name="here", nodes=1, ranks_per_node=ranks, binding="none")
        program = [*before, str(self.core_build.binary), *arguments]
        line = libraries.find_family(self.library).make_launch_line(self.library, placement, {}, program)
        with tempfile.TemporaryDirectory() as folder:
            output = Path(folder) / "output"
            outcome = launch.run(Step(command=line, output=output, watch=watch or output, limit_s=120))
            assert not outcome.hung, output.read_text()
            return Run(outcome.exit_code or 0, output.read_text())

    def measure(
        self, tmp_path: Path, ranks: int, *arguments: str, before: tuple[str, ...] = ()
    ) -> list[dict[str, Any]]:
        """Launch the core and return the case records of its stream."""
        process, records = self.launch_core(tmp_path, ranks, *arguments, before=before)
        assert process.exit_code in END_CODES, (process.exit_code, records[-1:], process.printed[-2000:])
        return records

    def launch_core(
        self, tmp_path: Path, ranks: int, *arguments: str, before: tuple[str, ...] = ()
    ) -> tuple[Run, list[dict[str, Any]]]:
        """Launch the core and return how it ended and the case records of its stream."""
        path = tmp_path / "stream"
        process = self.run(ranks, "--quiet", "--stream", str(path), *arguments, before=before, watch=path)
        records = [json.loads(line) for line in path.read_text().splitlines()]
        return process, [record for record in records if record["record"] == "case"]

    def run_job(
        self,
        tmp_path: Path,
        ranks: int,
        cases: Iterable[Mapping[str, object]],
        *arguments: str,
        before: tuple[str, ...] = (),
    ) -> list[dict[str, Any]]:
        """Launch the core with a job of these cases and return their records, in the same order.

        After a crash in a case in which the library is known to crash sometimes, the remaining cases are launched
        again.
        """
        path = tmp_path / "job"
        rest = list(cases)
        complete: list[dict[str, Any]] = []
        for _ in range(9):
            lines = [" ".join(["case", *(f"{key}={value}" for key, value in case.items())]) for case in rest]
            path.write_text("\n".join(["rankbench-job 1", f"set patience={PATIENCE_S}", *lines, ""]))
            process, records = self.launch_core(tmp_path, ranks, "--job", str(path), *arguments, before=before)
            complete += records
            if process.exit_code in END_CODES:
                return complete
            rest = rest[len(records) :]
            assert rest[0]["operation"] in CRASHES.get(self.library.name, ()), (rest[0], process.printed[-2000:])
        pytest.fail(f"it crashed nine times, the last time in {rest[0]}: {process.printed[-2000:]}")

    def list_operations(self, form: str, ranks: int) -> list[Operation]:
        """Return the operations that have a form, except those that never end."""
        breaks = self.list_known_faults(ENDLESS_CALLS, ranks)
        in_form = [operation for operation in self.description.operations if form in operation.forms]
        return [operation for operation in in_form if f"{operation.name}.{form}" not in breaks]

    def list_wrong(self, ranks: int) -> set[str]:
        """Return the known wrong results of the library on so many ranks."""
        return self.list_known_faults(WRONG, ranks)

    def list_known_faults(self, faults: dict[str, dict[str, set[int]]], ranks: int) -> set[str]:
        """Return the known faults of the library on so many ranks."""
        return {case for case, where in faults.get(self.library.name, {}).items() if ranks in where}

    def lacks(self, record: dict[str, Any]) -> bool:
        """Report whether a case names a call that the library's header does not have."""
        reasons = {f"{call} is not in this library" for call in self.core_build.receipt.missing}
        return record["status"] == "lacking" and record["reason"] in reasons


def _build_core(library: Library, home: Path) -> Core:
    binary = build.build(library, home)
    return Core(library, binary, build.describe(binary))


"""For tests of the core's own behaviour, which does not depend on the library."""


@pytest.fixture(scope="module", params=WHEELS)
def core(request: pytest.FixtureRequest, home: Path, reach: list[Library]) -> Core:
    return _build_core(
        libraries.choose(request.param, [library for library in reach if library.source == "pypi"]), home
    )


def list_valid(record: dict[str, Any], of: str) -> list[float]:
    """Return the values of samples that began in time."""
    (series,) = record["series"]
    late = set(series["late"])
    return [value for index, value in enumerate(series[of]) if index not in late]


def name_case(record: dict[str, Any]) -> str:
    """Return operation and form as one word."""
    return f"{record['operation']}.{record['form']}"


def name_faults(record: dict[str, Any]) -> set[str]:
    """Return the names that a fault of a case can have: the case's own name, and with each of its options."""
    name = name_case(record)
    return {name, *(f"{name}.{option}={value}" for option, value in record["options"].items())}


def make_cases(operations: Iterable[Operation], form: str, sizes: Sequence[int]) -> list[dict[str, object]]:
    """Return a case of each operation and size; some have no size."""
    return [
        {"operation": operation.name, "form": form, "bytes": size}
        for operation in operations
        for size in (sizes if operation.sized else [0])
    ]


def find_unexpected(core: Core, records: list[dict[str, Any]], ranks: int) -> list[tuple[str, str, str]]:
    """Return the cases that failed unexpectedly."""
    wrong = core.list_wrong(ranks)
    bad = [record for record in records if record["status"] != "ok" and not core.lacks(record)]
    return [
        (name_case(record), record["status"], record["reason"])
        for record in bad
        if not (record["status"] == "wrong-data" and name_faults(record) & wrong)
    ]


@pytest.mark.thorough
def test_a_launch_stopped_for_a_while_is_not_stuck(core: Core, tmp_path: Path) -> None:
    """A suspended job is stopped: here for longer than the limit of a call."""
    (tmp_path / "job").write_text(
        "rankbench-job 1\nset patience=8\n"
        "case operation=allreduce bytes=1048576 start=barrier samples=1000000 limit_s=3\n"
    )
    processes = tmp_path / "processes"
    script = f'echo $$ >> {processes}; exec "$@"'

    def stop_and_continue() -> None:
        stream = tmp_path / "stream"
        while not stream.exists() or '"begin"' not in stream.read_text():
            time.sleep(0.05)
        ranks = [int(process) for process in processes.read_text().split()]
        for rank in ranks:
            os.kill(rank, signal.SIGSTOP)
        time.sleep(10)
        for rank in ranks:
            os.kill(rank, signal.SIGCONT)

    thread = threading.Thread(target=stop_and_continue)
    thread.start()
    process, records = core.launch_core(tmp_path, 2, "--job", str(tmp_path / "job"), before=("sh", "-c", script, "sh"))
    thread.join()
    assert (process.exit_code, [record["status"] for record in records]) == (0, ["ok"]), process.printed


def test_ranks_end_with_the_process_that_started_them(core: Core, tmp_path: Path) -> None:
    """A scheduler that ends a job may end only what it started on a node, which is the launcher's process there."""
    (tmp_path / "job").write_text(
        "rankbench-job 1\ncase operation=allreduce bytes=1048576 start=barrier samples=1000000 limit_s=60\n"
    )
    processes = tmp_path / "processes"
    script = f'echo $$ $PPID >> {processes}; exec "$@"'
    thread = threading.Thread(
        target=core.launch_core,
        args=(tmp_path, 2, "--job", str(tmp_path / "job")),
        kwargs={"before": ("sh", "-c", script, "sh")},
    )
    thread.start()
    stream = tmp_path / "stream"
    while not stream.exists() or '"begin"' not in stream.read_text():
        time.sleep(0.05)
    started = [tuple(map(int, line.split())) for line in processes.read_text().splitlines()]
    assert len(started) == 2
    for parent in {parent for _, parent in started}:
        os.kill(parent, signal.SIGKILL)
    began_s = time.monotonic()
    while any(is_running(rank) for rank, _ in started) and time.monotonic() < began_s + 20:
        time.sleep(0.05)
    assert time.monotonic() < began_s + 10
    thread.join()


def is_running(process: int) -> bool:
    """Return whether a process runs; one that has ended stays visible until its new parent asks for it."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in {"Z", "X"}
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.each_library
@pytest.mark.parametrize("ranks", [3, *map(mark_thorough, [2, 4])])
def test_every_operation_in_every_form_delivers_correct_data(core: Core, ranks: int, tmp_path: Path) -> None:
    """Nothing is timed, since four ranks are more than two cores; only the data count."""
    cases = [case for form in FORMS for case in make_cases(core.list_operations(form, ranks), form, SIZES)]
    records = core.run_job(tmp_path, ranks, cases, "--probe")
    assert [(record["operation"], record["bytes"]) for record in records] == [
        (case["operation"], case["bytes"]) for case in cases
    ]
    assert find_unexpected(core, records, ranks) == []
    wrong = {name_case(record) for record in records if record["status"] == "wrong-data"}
    assert wrong == {case for case in core.list_wrong(ranks) if case.rpartition(".")[2] in FORMS}


def test_the_time_of_a_hop_is_reported_with_each_case(core: Core, tmp_path: Path) -> None:
    """It is known unless a rank had no CPU, as on a busy machine; ranks that share CPUs do not measure it."""
    case = {"operation": "allreduce", "bytes": 8, "start": "none", "samples": 2, "limit_s": 60}
    known = False
    for _ in range(20):
        core.run_job(tmp_path, 2, [case] * 8)
        hops = read_hops(tmp_path / "stream")
        assert len(hops) == 9
        assert all(hop == 0 or 1 < hop < 1e6 for hop in hops)
        known = known or any(hops)
        if known:
            break
    assert known
    core.run_job(tmp_path, 2 * len(os.sched_getaffinity(0)), [case], "--probe")
    assert read_hops(tmp_path / "stream") == [0, 0]


def read_hops(stream: Path) -> list[float]:
    """Return the time of a hop before each case and after the last."""
    records = map(json.loads, stream.read_text().splitlines())
    return [record["hop_ns"] for record in records if record["record"] in {"begin", "end"}]


def test_a_case_does_not_end_between_new_data_and_the_call_that_delivers_them(core: Core, tmp_path: Path) -> None:
    """A time limit may end a case while data are renewed; the new data would then never arrive."""
    limits = [{"fill_s": step / 2000, "limit_s": 60} for step in range(1, 13)]
    limits += [{"samples": 100_000, "limit_s": step / 200} for step in range(1, 13)]
    case = {"operation": "allgather", "bytes": 1 << 18, "start": "barrier", "samples": 20}
    records = core.run_job(tmp_path, 2, [case | limit for limit in limits])
    assert {record["status"] for record in records} == {"ok"}


def test_a_short_call_fills_its_time_with_up_to_five_times_the_samples(core: Core, tmp_path: Path) -> None:
    case = {"operation": "empty", "samples": 20, "limit_s": 60}
    plain, filled, briefly = core.run_job(tmp_path, 2, [case, case | {"fill_s": 50}, case | {"fill_s": 1e-9}])
    assert [record["valid"] for record in (plain, filled)] == [20, 100]
    assert 20 <= briefly["valid"] < 100
    assert {record["stopped"] for record in (plain, filled, briefly)} == {"samples"}


def test_every_operation_in_every_form_is_timed(core: Core, tmp_path: Path) -> None:
    """Data are renewed after 16 calls, so that an untimed call delivers them."""
    short = {"start": "none", "samples": 20, "limit_s": 60}
    cases = [{**case, **short} for form in FORMS for case in make_cases(core.list_operations(form, 2), form, [1024])]
    records = core.run_job(tmp_path, 2, cases)
    assert find_unexpected(core, records, 2) == []
    for record in records:
        if record["status"] == "ok":
            assert record["valid"] >= 1
            assert len(record["series"][0]["time_ns"]) == record["taken"]


def make_option_cases(operation: Operation) -> Iterable[dict[str, object]]:
    """Return a case for every unusual value of every option; of numbers, for the smallest unusual one."""
    case = {"operation": operation.name, "bytes": 64 if operation.sized else 0}
    for option in operation.options:
        numbers = (str(number) for number in range(option.least, option.most + 1))
        numbers = (number for number in ("1x1",)) if option.extents else numbers
        values = option.values or [next(number for number in numbers if number != option.usual)]
        for value in values:
            if option.name in {"from", "to"}:
                yield {**case, "from": 1, "to": 0}
            elif option.name == "reduction":
                yield {**case, "datatype": "int", "reduction": value}
            elif value != option.usual:
                yield {**case, option.name: value}


REFUSED = {
    "a computing target cannot synchronise; epoch=flush needs nothing of it",
    "MPI_Accumulate and its like take predefined reductions only",
    "quantity=overlap needs a nonblocking or persistent form that the core completes",
    "arrival patterns need a scheduled start (start=window or roundtime)",
    "shift=timed has no effect on neighbourhood collectives, which take no ranks",
    "the grid has no such dimension",
}


@pytest.mark.thorough
def test_every_value_of_every_option_is_accepted_or_refused_with_a_reason(core: Core, tmp_path: Path) -> None:
    cases = [case for operation in core.description.operations for case in make_option_cases(operation)]
    records = core.run_job(tmp_path, 2, cases, "--probe", "--threads")
    assert len(records) == len(cases)
    assert {reason for _, status, reason in find_unexpected(core, records, 2) if status == "refused"} == REFUSED
    assert [entry for entry in find_unexpected(core, records, 2) if entry[1] != "refused"] == []


def test_every_operation_moves_each_of_its_datatypes(core: Core, tmp_path: Path) -> None:
    cases = [
        {"operation": operation.name, "bytes": 6400, "datatype": datatype}
        for operation in core.description.operations
        for datatype in operation.datatypes
        if operation.sized
    ]
    records = core.run_job(tmp_path, 2, cases, "--probe")
    reason = "the elements of the message are not a multiple of the partitions"
    refused = ("pingpong-partitioned.persistent", "refused", reason)
    assert [entry for entry in find_unexpected(core, records, 2) if entry != refused] == []


def test_the_stand_in_core_has_the_description_of_the_real_one(core: Core) -> None:
    """After a change of the core: `rankbench-core --describe > tests/fakes/description.json`."""
    assert core.description == fakes.read_description()


def test_ranks_under_one_kernel_share_one_clock(core: Core, tmp_path: Path) -> None:
    """No clocks are compared, and no sample has a bound."""
    selection = ["--op", "allreduce", "--sizes", "8", "--start", "barrier", "--samples", "10", "--limit", "60"]
    (record,) = core.measure(tmp_path, 2, *selection)
    assert (record["sync_bound_ns"], record["synchronisations"]) == (0, 0)
    assert (record["series"][0]["bound_ns"], record["series"][0]["error_ns"]) == ([], [])


def test_ranks_with_one_clock_can_be_synchronised_on_request(core: Core, tmp_path: Path) -> None:
    """After a barrier every sample is valid, while on a busy machine none may begin in time on both clocks."""
    selection = ["--op", "allreduce", "--sizes", "8", "--start", "barrier", "--samples", "20", "--limit", "60"]
    (record,) = core.measure(tmp_path, 2, *selection, "--separate-clocks")
    assert record["valid"] == record["taken"] > 0
    assert record["synchronisations"] >= 2
    series = record["series"][0]
    assert len(series["bound_ns"]) == len(series["error_ns"]) == record["taken"]
    assert all(0 < error <= bound for error, bound in zip(series["error_ns"], series["bound_ns"], strict=True))
    assert record["sync_bound_ns"] > 0


@pytest.mark.parametrize(("ranks", "start"), [(2, "window"), (3, "barrier")])
def test_samples_of_all_ranks_are_those_of_the_slowest_rank(core: Core, ranks: int, start: str, tmp_path: Path) -> None:
    """The number of rounds is limited, since on a busy machine both ranks may share a core, and none begin in time."""
    selection = ["--samples", "50", "--tries", "500", "--limit", "100", "--ranks"]
    for _ in range(9):
        (up,) = core.measure(tmp_path, ranks, "--op", "wait-up", *selection, "--start", start)
        if up["cause"] != LATE_START:
            break
    (pingpong,) = core.measure(tmp_path, ranks, "--op", "pingpong", "--sizes", "8", *selection, "--start", "barrier")
    together, *single = up["series"]
    assert [series["rank"] for series in up["series"]] == [-1, *range(ranks)]
    assert together["time_ns"] == [max(times) for times in zip(*(series["time_ns"] for series in single), strict=True)]
    bad = set(together["late"])
    for index, last_rank in enumerate(together["last_rank"]):
        assert single[last_rank]["time_ns"][index] == together["time_ns"][index]
    # Samples in time on each rank, but not in the same window, are late for all.
    assert set.union(*(set(series["late"]) for series in single)) <= bad
    assert [series["rank"] for series in pingpong["series"]] == [0]


def test_the_first_two_calls_of_a_case_are_timed_before_all_others(core: Core, tmp_path: Path) -> None:
    selection = ["--op", "bcast,pingpong", "--sizes", "8", "--start", "barrier", "--samples", "20", "--limit", "60"]
    bcast, pingpong = core.measure(tmp_path, 2, *selection)
    assert all(record[name] > 0 for record in (bcast, pingpong) for name in ("first_ns", "second_ns"))
    (absent,) = core.measure(tmp_path, 1, "--op", "pingpong", "--sizes", "8")
    assert (absent["status"], absent["first_ns"], absent["second_ns"]) == ("refused", 0, 0)


def test_short_calls_are_timed_in_groups_unless_each_call_is_requested(core: Core, tmp_path: Path) -> None:
    """On a busy machine no round of allreduce may begin in time: their number is limited, and the row is complete."""
    selection = ["--op", "reduce_local,empty,allreduce", "--sizes", "8", "--samples", "20", "--tries", "200"]
    selection += ["--limit", "60"]
    local, empty, allreduce = core.measure(tmp_path, 2, *selection)
    assert local["calls"] > 1
    assert (empty["calls"], allreduce["calls"]) == (1, 1)
    assert allreduce["first_window_ns"] > 0 < allreduce["last_window_ns"]
    assert (local["first_window_ns"], local["last_window_ns"]) == (0, 0)
    assert local["estimate_ns"] > 0 < allreduce["estimate_ns"]
    assert local["tolerance_ns"] == 0 < allreduce["tolerance_ns"]
    assert local["rank_share"] == 1 >= allreduce["rank_share"] > 0
    assert local["cost_ns"] < empty["cost_ns"]
    assert [record["calls"] for record in core.measure(tmp_path, 2, *selection, "--each")] == [1, 1, 1]


MEMORY = [
    mark_thorough(["--cache", "cold"]),
    mark_thorough(["--pages", "untouched"]),
    ["--cache", "written"],
    mark_thorough(["--pages", "huge", "--alignment", "65536"]),
    mark_thorough(["--alignment", "64"]),
    ["--buffers", "in-place"],
    mark_thorough(["--root", "1"]),
    mark_thorough(["--root", "-1"]),
    mark_thorough(["--root", "-1", "--buffers", "in-place", "--cache", "cold"]),
]


@pytest.mark.parametrize("selection", MEMORY, ids=" ".join)
def test_data_are_correct_with_all_states_of_memory(core: Core, selection: list[str], tmp_path: Path) -> None:
    """Only states that make no sense for an operation are refused."""

    def refuses(operation: Operation) -> bool:
        keeps = operation.keeps_buffers or operation.form == "persistent"
        return (
            ("--root" in selection and not operation.rooted)
            or ("in-place" in selection and not operation.in_place)
            or ("cold" in selection and keeps)
        )

    refused = {operation.name for operation in core.description.operations if refuses(operation)}
    # There are many cold buffers, whatever their size: as much as the caches hold is filled and checked at each size.
    sizes = "0,64K" if "cold" in selection else "0,992,64K"
    short = ["--start", "none", "--sizes", sizes, "--datatype", "int", "--samples", "5", "--limit", "2"]
    records = core.measure(tmp_path, 2, "--op", "collective,point-to-point,local", *short, *selection)
    assert {record["operation"] for record in records if record["status"] == "refused"} == refused & {
        record["operation"] for record in records
    }
    assert {reason for _, status, reason in find_unexpected(core, records, 2) if status != "refused"} == set()
    assert any(record["status"] == "ok" for record in records)


def test_a_persistent_request_keeps_its_buffers_and_its_root(core: Core, tmp_path: Path) -> None:
    form = ["--form", "persistent", "--sizes", "8", "--samples", "20", "--start", "barrier", "--limit", "60"]
    (cold,) = core.measure(tmp_path, 2, "--op", "bcast", *form, "--cache", "cold")
    assert cold["reason"] == "a persistent request keeps its buffers from call to call"
    (rotating,) = core.measure(tmp_path, 2, "--op", "bcast", *form, "--root", "-1")
    assert rotating["reason"] == "a persistent request keeps its root from call to call"
    (in_place,) = core.measure(tmp_path, 2, "--op", "allreduce", *form, "--buffers", "in-place")
    assert in_place["status"] == "ok"


@pytest.mark.parametrize("alignment", [4, mark_thorough(64), 4096])
def test_buffers_have_exactly_the_requested_alignment(core: Core, alignment: int, tmp_path: Path) -> None:
    library = tmp_path / "places.so"
    command = [core.library.wrapper, "-shared", "-fPIC", "-o", str(library), str(FLIP.with_name("places.c"))]
    subprocess.run(command, check=True, env={**os.environ, **core.library.environment})
    selection = ["--op", "allreduce", "--start", "none", "--sizes", "8,64K", "--alignment", str(alignment)]
    process = core.run(2, *selection, before=("env", f"LD_PRELOAD={library}"))
    alignments = {int(line.split()[1]) for line in process.printed.splitlines() if line.startswith("aligned ")}
    assert alignments == {alignment}


def test_messages_and_memory_of_the_core_are_counted(core: Core, tmp_path: Path) -> None:
    path = tmp_path / "stream"
    core.run(3, "--op", "barrier", "--samples", "20", "--quiet", "--stream", str(path))
    end = json.loads(path.read_text().splitlines()[-1])
    assert end["record"] == "end"
    assert 0 < end["rank_0_messages"] <= end["most_messages"]
    assert 0 < end["rank_0_bytes"] <= end["most_bytes"]
    assert 1 << 20 < end["rank_0_memory_bytes"] <= end["most_memory_bytes"]


CALLS = {
    "pingpong-packed.blocking": ("MPI_Pack", "MPI_Recv", "MPI_Unpack"),
    "pingpong-partitioned.persistent": ("MPI_Precv_init",),
    "sendrecv.blocking": ("MPI_Sendrecv",),
    "sendrecv.nonblocking": ("MPI_Isendrecv",),
    "sendrecv-replace.blocking": ("MPI_Sendrecv_replace",),
    "sendrecv-replace.nonblocking": ("MPI_Isendrecv_replace",),
    "random-pairs.blocking": ("MPI_Sendrecv",),
    "pack.blocking": ("MPI_Pack", "MPI_Unpack"),
    "unpack.blocking": ("MPI_Pack", "MPI_Unpack"),
    "ring.blocking": ("MPI_Sendrecv",),
    "ring-put.blocking": ("MPI_Put",),
    "ring-neighbor.blocking": ("MPI_Neighbor_alltoallv",),
    "ring-neighbor.nonblocking": ("MPI_Ineighbor_alltoallv",),
    "ring-neighbor.persistent": ("MPI_Neighbor_alltoallv_init",),
}
"""Calls by which operations get the checked data, where no rule gives them."""


def find_calls(operation: Operation, form: str) -> tuple[str, ...]:
    """Return the calls by which an operation gets the checked data; most have the operation's name."""
    name = "recv" if operation.kind == "point-to-point" else operation.name.partition("-")[0]
    forms = {
        "blocking": f"MPI_{name.capitalize()}",
        "nonblocking": f"MPI_{'R' if operation.kind == 'one-sided' else 'I'}{name}",
        "persistent": f"MPI_{name.capitalize()}_init",
    }
    return CALLS.get(f"{operation.name}.{form}", (forms[form] + ("_c" if operation.large else ""),))


def is_delivering(operation: Operation) -> bool:
    """Report whether data are delivered that can be checked; for operations on processes other results are checked."""
    return operation.kind != "process" and any(
        amount.base or amount.each for amount in (operation.receive, operation.root_receive)
    )


class Corruption(NamedTuple):
    """A case, and the calls whose results are corrupted."""

    case: dict[str, object]
    calls: tuple[str, ...]


@pytest.fixture(scope="module")
def flip(core: Core, tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = tmp_path_factory.mktemp("flip") / "flip.so"
    command = [core.library.wrapper, "-shared", "-fPIC", "-w", "-o", str(library), str(FLIP)]
    subprocess.run(command, check=True, env={**os.environ, **core.library.environment})
    return library


def read_excess(record: dict[str, Any]) -> int:
    """Return by how much the first wrong byte of a case is too large."""
    match = re.fullmatch(r"rank \d+: .*: 0x(..), not 0x(..)", record["reason"])
    return (int(match[1], 16) - int(match[2], 16)) % 256 if match and record["status"] == "wrong-data" else 0


def find_undetected(
    core: Core, flip: Path, tmp_path: Path, corruptions: list[Corruption], place: str
) -> list[tuple[str, str, str]]:
    """Corrupt a byte of every result of the calls, and return the cases that do not report their own calls.

    The n-th call increases the byte by n, so that the wrong byte identifies the call.
    """
    calls = sorted({call for corruption in corruptions for call in corruption.calls})
    before = ("env", f"LD_PRELOAD={flip}", f"FLIP={','.join(calls)}", f"FLIP_AT={place}")
    records = core.run_job(tmp_path, 2, [corruption.case for corruption in corruptions], "--probe", before=before)
    assert len(records) == len(corruptions)

    def is_detected(corruption: Corruption, record: dict[str, Any]) -> bool:
        numbers = [calls.index(call) + 1 for call in corruption.calls]
        sums = {
            sum(combination)
            for count in range(len(numbers))
            for combination in itertools.combinations(numbers, count + 1)
        }
        return read_excess(record) in sums or core.lacks(record) or bool(name_faults(record) & core.list_wrong(2))

    pairs = zip(corruptions, records, strict=True)
    return [
        (name_case(record), record["status"], record["reason"])
        for corruption, record in pairs
        if not is_detected(corruption, record)
    ]


@pytest.mark.parametrize("place", [mark_thorough("first"), mark_thorough("middle"), "last"])
def test_a_corrupted_byte_of_every_operation_in_every_form_is_detected(
    core: Core, flip: Path, place: str, tmp_path: Path
) -> None:
    """Neighbours form a line, for which every library delivers correct data; wrong data would prove nothing."""
    row = {"dimensions": 1, "periodic": "no"}
    rows = {
        operation.name
        for operation in core.description.operations
        if "periodic" in {option.name for option in operation.options}
    }
    corruptions = [
        Corruption(case | {"datatype": "int"} | (row if operation.name in rows else {}), find_calls(operation, form))
        for form in FORMS
        for operation in core.list_operations(form, 2)
        for case in make_cases([operation], form, [1024])
        if is_delivering(operation) and (operation.name in rows or f"{operation.name}.{form}" not in core.list_wrong(2))
    ]
    assert find_undetected(core, flip, tmp_path, corruptions, place) == []


@pytest.mark.parametrize("error", ["truncate", "swap", "double", "delay"])
def test_truncated_late_and_exchanged_data_are_detected(core: Core, flip: Path, error: str, tmp_path: Path) -> None:
    row = {"dimensions": 1, "periodic": "no"}
    rows = {
        operation.name
        for operation in core.description.operations
        if "periodic" in {option.name for option in operation.options}
    }
    corruptions = [
        Corruption(
            {"operation": operation.name, "bytes": 1024, "datatype": "int"} | (row if operation.name in rows else {}),
            calls,
        )
        for operation in core.description.operations
        # pingpong-packed would be corrupted twice.
        if is_delivering(operation) and operation.sized and operation.name != "pingpong-packed"
        for calls in [find_calls(operation, operation.form)[-1:]]
    ]
    assert find_undetected_changes(core, flip, tmp_path, corruptions, error) == []


CORRUPTED_TWICE = {"pingpong-packed", "pack", "unpack"}
"""Packing and unpacking: the data pass through two calls."""
WINDOWS = ("bandwidth", "message-rate", "fan-in", "fan-out")
GETS = ("get", "get-bandwidth", "get-bidirectional", "get-pairs", "get-exchange", "get-one-to-all", "get-all-to-all")
CALLS_AGAIN = {
    *(f"{name}.{form}" for name in WINDOWS for form in FORMS),
    *(f"{name}.nonblocking" for name in (*GETS, "get_accumulate")),
    *(f"{name}.blocking" for name in ("exchange", "halo", "pingping", "send-gap")),
}
"""Operations that call MPI again after the call that delivers: to wait for sends, to flush, or to report arrival."""


def test_data_that_arrive_with_the_next_call_only_are_detected(core: Core, flip: Path, tmp_path: Path) -> None:
    """Data put into the memory of another rank are not delivered by that rank's own calls."""
    corruptions = [
        Corruption(case | {"datatype": "int"}, find_calls(operation, form)[-1:])
        for form in FORMS
        for operation in core.list_operations(form, 2)
        for case in make_cases([operation], form, [64, 1024, 1 << 16])
        if is_delivering(operation)
        and operation.name not in CORRUPTED_TWICE
        and "MPI_Put" not in find_calls(operation, form)
        if (operation.kind != "one-sided" or "get" in operation.name) and f"{operation.name}.{form}" not in CALLS_AGAIN
    ]
    assert len(corruptions) > 150
    assert find_undetected_changes(core, flip, tmp_path, corruptions, "later") == []


PASSIVE = ("flush", "flush_local", "lock", "lock_all")
PUTS = ("MPI_Put", "MPI_Rput", "MPI_Accumulate", "MPI_Raccumulate", "MPI_Get_accumulate", "MPI_Rget_accumulate")
TRIES = 8
UPDATES = (*PUTS, "MPI_Fetch_and_op", "MPI_Compare_and_swap")


@pytest.mark.parametrize("clocks", ["shared", "separate"])
def test_late_changes_of_other_ranks_memory_are_detected(core: Core, flip: Path, clocks: str, tmp_path: Path) -> None:
    """They leave at the origin's next MPI call: every operation, form and epoch in which targets call nothing.

    With `separate` ranks compare times by their clocks only, as between hosts. A rank that loses its CPU does not
    detect a fault, so undetected faults are tried again.
    """
    sizes, options = ([64, 1 << 14], ()) if clocks == "shared" else ([64], ("--separate-clocks",))
    cases = [
        case | {"datatype": "int", "epoch": epoch}
        for form in FORMS
        for operation in core.list_operations(form, 2)
        if operation.kind == "one-sided" and not operation.name.startswith(("get-", "ring")) and operation.name != "get"
        for case in make_cases([operation], form, sizes)
        for epoch in PASSIVE
    ]
    before = ("env", f"LD_PRELOAD={flip}", f"FLIP={','.join(UPDATES)}", "FLIP_HOW=postpone")
    late = re.compile(
        r"rank \d: (another rank's call returned before its data had arrived|\d ranks added 1 to a number .*)"
    )
    for attempt in range(TRIES):
        records = core.run_job(tmp_path, 2, cases, "--probe", *options, before=before)
        assert attempt or len({name_case(record) for record in records}) >= 18
        caught = [record["status"] != "ok" for record in records]
        assert [
            record["reason"] for record in records if record["status"] != "ok" and not late.fullmatch(record["reason"])
        ] == []
        cases = [case for case, is_caught in zip(cases, caught, strict=True) if not is_caught]
        if not cases:
            break
    assert cases == []


@pytest.mark.parametrize("call", ["MPI_Put", "MPI_Accumulate"])
def test_changes_of_other_ranks_memory_that_are_late_for_some_timed_calls_are_detected(
    core: Core, flip: Path, call: str, tmp_path: Path
) -> None:
    """From the 300th call on and not at the end."""
    before = ("env", f"LD_PRELOAD={flip}", f"FLIP={call}", "FLIP_HOW=postpone", "FLIP_AFTER=300", "FLIP_UNTIL=5000")
    selection = {"operation": call[4:].lower(), "bytes": 64, "datatype": "int", "samples": 6000, "limit_s": 60}
    (record,) = core.run_job(tmp_path, 2, [selection], "--each", before=before)
    assert (record["status"], record["taken"]) == ("wrong-data", 6000)
    assert record["reason"].endswith("another rank's call returned before its data had arrived")


@pytest.mark.parametrize("call", ["MPI_Allreduce", "MPI_Bcast", "MPI_Recv"])
def test_data_that_are_late_for_some_timed_calls_are_detected(
    core: Core, flip: Path, call: str, tmp_path: Path
) -> None:
    """From the 300th call on and not at the end, where data arrive in time again."""
    before = ("env", f"LD_PRELOAD={flip}", f"FLIP={call}", "FLIP_HOW=later", "FLIP_AFTER=300", "FLIP_UNTIL=1500")
    operation = "pingpong" if call == "MPI_Recv" else call.removeprefix("MPI_").lower()
    selection = {"operation": operation, "bytes": 64, "start": "barrier", "samples": 3000, "limit_s": 60}
    (record,) = core.run_job(tmp_path, 2, [selection], before=before)
    assert record["status"] == "wrong-data"
    # Either by a check after the call, or because the call did not deliver the data of earlier calls again.
    late, missing = "the call returned before its data had arrived", "a repeated call did not deliver its data"
    wrong = "6[34] of 64 received bytes are wrong.*|nothing was delivered: all 64 bytes still hold .*"
    assert re.fullmatch(rf"rank \d: ({late}|{missing}|{wrong})", record["reason"])
    assert record["taken"] == 3000


@pytest.fixture(scope="module")
def hollow_library(core: Core, tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = tmp_path_factory.mktemp("hollow") / "hollow.so"
    command = [core.library.wrapper, "-shared", "-fPIC", "-o", str(library), str(FLIP.with_name("hollow.c"))]
    subprocess.run(command, check=True, env={**os.environ, **core.library.environment})
    return library


RATES = ("bandwidth", "message-rate", "pingpong", "pingpong-pairs")
HOLLOW: dict[str, tuple[list[dict[str, object]], str]] = {
    "barrier": (
        [{"operation": "barrier", "form": form} for form in FORMS],
        r"rank \d: the call returned before rank \d entered it",
    ),
    "dup": (
        [{"operation": "comm_dup", "form": form} for form in ("blocking", "nonblocking")],
        r"rank \d: the new communicator is the old one",
    ),
    "synchronous": (
        [
            {"operation": operation, "form": form, "bytes": 8, "mode": "synchronous"}
            for operation in RATES
            for form in FORMS
        ],
        r"rank \d: a synchronous send completed before rank \d began to receive",
    ),
}
"""Calls without data, and the message if they do nothing."""


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("call", HOLLOW)
def test_calls_without_data_that_do_nothing_are_detected(
    core: Core, hollow_library: Path, call: str, ranks: int, tmp_path: Path
) -> None:
    """Each is tried several times: a rank without a CPU calls after the late one, and detects nothing then."""
    cases, reason = HOLLOW[call]
    before = ("env", f"LD_PRELOAD={hollow_library}", f"HOLLOW={call}")
    remaining = cases
    for _ in range(TRIES):
        records = core.run_job(tmp_path, ranks, remaining, "--probe", before=before)
        wrong = [record for record in records if record["status"] != "ok"]
        assert [record["reason"] for record in wrong if not re.fullmatch(reason, record["reason"])] == []
        remaining = [case for case, record in zip(remaining, records, strict=True) if record["status"] == "ok"]
        if not remaining:
            break
    assert remaining == []
    right = core.run_job(tmp_path, ranks, cases, "--probe", before=("env", f"LD_PRELOAD={hollow_library}"))
    assert [record["status"] for record in right] == ["ok"] * len(cases)


def test_each_operation_is_checked_or_has_a_reason(core: Core) -> None:
    odd = [
        operation.name for operation in core.description.operations if operation.checked == bool(operation.unchecked)
    ]
    assert odd == []
    assert "barrier" in {operation.name for operation in core.description.operations if operation.checked}


def test_a_message_in_place_of_another_is_detected(core: Core, flip: Path, tmp_path: Path) -> None:
    """For windows, whose messages are sent from one buffer."""
    corruptions = [
        Corruption({"operation": operation.name, "form": form, "bytes": 64}, (call,))
        for operation in core.description.operations
        if "window" in {option.name for option in operation.options} and operation.kind == "point-to-point"
        for form, call in (("blocking", "MPI_Recv"), ("nonblocking", "MPI_Irecv"))
        if form in operation.forms
    ]
    assert len(corruptions) > 5
    assert find_undetected_changes(core, flip, tmp_path, corruptions, "exchange") == []


def find_undetected_changes(
    core: Core, flip: Path, tmp_path: Path, corruptions: list[Corruption], error: str
) -> list[tuple[str, str, str]]:
    """Return the cases whose results are corrupted in another way and whose data are not reported as wrong."""
    calls = sorted({call for corruption in corruptions for call in corruption.calls})
    before = ("env", f"LD_PRELOAD={flip}", f"FLIP={','.join(calls)}", f"FLIP_HOW={error}")
    records = core.run_job(tmp_path, 2, [corruption.case for corruption in corruptions], "--probe", before=before)
    assert len(records) == len(corruptions)
    others = [record for record in records if record["status"] != "wrong-data" and not core.lacks(record)]
    return [(name_case(other), other["status"], other["reason"]) for other in others]


def test_a_corrupted_byte_is_detected_with_every_option(core: Core, flip: Path, tmp_path: Path) -> None:
    """Options that change the calls that deliver data, or the time of delivery."""
    names = {"epoch", "allocation", "receive", "counts", "graph"}
    corruptions = [
        Corruption(
            {"operation": operation.name, "bytes": 1024, "datatype": "int", option.name: value},
            ("MPI_Mrecv",) if value == "matched-probe" else find_calls(operation, operation.form),
        )
        for operation in core.description.operations
        for option in operation.options
        for value in option.values
        if option.name in names and f"{operation.name}.{operation.form}" not in core.list_wrong(2)
    ]
    missed = find_undetected(core, flip, tmp_path, corruptions, "last")
    assert [entry for entry in missed if entry[1] != "refused"] == []
    assert {reason for _, status, reason in missed if status == "refused"} <= REFUSED


@pytest.mark.parametrize(
    "case", ["allreduce.blocking", "gatherv.nonblocking", "bcast.persistent", "pingpong.blocking", "put.blocking"]
)
def test_a_byte_corrupted_in_timed_calls_is_detected_afterwards(
    core: Core, flip: Path, case: str, tmp_path: Path
) -> None:
    name, form = case.split(".")
    (operation,) = [operation for operation in core.description.operations if operation.name == name]
    (call,) = find_calls(operation, form)
    before = ("env", f"LD_PRELOAD={flip}", f"FLIP={call}", "FLIP_AFTER=150")
    selection = {"operation": name, "form": form, "bytes": 1000, "start": "barrier", "samples": 400, "limit_s": 20}
    (record,) = core.run_job(tmp_path, 2, [selection], before=before)
    assert read_excess(record) == 1
    assert record["taken"] > 0


@pytest.mark.parametrize("operation", ["allreduce", "bcast"])
def test_a_fault_that_begins_between_visits_of_a_case_is_detected(
    core: Core, flip: Path, operation: str, tmp_path: Path
) -> None:
    """A case measured before in the launch is warmed up once; it is checked as thoroughly afterwards."""
    call = f"MPI_{operation.capitalize()}"
    before = ("env", f"LD_PRELOAD={flip}", f"FLIP={call}", "FLIP_AFTER=9000")
    selection = {"operation": operation, "bytes": 1000, "start": "barrier", "samples": 3000, "limit_s": 20}
    statuses = [record["status"] for record in core.run_job(tmp_path, 2, [selection] * 6, before=before)]
    assert {statuses[0], statuses[-1]} == {"ok", "wrong-data"}
    assert statuses == sorted(statuses)


def test_the_end_of_a_stream_has_the_parts_of_the_time(core: Core, tmp_path: Path) -> None:
    """The parts are all of the time: those of visits are most of the time between the first and the last of them."""
    stream = tmp_path / "stream"
    selection = ["--op", "bcast", "--sizes", "8,64K", "--samples", "3000"]
    began_s = time.monotonic()
    core.run(2, "--quiet", "--stream", str(stream), *selection, watch=stream)
    passed_s = time.monotonic() - began_s
    spent_s = json.loads(stream.read_text().splitlines()[-1])["spent_s"]
    assert 0 < spent_s["calls"] < sum(spent_s.values()) < passed_s
    assert all(spent_s[part] > 0 for part in ("rounds", "init", "prepare", "rehearse", "warm_up", "check", "write"))
    assert spent_s["wait"] < 0.1 * passed_s


@pytest.fixture(scope="module")
def fault(core: Core, tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = tmp_path_factory.mktemp("fault") / "fault.so"
    command = [core.library.wrapper, "-shared", "-fPIC", "-o", str(library), str(FLIP.with_name("fault.c")), "-ldl"]
    subprocess.run(command, check=True, env={**os.environ, **core.library.environment})
    return library


SLOW_FIRST: dict[str, tuple[str, dict[str, object]]] = {
    "allreduce": ("MPI_Allreduce", {}),
    "allreduce in place": ("MPI_Allreduce", {"operation": "allreduce", "buffers": "in-place"}),
    "allreduce with cold buffers": ("MPI_Allreduce", {"operation": "allreduce", "cache": "cold"}),
    "allreduce by threads": ("MPI_Allreduce", {"operation": "allreduce", "threads": 2}),
    "bcast": ("MPI_Bcast", {"datatype": "vector"}),
    "send-gap": ("MPI_Send", {}),
    "bandwidth": ("MPI_Isend", {"form": "nonblocking"}),
    "overlap": ("MPI_Iallreduce", {"operation": "allreduce", "form": "nonblocking", "quantity": "overlap"}),
    "put": ("MPI_Put", {}),
    "put with fences": ("MPI_Put", {"operation": "put", "epoch": "fence"}),
    "get": ("MPI_Get", {}),
}
"""Calls whose first one takes long, and the case. All are of 64 KiB and follow a case of 8 B."""


@pytest.mark.parametrize(
    "name",
    [name if name in {"allreduce", "put"} else mark_thorough(name) for name in SLOW_FIRST],
)
def test_a_library_whose_first_call_takes_long_is_right(core: Core, fault: Path, tmp_path: Path, name: str) -> None:
    """A call before timing uses up the time limit. The case is measured all the same, with few samples."""
    call, words = SLOW_FIRST[name]
    usual = {"operation": name, "start": "barrier", "samples": 20, "fill_s": 0.003, "limit_s": 0.04}
    cases = [usual | words | {"bytes": size} for size in (8, 65536)]
    if "datatype" in words:
        cases[0]["bytes"] = 960
    when = ("FAULT=take-long", f"FAULT_CALL={call}", "FAULT_BYTES=65536")
    threads = ["--threads"] if "threads" in words else []
    first, second = core.run_job(tmp_path, 2, cases, *threads, before=("env", f"LD_PRELOAD={fault}", *when))
    assert max(second["first_ns"], second["second_ns"]) > 1.1e9 > first["first_ns"]
    for record in (first, second):
        assert (record["status"], record["reason"]) == ("ok", "")
        assert record["taken"] >= record["valid"] > 0


def test_a_library_that_does_nothing_for_a_while_is_detected(core: Core, fault: Path, tmp_path: Path) -> None:
    """It works at the beginning and at the end: data are also renewed and checked between stages."""
    when = ("FAULT=withhold", "FAULT_CALL=MPI_Bcast", "FAULT_BYTES=64", "FAULT_AFTER=300", "FAULT_UNTIL=1500")
    selection = {"operation": "bcast", "bytes": 64, "start": "barrier", "samples": 3000, "limit_s": 60}
    (record,) = core.run_job(tmp_path, 2, [selection], before=("env", f"LD_PRELOAD={fault}", *when))
    assert (record["status"], record["taken"]) == ("wrong-data", 3000)
    missing = "a repeated call did not deliver its data"  # By the words that change in every round, or by new data.
    stale = r"[2-9]\d? of 64 received bytes are wrong, the first at offset \d+: 0x\w\w, not 0x\w\w"
    nothing = "nothing was delivered: all 64 bytes still hold what they had before the call"
    assert re.fullmatch(rf"rank 1: ({missing}|{stale}|{nothing})", record["reason"])


class Wrong(NamedTuple):
    """A case whose third call is wrong, and the first wrong byte."""

    case: dict[str, object]
    fault: str
    call: str
    first: int


WRONG_CASES = {
    "one byte": Wrong({"operation": "bcast", "bytes": 200000}, "flip", "MPI_Bcast", 199999),
    "one byte of a reduction": Wrong({"operation": "allreduce", "bytes": 960}, "flip", "MPI_Allreduce", 959),
    "nothing": Wrong({"operation": "bcast", "bytes": 64}, "withhold", "MPI_Bcast", 0),
    "nothing, with gaps": Wrong({"operation": "bcast", "bytes": 960, "datatype": "vector"}, "withhold", "MPI_Bcast", 0),
    "nothing, in place": Wrong(
        {"operation": "allreduce", "bytes": 64, "buffers": "in-place"}, "withhold", "MPI_Allreduce", 0
    ),
}


@pytest.mark.parametrize("name", WRONG_CASES)
@pytest.mark.parametrize("rank", [0, 1])
def test_the_stream_has_the_bytes_received_instead_of_right_ones(
    core: Core, fault: Path, name: str, rank: int, tmp_path: Path
) -> None:
    wrong = WRONG_CASES[name]
    job, stream = tmp_path / "job", tmp_path / "stream"
    root = {"root": 1 - rank} if wrong.call == "MPI_Bcast" and "root" not in wrong.case else {}
    words = " ".join(f"{key}={value}" for key, value in (wrong.case | {"start": "barrier"} | root).items())
    job.write_text(f"rankbench-job 1\ncase {words}\n")
    where = () if wrong.fault == "withhold" else (f"FAULT_RANK={rank}",)
    before = ("env", f"LD_PRELOAD={fault}", f"FAULT={wrong.fault}", f"FAULT_CALL={wrong.call}", *where)
    core.run(2, "--quiet", "--job", str(job), "--stream", str(stream), before=before, watch=stream)
    records = [json.loads(line) for line in stream.read_text().splitlines()]
    (evidence,) = [record for record in records if record["record"] == "evidence"]
    (case,) = [record for record in records if record["record"] == "case"]
    assert case["status"] == "wrong-data"
    assert case["reason"].startswith(f"rank {evidence['rank']}: ")
    actual, expected = bytes.fromhex(evidence["received"]), bytes.fromhex(evidence["expected"])
    different = [evidence["begin"] + at for at, (a, b) in enumerate(zip(actual, expected, strict=True)) if a != b]
    assert (evidence["first_wrong"], len(actual)) == (
        different[0],
        min(evidence["received_bytes"] - evidence["begin"], 65536),
    )
    assert (evidence["run"], evidence["received_bytes"]) == (1, wrong.case["bytes"])
    if wrong.fault == "flip":
        assert (evidence["rank"], different, evidence["wrong_bytes"]) == (rank, [wrong.first], 1)
    elif name != "nothing, in place":
        assert set(actual) == {0xA5}
        assert evidence["wrong_bytes"] == len(different)
    nothing = f"nothing was delivered: all {evidence['received_bytes']} bytes still hold what they had before the call"
    assert (nothing in case["reason"]) == (wrong.fault == "withhold")


def test_a_call_missing_in_the_library_is_reported(home: Path, reach: list[Library], tmp_path: Path) -> None:
    """Debian 12's Open MPI 4.1 has no persistent collectives."""
    old = _build_core(
        libraries.choose("openmpi", [library for library in reach if library.version.startswith("4.1")]), home
    )
    assert "MPI_Allreduce_init" in old.core_build.receipt.missing
    (record,) = old.measure(tmp_path, 2, "--op", "allreduce", "--form", "persistent", "--sizes", "8")
    assert (record["status"], record["reason"]) == ("lacking", "MPI_Allreduce_init is not in this library")


def test_the_table_is_readable(core: Core) -> None:
    process = core.run(
        2, "--op", "pingpong,bandwidth,message-rate", "--start", "none", "--sizes", "8,1K", "--samples", "50"
    )
    lines = [line for line in process.printed.splitlines() if not line.startswith("#")]
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
        "beside",
    ]
    assert [line.split()[0] for line in lines[1:]] == ["pingpong"] * 2 + ["bandwidth"] * 2 + ["message-rate"] * 2
    for line in lines[1:]:
        median, least, p90, p99, samples = (float(word) for word in line.split()[4:9])
        assert least <= median <= p90 <= p99
        assert samples == 50
    for line, amount, unit in ((lines[4], 64 * 1024, "MB/s"), (lines[6], 64 * 1e6, "messages/s")):
        words = line.split()
        assert words[11] == unit
        assert float(words[10]) == pytest.approx(amount / float(words[4]), rel=0.01, abs=0.6)


ROOM = {**dict.fromkeys(("operation", "form", "datatype", "start", "cache", "buffers", "pages"), 47), "settings": 255}
"""Longest texts of a case."""


def make_too_long(key: str, room: int) -> tuple[list[str], str]:
    """Return arguments with a text that is too long by one character, and the error."""
    text, operation = "x" * (room + 1), key == "operation"
    line = f"{key}: {room + 1} characters, at most {room} are allowed: {text[:60]}..."
    return ["--op", text] if operation else ["--op", "bcast", f"--{key.removeprefix('--')}", text], line


@pytest.mark.parametrize("core", ["mpich"], indirect=True)
@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--op", "allreduc"], "operation 'allreduc' is not known (--help lists all)"),
        (["--op", "bcast", "--form", "fast"], "bcast has no form 'fast' "),
        (["--op", "bcast", "--sizes", "8:4"], "--sizes: '8:4' is not a size or range such as 8, 64K, 8:1M or 8:1M:x4"),
        (["--op", "reduce", "--datatype", "byte"], "reduce: byte cannot be used (use int, float or double)"),
        (["--op", "put", "--with", "epoch"], "--with: 'epoch' is not NAME=VALUE"),
        (
            ["--op", "put", "--with", "epoch=soon"],
            "epoch: 'soon' is not known (allowed: flush, flush_local, lock, lock_all, ",
        ),
        (["--op", "bandwidth", "--with", "window=0"], "window: '0' is not a whole number from 1 to 4096"),
        (["--op", "put", "--with", "graph=cartesian"], "key 'graph' is not known of put (allowed: operation, form, "),
        (["--op", "reduce", "--sizes", "1,2,3"], "reduce: none of the sizes is a whole number of float of 4 bytes"),
        (["--op", "bcast", "--start", "soon"], "start 'soon' is not known (allowed: "),
        (["--op", "bcast", "--samples", "none"], "samples: 'none' is not a number"),
        (["--op", "bcast", "--samples", "0"], "bcast: samples must be 1 to 100000000, and tries not below 0"),
        (["--op", "bcast", "--limit", "0"], "bcast: limit_s must be more than 0"),
        (["--op", "bcast", "--rse", "-1"], "bcast: rse and interval must not be below 0, and least not below 1"),
        (["--op", "bcast", "--cache", ""], "cache: no name given"),
        (
            ["--op", "bcast", *["--limit", "1"] * 64],
            "more than 63 options of the cases; put cases into a job file (--job)",
        ),
        (["--op", "bcast", "--cache", "lukewarm"], "cache 'lukewarm' is not known (allowed: warm, cold, written)"),
        (["--op", "bcast", "--buffers", "two"], "buffers 'two' are not known (allowed: separate, in-place)"),
        (["--op", "bcast", "--pages", "big"], "pages 'big' are not known (allowed: touched, untouched, huge)"),
        (["--op", "bcast", "--alignment", "48"], "alignment 48 is no power of two up to 1073741824 (0: pages)"),
        (["--op", "bcast", "--root", "-2"], "root -2 is no rank (-1: rotating)"),
        (["--op", "bcast", "--clock", "sundial"], "time source 'sundial' is not known (allowed: auto, "),
        (["--op", "bcast", "--sync", "never"], "synchronisation 'never' is not known (allowed: "),
        *(make_too_long(key, room) for key, room in {**ROOM, "--clock": 47, "--sync": 47}.items()),
        (["--clocks", "--runs", "few"], "--runs: 'few' is not a number above 0"),
        (["--op", "bcast", "--stream", "/tmp", "--quiet"], "--stream /tmp: Is a directory"),
        (["--fast"], "option '--fast' is not known (--help lists all)"),
        (["--op"], "--op needs a value: NAME[,NAME...]"),
        ([], "nothing to measure: name an operation with --op, or a job with --job (--help shows more)"),
        (["--job", "/nowhere/job"], "--job /nowhere/job: No such file or directory"),
        (["--op", "bcast", "--stream", "/nowhere/s"], "--stream /nowhere/s: No such file or directory"),
    ],
)
def test_wrong_arguments_are_refused_in_one_line(core: Core, arguments: list[str], line: str) -> None:
    """With one library, since the core reads them in the same way with all."""
    assert_refused(core, arguments, line)


@pytest.mark.parametrize("arguments", [["--fast"], ["--stream", "/nowhere/s"]], ids=" ".join)
def test_every_library_ends_after_one_line(core: Core, arguments: list[str]) -> None:
    """One error is found while arguments are read, the other by rank 0 alone later."""
    texts = {"--fast": "option '--fast' is not known", "--stream": "--stream /nowhere/s: No such file or directory"}
    assert_refused(core, ["--op", "bcast", *arguments], texts[arguments[0]])


def assert_refused(core: Core, arguments: list[str], line: str) -> None:
    """Assert that two ranks print one line together, and that their launch fails."""
    process = core.run(2, *arguments)
    texts = [splitline for splitline in process.printed.splitlines() if "rankbench-core:" in splitline]
    assert len(texts) == 1
    assert texts[0].startswith(f"rankbench-core: {line}")
    assert process.exit_code != 0


@pytest.mark.parametrize("start", [*map(mark_thorough, ["none", "barrier", "roundtime"]), "window"])
def test_ranks_compute_before_each_call_and_are_not_timed_meanwhile(core: Core, start: str, tmp_path: Path) -> None:
    case = {"operation": "allreduce", "bytes": 8, "start": start, "samples": 20}
    began = time.monotonic()
    (record,) = core.run_job(tmp_path, 2, [case | {"gap_us": 20000}])
    assert time.monotonic() - began > 20 * 0.02
    if record["cause"] != LATE_START:  # On a machine so busy that no start is in time.
        assert record["status"] == "ok"
        assert min(record["series"][0]["time_ns"]) < 10e6


def test_a_damaged_job_is_reported_by_line(core: Core, tmp_path: Path) -> None:
    job = tmp_path / "job"
    job.write_text("rankbench-job 1\ncase operation=bcast bytes=8\ncase operation=bcast bites=8\n")
    process = core.run(2, "--job", str(job))
    allowed = (
        "operation, form, bytes, datatype, start, cache, buffers, pages, settings, alignment, root, samples, tries, "
        "rse, interval, least, fill_s, limit_s, threads, arrival, spread_us, gap_us, quantity, tests, compute_us, "
        "thread_level"
    )
    where = f"rankbench-core: --job {job} line"
    assert f"{where} 3: key 'bites' is not known of bcast (allowed: {allowed})\n" in process.printed
    job.write_text("rankbench-job 1\nset clock=auto time=now\ncase operation=bcast bytes=8\n")
    process = core.run(2, "--job", str(job))
    allowed = "clock=NAME, sync=NAME, ranks=all, calls=each, patience=SECONDS"
    assert f"{where} 2: setting 'time=now' is not known (allowed: {allowed})\n" in process.printed


@pytest.mark.parametrize("core", ["mpich"], indirect=True)
def test_the_keys_of_an_operation_are_all_listed(core: Core, tmp_path: Path) -> None:
    """Of the operation with the longest list."""
    lists = {entry.name: [option.name for option in entry.options] for entry in core.description.operations}
    name = max(lists, key=lambda entry: len(", ".join(lists[entry])))
    job = tmp_path / "job"
    job.write_text(f"rankbench-job 1\ncase operation={name} bites=8\n")
    assert f", {', '.join(lists[name])})\n" in core.run(2, "--job", str(job)).printed


@pytest.mark.parametrize("core", ["mpich"], indirect=True)
@pytest.mark.parametrize("key", [*ROOM, "clock", "sync"])
def test_no_text_of_a_job_is_cut(core: Core, key: str, tmp_path: Path) -> None:
    """What does not fit is an error, also at the end of a line that is longer than any before."""
    room, job = ROOM.get(key, 47), tmp_path / "job"
    case = "case operation=bcast" + " bytes=8" * 100
    line = {"operation": "case operation=TEXT", "clock": "set clock=TEXT", "sync": "set sync=TEXT"}
    text = line.get(key, f"{case} {key}=TEXT").replace("TEXT", "x" * (room + 1))
    job.write_text(f"rankbench-job 1\n{text}\n")
    process = core.run(2, "--job", str(job))
    assert f"job line 2: {key}: {room + 1} characters, at most {room} are allowed: xxx" in process.printed
    assert process.exit_code != 0


@pytest.mark.parametrize("core", ["mpich"], indirect=True)
@pytest.mark.parametrize(
    ("key", "value"), [("settings", ";"), ("samples", "3"), ("cache", "cold"), ("alignment", "64")]
)
def test_a_case_with_another_value_of_any_key_is_another_case(
    core: Core, fault: Path, key: str, value: str, tmp_path: Path
) -> None:
    """Several calls are rehearsed at the first visit of a case, and one at later ones."""
    printing = ("FAULT=print", "FAULT_CALL=MPI_Bcast", "FAULT_RANK=1")
    case, job = "case operation=bcast bytes=8", tmp_path / "job"
    calls = []
    for others in ("", f"{case}\n", f"{case} {key}={value}\n"):
        job.write_text(f"rankbench-job 1\n{case}\n{others}")
        process = core.run(2, "--job", str(job), "--probe", before=("env", f"LD_PRELOAD={fault}", *printing))
        calls.append(process.printed.count("this call prints"))
    first, same, other = calls
    assert same == first + 1 < other


def test_buffers_that_do_not_fit_are_refused(core: Core) -> None:
    process = core.run(2, "--op", "pingpong", "--sizes", "2000000000000", "--datatype", "double")
    assert "refused: 2000000000000 bytes are more than 2^31-1 elements of type double" in process.printed
    process = core.run(2, "--op", "alltoall", "--sizes", "8G", "--datatype", "double")
    assert "GiB on this host do not fit into " in process.printed
    assert process.exit_code != 0


def test_too_few_ranks_are_reported(core: Core) -> None:
    process = core.run(1, "--op", "pingpong", "--sizes", "8")
    assert "refused: pingpong needs 2 ranks, there is 1" in process.printed
    assert process.exit_code == 2
