"""Studies clocks for `verify --clocks`: resolution, synchronisation and drift of this machine's clocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import typer
from rich.text import Text

from rankbench import launch
from rankbench.analysis.statistics import CONFIDENCE, clocks
from rankbench.analysis.statistics.clocks import Accuracy, Cost, Drift, Spread
from rankbench.campaign import selftest
from rankbench.cli.display import columns, console, describe_places, spread_lines
from rankbench.cli.formats import print_json
from rankbench.model import LaunchFacts, Library, RankbenchError, RankFact, Record, SourceFact
from rankbench.quantities import format_time
from rankbench.samples.study import Study
from rankbench.workflows.locations import home

LONGEST_WAIT_S = 3600.0
STAGES = {"fresh": "at once", "aged": "after {wait:g} s", "between": "between two"}
"""Stages of a study, by when an offset was computed."""
STAGES_HELP = (
    "Samples are taken between two synchronisations. In between, offsets are extrapolated with the measured drift, and "
    "the stated errors grow. No error can exceed its bound. 95% should be below the estimated error, which decides "
    "whether a value is used."
)
QUANTILES = ("error: median", "95%", "largest")
LIMITS = ("estimated: median", "within", "bound: median", "largest")


class ClockStudy(Record, frozen=True):
    """The study of the clocks under one library, as `--format json` prints it."""

    library: Library
    wait_s: float
    sources: list[SourceFact]
    accuracies: list[Accuracy]
    costs: list[Cost]
    drifts: list[Drift]
    study: Study


class ClockOptions(NamedTuple):
    """How clocks are studied."""

    ranks: int | None
    runs: int
    wait_s: float
    all_sources: bool
    nodes: selftest.Nodes = selftest.HERE


def study_libraries(reach: Sequence[Library], options: ClockOptions, form: str) -> None:
    """Study the clocks under each library and print the results. Raises typer.Exit if an error exceeds its bound.

    Raises RankbenchError for fewer than two ranks.
    """
    machine = launch.machine()
    wanted = options.ranks or len(options.nodes.hosts) or max(2, machine.cores // machine.sockets)
    if wanted < 2:
        raise RankbenchError(f"--ranks {wanted}: clocks of two or more ranks are compared; expected 2 or more")
    runs, wait = options.runs, options.wait_s
    arguments = ["--runs", str(runs), "--wait", f"{wait:g}", "--sync", "all", "--separate-clocks"]
    arguments += ["--clock", "all" if options.all_sources else "auto"]
    results = []
    for library in reach:
        with console.status(f"{library.name}: {runs} runs …"):
            results.append(study_clocks(library, wanted, arguments, options))
        if form == "table":
            show(results[-1])
    if form == "json":
        print_json(results)
    broken = [line for result in results for line in outside(result)]
    for line in broken if form == "table" else []:
        console.print(line, style="red", soft_wrap=True, markup=False)
    if broken:
        raise typer.Exit(1)


def study_clocks(library: Library, ranks: int, arguments: Sequence[str], options: ClockOptions) -> ClockStudy:
    """Run the study under one library and print its results."""
    with options.nodes.make_folder() as folder:
        bench = selftest.prepare_bench(library, ranks, home(), Path(folder), options.nodes)
        study = selftest.clocks(bench, arguments, options.wait_s)
    return ClockStudy(
        library=library,
        wait_s=options.wait_s,
        sources=clocks.summarise_sources(study.clocks),
        accuracies=clocks.compute_accuracies(study.offsets),
        costs=clocks.compute_costs(study.synchronisations),
        drifts=clocks.compute_drifts(study.offsets),
        study=study,
    )


def outside(result: ClockStudy) -> Iterator[str]:
    """Yield a line for each method with offsets outside of their stated bounds."""
    for accuracy in result.accuracies:
        if accuracy.outside:
            worst = max(accuracy.outside, key=lambda offset: offset.excess_ns)
            yield (
                f"FAILED {result.library.name}: {accuracy.synchronisation} by {accuracy.source}, "
                f"{stage(accuracy, result)}: "
                f"{len(accuracy.outside)} of {accuracy.offsets} errors are outside their bounds, at worst that of rank "
                f"{worst.rank} in run {worst.run}: {format_time(worst.error_ns or 0)}, stated "
                f'{format_time(worst.bound_ns)}; do not trust starts on such a clock here, use start = "barrier"'
            )


# --- output -----------------------------------------------------------------------------------------------------------


def show(result: ClockStudy) -> None:
    """Print all tables of one library."""
    stream = result.study.stream
    assert stream.facts
    console.print(Text(f"{result.library.name}, {describe_places(stream.ranks)}", style="bold"), soft_wrap=True)
    show_sources(stream.facts, result.sources)
    for name in dict.fromkeys(accuracy.source for accuracy in result.accuracies):
        show_synchronisation(result, name)
    show_drift(result, stream.ranks)


def show_sources(facts: LaunchFacts, sources: Sequence[SourceFact]) -> None:
    """Print the time sources, and which one is used."""
    table = columns("time source", "usable", "smallest step", "a reading costs")
    table.add_column("why", overflow="fold")
    for fact in sources:
        values = (format_time(fact.resolution_ns), format_time(fact.cost_ns)) if fact.usable else ("–", "–")
        table.add_row(fact.name, "[green]yes[/]" if fact.usable else "[red]no[/]", *values, Text(fact.reason))
    console.print()
    console.print(table)
    console.print()
    spread_lines(f"auto takes {facts.source}: {facts.source_reason}")


def show_synchronisation(result: ClockStudy, source: str) -> None:
    """Print accuracy and cost of each method by one source."""
    console.print()
    spread_lines(f"Synchronisation by {source}. {truth(result, source)}")
    table = columns("method", "asked for", *QUANTILES, *LIMITS, "outside", text_columns=2)
    for accuracy in result.accuracies:
        if accuracy.source == source:
            known = spread(accuracy.error_ns) if accuracy.error_ns else ["not known", "", ""]
            outside = f"[red]{len(accuracy.outside)}[/]" if accuracy.outside else "0" if accuracy.error_ns else "–"
            within = "–" if accuracy.within_likely is None else f"{accuracy.within_likely:.0%}"
            bounds = [format_time(accuracy.bound_ns.p50), format_time(accuracy.bound_ns.max)]
            limits = [format_time(accuracy.likely_ns.p50), within, *bounds]
            table.add_row(accuracy.synchronisation, stage(accuracy, result), *known, *limits, outside)
    console.print()
    console.print(table)
    console.print()
    spread_lines(STAGES_HELP)
    table = columns("method", "takes", "messages: rank 0", "busiest rank", "bytes: rank 0", "busiest rank")
    for cost in result.costs:
        if cost.source == source:
            counts = (cost.rank_0_messages, cost.most_messages, cost.rank_0_bytes, cost.most_bytes)
            table.add_row(cost.synchronisation, format_time(cost.duration_ns), *(f"{count:,}" for count in counts))
    console.print()
    console.print(table)


def truth(result: ClockStudy, source: str) -> str:
    """Return how the true offsets are known."""
    shared = clocks.read_one_clock(result.study.offsets, source)
    if shared is None:
        return "The true offsets are not known here; only the bounds can be stated."
    if shared:
        return (
            "All ranks read one clock, so nothing needs synchronising. The methods were run as if the clocks differed; "
            "their errors are therefore known exactly."
        )
    return "The ranks' clocks differ by offsets that the system shows exactly."


def stage(accuracy: Accuracy, result: ClockStudy) -> str:
    """Return when offsets were computed, in words."""
    return STAGES.get(accuracy.stage, accuracy.stage).format(wait=result.wait_s)


def spread(quantiles: Spread) -> list[str]:
    """Return quantiles as text."""
    return [format_time(value) for value in (quantiles.p50, quantiles.p95, quantiles.max)]


def show_drift(result: ClockStudy, ranks: Sequence[RankFact]) -> None:
    """Print how much faster clocks run than rank 0's, for methods that model it."""
    if not result.drifts:
        return
    runs, coverage = result.drifts[0].runs, result.drifts[0].coverage
    console.print(
        f"\nDrift relative to rank 0: median of {runs} runs, {100 * min(coverage, CONFIDENCE):.3g}% intervals"
    )
    table = columns("rank", "host", "source", "method", "drift", "interval", text_columns=4)
    for drift in result.drifts:
        host = next((rank.host for rank in ranks if rank.rank == drift.rank), "?")
        interval = f"{drift.low_ppm:+.3f} … {drift.high_ppm:+.3f} ppm"
        table.add_row(str(drift.rank), host, drift.source, drift.synchronisation, f"{drift.ppm:+.3f} ppm", interval)
    console.print()
    console.print(table)
