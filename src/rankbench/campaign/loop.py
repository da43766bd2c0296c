"""Blocks, turns and launches in their recorded random order, stored before the next begin.

What is done next follows from the campaign record, its seed and the committed launches alone; so a campaign that was
killed goes on where it was, with nothing repeated and nothing lost but the launches in flight.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby
from typing import TYPE_CHECKING, Protocol

import msgspec

from rankbench import plan
from rankbench.campaign import launching
from rankbench.campaign.history import History, Turn
from rankbench.campaign.preflight import Refusal
from rankbench.campaign.sharing import Sharing
from rankbench.language import say
from rankbench.launch import Monitor, UnwatchedError, read_free
from rankbench.launch.turns import MOST_LAUNCHES
from rankbench.model import THREADS, Case, CaseResult, CaseStatus, Launch, LaunchStatus, RankbenchError
from rankbench.plan.stop_rules import Decision

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterator, Mapping, Sequence
    from pathlib import Path

    from rankbench.campaign.foreign import Programs
    from rankbench.campaign.preparation import Prepared
    from rankbench.launch.resources import Amounts
    from rankbench.model import Campaign, Candidate, Look, Placement
    from rankbench.store import Store

LOOK_S = 1.0
"""Time between two looks at what is free while launches take turns. Few, since the ranks may need every core."""
LAUNCHES_A_TURN = 5
"""Launches that a candidate gets in one turn when its cases crash one after the other."""
UNWATCHED_LAUNCHES = 3
"""Launches of a turn that may be lost because the process that watches over them was killed."""


Asked = tuple[launching.LaunchRequest, list[Case]]
"""What a launch is to measure, and all cases of its turn."""
Decide = Callable[["Store"], Decision]


class Watch(Protocol):
    """Receives what happens while it happens."""

    def on_resume(self, launch: Launch, cases: int) -> None:
        """A launch, with so many cases, was stored before this run."""

    def starts(self, turns: Sequence[Turn], cases: int) -> None:
        """A launch begins, or several that measure in turn, each with so many cases."""

    def on_end(self, launch: Launch, results: Sequence[CaseResult]) -> None:
        """A launch has ended and is stored."""

    def on_note(self, note: str) -> None:
        """Something happened that changes how the campaign goes on."""

    def on_decision(self, decision: Decision) -> None:
        """A block is complete, and it is decided whether another follows."""


@dataclass
class Loop:
    """A campaign under way."""

    store: Store
    campaign: Campaign
    binaries: Mapping[str, Path]
    watch: Watch
    history: History
    refused: Mapping[tuple[str, str], Refusal]
    programs: Programs = field(default_factory=dict)
    without: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """Why a library has no program for a foreign operation."""
    wanted: Collection[tuple[str, str]] = ()
    """Cases and candidates that the running block measures."""
    sharing: Sharing = field(default_factory=lambda: Sharing({}))
    read_free: Callable[[], Amounts] = read_free
    """Reads what is free of the resources that launches share."""
    notes: set[str] = field(default_factory=set)
    """What was said of resources."""
    short: dict[tuple[str, str], str] = field(default_factory=dict)
    """Why a candidate does not take turns with all others in a placement of the running block."""
    unwatched: Counter[Turn] = field(default_factory=Counter)
    """Launches of this run that are not stored because their supervisor was killed."""

    def block(self, number: int) -> None:
        """Give every candidate its turn in every placement, with the cases that are not decided yet."""
        self.wanted = select_wanted(self.campaign, self.store.looks(), number)
        self.short.clear()
        candidates = {candidate.name: candidate for candidate in self.campaign.candidates}
        order = plan.draw_block_order(self.campaign.seed, number, list(candidates))
        for placement in self.campaign.plan.placements:
            self.together(number, [candidates[name] for name in order], placement)
        for position, name in enumerate(order):
            for placement in self.campaign.plan.placements:
                if refusal := self.refused.get((name, placement.name)):
                    self.record_refusal(Turn(number, name, placement.name), position, refusal)
                else:
                    self.turns(number, position, candidates[name], placement)

    def together(self, block: int, candidates: Sequence[Candidate], placement: Placement) -> None:
        """Launch candidates at the same time in a placement, one launch group after the other; in their order.

        One that does not measure a case which others do passes its turn. What they leave, since one of them crashed or
        cannot take part, is measured by launches of its own.
        """
        groups: dict[tuple[str, int], list[tuple[launching.LaunchRequest, list[Case]]]] = {}
        divided = launch_groups(self.campaign, block)
        for position, candidate in enumerate(candidates):
            if (candidate.name, placement.name) in self.refused:
                continue
            for turn, cases in self.groups(block, candidate, placement):
                remaining = self.drop_given_up(turn, self.history.list_remaining(turn, cases))
                if remaining and not self.history.launches[turn] and self.may_share(candidate, placement, remaining):
                    order = self.order(turn, position, candidate, placement, remaining)
                    groups.setdefault((turn.group, divided[candidate.name]), []).append((order, cases))
        for group in groups.values():
            still = [entry for entry in group if not self.history.alone(*entry[0].turn[1:3])][:MOST_LAUNCHES]
            for part in self.divide_by_resources(placement, still):
                orders = self.in_one_order(block, placement, [order for order, _ in part])
                self.launch_together(orders, [cases for _, cases in part])

    def divide_by_resources(self, placement: Placement, launches: list[Asked]) -> list[list[Asked]]:
        """Return groups of at least two launches for which this machine has enough; say so if that is not one group.

        On other machines nobody looks.
        """
        if len(launches) < 2 or placement.hosts:
            return [launches] if len(launches) > 1 else []
        names = [order.candidate.name for order, _ in launches]
        originals = [order.candidate.control_of or order.candidate.name for order, _ in launches]
        groups, why = self.sharing.divide(placement.name, originals, self.read_free())
        if why:
            self.short |= {(name, placement.name): why for name in names}
            launches = [(order._replace(alone=why), cases) for order, cases in launches]
            parts = "; ".join(", ".join(names[place] for place in group) for group in groups)
            note = f"{placement.name}: launches do not all take turns with each other ({parts}), because {why}"
            if note not in self.notes:
                self.notes.add(note)
                self.watch.on_note(note)
        return [[launches[place] for place in group] for group in groups if len(group) > 1]

    def may_share(self, candidate: Candidate, placement: Placement, cases: Sequence[Case]) -> bool:
        """Return whether a launch of these cases shows the same while others are there."""
        return can_interleave(self.campaign, candidate, placement, cases, {*self.programs, *self.without})

    def in_one_order(
        self, block: int, placement: Placement, orders: Sequence[launching.LaunchRequest]
    ) -> list[launching.LaunchRequest]:
        """Return launches that go through the cases of a placement in one order, each through its own."""
        wanted = {key for key, _ in self.wanted}
        measured_keys = {case.key for order in orders for case in order.cases}
        among = plan.draw_case_order(
            self.campaign.seed, block, [case for case in self.cases(placement) if case.key in wanted]
        )
        among = [case for case in among if case.key in measured_keys]
        own_keys = [{case.key for case in order.cases} for order in orders]
        return [
            order._replace(cases=[case for case in among if case.key in keys], among=among)
            for order, keys in zip(orders, own_keys, strict=True)
        ]

    def launch_together(self, orders: Sequence[launching.LaunchRequest], cases: Sequence[Sequence[Case]]) -> None:
        """Make launches at the same time, and store them one after the other.

        One that measured nothing beside the others has no rows: the turn's next launch is made alone. So is that of one
        whose supervisor was killed, which is not stored.
        """
        self.watch.starts([order.turn for order in orders], len(orders[0].cases))
        with Monitor(LOOK_S, self.read_free) as monitor:
            answers = launching.make_together(orders, self.store.folder / "work")
        if not orders[0].placement.hosts:
            originals = [order.candidate.control_of or order.candidate.name for order in orders]
            self.sharing.learn(orders[0].placement.name, originals, monitor.used)
        for order, case, answer in zip(orders, cases, answers, strict=True):
            if isinstance(answer, UnwatchedError):
                self.lose(order.turn, answer)
                continue
            record, results = answer
            numbered = msgspec.structs.replace(record, number=self.history.last_number + 1)
            if results:
                self.settle(numbered, results, order.turn, case, order.cases)
            else:
                self.keep(numbered, [])

    def groups(self, block: int, candidate: Candidate, placement: Placement) -> Iterator[tuple[Turn, list[Case]]]:
        """Yield the turns of a candidate in a placement, one for every launch group, with the cases of each."""
        remaining = [case for case in self.cases(placement) if (case.key, candidate.name) in self.wanted]
        order = plan.draw_case_order(self.campaign.seed, block, remaining)
        for group, cases in groupby(order, lambda case: case.launch_group):
            yield Turn(block, candidate.name, placement.name, group), list(cases)

    def drop_given_up(self, turn: Turn, cases: Sequence[Case]) -> list[Case]:
        """Return the cases that are still tried in a turn."""
        return [case for case in cases if not self.history.explain_skip(turn, case)]

    def turns(self, block: int, position: int, candidate: Candidate, placement: Placement) -> None:
        """Give every launch group of the placement's cases a turn of its own."""
        for turn, cases in self.groups(block, candidate, placement):
            if reason := self.without.get((candidate.library, cases[0].operation)):
                self.record_lack(turn, position, cases, reason)
            else:
                self.turn(turn, position, candidate, placement, cases)

    def turn(
        self, turn: Turn, position: int, candidate: Candidate, placement: Placement, cases: Sequence[Case]
    ) -> None:
        """Launch until every case of the turn has a row, a few times at most where launches die."""
        while remaining := self.drop_given_up(turn, self.history.list_remaining(turn, cases)):
            self.watch.starts([turn], len(remaining))
            order = self.order(turn, position, candidate, placement, remaining)
            try:
                answer = launching.make(order, self.store.folder / "work")
            except UnwatchedError as error:
                self.lose(turn, error)
            else:
                self.settle(*answer, turn, cases, remaining)

    def lose(self, turn: Turn, error: UnwatchedError) -> None:
        """Say that a launch is not stored and is made again. Raises RankbenchError if that happened too often."""
        self.unwatched[turn] += 1
        where = f"block {turn.block}, {turn.candidate} on {turn.placement}: {error}"
        if self.unwatched[turn] >= UNWATCHED_LAUNCHES:
            raise RankbenchError(
                f"{where}, for the {UNWATCHED_LAUNCHES}rd time; find out what kills it (dmesg shows whether the kernel "
                "was out of memory), then run again to continue"
            )
        self.watch.on_note(f"{where}; it is not stored and is made again")

    def settle(
        self, launch: Launch, results: list[CaseResult], turn: Turn, cases: Sequence[Case], remaining: Sequence[Case]
    ) -> None:
        """Store a launch of what was left of a turn's cases, with rows for those that will not be tried."""
        if self.history.launches[turn] + 1 >= LAUNCHES_A_TURN or not results:
            reached = {result.case.key for result in results}
            why = f"the launch {launch.status}: {launch.reason}"
            results += [make_untried(case, CaseStatus.NOT_RUN, why) for case in remaining if case.key not in reached]
        if not self.history.launches[turn]:
            given_up = ((case, self.history.explain_skip(turn, case)) for case in cases)
            results += [make_untried(case, CaseStatus.NOT_RUN, reason) for case, reason in given_up if reason]
        self.keep(launch, results)

    def order(
        self, turn: Turn, position: int, candidate: Candidate, placement: Placement, cases: list[Case]
    ) -> launching.LaunchRequest:
        """Return what a launch of some cases needs."""
        return launching.LaunchRequest(
            number=self.history.last_number + 1,
            turn=turn,
            position=position,
            candidate=candidate,
            library=next(library for library in self.campaign.libraries if library.name == candidate.library),
            placement=placement_of(turn, placement),
            plan=self.campaign.plan,
            binary=self.binaries[candidate.library],
            cases=cases,
            program=self.programs.get((candidate.library, cases[0].operation)),
            once=self.campaign.once_operations,
            alone=self.why_alone(candidate, placement, cases),
        )

    def why_alone(self, candidate: Candidate, placement: Placement, cases: Sequence[Case]) -> str:
        """Return why cases that could be measured in turn are not; that of restless candidates is in other fields."""
        name = candidate.name, placement.name
        why = self.short.get(name) or self.history.fails_beside(*name)
        return why if why and self.may_share(candidate, placement, cases) else ""

    def cases(self, placement: Placement) -> list[Case]:
        """Return the cases of a placement."""
        return [case for case in self.campaign.cases if case.placement == placement.name]

    def keep(self, launch: Launch, results: list[CaseResult]) -> None:
        """Store a launch, then remember it."""
        names = [candidate.name for candidate in self.campaign.candidates]
        before = {name: self.history.alone(name, launch.placement) for name in names}
        self.store.append(launch, results)
        self.history.add(launch, ((result.case, result.status) for result in results))
        self.watch.on_end(launch, results)
        for name in names:
            if (why := self.history.alone(name, launch.placement)) and not before[name]:
                self.watch.on_note(f"{name} on {launch.placement} is launched alone from now on, because {why}")

    def record_refusal(self, turn: Turn, position: int, refusal: Refusal) -> None:
        """Store a refused launch in the first block that a candidate misses because its check failed."""
        remaining = self.history.list_remaining(
            turn, [case for case in self.campaign.cases if case.placement == turn.placement]
        )
        if remaining and not self.history.failed_check(turn.candidate, turn.placement):
            launch = make_refused_launch(self.history.last_number + 1, turn, position, refusal)
            self.keep(launch, [make_untried(case, refusal.status, refusal.reason) for case in remaining])

    def record_lack(self, turn: Turn, position: int, cases: Sequence[Case], reason: str) -> None:
        """Store in the first block that a candidate has no program for the benchmark of a foreign tool."""
        if turn.block == 1 and (remaining := self.history.list_remaining(turn, cases)):
            refusal = Refusal(reason, "")
            launch = make_refused_launch(self.history.last_number + 1, turn, position, refusal)
            self.keep(launch, [make_untried(case, refusal.status, reason) for case in remaining])


