"""The command `submit`: submits a campaign to a scheduler, as one job."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from rankbench import campaign, extras
from rankbench.campaign import CampaignRequest
from rankbench.campaign.batch import make_script, write
from rankbench.cli.display import print_text, spell_blocks
from rankbench.cli.job_options import add_job_options
from rankbench.cli.job_status import describe_queued_job, follow
from rankbench.launch import job_commands, schedulers
from rankbench.launch.script import FOLDER, render_script
from rankbench.model import RankbenchError
from rankbench.quantities import spell_count

ORDER = 34
GROUP = "Cluster"
EXAMPLES = """
rankbench submit plan.toml --scheduler slurm --time 2h --partition batch
rankbench submit plan.toml --scheduler pbs --nodes 4 --wait
rankbench submit plan.toml --scheduler slurm --print > job.sh
"""


@add_job_options
def submit(
    request: CampaignRequest,
    *,
    write_only: Annotated[bool, typer.Option("--write-only", help="Write the script, but do not submit it.")] = False,
    only_print: Annotated[
        bool, typer.Option("--print", help="Print the script; nothing is written or submitted. Notes go to stderr.")
    ] = False,
    wait: Annotated[bool, typer.Option("--wait", help="Wait for the job to end, as `status --wait` does.")] = False,
) -> None:
    """Submit a campaign to a scheduler, as one job.

    A campaign whose job ended too early is resumed.
    """
    if only_print:
        _print_script(request)
        return
    chosen = schedulers.find_scheduler(request.plan.job)
    if wait:
        extras.require("run", "--wait")
    if waiting := describe_queued_job(request.folder):
        raise RankbenchError(f"{request.folder}: {waiting}; wait for it by: rankbench status {request.folder} --wait")
    prepared = campaign.prepare(request, print_text)
    script = make_script(prepared)._replace(job=request.plan.job)
    path, is_edited = write(prepared, render_script(script, chosen))
    if is_edited:
        print_text(f"{path} was edited and is submitted as it is; remove it to get a new one")
    blocks = spell_blocks(prepared.store.campaign)
    print_text(f"{blocks} block{'s' * (blocks != '1')} of {spell_count(len(script.blocks[0]), 'launch')}: {path}")
    if write_only:
        print_text(f"submit it by: {' '.join(chosen.submit)} {'< ' * chosen.by_input}{path}")
        return
    number = job_commands.submit(chosen, path)
    job_commands.remember(request.folder / FOLDER, chosen.name, number)
    print_text(f"job {number} of {chosen.title} on {request.plan.job.nodes} nodes")
    prepared.store.unlock()
    if wait:
        follow(prepared.store)
    else:
        print_text(f"next: rankbench status {request.folder} --wait")


def _print_script(request: CampaignRequest) -> None:
    with tempfile.TemporaryDirectory(prefix="rankbench-") as folder:
        prepared = campaign.prepare(request._replace(folder=Path(folder) / request.folder.name), lambda _: None)
        for note in prepared.store.campaign.notes:
            typer.echo(f"note: {note}", err=True)
        script = make_script(prepared, request.folder)
    print(render_script(script, schedulers.find_scheduler(script.job)), end="")  # noqa: T201 - a script, with no line broken
