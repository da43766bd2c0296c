"""Converts each launch of a job script, once it is complete, into a launch of the store.

`batch.py` describes the script and its files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from rankbench import files, samples
from rankbench.campaign import doctor, exit_causes, foreign, launching, preflight, rebuilds
from rankbench.campaign.batch import (
    ENOUGH,
    PROGRAMS,
    ForeignLaunch,
    list_places,
    make_command,
    name_launch_functions,
)
from rankbench.campaign.loop import Loop, make_untried, placement_of, replay_store
from rankbench.campaign.preflight import Refusal
from rankbench.launch import job_commands, script
from rankbench.libraries import ambient
from rankbench.model import NODE_LOST, CaseStatus, LaunchStatus, Outcome, RankbenchError, Record, State
from rankbench.plan.jobs import NODE

if TYPE_CHECKING:
    from rankbench.campaign.batch import Place
    from rankbench.campaign.exit_causes import LaunchExit
    from rankbench.campaign.loop import Watch
    from rankbench.model import (
        Campaign,
        Case,
        CaseResult,
        CommandLine,
        Launch,
        Library,
        Operation,
        Placement,
        Usage,
    )
    from rankbench.store import Store

ENDING, DONE = "ending", "done"
"""Files that the script writes when a launch, a turn and the job have ended."""


class EndingFile(Record, frozen=True):
    """The file `ending` of a launch."""

    exit_code: int
    hung: bool
    duration_s: float
    started: str
    load: float
    stolen_s: float
    job: str
    together: int = 1
    """How many launches ran at the same time, this one included."""
    output_bytes: int = 0

    @property
    def outcome(self) -> Outcome:
        """Return the outcome, as of a local launch."""
        return Outcome(
            exit_code=None if self.hung else self.exit_code,
            hung=self.hung,
            duration_s=self.duration_s,
            output_bytes=self.output_bytes,
        )


def collect_launches(store: Store, watch: Watch) -> int:
    """Add the new launches of a job script to the store; return their number.

    Raises RankbenchError if a file of the script is damaged; launches stored before are safe.
    """
    campaign = store.campaign
    known = {launch.folder for launch in store.launches()}
    loop = Loop(store, campaign, {}, watch, replay_store(store, watch), {})
    launches = [
        attempt
        for place in list_places(campaign)
        for attempt in list_finished(store.folder, place)
        if attempt.folder not in known
    ]
    if launches and not campaign.usage:
        store.add_usage(list(list_usages(store)))
    for attempt in sorted(launches, key=lambda launch: launch.ending.started):
        loop.store_launch(*Collector(store, loop).convert(attempt))
    return len(launches)


class Attempt(NamedTuple):
    """A launch made by a job script."""

    place: Place
    number: int
    """Number within the turn, from 1."""
    last: bool
    """Whether it is the last launch of its turn."""
    path: Path
    folder: str
    """The path relative to the campaign's folder."""
    ending: EndingFile

    def cases(self, store: Store) -> list[Case]:
        """Return its cases."""
        lines = samples.read_job(
            self.path / "job.txt", self.place.cases, store.campaign.plan, store.campaign.once_operations
        )
        return list(dict.fromkeys(lines))

    def operation(self, store: Store) -> Operation | None:
        """Return the foreign benchmark that it ran; None: the core."""
        name = self.place.cases[0].operation
        return next(
            (operation for operation in store.campaign.operations if operation.foreign and operation.name == name), None
        )


def list_finished(campaign: Path, place: Place) -> Iterator[Attempt]:
    """Yield the complete launches of a turn."""
    turn = campaign / script.FOLDER / "launches" / place.name
    has_ended = (turn / DONE).exists()
    numbers = sorted(int(path.parent.name) for path in turn.glob(f"*/{ENDING}"))
    for number in numbers:
        path = turn / str(number)
        last = has_ended and number == numbers[-1]
        if last or number < numbers[-1] or read_lost_nodes(path):
            yield Attempt(place, number, last, path, str(path.relative_to(campaign)), read_ending(path))