def run(prepared: Prepared, decide: Decide, watch: Watch) -> Decision:
    """Run blocks until it is decided that there are enough; return why it ended."""
    store, campaign = prepared.store, prepared.store.campaign
    history = replay_store(store, watch)
    loop = Loop(
        store, campaign, prepared.binaries, watch, history, prepared.refused, prepared.programs, prepared.without
    )
    loop.sharing = Sharing(prepared.uses)
    stop = campaign.plan.stop
    for look in store.looks()[-1:]:
        watch.on_decision(Decision(stop=False, reason="", look=look))
    for block in range(1, stop.blocks_max + 1):
        if block > stop.blocks_min and not loop.history.begun(block):
            decision = decide(store)
            if decision.look and not decision.stop:
                store.append_look(decision.look)
            watch.on_decision(decision)
            if decision.stop:
                return decision
        loop.block(block)
    return Decision(stop=True, reason=say("the plan's {n:count block} {n:of is|are} done", n=stop.blocks_max))


def can_interleave(
    campaign: Campaign,
    candidate: Candidate,
    placement: Placement,
    cases: Sequence[Case],
    foreign: Container[tuple[str, str]],
) -> bool:
    """Return whether a launch of these cases shows the same while others are there, asleep.

    Memory, and what happens once in a launch, are a matter of the whole launch; ranks that share cores wait for each
    other; programs of foreign tools, whose libraries and operations are given, know nothing of turns.
    """
    return bool(campaign.plan.together) and not (
        campaign.oversubscribed(placement.ranks_per_node, placement.nodes)
        or any(case.quantity == "memory" or case.operation in campaign.once_operations for case in cases)
        or any((candidate.library, case.operation) in foreign for case in cases)
    )


