"""From a plan to a campaign that can run: libraries found, cores built, cases made, candidates checked, a folder begun.

Or, where the folder holds a campaign of the same plan, that campaign again, if nothing it rests on has changed.
"""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from time import monotonic
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from rankbench import build, files, libraries, plan, store
from rankbench.campaign import changes, doctor, foreign
from rankbench.campaign.preflight import Examined, Refusal, examine
from rankbench.libraries import tuned
from rankbench.model import UNKNOWN_MACHINE, Campaign, Candidate, RankbenchError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from typing import IO

    from rankbench.build import Build
    from rankbench.campaign.foreign import Programs
    from rankbench.campaign.sharing import Uses
    from rankbench.model import CandidateSpec, Library, Machine, Operation, Plan, Receipt, Rule
    from rankbench.store import Store

Show = Callable[[str], None]
EXECUTED = ("prefix", "wrapper", "launcher", "environment", "build_environment", "binary_of")
"""Fields of a library that decide what is run."""
Refusals = dict[tuple[str, str], Refusal]


class Prepared(NamedTuple):
    """A campaign that can run."""

    store: Store
    binaries: dict[str, Path]
    """The cores by library."""
    refused: Refusals
    programs: Programs
    """Of foreign tools."""
    without: dict[tuple[str, str], str]
    """Why a library has no program for a foreign operation."""
    uses: Uses
    """What a launch takes of the machine's resources; empty: not known here."""


class Wanted(NamedTuple):
    """What a campaign is asked to be."""

    plan: Plan
    folder: Path
    machine: Machine
    home: Path
    """Where libraries and builds are kept."""
    prefixes: Sequence[Path] = ()
    modules: Sequence[str] = ()
    """Environment modules to look for libraries in, each text a list to load together."""
    seed: int = 0
    """Of the random orders; 0 leaves it to the plan, and 0 there to chance."""
    more: int = 0
    """Blocks to measure beyond those that are stored, whatever the plan says; 0: as the plan says."""
    rules: Mapping[str, Sequence[Rule]] = MappingProxyType({})
    """Of candidates that a tuning made: which variant their settings use for which calls."""
    scheduled: bool = False
    """Whether a scheduler's job makes the launches, and the checks before them, on other machines than this."""
    reach: Callable[[], list[Library]] | None = None
    """Returns the libraries in reach, where somebody looks for them already."""


def prepare(wanted: Wanted, show: Show) -> Prepared:
    """Return the campaign in the wanted folder, begun if it is not there. `show` takes lines on what is being done.

    The folder is locked first: of two runs at the same time one goes on, and the other changes nothing.
    """
    make_writable(wanted.folder)
    lock_file = store.lock(wanted.folder)
    try:
        files.remove_leftovers(wanted.folder)
        return (resume if (wanted.folder / "campaign.json").exists() else begin_campaign)(wanted, lock_file, show)
    except BaseException:
        lock_file.close()
        raise


def begin_campaign(wanted: Wanted, lock_file: IO[bytes], show: Show) -> Prepared:
    """Make a new campaign; nothing but its lock is left in its folder if it cannot be made."""
    candidates, used = find_candidates(wanted)
    builds = build_cores(used.values(), wanted.home, show)
    description = foreign.add_operations(build.describe(next(iter(builds.values()))), wanted.plan)
    machine = UNKNOWN_MACHINE if wanted.scheduled else wanted.machine
    cases, notes = plan.expand_plan(wanted.plan, description, machine)
    refused, uses, usage = check_candidates(candidates, wanted, used, builds, show)
    named = {case.operation for case in cases}
    operations = [operation for operation in description.operations if operation.name in named]
    programs, without = find_programs(wanted, operations, used)
    record = Campaign(
        format=store.FORMAT,
        name=wanted.folder.name,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        rankbench=version("rankbench"),
        plan=wanted.plan,
        seed=wanted.seed or wanted.plan.seed or secrets.randbits(32),
        machine=machine,
        libraries=list(used.values()),
        receipts=[core.receipt for core in builds.values()],
        candidates=add_control(candidates, wanted.plan, refused),
        cases=cases,
        operations=operations,
        starts=[start for start in description.starts if start.name in {case.start for case in cases}],
        notes=[*notes, *list_refusals(refused), *foreign.list_refusals(without)],
        usage=usage,
    )
    for note in record.notes:
        show(f"note: {note}")
    show(str(plan.estimate_footprint(wanted.plan, cases, record.operations)))
    campaign_store = store.create(wanted.folder, record, lock_file)
    return Prepared(campaign_store, binaries(builds), refused, programs, without, uses)