def read_ending(path: Path) -> EndingFile:
    """Return how a launch ended. Raises RankbenchError if its file is damaged."""
    try:
        end = msgspec.json.decode((path / ENDING).read_bytes(), type=EndingFile)
        counted = path / "output_bytes"  # It exists if the middle of `output.log` was removed.
        output_bytes = int(counted.read_text()) if counted.exists() else (path / "output.log").stat().st_size
        return msgspec.structs.replace(end, output_bytes=output_bytes)
    except (OSError, ValueError, msgspec.MsgspecError) as error:
        raise RankbenchError(f"{path / ENDING}: damaged ({error}); remove its folder and submit again") from None


class Collector(NamedTuple):
    """Converts the files of a launch into records of the store."""

    store: Store
    loop: Loop

    def convert(self, attempt: Attempt) -> tuple[Launch, list[CaseResult]]:
        """Return the launch and the rows of its cases."""
        cases = attempt.cases(self.store)
        request = self.make_request(attempt, cases)
        log = launching.tail(attempt.path / "output.log")
        end = self.ending(attempt, request, log)
        if lost := read_lost_nodes(attempt.path):
            end = end._replace(reason=f"{end.reason}; {NODE_LOST} {lost}")
        if wrong := doctor.check_library(request.library, end.stream):
            end = exit_causes.LaunchExit(LaunchStatus.REFUSED, wrong, attempt.ending.outcome, exit_causes.EMPTY)
        nodes = (attempt.path / "nodes").read_text(encoding="utf-8").split()
        line = self.line(attempt, request)
        line = msgspec.structs.replace(line, arguments=[insert_nodes(word, nodes) for word in line.arguments])
        context = read_context(attempt, request.library, line, list_neighbours(self.store.campaign, attempt))
        launch, results = self.refuse_rebuilt(*launching.make_records(request, line, end, context, log))
        # A repeated launch of a foreign program in a turn starts at its first size.
        remaining = self.loop.history.list_remaining(request.turn, cases)
        rows = [row for row in results if row.case.key in {case.key for case in remaining}]
        return launch, [
            *rows,
            *self.list_untried(attempt, remaining, rows, f"the launch {launch.status}: {launch.reason}"),
        ]

    def refuse_rebuilt(self, launch: Launch, results: list[CaseResult]) -> tuple[Launch, list[CaseResult]]:
        """Return a launch of a rebuilt library as refused, with rows without values; others are unchanged."""
        rebuild = self.loop.history.files.find_rebuild(launch.candidate, launch.files)
        if not rebuild:
            return launch, results
        reason = rebuilds.explain([rebuild])
        refused = msgspec.structs.replace(launch, status=LaunchStatus.REFUSED, reason=reason)
        return refused, [make_untried(result.case, CaseStatus.REFUSED, reason) for result in results]

    def ending(self, attempt: Attempt, request: launching.LaunchRequest, log: str) -> LaunchExit:
        """Return how the launch ended, from the core's stream or a foreign program's output."""
        if operation := attempt.operation(self.store):
            return foreign.classify(request, operation, attempt.ending.outcome, attempt.path / "output.log", log)
        return launching.classify(request, attempt.ending.outcome, attempt.path / "stream.jsonl", log)

    def line(self, attempt: Attempt, request: launching.LaunchRequest) -> CommandLine:
        """Return its command line."""
        theirs = find_program(self.store, attempt.place).command
        return theirs or make_command(self.store.campaign, request.candidate, request.placement, [str(request.binary)])

    def make_request(self, attempt: Attempt, cases: list[Case]) -> launching.LaunchRequest:
        """Return the request for the launch."""
        campaign, turn = self.store.campaign, attempt.place.turn
        candidate = campaign.get_candidate(turn.candidate)
        placement = campaign.get_placement(turn.placement)
        return launching.LaunchRequest(
            number=self.loop.history.last_number + 1,
            turn=turn,
            position=attempt.place.position,
            candidate=candidate,
            library=campaign.get_library(candidate),
            placement=placement_of(turn, placement, attempt.place.cases),
            plan=campaign.plan,
            binary=Path("rankbench-core"),
            cases=cases,
            once=campaign.once_operations,
        )

    def list_untried(
        self, attempt: Attempt, cases: list[Case], rows: list[CaseResult], why: str
    ) -> Iterator[CaseResult]:
        """Yield rows for the cases that the turn's launches did not reach, or that their job does not contain."""
        if attempt.last:
            reached = {row.case.key for row in rows}
            yield from (make_untried(case, CaseStatus.NOT_RUN, why) for case in cases if case.key not in reached)
        if attempt.number == 1:
            keys = {case.key for case in cases}
            for case in attempt.place.cases:
                if case.key not in keys:
                    reason = self.loop.history.explain_skip(attempt.place.turn, case) or "taken out of the job by hand"
                    yield make_untried(case, CaseStatus.NOT_RUN, reason)


