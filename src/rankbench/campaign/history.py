"""What a campaign has done, replayed from its stored launches. A resumed campaign derives the rest from it alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rankbench.campaign.exit_causes import ended_from_outside
from rankbench.campaign.rebuilds import KnownFiles
from rankbench.model import NO_CPU, Case, CaseStatus, Launch, LaunchStatus, find_restless

TRIES = 2
"""After this number of blocks in which a case crashes or hangs with a candidate, it is no longer tried with it. After
as many in which a candidate measures nothing beside others, it is launched alone."""
RESTLESS = "its processes did not rest while others measured"
FATAL = {CaseStatus.CRASHED: "crashed", CaseStatus.HUNG: "hung"}


class Turn(NamedTuple):
    """A candidate's turn with a launch group's cases in a block: one launch, or several where some of them crash."""

    block: int
    candidate: str
    placement: str
    group: str = ""


class History:
    """The rows and launches of a campaign so far."""

    def __init__(self, threshold: float) -> None:
        self.last_number = 0
        self.files = KnownFiles()
        self._threshold = threshold
        self.launches: defaultdict[Turn, int] = defaultdict(int)
        self._rows: set[tuple[int, str, str]] = set()
        self._deaths: defaultdict[tuple[str, str], dict[int, CaseStatus]] = defaultdict(dict)
        self._failed_checks: set[tuple[str, str]] = set()
        self._rest: defaultdict[tuple[int, str, tuple[str, ...]], dict[str, float]] = defaultdict(dict)
        """CPU time of sleeping launches, by block, placement and simultaneous launches; then by candidate."""
        self._nothing_beside: defaultdict[tuple[str, str], dict[int, str]] = defaultdict(dict)
        """Why launches measured nothing beside others, by candidate and placement, then by block."""
        self._failed_starts: defaultdict[tuple[str, str, str], dict[int, LaunchStatus]] = defaultdict(dict)

    def add(self, launch: Launch, rows: Iterable[tuple[Case, CaseStatus]]) -> None:
        """Add a launch and the statuses of its cases. Only a refused launch has cases of several groups."""
        self.last_number = max(self.last_number, launch.number)
        self.files.add(launch)
        self._failed_checks.discard((launch.candidate, launch.placement))
        if not launch.command:  # The check of the candidate failed, and the launch was not made.
            self._failed_checks.add((launch.candidate, launch.placement))
        rows = list(rows)
        if launch.together > 1:
            shares = self._rest[launch.block, launch.placement, tuple(launch.beside)]
            shares[launch.candidate] = max(launch.rest_share, shares.get(launch.candidate, 0.0))
        if launch.together > 1 and not rows and not ended_from_outside(launch.exit_code, launch.log):
            self._nothing_beside[launch.candidate, launch.placement][launch.block] = launch.reason
        groups, reached = set(), False
        for case, status in rows:
            groups.add(case.launch_group)
            self._rows.add((launch.block, launch.candidate, case.key))
            reached |= status not in {CaseStatus.NOT_RUN, CaseStatus.REFUSED}
            if status in FATAL:
                self._deaths[launch.candidate, case.key][launch.block] = status
        for group in groups:
            self.launches[Turn(launch.block, launch.candidate, launch.placement, group)] += 1
            died = launch.command and launch.status != LaunchStatus.OK and NO_CPU not in launch.reason
            if died and not reached:
                self._failed_starts[launch.candidate, launch.placement, group][launch.block] = launch.status

    def explain_alone(self, candidate: str, placement: str) -> str:
        """Return why a candidate is launched alone in a placement from now on, or an empty text."""
        groups = {group: shares for group, shares in self._rest.items() if group[1] == placement}
        if candidate in find_restless(groups, self._threshold):
            return RESTLESS
        return self.explain_failing_beside(candidate, placement)

    def explain_failing_beside(self, candidate: str, placement: str) -> str:
        """Return why a candidate fails beside others, once enough of its launches measured nothing; else empty."""
        reasons = self._nothing_beside[candidate, placement]
        return (
            f"two launches measured nothing beside the others: {max(reasons.items())[1]}"
            if len(reasons) >= TRIES
            else ""
        )

    def list_beside(self, block: int, placement: str) -> set[str]:
        """Return the candidates that took turns with others in a block and placement."""
        here = (shares for (at, where, _), shares in self._rest.items() if (at, where) == (block, placement))
        return {name for shares in here for name in shares}

    def begun(self, block: int) -> bool:
        """Return whether a block has any launch."""
        return any(turn.block == block for turn in self.launches)

    def failed_check(self, candidate: str, placement: str) -> bool:
        """Return whether the check of a candidate in a placement failed, and no launch was stored since."""
        return (candidate, placement) in self._failed_checks

    def list_remaining(self, turn: Turn, cases: Sequence[Case]) -> list[Case]:
        """Return the cases that have no row in this turn yet."""
        return [case for case in cases if (turn.block, turn.candidate, case.key) not in self._rows]

    def explain_skip(self, turn: Turn, case: Case) -> str:
        """Return why a case is skipped in this turn, or an empty text."""
        deaths = {block: FATAL[status] for block, status in self._deaths[turn.candidate, case.key].items()}
        failed_starts = self._failed_starts[turn.candidate, turn.placement, turn.group]
        for what, blocks in ((" and ".join(sorted(set(deaths.values()))), deaths), ("did not start", failed_starts)):
            before = sorted(block for block in blocks if block < turn.block)
            if len(before) >= TRIES:
                return f"{what} in blocks {' and '.join(map(str, before[:TRIES]))}; not tried again"
        return ""
