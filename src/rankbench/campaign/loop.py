"""Blocks, turns and launches in their recorded random order, stored before the next begin.

The next launch follows from the campaign record, its seed and the stored launches alone. So a killed campaign continues
where it was: nothing is repeated, and only launches that were running are lost.
"""

from __future__ import annotations

import itertools
import math
import time
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec

from rankbench import files, plan
from rankbench.campaign import launching, preflight, rebuilds
from rankbench.campaign.history import History, Turn
from rankbench.campaign.preflight import Refusal
from rankbench.campaign.sharing import Sharing
from rankbench.campaign.spending import total_duration_s
from rankbench.language import say
from rankbench.launch import Monitor, SupervisorKilledError, read_free
from rankbench.launch.resources import MEMORY
from rankbench.launch.turn_page import MOST_LAUNCHES
from rankbench.model import MULTIPLE, THREADS, Case, CaseResult, CaseStatus, Launch, LaunchStatus, RankbenchError
from rankbench.plan import notation
from rankbench.plan.stop_rules import Decision

if TYPE_CHECKING:
    from rankbench.campaign.foreign import Programs
    from rankbench.campaign.preparation import PreparedCampaign
    from rankbench.campaign.rebuilds import Rebuild
    from rankbench.language import Text
    from rankbench.launch.resources import Amounts
    from rankbench.model import Campaign, Candidate, LibraryFile, Look, Placement, State, Stop
    from rankbench.store import Store

LOOK_S = 1.0
"""Time between two readings of free resources while launches take turns: long, since the ranks may need every core."""
RECENT_S = 0.5
"""A state of the machine of which the measurement ended less than this ago is that of now."""
LAUNCHES_A_TURN = 5
"""Launches that a candidate gets in one turn when its cases crash one after the other."""
ALONE_EVERY = 10
"""Beside the first block, one in so many launches each candidate alone, too."""
CHEAPEST = 3
"""So many cases of these launches: they take little longer than starting and ending."""
MOST_LOST_LAUNCHES = 3
"""So many launches of a turn may be lost because their supervisor was killed; then the campaign stops."""


TurnRequest = tuple[launching.LaunchRequest, list[Case]]
"""The request for a launch, and all cases of its turn."""
Decide = Callable[["Store"], Decision]


class Watch(Protocol):
    """Is notified of the events of a campaign."""

    def on_resume(self, launch: Launch, cases: int) -> None:
        """A launch with this number of cases was stored before this run."""

    def on_start(self, turns: Sequence[Turn], cases: int) -> None:
        """A launch begins, or several that measure in turn, each with this number of cases."""

    def on_end(self, launch: Launch, results: Sequence[CaseResult]) -> None:
        """A launch has ended and is stored."""

    def on_note(self, note: str) -> None:
        """Something changes how the campaign continues."""

    def on_decision(self, decision: Decision) -> None:
        """A block is complete; the decision says whether another follows."""


