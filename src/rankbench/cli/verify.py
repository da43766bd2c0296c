"""The command `verify`: whether libraries deliver right data here, and whether what is measured is true."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from rankbench import launch
from rankbench.campaign import selftest
from rankbench.cli import chosen, columns, console, home, placed
from rankbench.model import FORMS, CaseStatus, RankbenchError
from rankbench.quantities import format_size, format_time
from rankbench.statistics import selftest as judge
from rankbench.units import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.table import Table

    from rankbench.campaign.selftest import Bench
    from rankbench.model import CaseResult, Library, SourceFact
    from rankbench.statistics.selftest import Trial, Wait

ORDER = 27
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
"""What became of a call, as a table's cell says it, better ones first."""
HARMLESS = {CaseStatus.OK, CaseStatus.LACKING, CaseStatus.REFUSED}
EVERY = "all"


def verify(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="LIBRARY", help="Which libraries; else all that are found.")
    ] = None,
    ranks: Annotated[int | None, typer.Option(min=1, help="How many; else as many as there are cores.")] = None,
    clock: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only by this time source, repeatable; else by all.")
    ] = None,
    prefix: Annotated[list[Path] | None, typer.Option(help="A folder with an MPI library's bin/mpicc.")] = None,
) -> None:
    """Test what is measured: data of every call, and operations of known time by every clock and start."""
    wanted = ranks or max(2, launch.machine().cores)
    failures: list[str] = []
    for library in chosen(names or [], prefix or []):
        with tempfile.TemporaryDirectory(prefix="rankbench-") as folder:
            failures += tested(library, wanted, clock or [EVERY], Path(folder))
    for line in failures:
        console.print(line, style="red", soft_wrap=True, markup=False)
    if failures:
        raise typer.Exit(1)
    console.print("All data are right, and all that was measured is true.")


def tested(library: Library, ranks: int, clocks: Sequence[str], folder: Path) -> list[str]:
    """Test one library, show what was found, and return a line for each failure."""
    try:
        with console.status(f"{library.name}: building and checking …"):
            bench = selftest.bench(library, ranks, home(), folder)
    except RankbenchError as error:
        return [f"FAILED {error}"]
    sources = chosen_sources(bench, clocks)
    console.print(Text(f"{library.name}, {placed(bench.ranks)}", style="bold"), soft_wrap=True)
    return [*tested_data(bench), *tested_waits(bench, sources)]


def chosen_sources(bench: Bench, names: Sequence[str]) -> list[SourceFact]:
    """Return the time sources that are meant."""
    known = {source.name: source for source in bench.facts.sources}
    for name in names:
        if name not in {*known, EVERY}:
            raise RankbenchError(f"--clock {name}: no such time source; {suggestion(name, [*known, EVERY])}")
        if name in known and not known[name].usable:
            raise RankbenchError(f"--clock {name}: cannot be used here ({known[name].reason}); name another, or none")
    return [source for name, source in known.items() if name in names or EVERY in names]


# --- data -------------------------------------------------------------------------------------------------------------


def tested_data(bench: Bench) -> Iterator[str]:
    """Show whether data are right, and yield a line for each call with which they are not."""
    with console.status(f"{bench.library.name}: data …"):
        results = selftest.data(bench)
    sizes = sorted({result.case.size_bytes for result in results} - {0})
    console.print(f"\nData, in messages of {' and '.join(map(format_size, sizes))}\n", markup=False)
    table = columns("operation", *FORMS)
    for name in dict.fromkeys(map(named, results)):
        mine = [result for result in results if named(result) == name]
        table.add_row(name, *(cell([one for one in mine if one.case.form == form]) for form in FORMS))
    console.print(table)
    for reason in dict.fromkeys(result.reason for result in results if result.status == CaseStatus.REFUSED):
        console.print(f"refused: {reason}", soft_wrap=True, markup=False)
    for group in alike(results):
        what, status, reason = called(group), group[0].status, group[0].reason
        if status not in HARMLESS:
            yield f"FAILED {bench.library.name}: {what}: {status}: {reason}; {ADVICE}"


ADVICE = "do not use this call of this library, and tell those who make it"


def cell(results: Sequence[CaseResult]) -> str:
    """Return what became of a call: the worst of all sizes."""
    order = list(WORDS)
    return WORDS[max((result.status for result in results), key=order.index)] if results else ""


def named(result: CaseResult) -> str:
    """Return what a result is of, less form and size: `allreduce, in-place`."""
    return ", ".join(filter(None, [result.case.operation, result.case.memory.label]))