def resume(wanted: Wanted, lock_file: IO[bytes], show: Show) -> Prepared:
    """Open a campaign, of the same plan and seed, and check that libraries and core are what they were."""
    opened = store.open(wanted.folder, lock_file)
    record = opened.campaign
    changes.require_same_measurement(wanted.folder, record, wanted.plan, wanted.seed)
    if not wanted.scheduled:
        require_machine(wanted.folder, began=record.machine, here=wanted.machine)
    if record.plan.placements != wanted.plan.placements:
        raise RankbenchError(
            f"{wanted.folder}: holds a campaign on other hosts or CPUs; continue on those, or choose another name: "
            "--name NAME"
        )
    require_libraries(wanted, record)
    require_baseline(wanted.plan, [candidate.name for candidate in record.candidates if not candidate.control_of])
    show(f"continuing {wanted.folder}: {len(opened.launches())} launches are stored, none is repeated")
    used = {library.name: library for library in record.libraries}
    builds = build_cores(used.values(), wanted.home, show)
    for receipt in record.receipts:
        if strip_hash(builds[receipt.library].receipt) != strip_hash(receipt):
            raise RankbenchError(
                f"{wanted.folder}: {receipt.library} or rankbench itself has changed since this campaign began; "
                "begin another: --name NAME"
            )
    if wanted.plan.calls != record.plan.calls:
        description = foreign.add_operations(build.describe(next(iter(builds.values()))), wanted.plan)
        for note in plan.check_calls(wanted.plan, description, record.cases):
            show(f"note: {note}")
    refused, uses, _ = check_candidates(record.candidates, wanted, used, builds, show)
    for line in list_refusals(refused):
        show(f"note: {line}; not launched now")
    changes.take_over(opened, wanted.plan, wanted.more)
    return Prepared(opened, binaries(builds), refused, *find_programs(wanted, record.operations, used), uses)


def find_programs(
    wanted: Wanted, operations: Sequence[Operation], used: Mapping[str, Library]
) -> tuple[Programs, dict[tuple[str, str], str]]:
    """Return the programs of foreign operations for each library, and why others have none."""
    theirs = [operation for operation in operations if operation.foreign]
    if not theirs:
        return {}, {}
    reach = find_libraries(wanted)
    return foreign.find_programs(wanted.plan, theirs, used.values(), reach, wanted.home)


def require_libraries(wanted: Wanted, record: Campaign) -> None:
    """Refuse libraries that are not found here as recorded: a record from elsewhere may name any program as wrapper."""
    reach = find_libraries(wanted)
    plan_libraries = [libraries.resolve_library(spec, reach) for spec in wanted.plan.candidates]
    here = {library.name: library for library in (*reach, *plan_libraries)}
    for library in record.libraries:
        for what in EXECUTED:
            before, now = getattr(library, what), getattr(here.get(library.name), what, None)
            if before != now:
                raise RankbenchError(
                    f"{wanted.folder}: {library.name} is recorded with {what} {before or 'none'}, found here with "
                    f"{now or 'none'}; give the --prefix or --modules of then, or begin another campaign: --name NAME"
                )


def require_machine(folder: Path, began: Machine, here: Machine) -> None:
    """Refuse to go on elsewhere than where a campaign began: its values would be those of two machines."""
    for what in ("host", "cpu", "cores"):
        before, now = getattr(began, what), getattr(here, what)
        if before != now:
            raise RankbenchError(
                f"{folder}: began on another machine ({what} {before}, here {now}); "
                "go on there, or begin another campaign here: --name NAME"
            )


def list_refusals(refused: Refusals) -> list[str]:
    """Return a line for each candidate that failed its check."""
    return [f"{candidate} refused on {placement}: {why.reason}" for (candidate, placement), why in refused.items()]


def strip_hash(receipt: Receipt) -> Receipt:
    """Return a receipt less the binary's hash: compiled again, equal sources need not give equal bytes."""
    return msgspec.structs.replace(receipt, binary_sha256="")


def make_writable(folder: Path) -> None:
    """Make a folder and find out whether it can be written, before time is spent."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise RankbenchError(
            f"{folder}: cannot be written ({error.strerror}); choose another place: --results DIR"
        ) from None


def find_libraries(wanted: Wanted) -> list[Library]:
    """Return the libraries in reach, in a list of the caller's, which may add to it."""
    if wanted.reach:
        return list(wanted.reach())
    return libraries.find(libraries.make_search(wanted.home, wanted.prefixes, wanted.modules))


