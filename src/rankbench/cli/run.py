"""The command `run`: from a plan to a finished campaign, or on with one that was interrupted."""

from __future__ import annotations

import contextlib
import shlex
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import rich.box
import typer
from rich.console import Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from rankbench import campaign, launch, plan, plots
from rankbench.campaign import Progress, Wanted
from rankbench.campaign.stopping import decide
from rankbench.cli import console, home
from rankbench.model import RankbenchError
from rankbench.quantities import format_rate, format_time
from rankbench.verdict import evaluation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from rankbench.campaign import Decision
    from rankbench.model import Campaign, Case, CaseResult, Launch, Operation
    from rankbench.store import Store

ORDER = 30
REFRESH_PER_S = 1
"""Seldom, since ranks may need every core."""
BAR_WIDTH = 40
FIGURES_SHOWN = 12
FAILURES_SHOWN = 4
SENTENCES_SHOWN = 3


def run(
    file: Annotated[Path | None, typer.Argument(metavar="PLAN", help="The plan, a TOML file.")] = None,
    preset: Annotated[str, typer.Option(help=f"A plan that comes with rankbench: {', '.join(plan.presets())}.")] = "",
    results: Annotated[Path, typer.Option(help="Where campaigns are kept, a folder each.")] = Path("results"),
    name: Annotated[str, typer.Option(help="The campaign's name, if not the plan's.")] = "",
    prefix: Annotated[list[Path] | None, typer.Option(help="A folder with an MPI library's bin/mpicc.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Fixes the random orders; else the plan's, else drawn.")] = 0,
) -> None:
    """Run the campaign of a plan: build, check, launch in blocks. One that was interrupted goes on where it was."""
    machine = launch.machine()
    planned = plan.load(chosen_plan(file, preset), machine)
    folder = results / (name or Path(planned.file).stem)
    try:
        prepared = campaign.prepare(Wanted(planned, folder, machine, home(), prefix or (), seed), tell)
        with shown(prepared.store.campaign) as watch:
            decision = campaign.run(prepared, enough, watch)
    except KeyboardInterrupt:
        tell(f"stopped; what was measured is kept. Go on with: {shlex.join(['rankbench', *sys.argv[1:]])}")
        raise typer.Exit(130) from None
    conclude(prepared.store, decision)


def chosen_plan(file: Path | None, preset: str) -> Path:
    """Return the plan that was asked for: a file or a preset."""
    if (file is None) == (not preset):
        raise RankbenchError(f"name one plan: a file, or --preset NAME (allowed: {', '.join(plan.presets())})")
    return file or plan.preset(preset)


def tell(text: str) -> None:
    """Print a line that is not broken, however long."""
    console.print(text, soft_wrap=True, markup=False)


def enough(store: Store) -> Decision:
    """Return whether the plan's stopping rule is met by what is stored."""
    seconds: dict[int, float] = {}
    for one in store.launches():
        seconds[one.block] = seconds.get(one.block, 0.0) + one.duration_s
    return decide(store.campaign.plan, lambda: evaluation.evaluate(store).verdict, list(seconds.values()))


def conclude(store: Store, decision: Decision) -> None:
    """Say why the campaign ended, what it found, where it is and what can be done next."""
    launches = store.launches()
    verdict = evaluation.evaluate(store).verdict
    tell(f"done: {verdict.blocks} blocks, {len(launches)} launches in {store.folder}: {decision.reason}")
    without = Counter(status for status in store.cases()["status"] if status != "ok")
    if without:
        counts = ", ".join(f"{count} {status}" for status, count in without.items())
        tell(f"without figures: {counts}; the report tells why")
    tell("")
    for sentence in verdict.conclusion[:SENTENCES_SHOWN]:
        tell(sentence.text)
    tell("")
    tell(f"next: rankbench report {shlex.quote(str(store.folder))}")


# --- progress ---------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def shown(record: Campaign) -> Iterator[Progress]:
    """Yield a watch whose state is shown: live on a terminal, else as lines."""
    if not console.is_terminal:
        yield Lines(record)
        return
    progress = Progress(record)
    with Live(Screen(progress), console=console, refresh_per_second=REFRESH_PER_S, transient=True):
        yield progress