@dataclass
class Loop:
    """A running campaign."""

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
    """Cases and candidates that the current block measures."""
    sharing: Sharing = field(default_factory=lambda: Sharing({}))
    lists: Mapping[str, Path] = field(default_factory=dict)
    """The list of the files of each candidate's library."""
    checked_files: Mapping[str, Sequence[LibraryFile]] = field(default_factory=dict)
    """Those that the check of this run reported."""
    read_free: Callable[[], Amounts] = read_free
    """Reads how much of the shared resources is free."""
    notes: set[str] = field(default_factory=set)
    """Notes on resources that were already shown."""
    short: dict[tuple[str, str], str] = field(default_factory=dict)
    """Why a candidate does not take turns with all others in a placement, in the current block."""
    lost: Counter[Turn] = field(default_factory=Counter)
    """Launches of this run that are not stored because their supervisor was killed."""
    last_state: tuple[float, State] | None = None
    """The last measured state of the machine, and when that ended, by the monotonic clock."""
    ends_s: float = math.inf
    """When the plan's time is over, by the monotonic clock; no launch begins after that."""
    cut: bool = False
    """Whether a launch was not made because the time was over."""

    def run_block(self, number: int) -> None:
        """Run a turn of every candidate in every placement, with the cases that are not decided yet.

        No launch begins when the time is over, so that the plan's time is exceeded by one launch at most.
        """
        self.wanted = select_wanted(self.campaign, self.store.looks(), number)
        self.short.clear()
        candidates = {candidate.name: candidate for candidate in self.campaign.candidates}
        order = plan.draw_block_order(self.campaign.seed, number, list(candidates))
        for placement in self.campaign.plan.placements:
            self.run_together(number, [candidates[name] for name in order], placement)
        for position, name in enumerate(order):
            for placement in self.campaign.plan.placements:
                if refusal := self.refused.get((name, placement.name)):
                    self.record_refusal(Turn(number, name, placement.name), position, refusal)
                else:
                    self.run_turns(number, position, candidates[name], placement)

    def run_alone(self, block: int) -> None:
        """Launch each candidate alone, too, if it took turns with others in this block, for the cheapest cases.

        These launches show whether candidates compare alike alone. They are stored apart, and one that fails is not
        repeated.
        """
        stored = self.store.alone.launches()
        numbers = itertools.count(len(stored) + 1)
        turns = {(launch.block, launch.candidate, launch.placement) for launch in stored}
        for placement in self.campaign.plan.placements:
            names = self.history.list_beside(block, placement.name)
            cases = self.choose_cheapest(placement)
            for position, candidate in enumerate(self.campaign.candidates):
                turn = Turn(block, candidate.name, placement.name)
                if candidate.control_of or candidate.name not in names or turn[:3] in turns or not cases:
                    continue
                if time.monotonic() > self.ends_s:
                    return
                request = self.make_request(turn, position, candidate, placement, cases)._replace(number=next(numbers))
                try:
                    answer = launching.make(request, self.store.folder / "work", self.find_recent_state())
                except SupervisorKilledError:
                    continue
                self.keep_state([answer[0]])
                self.store.append_alone(*answer)

    def choose_cheapest(self, placement: Placement) -> list[Case]:
        """Return the few cases of a placement that took least time in the first block, in their order."""
        listed = self.list_cases(placement)
        groups = Counter(case.launch_group for case in listed)
        group = MULTIPLE if groups[MULTIPLE] >= groups[""] else ""
        cases = {case.key: case for case in listed if case.launch_group == group}
        costs: dict[str, float] = {}
        rows = self.store.cases().filter(block=1, status=CaseStatus.OK.value).select("case", "timed_ns")
        for key, timed_ns in rows.iter_rows():
            costs[key] = max(timed_ns, costs.get(key, 0.0))
        chosen = sorted(cases.keys() & costs, key=lambda key: (costs[key], key))[:CHEAPEST]
        return [case for key, case in cases.items() if key in chosen]

    def run_together(self, block: int, candidates: Sequence[Candidate], placement: Placement) -> None:
        """Launch the candidates of a placement at the same time, one launch group after the other, in their order.

        A candidate without a case that others measure passes its turn. Cases that remain, because a launch crashed or
        cannot take part, are measured by separate launches.
        """
        groups: dict[tuple[str, int], list[tuple[launching.LaunchRequest, list[Case]]]] = {}
        divided = launch_groups(self.campaign, block)
        for position, candidate in enumerate(candidates):
            if (candidate.name, placement.name) in self.refused:
                continue
            for turn, cases in self.list_turns(block, candidate, placement):
                remaining = self.drop_given_up(turn, self.history.list_remaining(turn, cases))
                if remaining and not self.history.launches[turn] and self.may_share(candidate, placement, remaining):
                    request = self.make_request(turn, position, candidate, placement, remaining)
                    groups.setdefault((turn.group, divided[candidate.name]), []).append((request, cases))
        for group in groups.values():
            still = [entry for entry in group if not self.history.explain_alone(*entry[0].turn[1:3])][:MOST_LAUNCHES]
            for part in self.divide_by_resources(placement, still):
                if self.is_time_over():
                    return
                requests = self.align_case_orders(block, placement, [request for request, _ in part])
                self.launch_together(requests, [cases for _, cases in part])

    def divide_by_resources(self, placement: Placement, launches: list[TurnRequest]) -> list[list[TurnRequest]]:
        """Divide launches into groups of at least two for which this machine has the resources; note a division.

        Of the resources of other machines, only memory for messages is considered: as much as this machine has.
        """
        if len(launches) < 2:
            return []
        names = [request.candidate.name for request, _ in launches]
        originals = [request.candidate.control_of or request.candidate.name for request, _ in launches]
        free = {} if placement.hosts else self.read_free()
        memory_bytes = int(plan.MEMORY_SHARE * self.campaign.machine.memory_bytes)
        free |= {MEMORY: memory_bytes} if memory_bytes else {}
        buffers = [self.count_buffer_bytes(request.cases, placement) for request, _ in launches]
        groups, why = self.sharing.divide(placement.name, originals, free, buffers)
        if why:
            self.short |= {(name, placement.name): why for name in names}
            launches = [(request._replace(alone=why), cases) for request, cases in launches]
            parts = "; ".join(", ".join(names[place] for place in group) for group in groups)
            note = f"{placement.name}: launches do not all take turns with each other ({parts}), because {why}"
            if note not in self.notes:
                self.notes.add(note)
                self.watch.on_note(note)
        return [[launches[place] for place in group] for group in groups if len(group) > 1]

    def count_buffer_bytes(self, cases: Iterable[Case], placement: Placement) -> int:
        """Return the bytes of message buffers on a node of the largest of these cases."""
        operations = {operation.name: operation for operation in self.campaign.operations}
        return max(
            plan.count_node_bytes(operations[case.operation], case.size_bytes, case.options, placement)
            for case in cases
        )

    def may_share(self, candidate: Candidate, placement: Placement, cases: Sequence[Case]) -> bool:
        """Return whether a launch of these cases measures the same while other launches sleep."""
        return can_interleave(self.campaign, candidate, placement, cases, {*self.programs, *self.without})

    def is_time_over(self) -> bool:
        """Return whether the time is over before a launch, and note that one is missing."""
        over = time.monotonic() > self.ends_s
        self.cut = self.cut or over
        return over

    def align_case_orders(
        self, block: int, placement: Placement, requests: Sequence[launching.LaunchRequest]
    ) -> list[launching.LaunchRequest]:
        """Return requests whose cases have the same order in all launches."""
        wanted = {key for key, _ in self.wanted}
        measured_keys = {case.key for request in requests for case in request.cases}
        among = plan.draw_case_order(
            self.campaign.seed, block, [case for case in self.list_cases(placement) if case.key in wanted]
        )
        among = [case for case in among if case.key in measured_keys]
        own_keys = [{case.key for case in request.cases} for request in requests]
        return [
            request._replace(cases=[case for case in among if case.key in keys], among=among)
            for request, keys in zip(requests, own_keys, strict=True)
        ]

    def launch_together(self, requests: Sequence[launching.LaunchRequest], cases: Sequence[Sequence[Case]]) -> None:
        """Make launches at the same time, and store them one after the other.

        A launch that measured nothing is stored without rows; the turn's next launch then runs alone. If the supervisor
        of a launch was killed, the launch is not stored, and the next one runs alone as well.
        """
        self.watch.on_start([request.turn for request in requests], len(requests[0].cases))
        with Monitor(LOOK_S, self.read_free) as monitor:
            answers = launching.make_together(requests, self.store.folder / "work", self.find_recent_state())
        self.keep_state(answer[0] for answer in answers if not isinstance(answer, SupervisorKilledError))
        if not requests[0].placement.hosts:
            originals = [request.candidate.control_of or request.candidate.name for request in requests]
            self.sharing.learn(requests[0].placement.name, originals, monitor.used)
        rebuilt = []
        for request, case, answer in zip(requests, cases, answers, strict=True):
            if isinstance(answer, SupervisorKilledError):
                self.report_lost(request.turn, answer)
                continue
            record, results = answer
            if rebuild := self.history.files.find_rebuild(record.candidate, record.files):
                rebuilt.append(rebuild)
                continue
            numbered = msgspec.structs.replace(record, number=self.history.last_number + 1)
            if results:
                self.finish_launch(numbered, results, request.turn, case, request.cases)
            else:
                self.store_launch(numbered, [])
        self.require_no_rebuild(rebuilt)

    def keep_state(self, launches: Iterable[Launch]) -> None:
        """Keep the state of the machine that was measured after launches."""
        state = next((launch.after for launch in launches), None)
        self.last_state = (time.monotonic(), state) if state else None

    def find_recent_state(self) -> State | None:
        """Return the state of the machine if it was measured a moment ago, after the launch before."""
        recent = self.last_state and time.monotonic() - self.last_state[0] < RECENT_S
        return self.last_state[1] if self.last_state and recent else None

    def list_turns(self, block: int, candidate: Candidate, placement: Placement) -> Iterator[tuple[Turn, list[Case]]]:
        """Yield the turns of a candidate in a placement, one for every launch group, with the cases of each."""
        remaining = [case for case in self.list_cases(placement) if (case.key, candidate.name) in self.wanted]
        order = plan.draw_case_order(self.campaign.seed, block, remaining)
        for group, cases in groupby(order, lambda case: case.launch_group):
            yield Turn(block, candidate.name, placement.name, group), list(cases)

    def drop_given_up(self, turn: Turn, cases: Sequence[Case]) -> list[Case]:
        """Return the cases that are still tried in a turn."""
        return [case for case in cases if not self.history.explain_skip(turn, case)]

    def run_turns(self, block: int, position: int, candidate: Candidate, placement: Placement) -> None:
        """Run a turn for each launch group of the placement's cases."""
        for turn, cases in self.list_turns(block, candidate, placement):
            if reason := self.without.get((candidate.library, cases[0].operation)):
                self.record_lack(turn, position, cases, reason)
            else:
                self.run_turn(turn, position, candidate, placement, cases)

    def run_turn(
        self, turn: Turn, position: int, candidate: Candidate, placement: Placement, cases: Sequence[Case]
    ) -> None:
        """Launch until every case of the turn has a row; crashing launches are repeated a few times at most."""
        while remaining := self.drop_given_up(turn, self.history.list_remaining(turn, cases)):
            if self.is_time_over():
                return
            self.watch.on_start([turn], len(remaining))
            request = self.make_request(turn, position, candidate, placement, remaining)
            try:
                answer = launching.make(request, self.store.folder / "work", self.find_recent_state())
            except SupervisorKilledError as error:
                self.report_lost(turn, error)
            else:
                self.keep_state([answer[0]])
                rebuild = self.history.files.find_rebuild(answer[0].candidate, answer[0].files)
                self.require_no_rebuild([rebuild] if rebuild else [])
                self.finish_launch(*answer, turn, cases, remaining)

    def require_no_rebuild(self, rebuilt: Sequence[Rebuild]) -> None:
        """Stop the campaign if libraries were rebuilt while it runs; their launches are not stored.

        Raises RankbenchError if they were.
        """
        if rebuilt:
            raise RankbenchError(
                f"{self.store.folder}: {rebuilds.explain(rebuilt)}; its launches since then are not stored. "
                f"{rebuilds.advise(self.store.folder)}"
            )

    def report_lost(self, turn: Turn, error: SupervisorKilledError) -> None:
        """Note that a lost launch is made again. Raises RankbenchError if that happened too often."""
        self.lost[turn] += 1
        where = f"block {turn.block}, {turn.candidate} on {turn.placement}: {error}"
        if self.lost[turn] >= MOST_LOST_LAUNCHES:
            raise RankbenchError(
                f"{where}, for the {MOST_LOST_LAUNCHES}rd time; find out what kills it (dmesg shows whether the kernel "
                "was out of memory), then run again to continue"
            )
        self.watch.on_note(f"{where}; it is not stored and will be repeated")

    def finish_launch(
        self, launch: Launch, results: list[CaseResult], turn: Turn, cases: Sequence[Case], remaining: Sequence[Case]
    ) -> None:
        """Store a launch of a turn, with rows for the cases that will not be tried."""
        if self.history.launches[turn] + 1 >= LAUNCHES_A_TURN or not results:
            reached = {result.case.key for result in results}
            why = f"the launch {launch.status}: {launch.reason}"
            results += [make_untried(case, CaseStatus.NOT_RUN, why) for case in remaining if case.key not in reached]
        if not self.history.launches[turn]:
            given_up = ((case, self.history.explain_skip(turn, case)) for case in cases)
            results += [make_untried(case, CaseStatus.NOT_RUN, reason) for case, reason in given_up if reason]
        self.store_launch(launch, results)

    def make_request(
        self, turn: Turn, position: int, candidate: Candidate, placement: Placement, cases: list[Case]
    ) -> launching.LaunchRequest:
        """Return what a launch of some cases needs."""
        return launching.LaunchRequest(
            number=self.history.last_number + 1,
            turn=turn,
            position=position,
            candidate=candidate,
            library=self.campaign.get_library(candidate),
            placement=placement_of(turn, placement, cases),
            plan=self.campaign.plan,
            binary=self.binaries[candidate.library],
            cases=cases,
            program=self.programs.get((candidate.library, cases[0].operation)),
            files=self.lists.get(candidate.name),
            checked_files=self.checked_files.get(candidate.control_of or candidate.name, ()),
            once=self.campaign.once_operations,
            alone=self.explain_alone(candidate, placement, cases),
        )

    def explain_alone(self, candidate: Candidate, placement: Placement, cases: Sequence[Case]) -> str:
        """Return why cases that could be measured in turn are not. Restless candidates have the reason elsewhere."""
        name = candidate.name, placement.name
        why = self.short.get(name) or self.history.explain_failing_beside(*name)
        return why if why and self.may_share(candidate, placement, cases) else ""

    def list_cases(self, placement: Placement) -> list[Case]:
        """Return the cases of a placement."""
        return [case for case in self.campaign.cases if case.placement == placement.name]

    def store_launch(self, launch: Launch, results: list[CaseResult]) -> None:
        """Store a launch and add it to the history."""
        names = [candidate.name for candidate in self.campaign.candidates]
        before = {name: self.history.explain_alone(name, launch.placement) for name in names}
        results = self.store.keep_evidence(launch, results)
        self.store.append(launch, results)
        self.history.add(launch, ((result.case, result.status) for result in results))
        self.watch.on_end(launch, results)
        for name in names:
            if (why := self.history.explain_alone(name, launch.placement)) and not before[name]:
                self.watch.on_note(f"{name} on {launch.placement} is launched alone from now on, because {why}")

    def record_refusal(self, turn: Turn, position: int, refusal: Refusal) -> None:
        """Store a refused launch in the first block that a candidate misses because its check failed."""
        remaining = self.history.list_remaining(
            turn, [case for case in self.campaign.cases if case.placement == turn.placement]
        )
        if remaining and not self.history.failed_check(turn.candidate, turn.placement):
            self.store_refusal(turn, position, remaining, refusal)

    def record_lack(self, turn: Turn, position: int, cases: Sequence[Case], reason: str) -> None:
        """Record, in the first block, that a candidate has no program for the benchmark of a foreign tool."""
        if turn.block == 1 and (remaining := self.history.list_remaining(turn, cases)):
            self.store_refusal(turn, position, remaining, Refusal(reason, ""))

    def store_refusal(self, turn: Turn, position: int, cases: Sequence[Case], refusal: Refusal) -> None:
        """Store a launch that was not made, with a row for each of its cases."""
        launch = make_refused_launch(self.history.last_number + 1, turn, position, refusal)
        self.store_launch(launch, [make_untried(case, refusal.status, refusal.reason) for case in cases])


