"""The command `verify`: whether libraries deliver correct data here, and whether measured times are accurate."""

from __future__ import annotations

import contextlib
import io
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from rich.table import Table
from rich.text import Text

from rankbench import launch
from rankbench.analysis.questions import case_labels
from rankbench.analysis.statistics import known_times as truths
from rankbench.analysis.statistics.known_times import Trial, Wait
from rankbench.campaign import selftest
from rankbench.campaign.selftest import Bench, Nodes
from rankbench.cli import sum_study
from rankbench.cli.clock_study import LONGEST_WAIT_S, ClockOptions, study_libraries
from rankbench.cli.display import columns, console, describe_places, spread_lines
from rankbench.cli.formats import TableOrJson, add_output_option, check_format, print_json
from rankbench.cli.shared_options import (
    Hosts,
    InJob,
    Modules,
    OneMachine,
    Prefixes,
    RemoteShell,
    choose_libraries,
)
from rankbench.launch.occupancy import QUIET
from rankbench.model import FORMS, CaseResult, CaseStatus, Library, RankbenchError, SourceFact
from rankbench.plan import notation
from rankbench.quantities import format_duration, format_size, format_time, spell_count
from rankbench.units import suggestion
from rankbench.workflows.job_nodes import find_job_nodes
from rankbench.workflows.locations import home

ORDER = 75
GROUP = "Check"
EXAMPLES = """
rankbench verify
rankbench verify openmpi --thorough --time 2h
rankbench verify --clocks
rankbench verify mpich --in-job          # data between the nodes of its job
rankbench verify mpich openmpi --sums
rankbench verify openmpi --clocks --runs 50 --format json --output clock.json
"""
WORDS = {
    CaseStatus.OK: "right",
    CaseStatus.WRONG_DATA: "[red]WRONG[/]",
    CaseStatus.LACKING: "lacking",
    CaseStatus.REFUSED: "refused",
    CaseStatus.FAILED: "[red]failed[/]",
    CaseStatus.CRASHED: "[red]crashed[/]",
    CaseStatus.HUNG: "[red]hung[/]",
    CaseStatus.NOT_RUN: "[red]not run[/]",
}
"""Words for statuses of calls in tables, the best first."""
HARMLESS = {CaseStatus.OK, CaseStatus.LACKING, CaseStatus.REFUSED}
EVERY = "all"
TIME, RUNS, WAIT_S = "30m", 20, 0.2
"""Defaults of options."""


class Failure(NamedTuple):
    """A failure, or what could not be verified because of the machine."""

    line: str
    certain: bool = True
    of_data: bool = False
    cause: str = ""
    """What it has in common with others of its library; empty: nothing."""
    what: str = ""
    """The call or the time, without the cause."""
    detail: str = ""
    """What was found."""

    @property
    def text(self) -> str:
        """Return the printed line."""
        return f"{'FAILED' if self.certain else 'cannot be verified here:'} {self.line}"

    @classmethod
    def of_call(cls, library: str, what: str, status: str, form: str, reason: str) -> Failure:
        """Return the failure of a call's data; those of one form have a line in common."""
        line = f"{library}: {what}: {status}: {reason}"
        named = what.replace(f" {form}", "", 1)
        return cls(line, of_data=True, cause=f"{library}: {status}, {form}", what=named, detail=reason)

    @classmethod
    def of_time(cls, library: str, what: str, detail: str, why: str, *, certain: bool) -> Failure:
        """Return a time that is wrong or missing; those that have the same reason have a line in common."""
        return cls(f"{library}: {what}: {detail}; {why}", certain, cause=f"{library}: {why}", what=what, detail=detail)


def join_failures(failures: Sequence[Failure]) -> list[Failure]:
    """Return failures with a line for each cause, where that of several names all and shows the first."""
    groups: dict[tuple[str, bool], list[Failure]] = {}
    for place, failure in enumerate(failures):
        groups.setdefault((failure.cause or str(place), failure.certain), []).append(failure)
    return [join_alike(alike) if len(alike) > 1 else alike[0] for alike in groups.values()]


