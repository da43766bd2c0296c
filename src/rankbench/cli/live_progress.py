"""The progress of a campaign: live on a terminal, lines elsewhere."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Sequence
from time import monotonic

import rich.box
from rich.console import Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from rankbench.analysis.questions import case_labels, measures
from rankbench.analysis.questions.standing import describe_standing, find_standing
from rankbench.campaign import Decision, Progress
from rankbench.campaign.history import Turn
from rankbench.campaign.progress import list_failures
from rankbench.cli.display import console, describe_block, name_block, print_text, spell_blocks, split_name
from rankbench.language import render
from rankbench.model import BROKEN, Campaign, Case, CaseResult, CaseStatus, Launch, LaunchStatus, Look
from rankbench.quantities import format_clock, spell_count

REFRESH_PER_S = 1
"""Refreshes per second: few, since ranks may need every core."""
BAR_WIDTH = 40
NAMED = 3
"""Most candidates whose names fit on a line."""
VALUES_SHOWN = 12
FAILURES_SHOWN = 4


@contextlib.contextmanager
def watch_campaign(record: Campaign, *, quiet: bool = False) -> Iterator[Progress]:
    """Yield a watch whose state is shown: live on a terminal, else as lines; not at all if quiet."""
    if quiet:
        yield Progress(record)
        return
    if not console.is_terminal or console.is_dumb_terminal:
        lines = Lines(record)
        yield lines
        lines.print_block()
        return
    progress = DisplayedProgress(record)
    with Live(Screen(progress), console=console, refresh_per_second=REFRESH_PER_S, transient=True):
        yield progress
    for note in progress.notes:
        print_text(f"note: {note}")


class DisplayedProgress(Progress):
    """Progress with what is needed to show values."""

    def __init__(self, record: Campaign) -> None:
        super().__init__(record)
        self.moved: dict[str, tuple[int, int]] = {}
        """Bytes and messages of one sample, by case."""

    def on_end(self, launch: Launch, results: Sequence[CaseResult]) -> None:
        """Note the bytes and messages of samples."""
        super().on_end(launch, results)
        self.moved |= {
            result.case.key: (result.moved_bytes, result.moved_messages) for result in results if result.moved_messages
        }


class Lines(Progress):
    """Progress for logs and pipes: one line per block, and each failure when it is new."""

    def __init__(self, record: Campaign) -> None:
        super().__init__(record)
        self.last_reason = ""
        self._ends: list[tuple[Launch, Sequence[CaseResult]]] = []
        """Of the launches of the present block."""
        self._block_began_s = monotonic()
        self._known: set[tuple[str, str]] = set()
        """Failures that were printed, by candidate."""

    def on_start(self, turns: Sequence[Turn], cases: int) -> None:
        """Print the block before, where another one begins."""
        if self._ends and self._ends[0][0].block != turns[0].block:
            self.print_block()
        if not self._ends:
            self._block_began_s = monotonic()
        super().on_start(turns, cases)

    def on_end(self, launch: Launch, results: Sequence[CaseResult]) -> None:
        """Print what went wrong in a launch and did not before."""
        super().on_end(launch, results)
        self._ends.append((launch, results))
        for failure in list_new_failures(launch, results, self._known):
            print_text(f"{name_block(self.campaign, launch.block)}: {failure}")

    def print_block(self) -> None:
        """Print how the launches of a block ended: `block 2 of 5: 4 candidates, 43 cases, 16.5 s, ok`."""
        if not self._ends:
            return
        launches = [launch for launch, _ in self._ends]
        cases = {result.case.key for _, results in self._ends for result in results}
        failures = [f"{launch.candidate}: {text}" for launch, results in self._ends if (text := end(launch, results))]
        print_text(describe_block(self.campaign, launches, len(cases), monotonic() - self._block_began_s, failures))
        self._ends.clear()
        if standing := spell_standing(self):
            print_text(f"  {standing}")

    def on_note(self, note: str) -> None:
        """Print a note on how the campaign continues."""
        super().on_note(note)
        print_text(f"note: {note}")

    def on_decision(self, decision: Decision) -> None:
        """Print why another block follows, once; the conclusion says why none does."""
        self.print_block()
        super().on_decision(decision)
        reason = "" if decision.stop else render(decision.reason)
        if reason and reason != self.last_reason:
            print_text(reason)
        self.last_reason = reason


def spell_standing(progress: Progress) -> str:
    """Return who is ahead so far; empty: there is nothing to compare."""
    names = [candidate.name for candidate in progress.campaign.candidates if not candidate.control_of]
    ratios = find_standing(progress.campaign.cases, names, progress.medians, progress.campaign.plan.calls)
    return render(describe_standing(ratios)) if ratios else ""


def end(launch: Launch, results: Sequence[CaseResult]) -> str:
    """Return how a launch ended, or the failures of its cases: `crashed`, `2 wrong data`; empty: well."""
    if launch.status != LaunchStatus.OK:
        return str(launch.status)
    wrong = Counter(result.status.replace("-", " ") for result in results if result.status in BROKEN)
    return ", ".join(f"{count} {status}" for status, count in wrong.items())


def list_new_failures(launch: Launch, results: Sequence[CaseResult], known: set[tuple[str, str]]) -> Iterator[str]:
    """Yield what went wrong in a launch, each thing once in a campaign: a lack of a call for all its cases together.

    Args:
        launch: the launch.
        results: of its cases.
        known: what was yielded before, by candidate; what is yielded now is added.
    """
    lacking = Counter(result.reason for result in results if result.status is CaseStatus.LACKING)
    texts = [f"{reason}: {spell_count(count, 'case')} left out" for reason, count in lacking.items()]
    others = [result for result in results if result.status is not CaseStatus.LACKING]
    first = [result for result in others if not is_repeated(launch, result, known)]
    if len(first) == len(others) or any(result.status in BROKEN for result in first):
        texts += [line.partition(": ")[2] for line in list_failures(launch, first)]
    for text in texts:
        if (launch.candidate, text) not in known:
            known.add((launch.candidate, text))
            yield f"{launch.candidate}: {text}"


def is_repeated(launch: Launch, result: CaseResult, known: set[tuple[str, str]]) -> bool:
    """Return whether a case failed in the same way before, whatever the details; if not it is known from now on."""
    if result.status not in BROKEN:
        return False
    failure = launch.candidate, f"{result.case.key} {result.status}"
    repeated = failure in known
    known.add(failure)
    return repeated


def spell_running(progress: Progress) -> str:
    """Return a text on the running launches."""
    names = [turn.candidate for turn in progress.running]
    who = ", ".join(names) if len(names) <= NAMED else f"{len(names)} candidates"
    turns = " in turn" if len(names) > 1 else ""
    return f"{who}{turns} on {progress.running[0].placement}, {spell_count(progress.running_cases, 'case')}"


class Screen:
    """Progress as a terminal shows it."""

    def __init__(self, progress: DisplayedProgress) -> None:
        self.progress = progress

    def __rich__(self) -> RenderableType:
        """Render the current state."""
        record = self.progress.campaign
        head = Text.assemble((record.name, "bold"), "  ", record.plan.question)
        return Group("", head, "", self.way(), self.make_value_table(), *self.failures())

    def way(self) -> Table:
        """Render the running launches, what is done, decided, and left."""
        progress = self.progress
        grid = Table.grid(padding=(0, 2))
        bar = ProgressBar(total=1.0, completed=progress.share_done, width=BAR_WIDTH)
        grid.add_row("block", bar, f"{progress.block} of {spell_blocks(progress.campaign)}")
        if progress.look:
            counts = (len(part) for part in (progress.look.decided, progress.look.given_up, progress.look.open))
            text = "{} decided, {} given up, {} open".format(*counts)
            grid.add_row("cases", text, f"as of block {progress.look.block}")
        grid.add_row("time left", self.time_left(), "" if progress.look else render(progress.note))
        if standing := spell_standing(progress):
            grid.add_row("so far", Text(standing.removeprefix("so far ")), "")
        if progress.running:
            grid.add_row("running", Text(spell_running(progress)), f"{progress.running_s:.0f} s")
        return grid

    def time_left(self) -> str:
        """Return the forecast for the fewest and for the most blocks."""
        forecast = self.progress.forecast_s()
        if not forecast:
            return "known after the first launch"
        least, most = map(format_clock, forecast)
        if self.progress.look and least != most:
            return f"probably {least}, at most {most}"
        return most if least == most else f"{least} to {most}"

    def make_value_table(self) -> Table:
        """Return the table of the candidates' current medians, for one size of each operation."""
        record = self.progress.campaign
        names = [candidate.name for candidate in record.candidates if not candidate.control_of]
        table = Table(box=rich.box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
        table.add_column("median so far")
        for name in names:
            table.add_column(Text(split_name(name)), justify="right")
        look = self.progress.look
        if look:
            table.add_column("fastest")
        operations = {operation.name: operation for operation in record.operations}
        firsts = list_first_cases(record.cases)
        for case in firsts[:VALUES_SHOWN]:
            operation = operations[case.operation]
            measure = measures.choose_measure(case, operation, *self.progress.moved.get(case.key, ()))
            values = [self.progress.find_value_ns(name, case) for name in names]
            texts = ("–" if value is None else measure.format(value) for value in values)
            place = f" at {case.placement}" if len(record.plan.placements) > 1 else ""
            fastest = [Text(describe_leader(look, case))] if look else []
            table.add_row(Text(case_labels.name_case(case, operation) + place), *texts, *fastest)
        if len(firsts) > VALUES_SHOWN:
            table.add_row(f"and {len(firsts) - VALUES_SHOWN} more")
        return table

    def failures(self) -> Iterator[RenderableType]:
        """Render the last failures and notes."""
        yield from (Text(f"note: {note}", style="yellow") for note in self.progress.notes[-FAILURES_SHOWN:])
        failures = self.progress.failures
        if failures:
            yield Text(f"{len(failures)} failures so far; each is stored with its log", style="red")
            yield from (Text(f"  {line}", overflow="ellipsis", no_wrap=True) for line in failures[-FAILURES_SHOWN:])


def describe_leader(look: Look, case: Case) -> str:
    """Return which candidate is fastest so far, and whether that may still change."""
    winners = " ~ ".join(look.winners.get(case.key, []))
    return f"{winners} (open)" if case.key in look.open else winners


def list_first_cases(cases: Sequence[Case]) -> list[Case]:
    """Return the case of the smallest size of each line, of several starts and pairs of ranks the first."""
    firsts: dict[str, Case] = {}
    for case in sorted(cases, key=lambda case: case.size_bytes):
        firsts.setdefault(case.without("size", "start", *case_labels.ENDS), case)
    chosen = {case.key for case in firsts.values()}
    return [case for case in cases if case.key in chosen]