def run(
    prepared: PreparedCampaign, decide: Decide, watch: Watch, behind_block: Callable[[int], None] | None = None
) -> Decision:
    """Run blocks until the campaign ends; return the decision that ended it.

    Args:
        prepared: the campaign.
        decide: says before a block whether it is measured.
        watch: is notified.
        behind_block: is called with the number of each block that is complete.
    """
    store, campaign = prepared.store, prepared.store.campaign
    history = replay_store(store, watch)
    loop = Loop(
        store, campaign, prepared.binaries, watch, history, prepared.refused, prepared.programs, prepared.without
    )
    loop.sharing = Sharing(prepared.uses)
    loop.lists, loop.checked_files = write_file_lists(prepared), prepared.files
    stop = campaign.plan.stop
    spent_s = total_duration_s(store.list_all_launches())
    loop.ends_s = time.monotonic() + notation.find_time_limit_s(stop.until) - spent_s
    for look in store.looks()[-1:]:
        watch.on_decision(Decision(stop=False, reason="", look=look))
    for block in range(1, stop.blocks_max + 1):
        if block > plan.count_least_blocks(stop) and not loop.history.begun(block):
            decision = decide(store)
            if decision.look and not decision.stop:
                store.append_look(decision.look)
            watch.on_decision(decision)
            if decision.stop:
                return decision
        loop.run_block(block)
        if block == 1 or block % ALONE_EVERY == 0:
            loop.run_alone(block)
        if loop.cut:
            return Decision(stop=True, reason=say_time_over(stop, block))
        if behind_block:
            behind_block(block)
    return Decision(stop=True, reason=say_all_done(stop))