def join_alike(alike: Sequence[Failure]) -> Failure:
    """Return one failure in place of several with the same cause."""
    first = alike[0]
    named = "; ".join(failure.what for failure in alike)
    counted = spell_count(len(alike), "call" if first.of_data else "time")
    return first._replace(line=f"{first.cause}, {counted}: {named}. The first: {first.detail}")


@add_output_option
def verify(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="LIBRARY", help="Libraries to test; default: all that are found.")
    ] = None,
    ranks: Annotated[int | None, typer.Option(min=1, help="Number of ranks; default: one per core.")] = None,
    clock: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this time source; default: all.")
    ] = None,
    thorough: Annotated[  # noqa: FBT002
        bool, typer.Option("--thorough", help="Also check data with every datatype and option.")
    ] = False,
    clocks: Annotated[  # noqa: FBT002
        bool,
        typer.Option(
            "--clocks", help="Only study clocks, with the first library or those named: synchronisation, drift, cost."
        ),
    ] = False,
    sums: Annotated[  # noqa: FBT002
        bool,
        typer.Option(
            "--sums", help="Only compare the bits of sums: between ranks, calls, launches and orders of ranks."
        ),
    ] = False,
    runs: Annotated[
        int, typer.Option(min=1, help="With --clocks: runs of each synchronisation method with each time source.")
    ] = RUNS,
    wait: Annotated[
        float,
        typer.Option(
            min=0.001,
            max=LONGEST_WAIT_S,
            help="With --clocks: seconds between a synchronisation and the second check.",
        ),
    ] = WAIT_S,
    all_sources: Annotated[  # noqa: FBT002
        bool,
        typer.Option("--all-sources", help="With --clocks: every time source, not only the one that auto selects."),
    ] = False,
    prefix: Prefixes = None,
    modules: Modules = None,
    hosts: Hosts = "",
    remote_shell: RemoteShell = "",
    one_machine: OneMachine = False,  # noqa: FBT002
    in_job: InJob = False,  # noqa: FBT002
    time_: Annotated[
        str, typer.Option("--time", metavar="TIME", help="No check begins after this time; what is left out is named.")
    ] = TIME,
    format_: TableOrJson = "table",
) -> None:
    """Test that data are right, and that times are true.

    Checks the data of every call, without --ranks also on three and four ranks, and times operations of known duration
    with every clock and start. With --hosts or --in-job ranks are on these nodes, evenly. With --clocks it tests the
    accuracy, the cost and the drift of synchronised clocks instead.

    Exit code 1: data or times are wrong. Times that other work or the hypervisor disturbed are reported as "cannot be
    verified here" and are no failure.
    """
    form = check_format(format_, "table", "json")
    nodes = find_nodes(hosts, remote_shell, one_machine=one_machine, in_job=in_job)
    data = {"--clock": bool(clock), "--thorough": thorough, "--time": time_ != TIME}
    study = {"--runs": runs != RUNS, "--wait": wait != WAIT_S, "--all-sources": all_sources}
    refuse_unused(*choose_mode(data, study, clocks=clocks, sums=sums))
    if clocks:
        reach = choose_libraries(names or [], prefix or [], modules or [])
        study_libraries(reach if names else reach[:1], ClockOptions(ranks, runs, wait, all_sources, nodes), form)
        return
    if sums:
        sum_study.study_libraries(choose_libraries(names or [], prefix or [], modules or []), ranks, form)
        return
    limit = Limit.after(time_)
    failures: list[Failure] = []
    libraries = choose_libraries(names or [], prefix or [], modules or [])
    for library in libraries:
        quiet = contextlib.redirect_stdout(io.StringIO()) if form == "json" else contextlib.nullcontext()
        with nodes.make_folder() as folder, quiet:
            wanted = Wanted(choose_ranks(ranks, nodes), clock or [EVERY], thorough, limit, nodes)
            failures += check_library(library, wanted, Path(folder))
    if form == "json":
        lines = [failure._asdict() for failure in failures]
        names = [library.name for library in libraries]
        print_json({"libraries": names, "failures": lines, "not_reached": limit.missed})
        raise typer.Exit(any(failure.certain for failure in failures))
    print_failures(failures, limit)


