"""Prepares a campaign from a plan: finds libraries, builds cores, makes cases, checks candidates, creates the folder.

If the folder holds a campaign of the same plan, it is resumed, provided that libraries and core are unchanged.
"""

from __future__ import annotations

import math
import os
import secrets
import shlex
import tempfile
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from rankbench import build, files, launch, libraries, plan, store
from rankbench.campaign import doctor, foreign, plan_changes, probing, program_files, rebuilds, user_program
from rankbench.campaign.expectation import check_time, expect_block
from rankbench.campaign.preflight import CheckResults, Refusal, examine
from rankbench.libraries import ambient
from rankbench.locking import Lock
from rankbench.model import UNKNOWN_MACHINE, Campaign, Candidate, RankbenchError
from rankbench.plan import notation
from rankbench.tuning.handover import proven_settings

if TYPE_CHECKING:
    from rankbench.build import Build
    from rankbench.campaign.foreign import Programs
    from rankbench.campaign.sharing import Uses
    from rankbench.model import (
        CandidateSpec,
        Case,
        Description,
        Library,
        LibraryFile,
        Machine,
        Operation,
        Plan,
        Receipt,
        Rule,
    )
    from rankbench.store import Store

Show = Callable[[str], None]
EXECUTED = ("prefix", "wrapper", "launcher", "environment", "build_environment", "binary_of", "launch", "wrap")
"""Fields of a library that determine what is executed."""
OPTIONS = {"launch": "--launcher"}
"""Options that set such a field, where it is not --prefix or --modules."""
Refusals = dict[tuple[str, str], Refusal]


class PreparedCampaign(NamedTuple):
    """A campaign that is ready to run."""

    store: Store
    binaries: dict[str, Path]
    """The core of each library."""
    refused: Refusals
    programs: Programs
    """Programs of foreign tools."""
    without: dict[tuple[str, str], str]
    """Why a library has no program for a foreign operation."""
    uses: Uses
    """Resources of the machine that a launch uses; empty: unknown."""
    files: Mapping[str, Sequence[LibraryFile]] = MappingProxyType({})
    """Files of each candidate's library, as its check reported them; empty: unknown."""


class CampaignRequest(NamedTuple):
    """A request for a campaign: its plan, folder, machine and options."""

    plan: Plan
    folder: Path
    machine: Machine
    home: Path
    """Where libraries and builds are kept."""
    prefixes: Sequence[Path] = ()
    modules: Sequence[str] = ()
    """Environment modules with libraries; each text is a list of modules to load together."""
    seed: int = 0
    """Seed of the random orders; 0: that of the plan, and if that is 0, too, a random one."""
    more: int = 0
    """Blocks to measure in addition to those stored; 0: as many as the plan says."""
    rules: Mapping[str, Sequence[Rule]] = MappingProxyType({})
    """For candidates of a tuning: which variant their settings select for which calls."""
    scheduled: bool = False
    """Whether a job of a scheduler makes checks and launches, on other machines than this one."""
    reach: Callable[[], list[Library]] | None = None
    """Returns the libraries in reach, if a search for them is already running."""


def prepare(request: CampaignRequest, show: Show) -> PreparedCampaign:
    """Return the campaign in the requested folder, new or resumed. `show` prints what is being done.

    The folder is locked first: of two simultaneous runs one continues, and the other changes nothing.
    """
    new = [folder for folder in (request.folder, *request.folder.parents) if not folder.exists()]
    make_writable(request.folder)
    lock_file = store.lock(request.folder)
    try:
        files.remove_leftovers(request.folder)
        if not request.scheduled:
            launch.refuse_left_over_job(request.plan.placements)
            if line := launch.describe_abandoned():
                show(f"note: {line}")
        return (resume if (request.folder / "campaign.json").exists() else begin_campaign)(request, lock_file, show)
    except BaseException:
        if new:
            store.discard_empty(request.folder, new)
        lock_file.close()
        raise


def note_unrecorded(request: CampaignRequest) -> list[str]:
    """Return a note where the plan wants a program's calls recorded, and a job script makes the launches."""
    program = request.plan.program
    if not request.scheduled or not program or not program.record:
        return []
    return ["program.record: job scripts record no calls; `rankbench run --in-job` does, in a job of your own"]