def alike(results: Sequence[CaseResult]) -> list[list[CaseResult]]:
    """Return the results in groups that differ only by size."""
    groups: dict[tuple[str, str, str], list[CaseResult]] = {}
    for result in results:
        groups.setdefault((named(result), result.case.form, result.status), []).append(result)
    return list(groups.values())


def called(results: Sequence[CaseResult]) -> str:
    """Return which call results that differ by size are of: `allgather persistent, in-place, 8 B and 64 KiB`."""
    case = results[0].case
    sizes = " and ".join(format_size(result.case.size_bytes) for result in results if result.case.size_bytes)
    return ", ".join(filter(None, [f"{case.operation} {case.form}", case.memory.label, sizes]))


# --- times ------------------------------------------------------------------------------------------------------------


def tested_waits(bench: Bench, sources: Sequence[SourceFact]) -> Iterator[str]:
    """Show what operations of known time take by each source and with each start; yield a line for what is wrong."""
    starts = bench.description.starts
    rows: list[tuple[SourceFact, Trial]] = []
    for source in sources:
        if source.usable:
            with console.status(f"{bench.library.name}: waits of known length by {source.name} …"):
                by_launch = selftest.waits(
                    bench, list(judge.TRUTHS_NS), source.name, lambda by_launch: judge.wrong_starts(by_launch, starts)
                )
            rows += [(source, trial) for trial in judge.trials(by_launch, starts)]
    console.print("\nTimes in ns: measured, and how far off from the true ones, which stand in the head\n")
    console.print(wait_table(rows))
    for source in sources:
        if not source.usable:
            console.print(f"{source.name} cannot be used: {source.reason}", soft_wrap=True, markup=False)
    console.print()
    for source, trial in rows:
        yield from (f"FAILED {bench.library.name}: {line}" for line in wrong(bench, source, trial))


def wait_table(rows: Sequence[tuple[SourceFact, Trial]]) -> Table:
    """Return what was measured of all operations, by source and start."""
    waits = rows[0][1].waits if rows else []
    truths = [f"{wait.operation} {wait.truth_ns:g}" for wait in waits]
    table = columns("time source", "start", *truths, "discarded", "clocks ±", "launches", left=2)
    for source, trial in rows:
        figures = [figure(wait) for wait in trial.waits]
        discarded = "–" if trial.discarded is None else f"{trial.discarded:.1%}"
        discarded = discarded if trial.keeps_enough else f"[red]{discarded}[/]"
        table.add_row(source.name, trial.start.name, *figures, discarded, f"{trial.bound_ns:.0f}", str(trial.launches))
    return table


def figure(wait: Wait) -> str:
    """Return what was measured, and how far off that is: `2031 (+31)`."""
    text = "none" if wait.error_ns is None else f"{wait.measured_ns:.0f} ({wait.error_ns:+.0f})"
    return text if wait.right else f"[red]{text}[/]"


def wrong(bench: Bench, source: SourceFact, trial: Trial) -> Iterator[str]:
    """Yield what is wrong with a start by a source: what was measured, what is true, what can be done."""
    by = f"by {source.name} with start {trial.start.name}"
    why = crowded(bench) or imprecise(source, trial) or busy(bench)
    for wait in trial.waits:
        if wait.measured_ns is None:
            yield f"{wait.operation} {by}: no figure ({wait.reason}); {why}"
        elif not wait.right:
            yield (
                f"{wait.operation} {by}: {wait.measured_ns:.0f} ns measured, {wait.truth_ns:g} ns are true, "
                f"{wait.tolerance_ns:g} ns off are allowed; {why}"
            )
    if not trial.keeps_enough:
        yield (
            f"{trial.discarded:.1%} of the rounds {by} discarded, less than {judge.MOST_DISCARDED:.0%} must be; "
            f"{crowded(bench) or busy(bench)}"
        )


def crowded(bench: Bench) -> str:
    """Return what to do about ranks that share cores, if they do."""
    ranks, cores = bench.placement.ranks, bench.machine.cores
    return f"{ranks} ranks share {cores} cores: use fewer, --ranks {cores}" if ranks > cores else ""


def imprecise(source: SourceFact, trial: Trial) -> str:
    """Return what to do about a clock that cannot tell times well enough, if that is so."""
    if source.resolution_ns > judge.TOLERANCE_NS:
        return f"this clock advances in steps of {format_time(source.resolution_ns)}: use a finer one"
    if trial.bound_ns > judge.TOLERANCE_NS:
        return f"clocks are compared within {format_time(trial.bound_ns)} only: use a start without a schedule, barrier"
    return ""


def busy(bench: Bench) -> str:
    """Return what to do where ranks may not have been alone on their cores."""
    return (
        f"does something else run here (load average {launch.load():.1f} on {bench.machine.cores} cores)? "
        "test again without it; what fails then is not to be used"
    )