def find_nodes(hosts: str, remote_shell: str, *, one_machine: bool, in_job: bool) -> Nodes:
    """Return the nodes that options name. Raises RankbenchError if there is no job."""
    if in_job:
        hosts, remote_shell = find_job_nodes()
    return Nodes(tuple(hosts.split(",")) if hosts else (), remote_shell, one_machine)


def choose_mode(
    data: Mapping[str, bool], study: Mapping[str, bool], *, clocks: bool, sums: bool
) -> tuple[str, dict[str, bool]]:
    """Return which test is made, and the options of the others.

    Args:
        data: options of the test of data and times, and whether they are given.
        study: the same of the study of clocks.
        clocks: whether clocks are studied.
        sums: whether sums are compared.
    """
    if clocks:
        return "with --clocks", {**data, "--sums": sums}
    return ("with --sums", {**data, **study}) if sums else ("without --clocks", dict(study))


def refuse_unused(mode: str, options: Mapping[str, object]) -> None:
    """Raise RankbenchError if an option is given that means nothing in this mode."""
    for option in (option for option, value in options.items() if value):
        raise RankbenchError(f"{option} means nothing {mode}; leave it out")


def print_failures(failures: Sequence[Failure], limit: Limit) -> None:
    """Print what is wrong, or could not be verified here; exit with code 1 if something is wrong."""
    for failure in join_failures(failures):
        spread_lines(failure.text)
    if limit.missed:
        spread_lines(f"not reached within {limit.text}: {'; '.join(limit.missed)}; --time allows more")
    if any(failure.of_data for failure in failures):
        console.print("Do not use these calls of these libraries, and report them to the vendors.")
    if any(failure.certain for failure in failures):
        raise typer.Exit(1)
    if failures:
        console.print(f"All data are correct. {len(failures)} of the checks of times cannot be verified here.")
    elif limit.missed:
        console.print("What was checked is right.")
    else:
        console.print("All data are correct, and all times are accurate.")


class Limit(NamedTuple):
    """When the last check may begin, and those that could not."""

    text: str
    until: float
    missed: list[str]

    @classmethod
    def after(cls, text: str) -> Limit:
        """Return the limit this time from now. Raises RankbenchError if it is no time."""
        try:
            return cls(text, time.monotonic() + notation.parse_seconds(text), [])
        except ValueError:
            raise RankbenchError(f"--time: found {text!r}, expected {notation.TIME_HELP}") from None

    def allows(self, check: str) -> bool:
        """Report whether a check may begin; otherwise note it."""
        if time.monotonic() < self.until:
            return True
        self.missed.append(check)
        return False


class Wanted(NamedTuple):
    """What is tested of each library: data on each number of ranks, times on the first."""

    ranks: list[int]
    clocks: Sequence[str]
    thorough: bool
    limit: Limit
    nodes: Nodes


def choose_ranks(requested: int | None, nodes: Nodes) -> list[int]:
    """Return the requested number of ranks, or one per core and the few that every machine can test; over nodes, one
    and two on each.
    """
    if requested:
        return [requested]
    if nodes.hosts:
        return [len(nodes.hosts), 2 * len(nodes.hosts)]
    usual = max(2, launch.machine().cores)
    return [usual, *(ranks for ranks in selftest.FEW_RANKS if ranks != usual)]


