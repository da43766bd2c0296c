"""The command `run`: runs the campaign of a plan, or continues an interrupted one."""

from __future__ import annotations

import contextlib
import itertools
import os
import shlex
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from rankbench import extras, files, launch, libraries
from rankbench.cli import background
from rankbench.cli.display import print_text
from rankbench.cli.folders import campaign_folder, find_campaign, home, is_campaign, results_folder
from rankbench.cli.options import (
    Binding,
    Hosts,
    Modules,
    Name,
    OneMachine,
    Prefixes,
    Quiet,
    RemoteShell,
    Results,
    Seed,
    Verbose,
)
from rankbench.cli.plans import (
    Blocks,
    Forms,
    MeasuringOptions,
    Operations,
    Placements,
    Preset,
    ProfileFile,
    Program,
    Ranks,
    Samples,
    Sizes,
    Threshold,
    Time,
    Until,
    add_prefixes,
    make_plan,
)
from rankbench.cli.signals import Terminated, exit_code
from rankbench.launch import schedulers
from rankbench.libraries import ambient
from rankbench.model import RankbenchError
from rankbench.plan import notation
from rankbench.quantities import spell_count

if TYPE_CHECKING:
    from rankbench.campaign import CampaignRequest, Decision, PreparedCampaign
    from rankbench.model import Plan
    from rankbench.store import Store

ORDER = 30
GROUP = "Measure"
EXAMPLES = """
rankbench run mpich openmpi --operations allreduce --sizes 8:64K --blocks 5
rankbench run base=prefix:/opt/base dev=prefix:/opt/dev --operations allreduce
rankbench run mpich openmpi --program './solver -n 200' --ranks 8
rankbench run mpich openmpi --profile record.json
rankbench run --preset quick
rankbench run plan.toml --dry-run        # what would be measured
rankbench run --continue plan --more 9   # nine blocks beyond the stored
rankbench run plan.toml --new            # a new campaign of this plan
"""
PLACE_OPTIONS = ("--prefix", "--modules", "--hosts", "--remote-shell", "--binding", "--one-machine")
"""Options that a campaign's stored plan does not hold."""
PLAN_FILE = "plan.toml"
MORE_BLOCKS = 5
"""Blocks to measure in addition, if no forecast suggests another number."""


def run(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PLAN|CANDIDATE]...",
            help="A plan (TOML file), or the libraries to compare; NAME=LIBRARY names one.",
        ),
    ] = None,
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
    time: Time = "",
    until: Until = "",
    threshold: Threshold = "",
    results: Results = Path("results"),
    name: Name = None,
    prefix: Prefixes = None,
    modules: Modules = None,
    seed: Seed = 0,
    hosts: Hosts = "",
    remote_shell: RemoteShell = "",
    binding: Binding = "",
    one_machine: OneMachine = False,  # noqa: FBT002
    dry_run: Annotated[  # noqa: FBT002
        bool,
        typer.Option("--dry-run", "-n", help="Print what would be measured and how long it takes; launch nothing."),
    ] = False,
    more: Annotated[
        int | None,
        typer.Option(min=1, max=notation.MOST_BLOCKS, help="Measure this many blocks in addition to those stored."),
    ] = None,
    continued: Annotated[
        Path | None,
        typer.Option("--continue", metavar="CAMPAIGN", help="Continue this campaign by its own plan."),
    ] = None,
    anew: Annotated[bool, typer.Option("--new", help="Start a new campaign: NAME-2, NAME-3 ...")] = False,  # noqa: FBT002
    clean: Annotated[  # noqa: FBT002
        bool, typer.Option("--clean", help="Leave out what the shell and configuration files set for libraries.")
    ] = False,
    verbose: Verbose = False,  # noqa: FBT002
    quiet: Quiet = False,  # noqa: FBT002
    ignore_failures: Annotated[  # noqa: FBT002
        bool, typer.Option("--ignore-failures", help="Exit with code 0 even if a measured case failed.")
    ] = False,
) -> None:
    """Run the campaign of a plan, or of candidates and options.

    Builds the measuring program with each library, checks each candidate, and launches all of them in blocks. An
    interrupted campaign is resumed. Options override the plan. A plan may change as long as it measures the same,
    for example in its stop rule, question and threshold.

    Exit code 1: a candidate could not be measured, crashed, hung, failed or delivered wrong data.
    """
    extras.require("run", "`rankbench run`")  # Before anything is written; what needs it is loaded later.
    if continued:
        words, results, name = choose_stored_plan(continued, words or [], preset, name)
    if clean:
        place = home()
        os.environ["RANKBENCH_HOME"] = str(place)
        ambient.clean(os.environ, files.make_folder(place / "empty"))
    machine = launch.machine()
    place_options = {"hosts": hosts.split(",") if hosts else "", "remote_shell": remote_shell, "binding": binding,
            "one_machine": one_machine}  # fmt: skip
    measured = MeasuringOptions(
        operations, forms, sizes, placements, samples, blocks, time, until, threshold, program, ranks, profile
    )
    search = libraries.make_search(home(), prefix or (), modules or ())
    if search.prefixes and not preset:
        words = add_prefixes(words or [], search)
    planned, own_name = make_plan(
        words or [], preset, measured, {key: value for key, value in place_options.items() if value}, machine
    )
    if continued and planned.program:
        planned = keep_program(planned, results / name if name else continued)
    if planned.job.scheduler:
        schedulers.find_scheduler(planned.job)
    folder = choose_folder(results, own_name if name is None else name, anew=anew, more=more or 0)
    progress = (lambda _: None) if quiet else print_text
    if len(planned.candidates) == 1:
        progress("only one candidate: values, no comparison")
    known = is_campaign(folder)
    reach = None if known else background.start_thread(lambda: libraries.find(search))
    # Loading Polars takes as long as finding libraries.
    from rankbench import campaign, store
    from rankbench.campaign import recording

    request = campaign.CampaignRequest(
        planned, folder, machine, home(), search.prefixes, search.modules, seed, more or 0, reach=reach
    )
    finished = known and is_finished(request)
    if dry_run and not finished:
        from rankbench.cli.forecast import show_forecast

        show_forecast(request, again(folder.name), verbose=verbose)
        return
    if finished:
        show_finished(store.open(folder), folder.name)
        return
    # The same for the evaluation; nothing of it runs beside a launch that measures.
    loaded = background.load("rankbench.cli.live_progress", "rankbench.cli.conclusion", "scipy.special")
    try:
        prepared = campaign.prepare(request, progress)
        before = len(prepared.store.launches())
        loaded()
        decision = measure(prepared, quiet=quiet)
        recording.record_candidates(prepared, progress)
    except (KeyboardInterrupt, Terminated) as stopped:
        state = "what was measured is kept" if is_campaign(folder) else "nothing was measured yet"
        with contextlib.suppress(OSError):  # The terminal may be gone.
            print_text(f"stopped; {state}. Continue with: {again(folder.name)}")
        raise typer.Exit(exit_code(stopped)) from None
    if before == len(prepared.store.launches()):
        show_finished(prepared.store, folder.name)
        return
    from rankbench.cli.conclusion import conclude

    failed = conclude(prepared.store, decision, continue_by_name(folder), verbose=verbose)
    if failed and not ignore_failures:
        raise typer.Exit(1)