def launch_groups(campaign: Campaign, block: int) -> dict[str, int]:
    """Return the group of each candidate in a block: who is in one is launched at the same time."""
    names = [candidate.name for candidate in campaign.candidates]
    together = campaign.plan.together
    return plan.draw_launch_groups(campaign.seed, block, names, 0 if isinstance(together, bool) else together)


def select_wanted(campaign: Campaign, looks: Sequence[Look], block: int) -> set[tuple[str, str]]:
    """Return the cases and candidates that a block measures: all, or those that the last look before it left open.

    The twin of the A/A control is measured wherever its original is, so that it reports the method as it was used.
    """
    everything = {(case.key, candidate.name) for case in campaign.cases for candidate in campaign.candidates}
    before = [look for look in looks if look.block < block]
    if not before:
        return everything
    open_cases = max(before, key=lambda look: look.block).open
    original = {candidate.name: candidate.control_of or candidate.name for candidate in campaign.candidates}
    return {(case, name) for case, name in everything if original[name] in open_cases.get(case, ())}


def replay_store(store: Store, watch: Watch) -> History:
    """Return what the store holds, and report it to the watch."""
    history = History(store.campaign.plan.threshold)
    cases = {case.key: case for case in store.campaign.cases}
    rows: dict[int, list[tuple[Case, CaseStatus]]] = {}
    for number, key, status in store.cases().select("launch", "case", "status").iter_rows():
        rows.setdefault(number, []).append((cases[key], CaseStatus(status)))
    for launch in store.launches():
        launch_rows = rows.get(launch.number, [])
        history.add(launch, launch_rows)
        watch.on_resume(launch, len(launch_rows))
    return history