def begin_campaign(request: CampaignRequest, lock_file: Lock, show: Show) -> PreparedCampaign:
    """Create a new campaign. If that fails, its folder is as before."""
    candidates, used = find_candidates(request)
    builds = build_cores(used.values(), request.home, show)
    description, absent = describe_operations(request, build.describe(next(iter(builds.values()))), used, building=True)
    machine = UNKNOWN_MACHINE if request.scheduled else request.machine
    cases, notes = expand_cases(request.plan, description, machine)
    short = "" if request.scheduled else check_expected_time(request, cases, len(candidates))
    refused, uses, usage, library_files = check_candidates(candidates, request, used, builds, show)
    named = {case.operation for case in cases}
    operations = [operation for operation in description.operations if operation.name in named]
    programs, without = find_programs(request, operations, used)
    record = Campaign(
        format=store.FORMAT,
        name=request.folder.name,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        rankbench=version("rankbench"),
        plan=request.plan,
        seed=request.seed or request.plan.seed or secrets.randbits(32),
        machine=machine,
        libraries=list(used.values()),
        receipts=[core.receipt for core in builds.values()],
        candidates=add_control(candidates, request.plan, refused),
        cases=cases,
        operations=operations,
        starts=[start for start in description.starts if start.name in {case.start for case in cases}],
        notes=[
            *(*notes, *absent, *list_refusals(refused), *note_unrecorded(request)),
            *(*foreign.list_refusals(without), *foreign.list_lacking_options(programs)),
        ],
        usage=usage,
        known_wrong={
            name: wrong for name, core in binaries(builds).items() if (wrong := probing.list_known_wrong(core))
        },
    )
    ignored = dict.fromkeys(f"{entry.candidate}: {clause}" for entry in usage for clause in entry.ignored)
    around = () if request.scheduled else ambient.list_notes(used.values(), os.environ)
    for note in (*record.notes, *ignored, *around, *filter(None, [short])):
        show(f"note: {note}")
    footprint = plan.estimate_footprint(request.plan, cases, record.operations)
    if footprint.is_large:
        show(f"note: {footprint}")
    campaign_store = store.create(request.folder, record, lock_file)
    store_inputs(campaign_store, request.plan, programs)
    return PreparedCampaign(campaign_store, binaries(builds), refused, programs, without, uses, library_files)


def store_inputs(campaign_store: Store, planned: Plan, programs: Programs) -> None:
    """Store what a plan refers to: its profile, and what its program is now."""
    if planned.profile:
        campaign_store.keep_record(Path(planned.profile.file).read_bytes())
    if planned.program:
        program_files.keep(campaign_store.folder, program_files.describe(planned.program, programs))


def check_expected_time(request: CampaignRequest, cases: Sequence[Case], candidates: int) -> str:
    """Return a note if the plan's time is short. Raises RankbenchError if it is too short to compare anything."""
    stop = request.plan.stop
    if math.isinf(notation.find_time_limit_s(stop.until)):
        return ""
    copies = candidates + request.plan.control
    expected = expect_block(request.plan, cases, request.machine, copies, request.folder.parent)
    return check_time(stop, len(cases), expected)


def resume(request: CampaignRequest, lock_file: Lock, show: Show) -> PreparedCampaign:
    """Open a campaign of the same plan and seed, and check that libraries and core are unchanged.

    Raises RankbenchError if they are not.
    """
    opened = store.open(request.folder, lock_file)
    record = opened.campaign
    plan_changes.require_same_measurement(request.folder, record, request.plan, request.seed)
    if not request.scheduled:
        require_machine(request.folder, recorded=record.machine, here=request.machine)
    if record.plan.placements != request.plan.placements:
        raise RankbenchError(
            f"{request.folder}: holds a campaign on other hosts or CPUs; continue on those, or choose another name: "
            "--name NAME"
        )
    require_libraries(request, record)
    require_named_candidates(
        request.plan, [candidate.name for candidate in record.candidates if not candidate.control_of]
    )
    used = {library.name: library for library in record.libraries}
    builds = build_cores(used.values(), request.home, show)
    for receipt in record.receipts:
        if strip_hash(builds[receipt.library].receipt) != strip_hash(receipt):
            raise RankbenchError(
                f"{request.folder}: {receipt.library} or rankbench itself has changed since this campaign began; "
                "start another: --name NAME"
            )
    launches = opened.launches()
    number = len(launches)
    stored = "1 launch is" if number == 1 else f"{number} launches are"
    show(f"continuing {request.folder}: {stored} stored, none is repeated")
    if request.plan.calls != record.plan.calls:
        description = foreign.add_operations(build.describe(next(iter(builds.values()))), request.plan)
        plan.check_calls(request.plan, description)
        for note in plan.note_unmeasured_calls(request.plan, description, record.cases):
            show(f"note: {note}")
    refused, uses, _, library_files = check_candidates(record.candidates, request, used, builds, show)
    rebuilds.require_same(request.folder, rebuilds.KnownFiles(launches), library_files)
    for line in list_refusals(refused):
        show(f"note: {line}; not launched now")
    plan_changes.take_over(opened, request.plan, request.more)
    programs, without = find_programs(request, record.operations, used)
    if record.plan.program:
        program_files.require_same(request.folder, program_files.describe(record.plan.program, programs))
    return PreparedCampaign(opened, binaries(builds), refused, programs, without, uses, library_files)


