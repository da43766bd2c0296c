"""The command `run`: from a plan to a finished campaign, or on with one that was interrupted."""

from __future__ import annotations

import contextlib
import itertools
import shlex
import sys
from collections import Counter
from datetime import datetime
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated

import msgspec
import polars as pl
import rich.box
import typer
from rich.console import Group
from rich.live import Live
from rich.markup import escape
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from rankbench import campaign, launch, store
from rankbench.campaign import Progress, Wanted
from rankbench.campaign.changes import looked
from rankbench.cli import (
    Binding,
    Hosts,
    Modules,
    OneMachine,
    Prefixes,
    Quiet,
    RemoteShell,
    Results,
    Seed,
    Terminated,
    Verbose,
    answer,
    campaign_folder,
    columns,
    console,
    exit_code,
    home,
    spread_lines,
)
from rankbench.cli._forecast import show_forecast
from rankbench.cli._plans import (
    Blocks,
    Forms,
    Measured,
    Operations,
    Placements,
    Preset,
    Samples,
    Sizes,
    Threshold,
    Time,
    Until,
    wish,
)
from rankbench.language import render
from rankbench.launch import schedulers
from rankbench.model import CaseStatus, LaunchStatus, RankbenchError
from rankbench.report.overview import overview
from rankbench.statistics import deciding
from rankbench.verdict import evaluation, measures, naming
from rankbench.verdict.short_answer import tally
from rankbench.verdict.stopping import decide

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from rankbench.campaign import Decide, Decision
    from rankbench.model import Campaign, Case, CaseResult, Launch, Look, Verdict
    from rankbench.report.tables import Table as Content
    from rankbench.store import Store
    from rankbench.verdict.view import CampaignView

ORDER = 30
GROUP = "Measure"
EXAMPLES = """
rankbench run mpich openmpi --operations allreduce --sizes 8:64K --blocks 5
rankbench run --preset quick
rankbench run plan.toml --dry-run        # what would be measured
rankbench run plan.toml --more 9         # nine blocks beyond the stored
rankbench run plan.toml --new            # a new campaign of this plan
"""
REFRESH_PER_S = 1
"""Seldom, since ranks may need every core."""
BAR_WIDTH = 40
NAMED = 3
"""Candidates whose names fit a line."""
FIGURES_SHOWN = 12
FAILURES_SHOWN = 4
MORE_S = 60.0
"""The time whose worth is told at the end."""
FAILURES = (CaseStatus.WRONG_DATA, CaseStatus.CRASHED, CaseStatus.HUNG)
"""What a candidate did wrong, and not the plan or the machine."""


