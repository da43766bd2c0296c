"""Self-tests of one library: the core launched as a campaign launches it, for operations of known time and data.

Nothing is judged here but whether a launch did what was asked; `statistics.clocks` and `statistics.selftest` judge.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import msgspec

from rankbench import build, launch, libraries, plan
from rankbench.campaign import doctor, exit_causes, launching
from rankbench.campaign.history import Turn
from rankbench.launch import occupancy
from rankbench.model import (
    FORMS,
    ROTATING,
    Candidate,
    Case,
    CaseResult,
    CaseStatus,
    Memory,
    Placement,
    RankbenchError,
    Sampling,
    Step,
)
from rankbench.samples import study
from rankbench.samples import sums as sum_bits
from rankbench.samples.rounds import RoundStudy
from rankbench.samples.study import Study
from rankbench.samples.sums import SumStudy

if TYPE_CHECKING:
    from rankbench.build import Build
    from rankbench.model import Binding, Description, LaunchFacts, Library, Machine, Outcome, Plan, RankFact

    Failing = Callable[[list[list[CaseResult]]], set[str]]
    """Returns the names of the starts with wrong values, from the results of each launch."""

SIZES = "8,1000,64K"
"""Sizes of data checks: for the eager protocol of most libraries, no power of two, and for the rendezvous protocol."""
FEW_RANKS = (3, 4)
"""Data are checked on these numbers of ranks, too, however many cores there are: three is no power of two."""
MEMORY = (Memory(), Memory(buffers="in-place"), Memory(root=ROTATING))
"""States of memory in data checks: each may make a library take another path."""
OF_TIMES = {"quantity", "arrival"}
"""Options that change what is timed, but not what is sent."""
INTEGERS = "int"
"""Datatype that every reduction supports."""
THREADS = 2
"""Threads are not bound to their rank's core, where they would wait for each other."""
PROBE = "--probe"
"""Option of the core: check data, time nothing."""
PROBE_LIMIT_S = 20.0
"""After this time without a sign of life, an untimed call counts as hung."""
STREAM, OUTPUT = "stream.jsonl", "output.log"
"""Files of a launch."""
SUMS_LIMIT_S = 120.0
"""After this time without a record, a study of sums counts as hung: ranks may share cores."""
Studied = TypeVar("Studied", Study, SumStudy, RoundStudy)
MOST_LAUNCHES = 24
"""Most launches of one round of checks; each crash and each hang costs one."""
SAMPLES = 1000
LAUNCHES = 3
"""Launches of a start with wrong values in the first one, which may have been disturbed; the median of three is not."""


class Nodes(NamedTuple):
    """Where ranks run: on this machine, or dealt out evenly over hosts."""

    hosts: tuple[str, ...] = ()
    remote_shell: str = ""
    one_machine: bool = False
    """Whether the hosts are emulated here."""

    def make_folder(self) -> tempfile.TemporaryDirectory[str]:
        """Return a temporary folder that they see: on other nodes, in the current one."""
        if not self.hosts:
            return tempfile.TemporaryDirectory(prefix="rankbench-")
        return tempfile.TemporaryDirectory(prefix=".rankbench-", dir=Path.cwd())


HERE = Nodes()


class Bench(NamedTuple):
    """A library and its core, checked in a placement, for launching self-tests."""

    library: Library
    build: Build
    description: Description
    machine: Machine
    placement: Placement
    facts: LaunchFacts
    ranks: list[RankFact]
    folder: Path
    """Folder for the files of launches."""


def prepare_bench(library: Library, ranks: int, home: Path, folder: Path, nodes: Nodes = HERE) -> Bench:
    """Build the core and check it with a number of ranks, which share cores only if there are too few.

    Raises RankbenchError if the check fails, or as `place_ranks` does.
    """
    return prepare_placement(library, place_ranks(ranks, launch.machine(), nodes), home, folder)