def expand_cases(planned: Plan, description: Description, machine: Machine) -> tuple[list[Case], list[str]]:
    """Return the cases of a plan, and notes. It is an error if none is left, with the reason if that is the machine.

    Raises RankbenchError if none is left, or if a call of the plan has no size.
    """
    try:
        cases, notes = plan.expand_plan(planned, description, machine)
    except plan.NoCaseError as error:
        alone = all(placement.ranks == 1 and not placement.hosts for placement in planned.placements)
        why = launch.explain_one_core(machine, os.cpu_count() or 1) if alone else ""
        raise RankbenchError(why or str(error)) from None
    sized = notation.list_sized(description.operations, cases)
    if not planned.profile and (fault := notation.find_unsized(planned.calls, sized)):
        raise RankbenchError(f"[calls]: {fault}")
    return cases, notes


def describe_operations(
    request: CampaignRequest, core: Description, used: Mapping[str, Library], *, building: bool
) -> tuple[Description, list[str]]:
    """Return the operations of the core and of foreign tools, and notes on programs that are not there.

    Unless `building`, no tarball is built.
    """
    description = foreign.add_operations(core, request.plan)
    if description is core:
        return core, []
    search = foreign.Search(list(used.values()), find_libraries(request), request.home)
    return foreign.drop_absent(description, request.plan, search, building=building)


def find_programs(
    request: CampaignRequest, operations: Sequence[Operation], used: Mapping[str, Library]
) -> tuple[Programs, dict[tuple[str, str], str]]:
    """Return the programs of foreign operations for each library, and why some libraries have none."""
    foreign_operations = [operation for operation in operations if operation.foreign]
    if not foreign_operations:
        return {}, {}
    user_program.require_known_paths(request.plan, used.values())
    reach = find_libraries(request)
    return foreign.find_programs(request.plan, foreign_operations, used.values(), reach, request.home)


def require_libraries(request: CampaignRequest, record: Campaign) -> None:
    """Refuse libraries that differ from the record: a record from elsewhere may name any program as wrapper.

    Raises RankbenchError if they differ.
    """
    reach = find_libraries(request)
    plan_libraries = libraries.resolve_libraries(request.plan.candidates, reach)
    here = {library.name: library for library in (*reach, *plan_libraries)}
    for library in record.libraries:
        if any(is_executed_same(library, other) for other in here.values()):
            continue  # Names depend on what else is in reach.
        for what in EXECUTED:
            before, now = getattr(library, what), getattr(here.get(library.name), what, None)
            if before != now:
                used = OPTIONS.get(what, "--prefix or --modules")
                raise RankbenchError(
                    f"{request.folder}: {library.name} is recorded with {what} {describe_field(before)}, found here "
                    f"with {describe_field(now)}; give the {used} used then, or start another campaign: --name NAME"
                )


def describe_field(value: object) -> str:
    """Return the value of a library's field for messages."""
    return (shlex.join(value) if isinstance(value, list) else str(value or "")) or "none"


def is_executed_same(library: Library, other: Library) -> bool:
    """Return whether two libraries execute the same programs in the same way."""
    return all(getattr(library, what) == getattr(other, what) for what in EXECUTED)


def require_machine(folder: Path, recorded: Machine, here: Machine) -> None:
    """Refuse to continue on another machine: the values of one campaign would be those of two machines.

    Raises RankbenchError if it is another one.
    """
    for what in ("host", "cpu", "cores"):
        before, now = getattr(recorded, what), getattr(here, what)
        if before != now:
            raise RankbenchError(
                f"{folder}: began on another machine ({what} {before}, here {now}); "
                "continue there, or start another campaign here: --name NAME"
            )


def list_refusals(refused: Refusals) -> list[str]:
    """Return a line for each candidate that failed its check."""
    return [
        f"{candidate} does not work on {placement}: {why.reason}" for (candidate, placement), why in refused.items()
    ]


