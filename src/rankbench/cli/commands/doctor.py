"""The command `doctor`: whether candidates work in a plan's placements, and what disturbs measurements here."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import msgspec
import typer
from rich.text import Text

from rankbench import build, launch, plan
from rankbench.campaign import CampaignRequest
from rankbench.campaign.doctor import Check
from rankbench.campaign.preflight import check_candidates
from rankbench.campaign.preparation import find_candidates
from rankbench.cli.display import columns, console, print_text
from rankbench.cli.formats import TableOrJson, add_output_option, check_format, print_json
from rankbench.cli.plan_options import Preset
from rankbench.cli.shared_options import (
    Binding,
    Hosts,
    InJob,
    Launcher,
    Modules,
    Prefixes,
    RemoteShell,
    choose_libraries,
)
from rankbench.launch.machine_checks import check_machine
from rankbench.libraries import ambient
from rankbench.model import Candidate, Library, Machine, Plan, RankbenchError
from rankbench.units import suggestion
from rankbench.workflows.job_nodes import find_job_nodes
from rankbench.workflows.locations import home
from rankbench.workflows.requested_plans import divide_words, find_plan

ORDER = 22
GROUP = "Get ready"
EXAMPLES = """
rankbench doctor                         # all libraries on this machine
rankbench doctor plan.toml openmpi
rankbench doctor --preset quick --hosts n1,n2
"""
PAIR = 2


@add_output_option
def doctor(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PLAN] [LIBRARY]...", help="A plan and candidates of it; or libraries."),
    ] = None,
    preset: Preset = "",
    prefix: Prefixes = None,
    modules: Modules = None,
    hosts: Hosts = "",
    remote_shell: RemoteShell = "",
    launcher: Launcher = "",
    binding: Binding = "",
    in_job: InJob = False,  # noqa: FBT002
    format_: TableOrJson = "table",
) -> None:
    """Check that candidates work where a plan puts them.

    One short launch of each candidate in each placement; then what on this machine could disturb measurements. Each
    line says what is wrong and what to change. Exit code 1: a candidate does not work somewhere.
    """
    form = check_format(format_, "table", "json")
    plans, names = divide_words(words or [])
    machine = launch.machine()
    if in_job:
        hosts, remote_shell = find_job_nodes()
    overrides = {"hosts": hosts.split(",") if hosts else "", "remote_shell": remote_shell,
                 "binding": binding, "launcher": launcher}  # fmt: skip
    planned = choose_plan(plans, preset, machine, {key: value for key, value in overrides.items() if value})
    launch.refuse_left_over_job(planned.placements)
    in_the_way = check_machine()
    candidates, used = (select_candidates if plans or preset else every)(
        CampaignRequest(planned, Path(), machine, home(), prefix or (), modules or ()), names
    )
    shared = Path.cwd() if any(placement.hosts for placement in planned.placements) else None
    with tempfile.TemporaryDirectory(prefix=".doctor-", dir=shared) as folder:
        rows = list(check_each(planned, candidates, used, Path(folder).absolute()))
    ignored = dict.fromkeys(f"{row.candidate}: {clause}" for row in rows for clause in row.ignored)
    abandoned = filter(None, [launch.describe_abandoned(removal=True)])
    lines = [
        *planned.notes,
        *ignored,
        *map(str, in_the_way),
        *abandoned,
        *ambient.list_notes(used.values(), os.environ),
    ]
    if form == "json":
        print_json({"checks": [row._asdict() for row in rows], "notes": lines})
    else:
        show(rows, lines)
    if not all(row.check.works for row in rows):
        raise typer.Exit(1)


class Row(NamedTuple):
    """The check of a candidate in a placement."""

    candidate: str
    placement: str
    ranks: int
    check: Check
    ignored: Sequence[str] = ()
    """Clauses on settings that its library ignores."""


def choose_plan(plans: Sequence[Path], preset: str, machine: Machine, overrides: Mapping[str, object]) -> Plan:
    """Return the named plan, else one with two ranks, and with one rank per core or host."""
    if plans or preset:
        return plan.load_plan(find_plan(plans[0] if plans else None, preset), machine, overrides)
    names = ["1x2", *[f"1x{machine.cores}"] * (machine.cores > PAIR), *["nodes"] * ("hosts" in overrides)]
    values = {"candidates": ["every library"], "operations": ["barrier"], "placements": names}
    return plan.make_plan(values, "no plan", machine, overrides)


def every(request: CampaignRequest, names: Sequence[str]) -> tuple[list[Candidate], dict[str, Library]]:
    """Return the named libraries, or all that are found, as candidates, with the launcher of the options."""
    launcher = request.plan.candidates[0].launcher
    used = {
        library.name: msgspec.structs.replace(library, launch=launcher)
        for library in choose_libraries(names, list(request.prefixes))
    }
    return [Candidate(name=name, library=name) for name in used], used


def select_candidates(request: CampaignRequest, names: Sequence[str]) -> tuple[list[Candidate], dict[str, Library]]:
    """Return the plan's candidates, or those named by their name, library or family.

    Raises RankbenchError for another name.
    """
    candidates, used = find_candidates(request)
    words = {
        candidate.name: {candidate.name, candidate.library, used[candidate.library].family} for candidate in candidates
    }
    for name in names:
        if not any(name in word for word in words.values()):
            raise RankbenchError(f"{name}: no candidate of {request.plan.file}{suggestion(name, list(words))}")
    return [candidate for candidate in candidates if not names or words[candidate.name].intersection(names)], used


def check_each(
    planned: Plan, candidates: Sequence[Candidate], used: Mapping[str, Library], folder: Path
) -> Iterator[Row]:
    """Yield the check of each candidate in each placement; without a core it works in none."""
    for candidate in candidates:
        with console.status(f"{candidate.name}: building and checking …"):
            try:
                builds = {candidate.library: build.build(used[candidate.library], home())}
            except RankbenchError as error:
                yield Row(
                    candidate.name,
                    "all",
                    0,
                    Check(works=False, reason=str(error).removeprefix(f"{candidate.library}: ")),
                )
                continue
            for look in check_candidates([candidate], planned.placements, used, builds, folder):
                ignored = look.usage.ignored if look.usage else []
                yield Row(candidate.name, look.placement.name, look.placement.ranks, look.check, ignored)


def show(rows: Sequence[Row], lines: Sequence[str]) -> None:
    """Print a row for each candidate and placement, then a line for each hindrance."""
    table = columns("candidate", "placement", "ranks", text_columns=2)
    table.add_column("found", overflow="fold")
    for row in rows:
        table.add_row(row.candidate, row.placement, str(row.ranks or ""), format_check(row.check))
    console.print(table)
    print_text("")
    for line in lines or ["nothing on this machine disturbs measurements"]:
        print_text(line)


def format_check(check: Check) -> Text:
    """Return the result, coloured by severity."""
    if not check.works:
        return Text(check.reason, "red")
    return Text(f"works, but {'; '.join(check.flags)}", "yellow") if check.flags else Text("works", "green")