def check_library(library: Library, wanted: Wanted, folder: Path) -> list[Failure]:
    """Test one library, show the results, and return the failures."""
    usual, *others = wanted.ranks
    if not wanted.limit.allows(library.name):
        return []
    try:
        with console.status(f"{library.name}: building and checking …"):
            bench = selftest.prepare_bench(library, usual, home(), folder, wanted.nodes)
    except RankbenchError as error:
        return [Failure(str(error))]
    sources = choose_sources(bench, wanted.clocks)
    console.print(Text(f"{library.name}, {describe_places(bench.ranks)}", style="bold"), soft_wrap=True)
    failures = [*check_data(bench, thorough=wanted.thorough)]
    for ranks in others:
        if wanted.limit.allows(f"{library.name}: data on {ranks} ranks"):
            failures += check_other_ranks(library, ranks, folder, wanted.nodes)
    if wanted.limit.allows(f"{library.name}: times"):
        failures += check_waits(bench, sources)
    return failures


def check_other_ranks(library: Library, ranks: int, folder: Path, nodes: Nodes) -> Iterator[Failure]:
    """Check data on another number of ranks, which may share cores; show one line."""
    began = time.monotonic()
    try:
        with console.status(f"{library.name}: data on {ranks} ranks …"):
            bench = selftest.prepare_bench(library, ranks, home(), folder, nodes)
            results = selftest.data(bench)
    except RankbenchError as error:
        yield Failure(f"{error} ({ranks} ranks)")
        return
    console.print(f"data on {ranks} ranks: {tally(results)} ({format_duration(time.monotonic() - began)})")
    for group in _group_by_size([result for result in results if result.status not in HARMLESS]):
        yield describe_failure(bench, group, ", ".join(filter(None, [group[0].case.memory.label, f"{ranks} ranks"])))


def choose_sources(bench: Bench, names: Sequence[str]) -> list[SourceFact]:
    """Return the selected time sources. Raises RankbenchError if one is unknown or not usable."""
    known = {source.name: source for source in bench.facts.sources}
    for name in names:
        if name not in {*known, EVERY}:
            raise RankbenchError(f"--clock {name}: no such time source{suggestion(name, [*known, EVERY])}")
        if name in known and not known[name].usable:
            raise RankbenchError(f"--clock {name}: cannot be used here ({known[name].reason}); name another, or none")
    return [source for name, source in known.items() if name in names or EVERY in names]


# --- data -------------------------------------------------------------------------------------------------------------


def check_data(bench: Bench, *, thorough: bool) -> Iterator[Failure]:
    """Show whether data are correct; yield a failure for each call with wrong data."""
    with console.status(f"{bench.library.name}: data …"):
        results = selftest.data(bench)
    show_data(results)
    unusual = check_thoroughly(bench) if thorough else []
    for reason in dict.fromkeys(
        result.reason for result in (*results, *unusual) if result.status == CaseStatus.REFUSED
    ):
        spread_lines(f"refused: {reason}")
    wrong = [result for result in results if result.status not in HARMLESS]
    for group in _group_by_size(wrong):
        yield describe_failure(bench, group, group[0].case.memory.label)
    broken = {(result.case.operation, result.case.form) for result in wrong}
    wrong = [result for result in unusual if result.status not in HARMLESS]
    for group in by_call([result for result in wrong if (result.case.operation, result.case.form) not in broken]):
        yield describe_failure(
            bench, group, " or ".join(dict.fromkeys(circumstance(result, bench) for result in group))
        )


def show_data(results: Sequence[CaseResult]) -> None:
    """Print a table of whether data are correct, by call and form."""
    sizes = sorted({result.case.size_bytes for result in results} - {0})
    console.print(f"\nData, in messages of {join_sizes(sizes)}\n", markup=False)
    table = columns("operation", *FORMS)
    for name in dict.fromkeys(map(name_call, results)):
        case_results = [result for result in results if name_call(result) == name]
        table.add_row(name, *(cell([result for result in case_results if result.case.form == form]) for form in FORMS))
    console.print(table)