def place_ranks(ranks: int, machine: Machine, nodes: Nodes) -> Placement:
    """Return the placement of a number of ranks. Raises RankbenchError if hosts would have unequal numbers of them."""
    count = len(nodes.hosts) or 1
    if ranks % count:
        raise RankbenchError(f"--ranks {ranks}: not a multiple of {count} hosts, which have equal numbers of ranks")
    each = ranks // count
    binding: Binding = "none" if nodes.one_machine or machine.short_of_cores(each) else "core"
    return Placement(
        name=f"{count}x{each}",
        nodes=count,
        ranks_per_node=each,
        binding=binding,
        hosts=list(nodes.hosts),
        remote_shell=nodes.remote_shell,
        one_machine=nodes.one_machine and count > 1,
    )


def prepare_placement(library: Library, placement: Placement, home: Path, folder: Path) -> Bench:
    """Build the core and check it in a placement, whose nodes see the folder. Raises RankbenchError if that fails."""
    core = build.build(library, home)
    check = doctor.check(library, core, placement, folder)
    if not check.works or not check.facts:
        raise RankbenchError(f"{library.name}: {check.reason}")
    described = build.describe(core)
    return Bench(library, core, described, launch.machine(), placement, check.facts, list(check.ranks), folder)


def clocks(bench: Bench, arguments: Sequence[str], wait_s: float) -> Study:
    """Return the core's study of the clocks, which prints nothing for up to `wait_s`.

    Raises RankbenchError if it does not end as it should.
    """
    return study_launch(bench, ["--clocks", *arguments], doctor.LIMIT_S + wait_s, study.read)


def sums(bench: Bench, settings: Mapping[str, str] | None = None) -> SumStudy:
    """Return the core's study of sums in one launch, with settings of a candidate.

    Raises RankbenchError if it does not end as it should.
    """
    return study_launch(bench, ["--sums"], SUMS_LIMIT_S, sum_bits.read, settings)


def study_launch(
    bench: Bench,
    arguments: Sequence[str],
    limit_s: float,
    read: Callable[[Path], Studied],
    settings: Mapping[str, str] | None = None,
) -> Studied:
    """Launch a study of the core; return its result. Raises RankbenchError if it does not end as it should."""
    stream_file, output = bench.folder / STREAM, bench.folder / OUTPUT
    stream_file.write_bytes(b"")
    program = [str(bench.build.binary), *arguments, "--stream", str(stream_file)]
    family = libraries.find_family(bench.library)
    command = family.make_launch_line(bench.library, bench.placement, settings or {}, program)
    outcome = launch.run(Step(command=command, output=output, watch=stream_file, limit_s=limit_s))
    return read_study(bench.library, outcome, bench.folder, read)


def read_study(library: Library, outcome: Outcome, folder: Path, read: Callable[[Path], Studied]) -> Studied:
    """Return the study of a launch from its files. Raises RankbenchError if it did not end as it should."""
    result = read(folder / STREAM)
    text = (folder / OUTPUT).read_text(encoding="utf-8", errors="replace")
    cause = exit_causes.explain_log(text, libraries.find_family(library).name, outcome.exit_code)
    reason = result.stream.damage or doctor.explain_end(outcome, result.stream, cause, text)
    if reason:
        raise RankbenchError(f"{library.name}: {reason}")
    return result


def data(bench: Bench) -> list[CaseResult]:
    """Check the data of every operation in every form, with every state of memory."""
    return check_data(bench, memory=list(MEMORY))


def thorough_data(bench: Bench) -> list[CaseResult]:
    """Check data with every datatype and every value of every option, one deviation from the defaults at a time."""
    usual = {operation.name: operation.datatype for operation in bench.description.operations}
    options = {option.name: option for operation in bench.description.operations for option in operation.options}
    every = [datatype.name for datatype in bench.description.datatypes]
    results = check_data(bench, lambda case: case.datatype != usual[case.operation], datatypes=every)
    for name, option in options.items():
        integers = {"datatypes": [INTEGERS]} if name == "reduction" else {}
        if option.values and name not in OF_TIMES:
            results += check_data(bench, _has_option(name), options={name: option.values}, **integers)
    free = bench._replace(placement=msgspec.structs.replace(bench.placement, binding="none"))
    return results + check_data(free, _has_option("threads"), options={"threads": [str(THREADS)]})


