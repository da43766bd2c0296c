"""How far a campaign is: counts, time left and first figures, kept while it runs. It prints and judges nothing."""

from __future__ import annotations

from collections import defaultdict
from statistics import mean, median
from time import monotonic
from typing import TYPE_CHECKING

from rankbench import plan
from rankbench.model import CaseStatus, LaunchStatus
from rankbench.plan import notation

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from rankbench.campaign.history import Turn
    from rankbench.campaign.stopping import Decision
    from rankbench.model import Campaign, Case, CaseResult, Launch, Series


class Progress:
    """The state of a campaign that is shown while it runs; a `Watch`."""

    def __init__(self, campaign: Campaign) -> None:
        self.campaign = campaign
        self.turn: Turn | None = None
        self.running_cases = 0
        self._began_s = monotonic()
        self.note = ""
        self.failures: list[str] = []
        self._seconds: defaultdict[tuple[str, str], defaultdict[int, float]] = defaultdict(lambda: defaultdict(float))
        self._medians: defaultdict[tuple[str, str], list[float]] = defaultdict(list)

    def starts(self, turn: Turn, cases: int) -> None:
        """Take note of the launch that begins."""
        self.turn, self.running_cases, self._began_s = turn, cases, monotonic()

    def resumed(self, launch: Launch) -> None:
        """Count a launch of an earlier run."""
        self._seconds[launch.candidate, launch.placement][launch.block] += launch.duration_s
        self.failures += failures(launch, ())

    def ended(self, launch: Launch, results: Sequence[CaseResult]) -> None:
        """Count a launch and what it brought."""
        self._seconds[launch.candidate, launch.placement][launch.block] += launch.duration_s
        for result in results:
            if result.own:
                discarded = result.own.discarded(overruns=self.campaign.discards_overruns(result.case))
                self._medians[launch.candidate, result.case.key].append(launch_median(result.own, discarded))
        self.failures += failures(launch, results)

    def decided(self, decision: Decision) -> None:
        """Take note of why another block follows, or not."""
        self.note = decision.reason

    @property
    def block(self) -> int:
        """Return the running block."""
        return self.turn.block if self.turn else 1

    @property
    def running_s(self) -> float:
        """Return how long the running launch has been running."""
        return monotonic() - self._began_s

    @property
    def turns_a_block(self) -> int:
        """Return the turns of one block."""
        return len(self.campaign.candidates) * len(self.campaign.plan.placements)

    @property
    def turns_done(self) -> int:
        """Return the turns before the running one. Some may have had no launch: their candidate is given up."""
        if not self.turn:
            return 0
        names = [candidate.name for candidate in self.campaign.candidates]
        order = plan.block_order(self.campaign.seed, self.turn.block, names)
        placements = [placement.name for placement in self.campaign.plan.placements]
        within = order.index(self.turn.candidate) * len(placements) + placements.index(self.turn.placement)
        return (self.turn.block - 1) * self.turns_a_block + within

    def turns_left(self, blocks: int) -> int:
        """Return the turns until so many blocks are complete."""
        return max(0, blocks * self.turns_a_block - self.turns_done)

    def seconds_left(self, blocks: int) -> float | None:
        """Return a forecast of the time until so many blocks are complete, from what each candidate's turns took."""
        took = [mean(blocks.values()) for blocks in self._seconds.values()]
        return max(0.0, mean(took) * self.turns_left(blocks) - self.running_s) if took else None

    def forecast_s(self) -> tuple[float, float] | None:
        """Return the shortest and the longest time that the plan's bounds leave."""
        stop = self.campaign.plan.stop
        least, most = self.seconds_left(stop.blocks_min), self.seconds_left(stop.blocks_max)
        if least is None or most is None:
            return None
        rule, amount_s = notation.until(stop.until)
        if rule == "time":
            most = min(most, amount_s - sum(sum(blocks.values()) for blocks in self._seconds.values()))
        return least, max(least, most)

    def figure_ns(self, candidate: str, case: Case) -> float | None:
        """Return a candidate's median over its launches so far."""
        medians = self._medians[candidate, case.key]
        return median(medians) if medians else None


def launch_median(series: Series, discarded: Container[int]) -> float:
    """Return the median of the samples that count."""
    times = [time for index, time in enumerate(series.time_ns) if index not in discarded]
    return median(times or series.time_ns)


def failures(launch: Launch, results: Sequence[CaseResult]) -> list[str]:
    """Return a line for each thing that went wrong in a launch."""
    where = f"block {launch.block}, {launch.candidate}"
    odd = [result for result in results if result.status not in {CaseStatus.OK, CaseStatus.NOT_RUN, CaseStatus.REFUSED}]
    lines = [f"{where}: {result.case.key} {result.status}: {result.reason}" for result in odd]
    if launch.status != LaunchStatus.OK and not lines:
        lines = [f"{where}: launch {launch.status}: {launch.reason}"]
    return lines