def is_finished(request: CampaignRequest) -> bool:
    """Return whether a campaign is complete."""
    from rankbench.cli import decisions

    return decisions.is_finished(request)


def measure(prepared: PreparedCampaign, *, quiet: bool) -> Decision:
    """Run the blocks of a campaign and show its progress; return why it ended."""
    from rankbench import campaign
    from rankbench.cli.decisions import stopping
    from rankbench.cli.live_progress import watch_campaign

    with watch_campaign(prepared.store.campaign, quiet=quiet) as watch:
        return campaign.run(prepared, stopping(prepared.store), watch)


def choose_stored_plan(campaign: Path, words: list[str], preset: str, name: str | None) -> tuple[list[str], Path, str]:
    """Return the stored plan of a campaign, the folder of the results that it is in, and its name."""
    if words or preset or name is not None:
        raise RankbenchError("--continue names the plan and the campaign; leave out other plans, candidates and --name")
    folder = find_campaign(campaign)
    if not is_campaign(folder):
        raise RankbenchError(
            f"--continue {campaign}: no campaign; `rankbench status` shows those in `{results_folder()}`"
        )
    return [str(folder / PLAN_FILE)], folder.parent, folder.resolve().name


def keep_program(planned: Plan, folder: Path) -> Plan:
    """Return a stored plan with the program as it was recorded: its folder was relative to the plan that was given."""
    from rankbench import store

    return msgspec.structs.replace(planned, program=store.open(folder).campaign.plan.program)


def choose_folder(results: Path, name: str, *, anew: bool, more: int) -> Path:
    """Return the folder of the campaign: with `anew` one that does not exist yet, with `more` one that does."""
    folder = campaign_folder(results, name)
    if anew and more:
        raise RankbenchError("--new starts a campaign, --more continues one; leave one of them out")
    if more and not (folder / "campaign.json").exists():
        raise RankbenchError(f"--more {more}: no campaign in {folder}; leave --more out, or name one: --name NAME")
    if not anew:
        return folder
    numbered = (campaign_folder(results, f"{name}-{number}") for number in itertools.count(2))
    return next(path for path in itertools.chain([folder], numbered) if not (path / "campaign.json").exists())


def continue_by_name(folder: Path) -> str:
    """Return the command that continues a stored campaign by its own plan: with the options about libraries and nodes
    that were given, which no plan holds.
    """
    options: list[str] = []
    words = iter(sys.argv[1:])
    for word in words:
        option, assigned, _ = word.partition("=")
        if option in PLACE_OPTIONS:
            options += [word] if assigned or option == "--one-machine" else [word, next(words, "")]
    named = folder.name if find_campaign(Path(folder.name)) == folder else str(folder)
    return shlex.join(["rankbench", "run", "--continue", named, *options])


def again(name: str) -> str:
    """Return the command that continues this campaign: as given, without what starts another one, measures more or
    measures nothing.
    """
    dropped = ("--more", "--name")
    words, rest = iter(sys.argv[1:]), ["rankbench"]
    for word in words:
        if word in dropped:
            next(words, "")
        elif word not in {"--new", "--dry-run", "-n"} and word.partition("=")[0] not in dropped:
            rest.append(word)
    named = {"--new", "--name"} & set(sys.argv) or any(word.startswith("--name=") for word in sys.argv)
    return shlex.join([*rest, *(["--name", name] if named else [])])


def show_finished(opened: Store, name: str) -> None:
    """Print lines on a complete campaign: when it was measured, and the commands that measure more of it or anew."""
    launches = opened.launches()
    at = datetime.fromisoformat(launches[-1].started).astimezone()
    blocks = spell_count(len({record.block for record in launches}), "block")
    for line in (
        f"{opened.folder} is finished: {spell_count(len(launches), 'launch')}, {blocks}, measured {at:%Y-%m-%d %H:%M}.",
        f"show it: rankbench show {shlex.quote(str(opened.folder))}",
        f"measure {spell_count(MORE_BLOCKS, 'more block')}: {continue_by_name(opened.folder)} --more {MORE_BLOCKS}",
        f"start another campaign: {again(name)} --new",
    ):
        print_text(line)