def _has_option(name: str) -> Callable[[Case], bool]:
    return lambda case: name in case.options


def check_data(bench: Bench, wanted: Callable[[Case], bool] = lambda _: True, **others: object) -> list[CaseResult]:
    """Check data of the selected cases of all operations and forms; `others` are fields of the plan."""
    test_plan = make_plan(bench, forms=list(FORMS), launch_limit_s=PROBE_LIMIT_S, **others)
    cases, _ = plan.expand_plan(test_plan, bench.description, bench.machine)
    return run(bench, test_plan, [case for case in cases if wanted(case)], PROBE)


class Waits(NamedTuple):
    """Operations of known time under one time source."""

    by_launch: list[list[CaseResult]]
    others: float
    """Share of the machine's CPU time that other processes used meanwhile."""


def measure_waits(bench: Bench, operations: Sequence[str], clock: str, failing: Failing) -> Waits:
    """Run operations of known time with every start by one time source.

    Starts that `failing` names after the first launch are measured in LAUNCHES launches.
    """
    began = occupancy.read_times()
    wanted = make_plan(bench, clock=clock, sampling=Sampling(good=SAMPLES))
    cases = [wait_case(bench, operation, start.name) for start in bench.description.starts for operation in operations]
    by_launch = [run(bench, wanted, cases)]
    wrong = failing(by_launch)
    again = [case for case in cases if case.start in wrong]
    by_launch += [run(bench, wanted, again) for _ in range(1, LAUNCHES) if again]
    return Waits(by_launch, occupancy.measure_others_share(began))


def wait_case(bench: Bench, operation: str, start: str) -> Case:
    """Return the case of an operation without data; any start is allowed."""
    place = bench.placement
    return Case(operation=operation, form="blocking", size_bytes=0, datatype="byte", placement=place.name,
                ranks=place.ranks, start=start)  # fmt: skip


def make_plan(bench: Bench, **others: object) -> Plan:
    """Return a plan of this library without settings, with all operations."""
    values = {"candidates": [bench.library.family], "operations": ["all"], "sizes": SIZES}
    parsed = plan.make_plan(values, "self-test", bench.machine)
    return msgspec.structs.replace(parsed, placements=[bench.placement], **others)


def run(bench: Bench, wanted: Plan, cases: Sequence[Case], *mode: str) -> list[CaseResult]:
    """Launch cases as a campaign does; after a crash or hang the remaining cases get another launch.

    After MOST_LAUNCHES launches the rest is not run.
    """
    results: list[CaseResult] = []
    remaining = list(cases)
    for _ in range(MOST_LAUNCHES):
        rows = launch_cases(bench, wanted, remaining, *mode) if remaining else []
        results += rows
        ended = {row.case.key for row in rows}
        remaining = [case for case in remaining if case.key not in ended]
    reason = f"not tried: {MOST_LAUNCHES} launches ended before their last call"
    return results + [CaseResult(case=case, status=CaseStatus.NOT_RUN, reason=reason) for case in remaining]


def launch_cases(bench: Bench, wanted: Plan, cases: list[Case], *mode: str) -> list[CaseResult]:
    """Launch cases once; return the results of those that began, or `not run` for all if none did."""
    library, place = bench.library, bench.placement
    candidate = Candidate(name=library.name, library=library.name)
    turn = Turn(1, candidate.name, place.name)
    request = launching.LaunchRequest(1, turn, 0, candidate, library, place, wanted, bench.build.binary, cases)
    job, stream, output = launching.prepare_files(request, bench.folder)
    program = launching.make_core_words(request, job, stream, mode)
    family = libraries.find_family(library)
    command = family.make_launch_line(library, place, {}, program)
    ending = launching.run_step(
        request, Step(command=command, output=output, watch=stream, limit_s=wanted.launch_limit_s)
    )
    if rows := launching.list_rows(ending):
        return rows
    cause = exit_causes.explain_log(launching.tail(output), family.name)
    reason = "; ".join(filter(None, [ending.reason, cause]))
    return [CaseResult(case=case, status=CaseStatus.NOT_RUN, reason=reason) for case in cases]
