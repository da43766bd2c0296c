"""The `tune` command in findings: it fits the case, and the command line accepts it."""

from __future__ import annotations

import shlex

import msgspec
import pytest
import typer
from fakes import campaign_views, campaigns

from rankbench import units
from rankbench.analysis.claims import findings
from rankbench.analysis.claims.advice import format_tune_command
from rankbench.analysis.questions.view import CampaignView
from rankbench.cli import application
from rankbench.language import render
from rankbench.model import Case, Finding, Placement
from rankbench.tuning import tuners
from rankbench.workflows import tunings

SIZES = tuple(1 << power for power in range(4, 21, 2))
CASES = [
    case
    for operation in ("allreduce", "reduce", "bcast")
    for case in campaigns.make_cases(lines=[(operation, "blocking")], sizes=SIZES)
]


def find_time_ns(_candidate: str, case: Case) -> float:
    """Return times of an allreduce that is slower than reduce and bcast from 4 KiB on."""
    slow = 3.0 if case.size_bytes >= 4096 else 2.0
    return campaigns.compute_base_ns(case) * (slow if case.operation == "allreduce" else 1.0)


def make_view(family: str = "openmpi", **changes: object) -> CampaignView:
    """Return a campaign of one library of this family."""
    view = campaign_views.make_view(find_time_ns, spread=0, state=0, cases=CASES, candidates=("alpha",))
    library = msgspec.structs.replace(view.campaign.libraries[0], family=family, **changes)
    campaign = msgspec.structs.replace(view.campaign, libraries=[library, *view.campaign.libraries[1:]])
    return campaign_views.make_view(
        find_time_ns, spread=0, state=0, cases=CASES, candidates=("alpha",), libraries=campaign.libraries
    )


def list_commands(view: CampaignView) -> list[str]:
    """Return the commands in the advice of all findings of a view."""
    modules = units.modules(findings).values()
    every: list[Finding] = [finding for module in modules for finding in module.find(view)]
    commands = (command for finding in every for command in render(finding.advice).split("`")[1::2])
    return [command for command in commands if command.startswith("rankbench tune ")]


def parse_command(command: str) -> dict[str, object]:
    """Return the options of a command as the command line reads them. Raises if it rejects the command."""
    _, name, *words = shlex.split(command)
    group = typer.main.get_command(application(name))
    context = group.commands[name].make_context(name, words)  # type: ignore[attr-defined]
    return dict(context.params)


@pytest.mark.parametrize("family", sorted(tuners.list_tuners()))
def test_a_call_slower_than_its_parts_names_the_command_that_tunes_it(family: str) -> None:
    commands = list_commands(make_view(family))
    assert "rankbench tune alpha --operations allreduce --sizes 4K,16K,64K,256K,1M" in commands


@pytest.mark.parametrize("command", dict.fromkeys(list_commands(make_view())))
def test_the_command_line_accepts_the_command(command: str) -> None:
    options = parse_command(command)
    library, operations, sizes = (str(options[name]) for name in ("library", "operations", "sizes"))
    wanted = tunings.TuneRequest(library, operations, sizes, threshold=str(options["threshold"]))
    request = tunings.make_wanted_task(wanted, {})
    assert request.operations == ["allreduce"]
    assert set(request.plan.sizes_bytes) <= set(SIZES)
    assert options["library"] == "alpha"


@pytest.mark.parametrize(
    ("family", "changes"),
    [("alpha", {}), ("openmpi", {"source": "prefix"})],
    ids=["a family without a tuner", "a library that is not found by its name"],
)
def test_a_command_that_would_fail_is_not_suggested(family: str, changes: dict[str, object]) -> None:
    assert list_commands(make_view(family, **changes)) == []


def test_cases_that_tune_cannot_search_are_not_in_the_command() -> None:
    view = make_view()
    allreduce, *_ = CASES
    assert format_tune_command(view, "alpha", [msgspec.structs.replace(allreduce, form="persistent")]) == ""
    assert format_tune_command(view, "alpha", [msgspec.structs.replace(allreduce, size_bytes=0)]) == ""


def test_another_placement_is_an_option_of_the_command() -> None:
    place = Placement(name="sockets", nodes=1, ranks_per_node=2, binding="core")
    view = make_view()
    plan = msgspec.structs.replace(view.campaign.plan, placements=[place])
    view = campaign_views.make_view(
        find_time_ns, spread=0, state=0, cases=CASES, candidates=("alpha",), plan=plan,
        libraries=view.campaign.libraries,
    )  # fmt: skip
    case = msgspec.structs.replace(CASES[0], placement="sockets")
    command = format_tune_command(view, "alpha", [case])
    assert command == "rankbench tune alpha --operations allreduce --sizes 16 --placements sockets"
    assert parse_command(command)["placements"] == "sockets"