def strip_hash(receipt: Receipt) -> Receipt:
    """Return a receipt without the binary's hash: equal sources need not compile to equal bytes."""
    return msgspec.structs.replace(receipt, binary_sha256="")


def make_writable(folder: Path) -> None:
    """Create a folder, and refuse one that cannot be written. Raises RankbenchError if it cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise RankbenchError(
            f"{folder}: cannot be written ({error.strerror}); choose another place: --results DIR"
        ) from None


def find_libraries(request: CampaignRequest) -> list[Library]:
    """Return the libraries in reach, as a list that the caller may extend."""
    if request.reach:
        return list(request.reach())
    return libraries.find(libraries.make_search(request.home, request.prefixes, request.modules))


def find_candidates(request: CampaignRequest) -> tuple[list[Candidate], dict[str, Library]]:
    """Return the plan's candidates and the libraries that they use. Raises RankbenchError if two have the same name."""
    reach = find_libraries(request)
    candidates: dict[str, Candidate] = {}
    used: dict[str, Library] = {}
    resolved = libraries.resolve_libraries(request.plan.candidates, reach)
    for spec, library in zip(request.plan.candidates, resolved, strict=True):
        used[library.name] = library
        candidate = make_candidate(spec, library, request)
        if candidate.name in candidates:
            raise RankbenchError(
                f"{request.plan.file}: candidates: two of them are {candidate.name}; name one in a [[candidate]] table"
            )
        candidates[candidate.name] = candidate
    require_named_candidates(request.plan, candidates)
    return list(candidates.values()), used


def make_candidate(spec: CandidateSpec, library: Library, request: CampaignRequest) -> Candidate:
    """Return a candidate of a plan; a `tuned` one has the newest proven settings of its library."""
    if not proven_settings.split_name(spec.library)[1]:
        name = spec.name or library.name
        rules = list(request.rules.get(name, ()))
        return Candidate(name=name, library=library.name, settings=spec.settings, rules=rules)
    host = "" if request.scheduled else request.machine.host
    proven = proven_settings.find_proven(library, request.home, host)
    return Candidate(
        name=spec.name or f"{library.name}{proven_settings.SUFFIX}",
        library=library.name,
        settings=proven.settings | spec.settings,
        rules=proven.rules,
    )


def require_named_candidates(planned: Plan, candidates: Collection[str]) -> None:
    """Refuse keys that name none of the candidates, by its name or its library.

    Raises RankbenchError if one names none.
    """
    libraries_named = [spec.library for spec in planned.candidates]
    for key in ("baseline", "calls_measured_with"):
        named = getattr(planned, key)
        if named and named not in candidates and libraries_named.count(named) != 1:
            raise RankbenchError(
                f'{planned.file}: {key}: found "{named}", expected one of the candidates: {", ".join(candidates)}'
            )


def build_cores(used: Iterable[Library], home: Path, show: Show) -> dict[str, Build]:
    """Build the core for each library, unless it is built already."""
    all_used = list(used)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        builds = pool.map(lambda library: build.build(library, home, show=show), all_used)
        return dict(zip([library.name for library in all_used], builds, strict=True))


def check_candidates(
    candidates: Sequence[Candidate],
    request: CampaignRequest,
    used: Mapping[str, Library],
    builds: Mapping[str, Build],
    show: Show,
) -> CheckResults:
    """Check every candidate in every placement, and its use of resources. It is an error if none works.

    The checks write to the campaign's folder, which other nodes see as well. A job of a scheduler makes its own checks.

    Raises RankbenchError if none works.
    """
    if request.scheduled:
        return CheckResults({}, {}, [], {})
    show(f"checking {', '.join(candidate.name for candidate in candidates if not candidate.control_of)}")
    placements = request.plan.placements
    with tempfile.TemporaryDirectory(prefix=files.CHECK, dir=request.folder) as folder:
        results = examine(candidates, placements, used, builds, Path(folder).absolute(), max(request.plan.sizes_bytes))
    refused = results.refused
    if len(refused) == len(candidates) * len(placements):
        for reason in filter(None, map(doctor.find_unknown_host, placements)):  # No library is to blame.
            raise RankbenchError(f"{request.plan.file}: hosts: {reason}")
        (candidate, placement), refusal = next(iter(refused.items()))
        raise RankbenchError(f"no candidate works here; {candidate} on {placement}: {refusal.reason}")
    return results


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
    """Return the binary of the core for each library."""
    return {name: core.binary for name, core in builds.items()}