def run(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PLAN|CANDIDATE]...", help="A plan, a TOML file; or the libraries to compare."),
    ] = None,
    preset: Preset = "",
    operations: Operations = "",
    sizes: Sizes = "",
    forms: Forms = "",
    placements: Placements = "",
    samples: Samples = None,
    blocks: Blocks = "",
    time: Time = "",
    until: Until = "",
    threshold: Threshold = "",
    results: Results = Path("results"),
    name: Annotated[str, typer.Option(metavar="NAME", help="The campaign's name, if not the plan's.")] = "",
    prefix: Prefixes = None,
    modules: Modules = None,
    seed: Seed = 0,
    hosts: Hosts = "",
    remote_shell: RemoteShell = "",
    binding: Binding = "",
    one_machine: OneMachine = False,  # noqa: FBT002
    dry_run: Annotated[  # noqa: FBT002
        bool, typer.Option("--dry-run", "-n", help="Print what would be measured and what it takes; launch nothing.")
    ] = False,
    more: Annotated[int, typer.Option(min=0, help="Measure so many blocks beyond those that are stored.")] = 0,
    anew: Annotated[bool, typer.Option("--new", help="Start another campaign: NAME-2, NAME-3 ...")] = False,  # noqa: FBT002
    verbose: Verbose = False,  # noqa: FBT002
    quiet: Quiet = False,  # noqa: FBT002
    ignore_failures: Annotated[  # noqa: FBT002
        bool, typer.Option("--ignore-failures", help="Exit with 0 even if something that was measured failed.")
    ] = False,
) -> None:
    """Run the campaign of a plan, or of candidates and options.

    It builds the core for each library, checks each candidate and launches all of them in blocks. An interrupted
    campaign is resumed. Options count more than the plan. A plan may change as long as it measures the same:
    blocks, question, threshold and the like.

    Exit code 1: a candidate crashed, hung or delivered wrong data.
    """
    machine = launch.machine()
    said = {"hosts": hosts.split(",") if hosts else "", "remote_shell": remote_shell, "binding": binding,
            "one_machine": one_machine}  # fmt: skip
    measured = Measured(operations, forms, sizes, placements, samples, blocks, time, until, threshold)
    planned, own_name = wish(words or [], preset, measured, {key: one for key, one in said.items() if one}, machine)
    if planned.job.scheduler:
        schedulers.chosen(planned.job)
    folder = chosen_folder(results, name or own_name, anew=anew, more=more)
    progress = (lambda _: None) if quiet else tell
    if len(planned.candidates) == 1:
        progress("only one candidate: figures, no comparison")
    wanted = Wanted(planned, folder, machine, home(), prefix or (), modules or (), seed, more)
    if dry_run:
        show_forecast(wanted, verbose=verbose)
        return
    if is_finished(wanted):
        tell(finished(store.open(folder)))
        return
    try:
        prepared = campaign.prepare(wanted, progress)
        before = len(prepared.store.launches())
        with shown(prepared.store.campaign, quiet=quiet) as watch:
            decision = campaign.run(prepared, stopping(prepared.store), watch)
    except (KeyboardInterrupt, Terminated) as stopped:
        with contextlib.suppress(OSError):  # The terminal may be gone.
            tell(f"stopped; what was measured is kept. Go on with: {again(folder.name)}")
        raise typer.Exit(exit_code(stopped)) from None
    if before == len(prepared.store.launches()):
        tell(finished(prepared.store))
        return
    conclude(prepared.store, decision, again(folder.name), verbose=verbose)
    if failures(prepared.store) and not ignore_failures:
        raise typer.Exit(1)


def chosen_folder(results: Path, name: str, *, anew: bool, more: int) -> Path:
    """Return the folder of the campaign: with `anew` one that does not exist yet, with `more` one that does."""
    folder = campaign_folder(results, name)
    if anew and more:
        raise RankbenchError("--new starts a campaign, --more goes on with one; leave one of them out")
    if more and not (folder / "campaign.json").exists():
        raise RankbenchError(f"--more {more}: no campaign in {folder}; leave --more out, or name one: --name NAME")
    if not anew:
        return folder
    numbered = (campaign_folder(results, f"{name}-{number}") for number in itertools.count(2))
    return next(one for one in itertools.chain([folder], numbered) if not (one / "campaign.json").exists())


def again(name: str) -> str:
    """Return the command that goes on with this campaign: as given, less what starts another one or measures more."""
    words, left = iter(sys.argv[1:]), ["rankbench"]
    for word in words:
        if word in {"--more", "--name"}:
            next(words, "")
        elif word != "--new" and not word.startswith(("--more=", "--name=")):
            left.append(word)
    named = {"--new", "--name"} & set(sys.argv) or any(word.startswith("--name=") for word in sys.argv)
    return shlex.join([*left, *(["--name", name] if named else [])])


def is_finished(wanted: Wanted) -> bool:
    """Return whether the campaign of this very plan is there and measures nothing more."""
    if wanted.more or not (wanted.folder / "campaign.json").exists():
        return False
    opened = store.open(wanted.folder)
    record = opened.campaign
    same = record.plan.text == wanted.plan.text and wanted.seed in {0, record.seed}
    blocks = campaign.blocks_done(opened) if same else 0
    stop = record.plan.stop
    return blocks >= stop.blocks_max or (blocks >= stop.blocks_min and stopping(opened)(opened).stop)


def finished(opened: Store) -> str:
    """Return the line on a campaign that measures nothing more: when it was measured, and what can be done."""
    launches, folder = opened.launches(), shlex.quote(str(opened.folder))
    at = datetime.fromisoformat(launches[-1].started).astimezone()
    blocks = counted(len({one.block for one in launches}), "block")
    return (
        f"{opened.folder} is finished: {counted(len(launches), 'launch')}, {blocks}, measured {at:%Y-%m-%d %H:%M}. "
        f"Show it: rankbench show {folder}. Measure more: --more N. Measure anew: --new"
    )


