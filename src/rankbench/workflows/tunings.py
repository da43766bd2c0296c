"""Tunes a library: searches its settings, chooses, writes its tuning file, and proves it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from rankbench import launch, libraries, plan, profiles, tuning
from rankbench.campaign.variables import variables
from rankbench.model import LEVEL, MULTIPLE, Calls, Library, Plan, RankbenchError
from rankbench.plan import notation
from rankbench.tuning import Task, tuners
from rankbench.tuning.tuners import Target, Tuner
from rankbench.workflows.job_nodes import find_job_nodes
from rankbench.workflows.locations import campaign_folder, home, results_folder
from rankbench.workflows.option_values import parse_calls
from rankbench.workflows.reproducible_sums import SumStudy
from rankbench.workflows.tuning_steps import Runner, Session, TuneResult
from rankbench.workflows.watching import SILENT, Progress

OPERATIONS = "allreduce,bcast,alltoall,reduce"
SIZES = "8:256K:x8"


class TuneRequest(NamedTuple):
    """What is tuned, where and for how long. Values are as on the command line; empty ones are not given."""

    library: str
    operations: str = OPERATIONS
    sizes: str = SIZES
    placements: str = "socket"
    calls: str = ""
    """What an application calls, in place of operations and sizes."""
    profile: Path | None = None
    """The same, as the record of a program or the report of a profiler."""
    threshold: str = "3%"
    blocks: int = 8
    """Launches of the search after screening, and of the proof."""
    time: str = ""
    name: str = ""
    """Its folder below the results; empty: `tune-LIBRARY`."""
    results: Path | None = None
    prefixes: Sequence[Path] = ()
    modules: Sequence[str] = ()
    hosts: str = ""
    remote_shell: str = ""
    launcher: str = ""
    binding: str = ""
    one_machine: bool = False
    is_in_job: bool = False
    """Run ranks on the nodes of the job that this process runs in."""
    reproducible: bool = False
    """Only settings whose sums have the same bits in all calls, launches and placements."""


def tune(request: TuneRequest, progress: Progress = SILENT) -> TuneResult:
    """Find settings that make a library faster, prove them and write them; an interrupted search is continued.

    Raises RankbenchError for an unknown library, for values that do not fit each other, and as `runs.run` does.
    """
    if request.is_in_job:
        request = request._replace(**find_job_nodes()._asdict())
    places = {
        "hosts": request.hosts.split(",") if request.hosts else "",
        "remote_shell": request.remote_shell,
        "launcher": request.launcher,
        "binding": request.binding,
        "one_machine": request.one_machine,
    }
    wanted = make_wanted_task(request, {key: value for key, value in places.items() if value})
    limit_s = parse_limit(request.time)
    search = libraries.make_search(home(), request.prefixes, request.modules)
    chosen = libraries.choose(request.library, libraries.find(search))
    folder = campaign_folder(request.results or results_folder(), request.name or f"tune-{chosen.name}")
    with progress.show_status(f"querying {chosen.name} …"):
        target = tuners.Target(libraries.find_libmpi(chosen), variables(chosen, home()), chosen.version)
    runner = Runner(folder, request.prefixes, request.modules, limit_s, progress)
    sums = SumStudy(chosen, wanted.plan.placements, home(), folder, progress) if request.reproducible else None
    session = Session(chosen, tuners.find_tuner(chosen), target, runner, request.blocks, sums)
    task = make_task(chosen, wanted, session.tuner, target, progress)
    return session.conclude(task._replace(reproducible=request.reproducible))


class WantedTask(NamedTuple):
    """What is tuned, before the library's variants are known."""

    operations: list[str]
    plan: Plan
    """The plan with sizes, placements and threshold."""
    reach: Mapping[str, object]
    """Keys of plans about nodes and placement."""
    named: bool
    """Whether the user names the operations. Others, of an application or by default, may be skipped."""
    thread_level: Mapping[str, str]
    """The option that calls as the application does; empty: the usual one."""


def make_wanted_task(request: TuneRequest, reach: Mapping[str, object]) -> WantedTask:
    """Return the requested tuning; `reach` has the keys of plans about nodes and placement.

    Raises RankbenchError if options contradict each other.
    """
    operations, sizes, calls, profile = request.operations, request.sizes, request.calls, request.profile
    names = [name.strip() for name in operations.split(",") if name.strip()]
    level: dict[str, str] = {}
    if calls and profile:
        raise RankbenchError("--calls and --profile both say what is called; name one of them")
    if calls or profile:
        if (operations, sizes) != (OPERATIONS, SIZES):
            raise RankbenchError("--calls and --profile say which operations and sizes are tuned; leave those out")
        read = profiles.read(profile) if profile else None
        named = read.calls if read else parse_calls(calls)
        level = {LEVEL: MULTIPLE} if read and read.recorded and read.recorded.thread_multiple else {}
        if calls and (fault := notation.find_unsized(named, {*tuners.OPERATIONS} - {"barrier"})):
            raise RankbenchError(f"--calls: {fault}")
        names, sizes = list_called(named)
    if not names:
        raise RankbenchError("--operations: found none, expected names such as allreduce,bcast")
    options = {"sizes": sizes, "placements": request.placements.split(","), "threshold": request.threshold, **reach}
    fixed = {"candidates": ["mpich"], "operations": ["barrier"]}
    planned = plan.parse_plan("", "", launch.machine(), {**fixed, **options})
    ranks = [item.ranks for item in planned.placements]
    if len(set(ranks)) < len(ranks):
        raise RankbenchError(
            f"--placements: two placements have the same number of ranks ({', '.join(map(str, ranks))}); a rule holds "
            "for a number of ranks, so tune them one by one"
        )
    return WantedTask(names, planned, reach, not (calls or profile or operations == OPERATIONS), level)


def list_called(calls: Sequence[Calls]) -> tuple[list[str], str]:
    """Return the operations that an application calls, and their sizes in the notation of plans."""
    names = list(dict.fromkeys(call.operation for call in calls))
    return names, ",".join(map(str, sorted({call.size_bytes for call in calls}))) or "8"


def parse_limit(text: str) -> float | None:
    """Return the time limit in seconds; None: no limit. Raises RankbenchError if it is no time."""
    try:
        return notation.parse_seconds(text) if text else None
    except ValueError:
        raise RankbenchError(f"--time: found {text!r}, expected {notation.TIME_HELP}") from None


def make_task(library: Library, request: WantedTask, tuner: Tuner, target: Target, progress: Progress) -> Task:
    """Return the task, with the variants that the library lists.

    Raises RankbenchError if it lists none for an operation.
    """
    variants = {name: tuners.list_variants(tuner, name, target.variables) for name in request.operations}
    lacking = [name for name in request.operations if not variants[name]]
    if len(lacking) == len(request.operations) or (lacking and request.named):
        raise RankbenchError(
            f"--operations: {library.name} lists no algorithms of {', '.join(lacking)}"
            f"{tuners.suggest_operation(lacking[0], tuner, target.variables)}"
        )
    for name in lacking:
        progress.show_line(f"note: {library.name} lists no algorithms of {name}; left out")
    return tuning.Task(
        library.name,
        [name for name in request.operations if variants[name]],
        request.plan.sizes_bytes,
        {place.name: place.ranks for place in request.plan.placements},
        request.plan.threshold,
        variants,
        request.reach,
        request.thread_level,
    )