def check_thoroughly(bench: Bench) -> list[CaseResult]:
    """Show and return the results of calls with every datatype and option."""
    with console.status(f"{bench.library.name}: data with every datatype and option …"):
        results = selftest.thorough_data(bench)
    console.print("\nThe same calls with other datatypes and options, one at a time\n")
    table = columns("with", *FORMS)
    for name in dict.fromkeys(circumstance(result, bench) for result in results):
        case_results = [result for result in results if circumstance(result, bench) == name]
        table.add_row(name, *(tally([result for result in case_results if result.case.form == form]) for form in FORMS))
    console.print(table)
    return results


def describe_failure(bench: Bench, results: Sequence[CaseResult], how: str) -> Failure:
    """Return the failure of a call: `allgather persistent, in-place, 8 B and 64 KiB`."""
    case, status, reason = results[0].case, results[0].status, results[0].reason
    sizes = join_sizes(sorted({result.case.size_bytes for result in results} - {0}))
    what = ", ".join(filter(None, [f"{case.operation} {case.form}", how, sizes]))
    return Failure.of_call(bench.library.name, what, status, case.form, reason)


def join_sizes(sizes: Sequence[int]) -> str:
    """Return sizes in words: `8 B, 1000 B and 64 KiB`."""
    texts = [format_size(size) for size in sizes]
    return " and ".join(filter(None, [", ".join(texts[:-1]), *texts[-1:]]))


def cell(results: Sequence[CaseResult]) -> str:
    """Return the result of a call: the worst of all sizes."""
    return WORDS[worst(results)] if results else ""


def worst(results: Sequence[CaseResult]) -> CaseStatus:
    """Return the worst status."""
    order = list(WORDS)
    return max((result.status for result in results), key=order.index)


def tally(results: Sequence[CaseResult]) -> str:
    """Return the results of many calls: `58 right, 2 WRONG`; missing ones only if there is nothing else."""
    counts = Counter(result.status for result in results)
    telling = {status for status in counts if status == CaseStatus.OK or status not in HARMLESS}
    return ", ".join(f"{counts[status]} {word}" for status, word in WORDS.items() if status in telling) or cell(results)


def name_call(result: CaseResult) -> str:
    """Return the call of a result, without form and size: `allreduce, in-place`."""
    return ", ".join(filter(None, [result.case.operation, result.case.memory.label]))


def circumstance(result: CaseResult, bench: Bench) -> str:
    """Return how a call differs from the defaults: `vector`, `epoch=fence`."""
    operation = next(operation for operation in bench.description.operations if operation.name == result.case.operation)
    texts = case_labels.list_unusual(result.case, operation)
    return next((text for text in texts if "=" in text), ", ".join(texts))


def _group_by_size(results: Sequence[CaseResult]) -> list[list[CaseResult]]:
    return group_by(results, lambda result: (name_call(result), result.case.form, result.status))


def by_call(results: Sequence[CaseResult]) -> list[list[CaseResult]]:
    """Return the results in groups that differ by size and state of memory."""
    return group_by(results, lambda result: (result.case.operation, result.case.form, result.status))


def group_by(results: Sequence[CaseResult], key: Callable[[CaseResult], tuple[str, ...]]) -> list[list[CaseResult]]:
    """Return the results grouped by key."""
    groups: dict[tuple[str, ...], list[CaseResult]] = {}
    for result in results:
        groups.setdefault(key(result), []).append(result)
    return list(groups.values())


# --- times ------------------------------------------------------------------------------------------------------------


def check_waits(bench: Bench, sources: Sequence[SourceFact]) -> Iterator[Failure]:
    """Show the measured times of operations of known time, by source and start; yield failures."""
    starts = bench.description.starts
    rows: list[tuple[SourceFact, Trial]] = []
    others: dict[str, float] = {}
    for source in sources:
        if source.usable:
            with console.status(f"{bench.library.name}: waits of known length by {source.name} …"):
                waits = selftest.measure_waits(
                    bench,
                    list(truths.TRUTHS_NS),
                    source.name,
                    lambda by_launch: truths.find_wrong_starts(by_launch, starts),
                )
            others[source.name] = waits.others
            rows += [(source, trial) for trial in truths.evaluate_trials(waits.by_launch, starts)]
    console.print("\nTimes in ns: measured, and in brackets the difference from the true time in the heading\n")
    console.print(wait_table(rows))
    for source in sources:
        if not source.usable:
            spread_lines(f"{source.name} cannot be used: {source.reason}")
    console.print()
    for source, trial in rows:
        yield from wrong(bench, source, trial, others[source.name])