def find_candidates(wanted: Wanted) -> tuple[list[Candidate], dict[str, Library]]:
    """Return the plan's candidates and the libraries that they use."""
    reach = find_libraries(wanted)
    candidates: dict[str, Candidate] = {}
    used: dict[str, Library] = {}
    for spec in wanted.plan.candidates:
        library = libraries.resolve_library(spec, reach)
        used[library.name] = library
        candidate = make_candidate(spec, library, wanted)
        if candidate.name in candidates:
            raise RankbenchError(
                f"{wanted.plan.file}: candidates: two of them are {candidate.name}; name one in a [[candidate]] table"
            )
        candidates[candidate.name] = candidate
    require_baseline(wanted.plan, candidates)
    return list(candidates.values()), used


def make_candidate(spec: CandidateSpec, library: Library, wanted: Wanted) -> Candidate:
    """Return a candidate of a plan; one that is wanted as tuned has the newest proven settings of its library."""
    if not tuned.split_name(spec.library)[1]:
        name = spec.name or library.name
        rules = list(wanted.rules.get(name, ()))
        return Candidate(name=name, library=library.name, settings=spec.settings, rules=rules)
    host = "" if wanted.scheduled else wanted.machine.host
    proven = tuned.find_proven(library, wanted.home, host)
    return Candidate(
        name=spec.name or f"{library.name}{tuned.SUFFIX}",
        library=library.name,
        settings=proven.settings | spec.settings,
        rules=proven.rules,
    )


def require_baseline(planned: Plan, candidates: Collection[str]) -> None:
    """Refuse a baseline that is not one of the candidates, by its name or its library."""
    named, libraries_named = planned.baseline, [spec.library for spec in planned.candidates]
    if named and named not in candidates and libraries_named.count(named) != 1:
        raise RankbenchError(
            f'{planned.file}: baseline: found "{named}", expected one of the candidates: {", ".join(candidates)}'
        )


def build_cores(used: Iterable[Library], home: Path, show: Show) -> dict[str, Build]:
    """Build the core for each library, if it was not yet."""
    all_used = list(used)
    began = monotonic()
    builds = {}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for library, core in zip(all_used, pool.map(lambda each: build.build(each, home), all_used), strict=True):
            builds[library.name] = core
            show(f"core ready for {library.name} after {monotonic() - began:.1f} s")
    return builds


def check_candidates(
    candidates: Sequence[Candidate],
    wanted: Wanted,
    used: Mapping[str, Library],
    builds: Mapping[str, Build],
    show: Show,
) -> Examined:
    """Check every candidate in every placement, and what it uses of the machine. It is an error if none works.

    What the checks leave lies in the campaign's own folder, which other nodes see as well. A job checks for itself.
    """
    if wanted.scheduled:
        return Examined({}, {}, [])
    show(f"checking {', '.join(candidate.name for candidate in candidates if not candidate.control_of)}")
    placements = wanted.plan.placements
    with tempfile.TemporaryDirectory(prefix=files.CHECK, dir=wanted.folder) as folder:
        preparation = examine(
            candidates, placements, used, builds, Path(folder).absolute(), max(wanted.plan.sizes_bytes)
        )
    refused = preparation.refused
    if len(refused) == len(candidates) * len(placements):
        for reason in filter(None, map(doctor.find_unknown_host, placements)):  # No library is to blame.
            raise RankbenchError(f"{wanted.plan.file}: hosts: {reason}")
        (candidate, placement), refusal = next(iter(refused.items()))
        raise RankbenchError(f"no candidate works here; {candidate} on {placement}: {refusal.reason}")
    return preparation


def add_control(candidates: Sequence[Candidate], planned: Plan, refused: Refusals) -> list[Candidate]:
    """Add the A/A twin of the first candidate that works in every placement."""
    places = [placement.name for placement in planned.placements]
    sound = [candidate for candidate in candidates if not any((candidate.name, place) in refused for place in places)]
    twins = [
        msgspec.structs.replace(candidate, name=f"{candidate.name} (again)", control_of=candidate.name)
        for candidate in sound[:1]
    ]
    return [*candidates, *(twins if planned.control else [])]


def binaries(builds: Mapping[str, Build]) -> dict[str, Path]:
    """Return the cores by library."""
    return {name: core.binary for name, core in builds.items()}