def counted(number: int, noun: str) -> str:
    """Return a number of things: `1 case`, `2 launches`."""
    return f"{number} {noun}{'' if number == 1 else 'es' if noun.endswith('ch') else 's'}"


def tell(text: str) -> None:
    """Print a text in lines of whole words."""
    spread_lines(text)


def stopping(opened: Store) -> Decide:
    """Return what tells whether the plan's stopping rule is met by what is stored.

    What blocks take is told by the clock from now on, everything between launches included; of earlier runs by what
    their launches took.
    """
    block_s: dict[int, float] = {}
    for one in opened.launches():
        block_s[one.block] = block_s.get(one.block, 0.0) + one.duration_s
    at_s = monotonic()

    def enough(store: Store) -> Decision:
        nonlocal at_s
        spent_s, at_s = monotonic() - at_s, monotonic()
        blocks = {one.block for one in store.launches()}
        fresh = sorted(blocks - block_s.keys()) or [max(blocks)]
        for block in fresh:
            block_s[block] = block_s.get(block, 0.0) + spent_s / len(fresh)
        return decide(store.campaign.plan, lambda: evaluated(store), list(block_s.values()))

    return enough


def evaluated(opened: Store) -> CampaignView:
    """Return what a campaign has measured so far, evaluated; the last one is kept as long as no launch is added.

    The last decision to stop rests on the very evaluation that is then shown.
    """
    launches = len(opened.launches())
    if not LAST or LAST[0][:2] != (opened, launches):
        LAST[:] = [(opened, launches, evaluation.evaluate(opened))]
    return LAST[0][2]


LAST: list[tuple[Store, int, CampaignView]] = []
"""Of the last campaign that was evaluated: its store, how many launches it had then, and the evaluation."""


def conclude(store: Store, decision: Decision, command: str = "", *, verbose: bool = False) -> None:
    """Print why the campaign ended, its answer, its figures and what can be done next.

    `command` runs the campaign; without it more cannot be measured from here.
    """
    whole = evaluated(store)
    LAST.clear()  # It holds the store, and with it the lock.
    verdict, launches = whole.verdict, store.launches()
    spent_s = sum(one.duration_s for one in launches)
    made = f"{counted(verdict.blocks, 'block')}, {counted(len(launches), 'launch')}"
    tell(
        f"{store.folder.name}: done in {spell_seconds(spent_s)} ({made}; {render(decision.reason)}). "
        f"{render(tally(verdict.cases))}"
    )
    without = Counter(status for status in store.cases()["status"] if status != "ok")
    if without:
        counts = ", ".join(f"{count} {status}" for status, count in without.items())
        tell(f"without figures: {counts}; the report lists them")
    for failure in failures(store):
        tell(failure)
    tell("")
    for line in answer(verdict, verbose=verbose):
        tell(line)
    tell("")
    show_overview(overview(whole))
    tell("")
    if more := prospect(store, verdict, command):
        tell(more)
    if verbose and (saved := saving(store)):
        tell(saved)
    tell(f"next: rankbench report {shlex.quote(str(store.folder))}")


def show_overview(content: Content) -> None:
    """Print the table of all cases; long names of candidates have their version on a second line."""
    table = columns(content.columns[0], *(escape("\n".join(name.rsplit("-", 1))) for name in content.columns[1:]))
    for row in content.rows:
        table.add_row(*(Text(cell.text) for cell in row))
    console.print(table)
    tell(content.caption)


def prospect(store: Store, verdict: Verdict, command: str) -> str:
    """Say what another minute would likely decide, and by which command it is measured."""
    planned = store.campaign.plan
    spent_s = sum(one.duration_s for one in store.launches())
    blocks = max(1, round(MORE_S * verdict.blocks / spent_s)) if spent_s else 1
    seen = looked(planned.stop, verdict.blocks)
    outlook = deciding.Outlook(
        planned.threshold, [*seen, verdict.blocks + blocks], planned.confidence, store.campaign.baseline
    )
    undecided, likely = deciding.prospect(verdict.comparisons, outlook)
    if not undecided:
        return ""
    open_ = "1 open case" if undecided == 1 else f"{undecided} open cases"
    took = "another minute" if spent_s <= MORE_S * verdict.blocks else f"another {spent_s / verdict.blocks:.0f} s"
    how = f": {command} --more {blocks}" if command else ""
    return f"{took} ({counted(blocks, 'block')}) would decide about {likely:.0f} of {open_}{how}"