def blocks_done(store: Store) -> int:
    """Return how many blocks are complete: refused candidates have rows in the first block only."""
    rows = store.cases().select("block", "status", "case", "candidate").rows()
    refused = CaseStatus.REFUSED.value
    if not rows:
        return 0
    last: int = max(block for block, *_ in rows)
    there = {(case, candidate) for block, status, case, candidate in rows if block == last or status == refused}
    missing = select_wanted(store.campaign, store.looks(), last) - there
    return last - 1 if missing else last


def placement_of(turn: Turn, placement: Placement) -> Placement:
    """Return the placement as the turn's launches have it: threads of a rank that is bound would share one core."""
    return msgspec.structs.replace(placement, binding="none") if turn.group == THREADS else placement


def make_untried(case: Case, status: CaseStatus, reason: str) -> CaseResult:
    """Return the row of a case that was not begun."""
    return CaseResult(case=case, status=status, reason=reason)


def make_refused_launch(number: int, turn: Turn, position: int, refusal: Refusal) -> Launch:
    """Return the record of a launch that was not made because its check had failed."""
    return Launch(
        number=number,
        block=turn.block,
        position=position,
        candidate=turn.candidate,
        placement=turn.placement,
        status=LaunchStatus.REFUSED,
        reason=refusal.reason,
        started=datetime.now(UTC).isoformat(timespec="milliseconds"),
        duration_s=0.0,
        exit_code=None,
        command=[],
        environment={},
        facts=None,
        ranks=[],
        load_before=0.0,
        stolen_s=0.0,
        log=refusal.log,
    )
