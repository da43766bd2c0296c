"""The progress of a running campaign: counts, remaining time and first values. It prints nothing."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Sequence
from statistics import linear_regression, mean, median
from time import monotonic

from rankbench.campaign.history import Turn
from rankbench.campaign.loop import select_wanted
from rankbench.language import Words
from rankbench.model import Campaign, Case, CaseResult, CaseStatus, Launch, LaunchStatus, Look, Series
from rankbench.plan import count_least_blocks, notation
from rankbench.plan.stop_rules import Decision
from rankbench.quantities import format_size, spell_count

WITHOUT_LINE = {CaseStatus.OK, CaseStatus.NOT_RUN, CaseStatus.REFUSED, CaseStatus.NOT_AS_ASKED, CaseStatus.BELOW}
"""Statuses without a line: good ones, and those that all cases of a launch share."""


class Progress:
    """A `Watch` that holds what is shown while a campaign runs."""

    def __init__(self, campaign: Campaign) -> None:
        self.campaign = campaign
        self.running: Sequence[Turn] = ()
        """The turns of the running launches: one, or several that measure in turn."""
        self.running_cases = 0
        """Number of cases of each."""
        self._behind: set[tuple[str, str]] = set()
        """Candidates and placements whose turns in the current block are over."""
        self._began_s = monotonic()
        self._this_run_s = self._began_s
        self._before_s = 0.0
        """Time of the launches of earlier runs."""
        self.note: Words = ""
        self.look: Look | None = None
        """The last interim analysis."""
        self.turns = list_turn_cases(campaign, ())
        """Number of cases of each candidate in each placement, in blocks after the last look."""
        self.failures: list[str] = []
        self.notes: list[str] = []
        self._took: list[tuple[int, float]] = []
        """Cases and seconds of every launch."""
        self.medians: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
        """Medians of the launches of this run, by candidate and key of the case."""

    def on_start(self, turns: Sequence[Turn], cases: int) -> None:
        """Note which launches begin."""
        same_block = self.running and self.running[0].block == turns[0].block
        before = {(turn.candidate, turn.placement) for turn in self.running}
        now = {(turn.candidate, turn.placement) for turn in turns}
        self._behind = (self._behind | before) - now if same_block else set()
        self.running, self.running_cases, self._began_s = turns, cases, monotonic()

    def on_resume(self, launch: Launch, cases: int) -> None:
        """Count a launch of an earlier run."""
        self._took.append((cases, launch.duration_s))
        self._before_s += launch.duration_s
        self.failures += list_failures(launch, ())

    def on_end(self, launch: Launch, results: Sequence[CaseResult]) -> None:
        """Count a launch and its results."""
        self._took.append((len(results), launch.duration_s))
        for result in results:
            if result.own_series:
                discarded = result.own_series.find_discarded(overruns=self.campaign.discards_overruns(result.case))
                self.medians[launch.candidate, result.case.key].append(
                    compute_launch_median(result.own_series, discarded)
                )
        self.failures += list_failures(launch, results)

    def on_note(self, note: str) -> None:
        """Collect a note on how the campaign continues."""
        self.notes.append(note)

    def on_decision(self, decision: Decision) -> None:
        """Note why another block follows, or not."""
        self.note = decision.reason or self.note
        if decision.look:
            self.look, self.turns = decision.look, list_turn_cases(self.campaign, [decision.look])

    @property
    def block(self) -> int:
        """Return the current block."""
        return self.running[0].block if self.running else 1

    @property
    def running_s(self) -> float:
        """Return how long the running launches have been running."""
        return monotonic() - self._began_s

    @property
    def turns_done(self) -> int:
        """Return how many turns of the current block are over."""
        return len(self._behind)

    def _of_a_block(self) -> list[tuple[str, str]]:
        """Return the candidates and placements that have turns in a block."""
        return [
            (candidate.name, where.name)
            for candidate in self.campaign.candidates
            for where in self.campaign.plan.placements
        ]

    @property
    def blocks(self) -> int:
        """Return the target block: that of the first look, or that by which all cases should be decided."""
        stop = self.campaign.plan.stop
        if self.block <= stop.blocks_min:
            return stop.blocks_min
        return max(self.look.until, self.block) if self.look else stop.blocks_max

    @property
    def share_done(self) -> float:
        """Return which share of the blocks up to the target, or of the plan's time, is over."""
        until = notation.parse_until(self.campaign.plan.stop.until)
        of_time = self._spent_s / until.limit_s
        of_blocks = (self.block - 1 + self.turns_done / len(self._of_a_block())) / self.blocks
        return min(1.0, of_time if until.rule == "time" else max(of_time, of_blocks))

    @property
    def _spent_s(self) -> float:
        """Return the time since the campaign began, in which it ran."""
        return self._before_s + monotonic() - self._this_run_s

    def seconds(self, cases: int) -> float:
        """Return the expected time of a launch: linear in its number of cases, with a constant part for the launch."""
        counts, times = [cases for cases, _ in self._took], [took for _, took in self._took]
        if len(set(counts)) == 1:
            return mean(times) * cases / max(counts[0], 1)
        line = linear_regression(counts, times)
        return max(0.0, float(line.intercept) + float(line.slope) * cases)

    def seconds_left(self, blocks: int) -> float | None:
        """Return the expected time until this number of blocks is complete, from the times of launches."""
        if not self._took:
            return None
        took = {turn: self.seconds(cases) for turn, cases in self.turns.items()}
        rest = sum(took.get(turn, 0.0) for turn in self._of_a_block() if turn not in self._behind)
        return max(0.0, rest + sum(took.values()) * max(0, blocks - self.block) - self.running_s)

    def forecast_s(self) -> tuple[float, float] | None:
        """Return the least and the most remaining time: by the bounds of the plan, or by the open cases."""
        stop = self.campaign.plan.stop
        least = self.seconds_left(max(count_least_blocks(stop), self.block))
        most = self.seconds_left(stop.blocks_max)
        if least is None or most is None:
            return None
        if self.look:
            least = self.seconds_left(self.blocks) or 0.0
        left_s = max(0.0, notation.find_time_limit_s(stop.until) - self._spent_s)
        return min(least, left_s), min(max(least, most), left_s)

    def find_value_ns(self, candidate: str, case: Case) -> float | None:
        """Return a candidate's median over its launches so far."""
        medians = self.medians[candidate, case.key]
        return median(medians) if medians else None