def failures(store: Store) -> list[str]:
    """Return a sentence for each candidate that crashed, hung or delivered wrong data."""
    rows = store.cases().filter(pl.col("status").is_in(FAILURES))
    counts = rows.group_by("candidate", "status").len().sort("candidate", "status").iter_rows()
    return [f"{candidate}: {counted(count, 'case')} {status}" for candidate, status, count in counts]


def saving(store: Store) -> str:
    """Say how much less was measured than with the most blocks for every case."""
    if not store.looks():
        return ""
    made = store.cases().select("block", "candidate", "case").n_unique()
    every = len(store.campaign.cases) * len(store.campaign.candidates) * store.campaign.plan.stop.blocks_max
    return f"saved {1 - made / every:.0%} of the measurements by ending decided cases early"


# --- progress ---------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def shown(record: Campaign, *, quiet: bool = False) -> Iterator[Progress]:
    """Yield a watch whose state is shown: live on a terminal, else as lines; nowhere where quiet."""
    if quiet:
        yield Progress(record)
        return
    if not console.is_terminal:
        yield Lines(record)
        return
    progress = Shown(record)
    with Live(Screen(progress), console=console, refresh_per_second=REFRESH_PER_S, transient=True):
        yield progress
    for note in progress.notes:
        tell(f"note: {note}")


class Shown(Progress):
    """Progress with what figures are told by."""

    def __init__(self, record: Campaign) -> None:
        super().__init__(record)
        self.moved: dict[str, tuple[int, int]] = {}
        """Bytes and messages of one sample, by case."""

    def ended(self, launch: Launch, results: Sequence[CaseResult]) -> None:
        """Take note of what was moved."""
        super().ended(launch, results)
        self.moved |= {one.case.key: (one.moved_bytes, one.moved_messages) for one in results if one.moved_messages}


class Lines(Progress):
    """Progress for logs and pipes: one line per launch."""

    def ended(self, launch: Launch, results: Sequence[CaseResult]) -> None:
        """Print how a launch ended."""
        before = len(self.failures)
        super().ended(launch, results)
        tell(
            f"block {launch.block} of {spell_blocks(self.campaign)}: {launch.candidate} on {launch.placement}: "
            f"{counted(len(results), 'case')} in {launch.duration_s:.1f} s{end(launch, results)}"
        )
        for failure in self.failures[before:]:
            tell(f"  {failure}")

    def noted(self, note: str) -> None:
        """Print what changes how the campaign goes on."""
        super().noted(note)
        tell(f"note: {note}")

    def decided(self, decision: Decision) -> None:
        """Print why another block follows, or none."""
        super().decided(decision)
        tell(render(decision.reason))


def end(launch: Launch, results: Sequence[CaseResult]) -> str:
    """Return how a launch ended: `, ok`, or what is wrong with how many of its cases."""
    wrong = Counter(one.status.replace("-", " ") for one in results if one.status in FAILURES)
    if launch.status != LaunchStatus.OK or not wrong:
        return f", {launch.status}"
    return ": " + ", ".join(f"{count} {status}" for status, count in wrong.items())


def spell_running(progress: Progress) -> str:
    """Return what runs now."""
    names = [turn.candidate for turn in progress.running]
    who = ", ".join(names) if len(names) <= NAMED else f"{len(names)} candidates"
    turns = " in turn" if len(names) > 1 else ""
    return f"{who}{turns} on {progress.running[0].placement}, {counted(progress.running_cases, 'case')}"