def write_file_lists(prepared: PreparedCampaign) -> dict[str, Path]:
    """Write the lists of files of the candidates' libraries, with the hashes that their checks computed."""
    campaign, folder = prepared.store.campaign, files.make_folder(prepared.store.folder / "work")
    lists = {candidate.name: folder / f"files-{place}.txt" for place, candidate in enumerate(campaign.candidates)}
    for candidate in campaign.candidates:
        known = prepared.files.get(candidate.control_of or candidate.name, ())
        preflight.write_file_list(lists[candidate.name], candidate, campaign.get_library(candidate), known)
    return lists


def say_time_over(stop: Stop, block: int) -> Text:
    """Return why a campaign ends within a block."""
    limit_s = notation.find_time_limit_s(stop.until)
    return say("the plan's {amount:clock} were over during block {n}", amount=limit_s, n=block)


def say_all_done(stop: Stop) -> Text:
    """Return why a campaign ends after its last block: the plan's, or that of `--more`."""
    whose = "all {n:count block} {n:of is|are} done" if stop.past else "the plan's {n:count block} {n:of is|are} done"
    return say(whose, n=stop.blocks_max)


def can_interleave(
    campaign: Campaign,
    candidate: Candidate,
    placement: Placement,
    cases: Sequence[Case],
    foreign: Container[tuple[str, str]],
) -> bool:
    """Return whether a launch of these cases measures the same while other launches sleep.

    Not so for memory and for operations that happen once per launch, which depend on the whole launch; for ranks that
    share cores, which wait for each other; and for `foreign` programs (by library and operation), which take no turns.
    """
    return bool(campaign.plan.together) and not (
        campaign.oversubscribed(placement.ranks_per_node, placement.nodes)
        or any(case.quantity == "memory" or case.operation in campaign.once_operations for case in cases)
        or any((candidate.library, case.operation) in foreign for case in cases)
    )


