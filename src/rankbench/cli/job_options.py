"""Options of jobs, shared by the commands that make job scripts."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

import typer

from rankbench import launch, plan
from rankbench.campaign import CampaignRequest
from rankbench.cli.plan_options import Preset
from rankbench.cli.shared_options import Binding, Modules, Name, Prefixes, Results, Seed
from rankbench.launch import schedulers
from rankbench.model import Launcher
from rankbench.workflows.locations import campaign_folder, home
from rankbench.workflows.requested_plans import add_profile, count_nodes, find_plan, list_recorded_placements


def request_campaign(
    file: Annotated[Path | None, typer.Argument(metavar="PLAN", help="The plan, a TOML file.")] = None,
    *,
    preset: Preset = "",
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
    machine, path = launch.machine(), find_plan(file, preset)
    placements = [f"{nodes or count_nodes(path)}x1"] if probe else list_recorded_placements(path)
    place_options = {"binding": binding, "hosts": hosts.split(",") if hosts else "", "remote_shell": remote_shell,
                     "placements": placements}  # fmt: skip
    job = {"scheduler": scheduler, "nodes": nodes, "tasks_per_node": tasks_per_node, "time": time,
           "tasks_per_socket": tasks_per_socket, "partition": partition, "account": account, "nodelist": nodelist,
           "exclusive": exclusive, "contiguous": contiguous, "memory": memory, "launcher": launcher,
           "options": option}  # fmt: skip
    planned = add_profile(plan.load_plan(path, machine, drop_missing(place_options), job=drop_missing(job)))
    schedulers.find_scheduler(planned.job)
    folder = campaign_folder(results, path.stem if name is None else name)
    return CampaignRequest(planned, folder, machine, home(), prefix or (), modules or (), seed, scheduled=True)


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