def find_program(store: Store, place: Place) -> ForeignLaunch:
    """Return the command of a turn's foreign program, or why there is none; empty for the core.

    Raises RankbenchError if the list of programs is damaged.
    """
    path = store.folder / script.FOLDER / PROGRAMS / f"{place.line}.json"
    try:
        return msgspec.json.decode(path.read_bytes(), type=ForeignLaunch) if place.cases[0].suite else ForeignLaunch()
    except (OSError, msgspec.MsgspecError) as error:
        raise RankbenchError(f"{path}: damaged ({error}); submit again to write a new one") from None


def read_lost_nodes(path: Path) -> str:
    """Return the nodes that no longer answered after the launch failed."""
    lost = path / "lost"
    return " and ".join(lost.read_text(encoding="utf-8").split()) if lost.exists() else ""


def list_neighbours(campaign: Campaign, attempt: Attempt) -> list[str]:
    """Return the candidates of the launches that took turns with one, by position."""
    path = attempt.path / "beside"
    names = {line: name for (name, _, _), line in name_launch_functions(campaign).items()}
    alone = attempt.ending.together == 1 or not path.exists()
    return [] if alone else [names[line] for line in path.read_text(encoding="utf-8").split()]


def read_context(attempt: Attempt, library: Library, line: CommandLine, beside: list[str]) -> launching.Circumstances:
    """Return the context of a launch, as the script recorded it."""
    before, after = (read_state(attempt.path / f"{when}.json") for when in ("before", "after"))
    alone = attempt.path / "alone"
    texts = (attempt.path / "environment").read_text(encoding="utf-8", errors="replace").splitlines()
    around = dict(text.split("=", 1) for text in texts if "=" in text)
    of_shell = {name: value for name, value in around.items() if name not in line.environment}
    together = attempt.ending.together
    return launching.Circumstances(
        started=attempt.ending.started,
        duration_s=attempt.ending.duration_s / together,
        load_before=attempt.ending.load,
        stolen_s=attempt.ending.stolen_s / together,
        before=before,
        after=after,
        state_reason="" if before and after else "the core reported no state in the job",
        environment=around | line.environment,
        ambient=ambient.list_shell(library, of_shell),
        job=attempt.ending.job,
        together=together,
        beside=beside,
        folder=attempt.folder,
        alone=alone.read_text(encoding="utf-8").strip() if alone.exists() else "",
    )


def read_state(path: Path) -> State | None:
    """Return the state of the machine that a core reported."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=State)
    except (OSError, msgspec.MsgspecError):
        return None


def insert_nodes(word: str, nodes: list[str]) -> str:
    """Return a word with placeholders replaced by the names of the job's nodes."""
    return NODE.sub(lambda match: nodes[int(match[1]) - 1] if int(match[1]) <= len(nodes) else match[0], word)


# --- checks -----------------------------------------------------------------------------------------------------------


def list_refusals(store: Store) -> dict[tuple[str, str], Refusal]:
    """Return the failed checks of candidates and placements in the job."""
    campaign = store.campaign
    refused: dict[tuple[str, str], Refusal] = {}
    for (name, where, _), line in name_launch_functions(campaign).items():
        path = store.folder / script.FOLDER / "checks" / line
        if (path / ENDING).exists() and not (path / "passed").exists():
            library = campaign.get_library(campaign.get_candidate(name))
            refused[name, where] = read_refusal(library, campaign.get_placement(where), path)
    return refused