def launch_groups(campaign: Campaign, block: int) -> dict[str, int]:
    """Return the group of each candidate in a block; the candidates of a group are launched at the same time."""
    names = [candidate.name for candidate in campaign.candidates]
    together = campaign.plan.together
    return plan.draw_launch_groups(campaign.seed, block, names, 0 if isinstance(together, bool) else together)


def select_wanted(campaign: Campaign, looks: Sequence[Look], block: int) -> set[tuple[str, str]]:
    """Return the cases and candidates that a block measures: all, or those that the last look before it left open.

    The twin of the A/A control is measured wherever its original is, so that it shows the method as it was used.
    """
    everything = {(case.key, candidate.name) for case in campaign.cases for candidate in campaign.candidates}
    before = [look for look in looks if look.block < block]
    if not before:
        return everything
    open_cases = max(before, key=lambda look: look.block).open
    original = {candidate.name: candidate.control_of or candidate.name for candidate in campaign.candidates}
    return {(case, name) for case, name in everything if original[name] in open_cases.get(case, ())}


def replay_store(store: Store, watch: Watch) -> History:
    """Return the history of the stored launches, and report them to the watch."""
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


def placement_of(turn: Turn, placement: Placement, cases: Sequence[Case]) -> Placement:
    """Return the placement of the turn's launches of these cases.

    Ranks with threads are unbound: the threads would share a core. Foreign programs for an exact number of ranks run
    on the first ranks.
    """
    if turn.group == THREADS:
        return msgspec.structs.replace(placement, binding="none")
    few = next((case.ranks for case in cases if case.suite and case.ranks < placement.ranks), 0)
    return placement.take_first(few) if few else placement


def make_untried(case: Case, status: CaseStatus, reason: str) -> CaseResult:
    """Return the row of a case that did not begin."""
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