def list_turn_cases(campaign: Campaign, looks: Sequence[Look]) -> Counter[tuple[str, str]]:
    """Return the cases of each candidate's turn in each placement, after these looks."""
    placement = {case.key: case.placement for case in campaign.cases}
    open_cases = select_wanted(campaign, looks, campaign.plan.stop.blocks_max + 1)
    return Counter((name, placement[case]) for case, name in open_cases)


def compute_launch_median(series: Series, discarded: Container[int]) -> float:
    """Return the median of the samples that count."""
    times = [time for index, time in enumerate(series.time_ns) if index not in discarded]
    return median(times or series.time_ns)


def name_case(case: Case) -> str:
    """Return a case's name in a line. Of a program, and of another benchmark, the key says nothing more."""
    size = f" {format_size(case.size_bytes)}" if case.size_bytes else ""
    return f"{case.operation}{size} at {case.placement}" if case.suite else case.key


def list_failures(launch: Launch, results: Sequence[CaseResult]) -> list[str]:
    """Return a line for each thing that went wrong in a launch."""
    where = f"block {launch.block}, {launch.candidate}"
    elsewhere = Counter(result.reason for result in results if result.status == CaseStatus.NOT_AS_ASKED)
    odd = [result for result in results if result.status not in WITHOUT_LINE]
    lines = [
        f"{where} on {launch.placement}: {reason}: {spell_count(count, 'case')}" for reason, count in elsewhere.items()
    ]
    lines += [f"{where}: {name_case(result.case)} {result.status}: {result.reason}" for result in odd]
    if launch.status != LaunchStatus.OK and not lines:
        lines = [f"{where}: launch {launch.status}: {launch.reason}"]
    return lines