class Lines(Progress):
    """Progress for logs and pipes: one line per launch."""

    def ended(self, launch: Launch, results: Sequence[CaseResult]) -> None:
        """Print how a launch ended."""
        before = len(self.failures)
        super().ended(launch, results)
        tell(
            f"block {launch.block} of {spell_blocks(self.campaign)}: {launch.candidate} on {launch.placement}: "
            f"{len(results)} cases in {launch.duration_s:.1f} s, {launch.status}"
        )
        for failure in self.failures[before:]:
            tell(f"  {failure}")

    def decided(self, decision: Decision) -> None:
        """Print why another block follows, or none."""
        super().decided(decision)
        tell(decision.reason)


class Screen:
    """Progress as a terminal shows it."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress

    def __rich__(self) -> RenderableType:
        """Draw the state of now."""
        record = self.progress.campaign
        head = Text.assemble((record.name, "bold"), "  ", record.plan.question)
        return Group("", head, "", self.way(), self.figures(), *self.failures())

    def way(self) -> Table:
        """Draw what runs, how much is done, what is left."""
        progress, stop = self.progress, self.progress.campaign.plan.stop
        blocks = stop.blocks_min if progress.block <= stop.blocks_min else stop.blocks_max
        total = blocks * progress.turns_a_block
        grid = Table.grid(padding=(0, 2))
        bar = ProgressBar(total=total, completed=progress.turns_done, width=BAR_WIDTH)
        grid.add_row("block", f"{progress.block} of {spell_blocks(progress.campaign)}", "")
        grid.add_row("launches", bar, f"{progress.turns_done} of {total}")
        grid.add_row("time left", self.time_left(), progress.note)
        if progress.turn:
            what = f"{progress.turn.candidate} on {progress.turn.placement}, {progress.running_cases} cases"
            grid.add_row("running", Text(what), f"{progress.running_s:.0f} s")
        return grid

    def time_left(self) -> str:
        """Return the forecast for the fewest and for the most blocks."""
        forecast = self.progress.forecast_s()
        if not forecast:
            return "known after the first launch"
        least, most = map(spell_seconds, forecast)
        return most if least == most else f"{least} to {most}"

    def figures(self) -> Table:
        """Draw the current median of each candidate, for one size of each operation."""
        record = self.progress.campaign
        names = [candidate.name for candidate in record.candidates if not candidate.control_of]
        table = Table(box=rich.box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
        table.add_column("median so far")
        for name in names:
            table.add_column(Text(name), justify="right")
        operations = {operation.name: operation for operation in record.operations}
        for case in first_of_each(record.cases):
            operation = operations[case.operation]
            figures = [self.progress.figure_ns(name, case) for name in names]
            table.add_row(plots.case_name(case, operation), *(figure(case, operation, time_ns) for time_ns in figures))
        return table

    def failures(self) -> Iterator[RenderableType]:
        """Draw what went wrong last."""
        failures = self.progress.failures
        if failures:
            yield Text(f"{len(failures)} failures so far; each is stored with its log", style="red")
            yield from (Text(f"  {line}", overflow="ellipsis", no_wrap=True) for line in failures[-FAILURES_SHOWN:])


def first_of_each(cases: Sequence[Case]) -> list[Case]:
    """Return the case of the smallest size of each operation, form and placement."""
    firsts: dict[tuple[str, str, str], Case] = {}
    for case in sorted(cases, key=lambda case: case.size_bytes):
        firsts.setdefault((case.operation, case.form, case.placement), case)
    return [case for case in cases if case in firsts.values()][:FIGURES_SHOWN]


def figure(case: Case, operation: Operation, time_ns: float | None) -> str:
    """Return a time or bandwidth as people read it."""
    if time_ns is None:
        return "–"
    if operation.metric == "bandwidth":
        return f"{format_rate(plots.bandwidth(case, operation, time_ns))} MB/s"
    return format_time(time_ns)


def spell_blocks(record: Campaign) -> str:
    """Return the bounds on blocks: `5`, `5 to 30`."""
    stop = record.plan.stop
    return f"{stop.blocks_min}" + (f" to {stop.blocks_max}" if stop.blocks_max > stop.blocks_min else "")


def spell_seconds(seconds: float) -> str:
    """Return minutes and seconds: `2:05`."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"