def wait_table(rows: Sequence[tuple[SourceFact, Trial]]) -> Table:
    """Return the results of all operations, by source and start."""
    waits = rows[0][1].waits if rows else []
    truths = [f"{wait.operation} {wait.truth_ns:g}" for wait in waits]
    table = columns("time source", "start", *truths, "discarded", "clocks ±", "launches", text_columns=2)
    for source, trial in rows:
        values = [format_value(wait) for wait in trial.waits]
        discarded = "–" if trial.discarded is None else f"{trial.discarded:.1%}"
        discarded = discarded if trial.keeps_enough else f"[red]{discarded}[/]"
        table.add_row(source.name, trial.start.name, *values, discarded, f"{trial.bound_ns:.0f}", str(trial.launches))
    return table


def format_value(wait: Wait) -> str:
    """Return the measured time and its error: `2031 (+31)`."""
    text = "none" if wait.error_ns is None else f"{wait.measured_ns:.0f} ({wait.error_ns:+.0f})"
    return text if wait.right else f"[red]{text}[/]"


def wrong(bench: Bench, source: SourceFact, trial: Trial, others: float) -> Iterator[Failure]:
    """Yield the failures of a start by a source: the measured time, the true time, and what to do.

    A time that is wrong while the machine does other work, or by a clock too coarse for it, shows nothing of the
    library. Discarded rounds are no wrong time: they show that ranks were interrupted.
    """
    name, by = bench.library.name, f"by {source.name} with start {trial.start.name}"
    cause = advise_fewer_ranks(bench) or imprecise(source, trial)
    why, certain = cause or busy(others), not cause and others <= QUIET
    for wait in trial.waits:
        if wait.measured_ns is None:
            yield Failure.of_time(name, f"{wait.operation} {by}", f"no value ({wait.reason})", why, certain=certain)
        elif not wait.right:
            detail = (
                f"{wait.measured_ns:.0f} ns measured, {wait.truth_ns:g} ns are true, {wait.tolerance_ns:g} ns off are "
                "allowed"
            )
            yield Failure.of_time(name, f"{wait.operation} {by}", detail, why, certain=certain)
    if not trial.keeps_enough:
        detail = (
            f"{trial.discarded:.1%} of the rounds were discarded, more than {truths.MOST_DISCARDED:.0%}: ranks were "
            "interrupted"
        )
        yield Failure.of_time(name, by, detail, advise_fewer_ranks(bench) or busy(others), certain=False)


def advise_fewer_ranks(bench: Bench) -> str:
    """Return advice on ranks that share cores; empty: they do not."""
    ranks, cores = bench.placement.ranks, bench.machine.cores
    return f"{ranks} ranks share {cores} cores: use fewer, --ranks {cores}" if ranks > cores else ""


def imprecise(source: SourceFact, trial: Trial) -> str:
    """Return advice on a clock that is too coarse; empty: it is not."""
    if source.resolution_ns > truths.TOLERANCE_NS:
        return f"this clock advances in steps of {format_time(source.resolution_ns)}: use a finer one"
    if trial.bound_ns > truths.TOLERANCE_NS:
        return f"clocks are compared within {format_time(trial.bound_ns)} only: use a start without a schedule, barrier"
    return ""


def busy(others: float) -> str:
    """Return advice on a machine where other processes may have used the cores."""
    if others > QUIET:
        return f"other processes used {others:.0%} of the CPU time: test again without them"
    return f"other processes used {others:.0%} of the CPU time"
