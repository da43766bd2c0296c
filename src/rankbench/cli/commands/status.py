"""The command `status`: all campaigns, or of one its progress, the state of its job, failures, and the next command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rankbench import extras, store
from rankbench.campaign import Decision, spending
from rankbench.cli.display import columns, console, print_text
from rankbench.cli.formats import TableOrJson, add_output_option, check_format, print_json
from rankbench.cli.job_status import (
    count_failed_cases,
    find_last_job,
    follow,
    is_sound,
    list_failed_launches,
    print_job,
    query_job,
    show_status,
)
from rankbench.language import render
from rankbench.launch.script import FOLDER
from rankbench.model import RankbenchError
from rankbench.quantities import spell_count
from rankbench.store import Store
from rankbench.workflows.locations import find_campaign, has_campaigns
from rankbench.workflows.opening import choose_folder, collect_job

ORDER = 36
GROUP = "Measure"
EXAMPLES = """
rankbench status                               # all campaigns
rankbench status /scratch/results --no-answer  # fast, also for many
rankbench status results/plan --wait
rankbench status plan --format json
"""


@add_output_option
def status(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="[CAMPAIGN|FOLDER]",
            help="A campaign's folder or name, or a folder of campaigns, which are listed; default: the results.",
        ),
    ] = None,
    *,
    wait: Annotated[bool, typer.Option("--wait", help="Follow its job to the end.")] = False,
    no_answer: Annotated[bool, typer.Option("--no-answer", help="List without answers, which take time.")] = False,
    spent: Annotated[bool, typer.Option("--spent", help="Show what its launches spent their time on.")] = False,
    format_: TableOrJson = "table",
) -> None:
    """List campaigns, or show how far one is and what failed.

    Without a campaign: date, state, candidates, blocks and answer of all. For one whose launches a scheduler makes, it
    first collects what a scheduler's job has measured.
    """
    form = check_format(format_, "table", "json")
    if wait and form == "json":
        raise RankbenchError("--wait follows a job with lines for people; leave out --wait or --format json")
    if not (wait or spent) and (folder is None or has_campaigns(find_campaign(folder))):
        from rankbench.cli.campaign_list import list_campaigns  # It loads what evaluates.

        list_campaigns(folder, form, no_answer=no_answer)
        return
    opened = store.open(choose_folder(folder))
    judged = extras.has("run")
    if wait:
        extras.require("run", "--wait")
    if wait and not find_last_job(opened.folder):
        raise RankbenchError(f"{opened.folder}: --wait: it has no job; `rankbench submit` makes one")
    if spent:
        show_spending(opened, form)
    elif not (opened.folder / FOLDER).exists():
        show_json(opened, None) if form == "json" else show_status(opened)
    elif wait:
        follow(opened)
    else:
        decision = collect_job(opened) if judged else None
        if form == "json":
            show_json(opened, decision)
            return
        show_status(opened)
        print_job(opened, decision)
        if not judged:
            print_text(
                f"new launches of its job are not collected here; to collect them, install: {extras.command('run')}"
            )


def show_json(opened: Store, decision: Decision | None) -> None:
    """Print the progress of a campaign as JSON."""
    record, launches = opened.campaign, opened.launches()
    flawed = count_failed_cases(opened)
    job = find_last_job(opened.folder)
    where = query_job(job) if job else None
    print_json(
        {
            "campaign": record.name,
            "folder": str(opened.folder),
            "running": store.is_running(opened.folder),
            "blocks": len({launch.block for launch in launches}),
            "blocks_min": record.plan.stop.blocks_min,
            "blocks_max": record.plan.stop.blocks_max,
            "launches": len(launches),
            "ok": sum(is_sound(launch, flawed) for launch in launches),
            "failures": list(list_failed_launches(opened)),
            "job": {"number": job.number, "phase": where.phase, "reason": where.reason} if job and where else None,
            "decision": {"stop": decision.stop, "reason": render(decision.reason)} if decision else None,
        }
    )


def show_spending(opened: Store, form: str) -> None:
    """Print how the time of a campaign was spent. Raises RankbenchError if no launch reports it."""
    launches = opened.launches()
    parts = spending.list_parts(launches)
    if not parts:
        raise RankbenchError(f"{opened.folder}: no launch reports how its time was spent; measure again with --new")
    if form == "json":
        print_json([part._asdict() for part in parts])
        return
    rows = columns("time spent on", "seconds", "share", text_columns=1)
    for spent in parts:
        rows.add_row(spending.PARTS[spent.part], f"{spent.seconds:.2f}", f"{spent.share:.1%}")
    rows.add_row("all of it", f"{sum(part.seconds for part in parts):.2f}", "100.0%")
    console.print(rows, markup=False)
    print_text(f"rank 0 of {spell_count(len(launches), 'launch')}; time before the first launch is not included")