class Screen:
    """Progress as a terminal shows it."""

    def __init__(self, progress: Shown) -> None:
        self.progress = progress

    def __rich__(self) -> RenderableType:
        """Draw the state of now."""
        record = self.progress.campaign
        head = Text.assemble((record.name, "bold"), "  ", record.plan.question)
        return Group("", head, "", self.way(), self.figures(), *self.failures())

    def way(self) -> Table:
        """Draw what runs, how much is done, what is decided, what is left."""
        progress = self.progress
        grid = Table.grid(padding=(0, 2))
        bar = ProgressBar(total=1.0, completed=progress.done, width=BAR_WIDTH)
        grid.add_row("block", bar, f"{progress.block} of {spell_blocks(progress.campaign)}")
        if progress.look:
            counts = (len(one) for one in (progress.look.decided, progress.look.given_up, progress.look.open))
            told = "{} decided, {} given up, {} open".format(*counts)
            grid.add_row("cases", told, f"as of block {progress.look.block}")
        grid.add_row("time left", self.time_left(), "" if progress.look else render(progress.note))
        if progress.running:
            grid.add_row("running", Text(spell_running(progress)), f"{progress.running_s:.0f} s")
        return grid

    def time_left(self) -> str:
        """Return the forecast for the fewest and for the most blocks."""
        forecast = self.progress.forecast_s()
        if not forecast:
            return "known after the first launch"
        least, most = map(spell_seconds, forecast)
        if self.progress.look and least != most:
            return f"{least} as it looks, {most} at most"
        return most if least == most else f"{least} to {most}"

    def figures(self) -> Table:
        """Draw the current median of each candidate, for one size of each operation."""
        record = self.progress.campaign
        names = [candidate.name for candidate in record.candidates if not candidate.control_of]
        table = Table(box=rich.box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
        table.add_column("median so far")
        for name in names:
            table.add_column(Text(name), justify="right")
        look = self.progress.look
        if look:
            table.add_column("fastest")
        operations = {operation.name: operation for operation in record.operations}
        firsts = first_of_each(record.cases)
        for case in firsts[:FIGURES_SHOWN]:
            operation = operations[case.operation]
            measure = measures.measure(case, operation, *self.progress.moved.get(case.key, ()))
            figures = [self.progress.figure_ns(name, case) for name in names]
            told = ("–" if one is None else measure.spelt(one) for one in figures)
            place = f" at {case.placement}" if len(record.plan.placements) > 1 else ""
            fastest = [Text(verdict_so_far(look, case))] if look else []
            table.add_row(Text(naming.full(case, operation) + place), *told, *fastest)
        if len(firsts) > FIGURES_SHOWN:
            table.add_row(f"and {len(firsts) - FIGURES_SHOWN} more")
        return table

    def failures(self) -> Iterator[RenderableType]:
        """Draw what went wrong last, and what changed how the campaign goes on."""
        yield from (Text(f"note: {note}", style="yellow") for note in self.progress.notes[-FAILURES_SHOWN:])
        failures = self.progress.failures
        if failures:
            yield Text(f"{len(failures)} failures so far; each is stored with its log", style="red")
            yield from (Text(f"  {line}", overflow="ellipsis", no_wrap=True) for line in failures[-FAILURES_SHOWN:])


def verdict_so_far(look: Look, case: Case) -> str:
    """Return who is fastest, as far as can be told, and whether that may still change."""
    winners = " ~ ".join(look.winners.get(case.key, []))
    return f"{winners} (open)" if case.key in look.open else winners


def first_of_each(cases: Sequence[Case]) -> list[Case]:
    """Return the case of the smallest size of each line, of several starts and pairs of ranks the first."""
    firsts: dict[str, Case] = {}
    for case in sorted(cases, key=lambda case: case.size_bytes):
        alike = msgspec.structs.replace(naming.endless(case), start="")
        firsts.setdefault(naming.line_key(alike), case)
    chosen = {case.key for case in firsts.values()}
    return [case for case in cases if case.key in chosen]


def spell_blocks(record: Campaign) -> str:
    """Return the bounds on blocks: `5`, `5 to 30`."""
    stop = record.plan.stop
    return f"{stop.blocks_min}" + (f" to {stop.blocks_max}" if stop.blocks_max > stop.blocks_min else "")


def spell_seconds(seconds: float) -> str:
    """Return minutes and seconds: `2:05`."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"
