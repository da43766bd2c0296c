"""Options of jobs, shared by the commands that make job scripts."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

import typer

from rankbench import launch, libraries
from rankbench.campaign import CampaignRequest
from rankbench.cli.plan_options import (
    Blocks,
    Forms,
    Operations,
    Placements,
    Preset,
    ProfileFile,
    Program,
    Ranks,
    Samples,
    Sizes,
    Threshold,
    Until,
)
from rankbench.cli.shared_options import Binding, Modules, Name, Prefixes, Results, Seed
from rankbench.launch import schedulers
from rankbench.model import Launcher
from rankbench.workflows.locations import campaign_folder, home
from rankbench.workflows.requested_plans import (
    MeasuringOptions,
    add_prefixes,
    count_nodes,
    divide_words,
    make_plan,
)


def request_campaign(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PLAN|CANDIDATE]...", help="A plan (TOML file), or the libraries to compare."),
    ] = None,
    *,
    preset: Preset = "",
    operations: Operations = "",
    program: Program = "",
    profile: ProfileFile = None,
    ranks: Ranks = None,
    sizes: Sizes = "",
    forms: Forms = "",
    placements: Placements = "",
    samples: Samples = None,
    blocks: Blocks = "",
    until: Until = "",
    threshold: Threshold = "",
    results: Results = Path("results"),
    name: Name = None,
    prefix: Prefixes = None,
    modules: Modules = None,
    seed: Seed = 0,
    binding: Binding = "",
    hosts: Annotated[str, typer.Option(metavar="HOST,...", help="Nodes to run on, with the scheduler ssh.")] = "",
    remote_shell: Annotated[str, typer.Option(metavar="PROGRAM", help="ssh-like program that reaches the nodes.")] = "",
    scheduler: Annotated[str, typer.Option(help=f"One of {', '.join(sorted(schedulers.find_schedulers()))}.")] = "",
    nodes: Annotated[
        int | None, typer.Option(help="Nodes of the job; default: those of the largest placement.")
    ] = None,
    tasks_per_node: Annotated[
        int | None, typer.Option(help="Tasks per node; default: those of the largest placement.")
    ] = None,
    tasks_per_socket: Annotated[
        int | None, typer.Option(help="Tasks per socket, if the scheduler supports it.")
    ] = None,
    time: Annotated[str, typer.Option(help="Time limit of the job: 30m, 2h, 1-12:00:00.")] = "",
    partition: Annotated[str, typer.Option(help="Partition or queue.")] = "",
    account: Annotated[str, typer.Option(help="Account, project or bank.")] = "",
    nodelist: Annotated[str, typer.Option(help="Nodes by name: n1,n2 or n[1-4].")] = "",
    exclusive: Annotated[bool | None, typer.Option(help="Request exclusive nodes (the default).")] = None,
    contiguous: Annotated[bool | None, typer.Option(help="Request adjacent nodes.")] = None,
    memory: Annotated[
        str, typer.Option(help="Memory per node, such as 64G; default: all, or the site's default.")
    ] = "",
    launcher: Annotated[
        str,
        typer.Option(
            metavar=f"{'|'.join(get_args(Launcher))}|COMMAND",
            help="What starts the ranks; a command such as 'mpiexec -n {ranks} {program}'.",
        ),
    ] = "",
    option: Annotated[
        list[str] | None, typer.Option(help="Extra scheduler option, such as --reservation=bench.")
    ] = None,
    probe: bool = False,
) -> CampaignRequest:
    """Return the requested campaign, of a probe with as many nodes: what a placement's name means may be the answer.

    Raises RankbenchError if the scheduler lacks an option of its job.
    """
    search = libraries.make_search(home(), prefix or (), modules or ())
    named = add_prefixes(words or (), preset, search)
    places = f"{nodes or count_nodes(named, preset)}x1" if probe else placements
    if nodes and not (places or ranks or profile or preset or divide_words(named)[0]):
        places = f"{nodes}x{tasks_per_node or 1}"
    measured = MeasuringOptions(
        operations=operations, forms=forms, sizes=sizes, placements=places, samples=samples, blocks=blocks,
        until=until, threshold=threshold, program=program,
        ranks=None if probe else ranks, profile=None if probe else profile,
    )  # fmt: skip
    place_options = {"binding": binding, "hosts": hosts.split(",") if hosts else "", "remote_shell": remote_shell}
    job = {"scheduler": scheduler, "nodes": nodes, "tasks_per_node": tasks_per_node, "time": time,
           "tasks_per_socket": tasks_per_socket, "partition": partition, "account": account, "nodelist": nodelist,
           "exclusive": exclusive, "contiguous": contiguous, "memory": memory, "launcher": launcher,
           "options": option}  # fmt: skip
    machine = launch.machine()
    planned, own_name = make_plan(named, preset, measured, drop_missing(place_options), machine, drop_missing(job))
    schedulers.find_scheduler(planned.job)
    folder = campaign_folder(results, own_name if name is None else name)
    return CampaignRequest(planned, folder, machine, home(), search.prefixes, search.modules, seed, scheduled=True)


def drop_missing(options: Mapping[str, object]) -> dict[str, object]:
    """Return the options without unset ones."""
    return {key: value for key, value in options.items() if value not in ("", None, [])}


def add_job_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with the additional options of `request_campaign`, which gets the requested campaign."""
    special = dict(inspect.signature(command).parameters)
    special.pop("request")
    every = inspect.signature(request_campaign).parameters
    shared = {name: parameter for name, parameter in every.items() if name not in special}

    def wrapper(**options: Any) -> None:
        both = {name: options[name] for name in every if name in special}
        command(request_campaign(**{name: options.pop(name) for name in shared}, **both), **options)

    hints = get_type_hints(request_campaign, include_extras=True) | get_type_hints(command, include_extras=True)
    parameters = [
        parameter.replace(annotation=hints[parameter.name]) for parameter in (*shared.values(), *special.values())
    ]
    wrapper.__name__, wrapper.__doc__ = command.__name__, command.__doc__
    wrapper.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    wrapper.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return wrapper
