"""The command `run`: runs the campaign of a plan, or continues an interrupted one."""

from __future__ import annotations

import contextlib
import shlex
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rankbench.campaign import program_files
from rankbench.cli.display import TerminalProgress, print_text
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
    Time,
    Until,
)
from rankbench.cli.shared_options import (
    Binding,
    Hosts,
    InJob,
    Launcher,
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
from rankbench.cli.signals import Terminated, exit_code
from rankbench.plan import notation
from rankbench.quantities import spell_count
from rankbench.workflows import runs
from rankbench.workflows.locations import find_campaign, is_campaign
from rankbench.workflows.runs import RunRequest

if TYPE_CHECKING:
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
rankbench run plan.toml --in-job         # on the nodes of the job it is in
"""
PLACE_OPTIONS = ("--prefix", "--modules", "--hosts", "--remote-shell", "--binding", "--launcher")
"""Options with a value that a campaign's stored plan does not hold."""
PLACE_FLAGS = ("--one-machine", "--in-job", "--clean")
"""The same, without a value."""
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
    launcher: Launcher = "",
    binding: Binding = "",
    one_machine: OneMachine = False,  # noqa: FBT002
    in_job: InJob = False,  # noqa: FBT002
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
    request = RunRequest(
        words=words or (),
        preset=preset,
        operations=operations,
        program=program,
        profile=profile,
        ranks=ranks,
        sizes=sizes,
        forms=forms,
        placements=placements,
        samples=samples,
        blocks=blocks,
        time=time,
        until=until,
        threshold=threshold,
        results=results,
        name=name,
        prefixes=prefix or (),
        modules=modules or (),
        seed=seed,
        hosts=hosts,
        remote_shell=remote_shell,
        launcher=launcher,
        binding=binding,
        one_machine=one_machine,
        is_in_job=in_job,
        more=more or 0,
        continued=continued,
        starts_anew=anew,
        is_clean=clean,
    )
    progress = TerminalProgress(quiet=quiet)
    planned = runs.plan_run(request, progress)
    folder = planned.request.folder
    if dry_run and not planned.is_finished:
        from rankbench.cli.forecast import show_forecast

        show_forecast(planned.request, again(folder.name), verbose=verbose)
        return
    try:
        result = runs.measure(planned, progress)
    except (KeyboardInterrupt, Terminated) as stopped:
        state = "what was measured is kept" if is_campaign(folder) else "nothing was measured yet"
        with contextlib.suppress(OSError):  # The terminal may be gone.
            print_text(f"stopped; {state}. Continue with: {again(folder.name)}")
        raise typer.Exit(exit_code(stopped)) from None
    if result.decision is None:
        show_finished(result.store, folder.name)
        warn_changed_program(result.store)
        return
    from rankbench.cli.campaign_end import conclude

    failed = conclude(result.store, result.decision, continue_by_name(folder), verbose=verbose)
    if failed and not ignore_failures:
        raise typer.Exit(1)


def continue_by_name(folder: Path) -> str:
    """Return the command that continues a stored campaign by its own plan: with the options about libraries and nodes
    that were given, which no plan holds.
    """
    options: list[str] = []
    words = iter(sys.argv[1:])
    for word in words:
        option, assigned, _ = word.partition("=")
        if word in PLACE_FLAGS:
            options.append(word)
        elif option in PLACE_OPTIONS:
            options += [word] if assigned else [word, next(words, "")]
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


def warn_changed_program(opened: Store) -> None:
    """Say that the program of a complete campaign is another one by now."""
    planned = opened.campaign.plan
    if planned.program and (changed := program_files.find_changed(opened.folder, planned.program, planned.file)):
        print_text(f"note: changed since this campaign began: {changed}; --new measures the program as it is now")


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