def list_usages(store: Store) -> Iterator[Usage]:
    """Yield the reports of libraries from the job's checks, which all run before its first launch."""
    campaign, known = store.campaign, set()
    candidates = {candidate.name: candidate for candidate in campaign.candidates if not candidate.control_of}
    for (name, where, _), line in name_launch_functions(campaign).items():
        path = store.folder / script.FOLDER / "checks" / line
        if name not in candidates or (name, where) in known or not (path / "passed").exists():
            continue
        known.add((name, where))
        library, text = campaign.get_library(candidates[name]), preflight.read_output(path / "output.log")
        stream = samples.read(path / "stream.jsonl", [])
        if usage := preflight.read_usage(candidates[name], library, campaign.get_placement(where), text, stream):
            yield usage


def read_refusal(library: Library, placement: Placement, path: Path) -> Refusal:
    """Return the result of a check that failed in a job."""
    end, output = read_ending(path), path / "output.log"
    check = doctor.judge_check(library, placement, end.outcome, path / "stream.jsonl", output)
    reason = check.reason or "its check failed in the job"
    return Refusal(reason, output.read_text(encoding="utf-8", errors="replace"))


def record_refusals(store: Store, watch: Watch) -> None:
    """Store refused candidates and placements after the end of a job, in the first block that they miss.

    Candidates without a program for a foreign benchmark miss it from the first block on.
    """
    if not (store.folder / script.FOLDER / job_commands.STOPPED).exists():
        return
    refused = list_refusals(store)
    loop = Loop(store, store.campaign, {}, watch, replay_store(store, watch), refused)
    for place in list_places(store.campaign):
        where = place.turn.candidate, place.turn.placement
        if where in refused and not loop.history.failed_check(*where):
            loop.record_refusal(place.turn._replace(group=""), place.position, refused[where])
    for place in takewhile(lambda place: place.turn.block == 1, list_places(store.campaign)):
        if reason := find_program(store, place).reason:
            loop.record_lack(place.turn, place.position, place.cases, reason)


# --- progress ---------------------------------------------------------------------------------------------------------


class TurnCount(NamedTuple):
    """Turns of a candidate in a placement."""

    turns: int
    """The maximum by the plan."""
    turns_done: int


def list_turns(store: Store) -> Iterator[Place]:
    """Yield the turns that the script makes: all except those that lack a foreign program."""
    lacking: dict[str, str] = {}
    for place in list_places(store.campaign):
        if place.line not in lacking:
            lacking[place.line] = find_program(store, place).reason
        if not lacking[place.line]:
            yield place


def is_done(store: Store, place: Place) -> bool:
    """Return whether a turn has no further launch."""
    return (store.folder / script.FOLDER / "launches" / place.name / DONE).exists()


def count_turns(store: Store) -> Mapping[tuple[str, str], TurnCount]:
    """Return how many turns are done, by candidate and placement."""
    standings: dict[tuple[str, str], TurnCount] = {}
    for place in list_turns(store):
        key = place.turn.candidate, place.turn.placement
        before = standings.get(key, TurnCount(0, 0))
        standings[key] = TurnCount(before.turns + 1, before.turns_done + is_done(store, place))
    return standings


def count_turns_of(store: Store, block: int) -> TurnCount:
    """Return how many turns of a block are done; those of refused candidates are not made."""
    refused = list_refusals(store)
    exists = [
        is_done(store, place)
        for place in list_turns(store)
        if place.turn.block == block and (place.turn.candidate, place.turn.placement) not in refused
    ]
    return TurnCount(len(exists), sum(exists))


def blocks_done(store: Store) -> int:
    """Return the number of complete blocks; refused candidates do not count."""
    refused, most = list_refusals(store), store.campaign.plan.stop.blocks_max
    for place in list_turns(store):
        if (place.turn.candidate, place.turn.placement) not in refused and not is_done(store, place):
            return place.turn.block - 1
    return most


def request_end(store: Store, reason: str) -> None:
    """End the job before its next block."""
    files.write(store.folder / script.FOLDER / ENOUGH, reason + "\n")


def read_enough(store: Store) -> str:
    """Return why the job is to end before its next block; empty: it is not."""
    path = store.folder / script.FOLDER / ENOUGH
    return path.read_text(encoding="utf-8").strip() if path.exists() else ""
