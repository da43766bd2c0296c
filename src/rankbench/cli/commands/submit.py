"""The command `submit`: submits a campaign to a scheduler, as one job."""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rankbench import campaign, extras, files
from rankbench.campaign import CampaignRequest
from rankbench.campaign.batch import make_script, write
from rankbench.cli.display import print_text, spell_blocks
from rankbench.cli.job_options import add_job_options
from rankbench.cli.job_status import POLL_S, describe_queued_job, follow
from rankbench.launch import job_commands, node_probe, schedulers
from rankbench.launch.script import FOLDER, SCRIPT, render_script
from rankbench.model import RankbenchError
from rankbench.plan.jobs import SHAPE
from rankbench.quantities import spell_count

if TYPE_CHECKING:
    from rankbench.launch.schedulers import Scheduler

ORDER = 34
GROUP = "Cluster"
EXAMPLES = """
rankbench submit plan.toml --scheduler slurm --time 2h --partition batch
rankbench submit plan.toml --scheduler pbs --nodes 4 --wait
rankbench submit mpich openmpi --operations bcast --scheduler flux --nodes 2
rankbench submit plan.toml --scheduler slurm --print > job.sh
rankbench submit plan.toml --scheduler slurm --nodes 2 --probe
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
    probe: Annotated[
        bool, typer.Option("--probe", help="Measure nothing: ask the nodes of a short job for their cores, for [job].")
    ] = False,
) -> None:
    """Submit a campaign to a scheduler, as one job.

    The campaign is that of a plan, or of candidates and options, as `run` takes them; without placements, candidates
    run on --nodes with --tasks-per-node ranks each (one). A campaign whose job ended too early is resumed.
    """
    if probe:
        probe_nodes(request)
        return
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
    print_text(f"job {number} of {chosen.title} on {spell_count(request.plan.job.nodes, 'node')}")
    prepared.store.unlock()
    if wait:
        follow(prepared.store)
    else:
        print_text(f"next: rankbench status {request.folder} --wait")


def probe_nodes(request: CampaignRequest) -> None:
    """Print the shapes of the nodes that a job gets, and what a plan says of them; exit code 1 if they are unlike.

    Raises RankbenchError if the job cannot be submitted, or a node does not answer.
    """
    chosen = schedulers.find_scheduler(request.plan.job)
    shell = request.plan.placements[0].remote_shell
    try:
        files.make_folder(request.folder.parent)
        folder = Path(tempfile.mkdtemp(prefix=f"{request.folder.name}-nodes-", dir=request.folder.parent))
        path = folder / FOLDER / SCRIPT
        files.make_folder(path.parent)
        files.write(path, node_probe.render_probe(folder, request.plan.job, shell, chosen))
    except OSError as error:
        raise RankbenchError(f"{request.folder.parent}: cannot be written ({error.strerror})") from None
    number = job_commands.submit(chosen, path)
    print_text(f"job {number} of {chosen.title} asks {spell_count(request.plan.job.nodes, 'node')}")
    try:
        wait_for_end(chosen, number)
    except KeyboardInterrupt:
        job_commands.cancel(chosen, number)
        raise
    nodes = node_probe.read_shapes(folder)
    shutil.rmtree(folder, ignore_errors=True)
    for line in node_probe.describe_shapes(nodes):
        print_text(line)
    if len(nodes) > 1:
        print_text("the nodes are unlike: choose equal ones by job.nodelist, job.partition or job.options")
        raise typer.Exit(1)
    (shape,) = nodes
    print_text("for [job] in the plan:")
    for key in SHAPE:
        print_text(f"    {key} = {getattr(shape, key)}")


def wait_for_end(scheduler: Scheduler, number: str) -> None:
    """Wait for the end of a job; print its states. Raises RankbenchError if the scheduler does not report them."""
    before = ""
    for look in range(10**9):
        state = job_commands.query_state(scheduler, number)
        if state.reason != before:
            print_text(f"job {number}: {state.reason}")
        if state.phase == "ended":
            return
        before = state.reason
        time.sleep(POLL_S[min(look // 5, len(POLL_S) - 1)])


def _print_script(request: CampaignRequest) -> None:
    with tempfile.TemporaryDirectory(prefix="rankbench-") as folder:
        prepared = campaign.prepare(request._replace(folder=Path(folder) / request.folder.name), lambda _: None)
        for note in prepared.store.campaign.notes:
            typer.echo(f"note: {note}", err=True)
        script = make_script(prepared, request.folder)
    typer.echo("note: to read; --write-only writes all that it needs to run", err=True)
    print(render_script(script, schedulers.find_scheduler(script.job)), end="")  # noqa: T201 - a script, with no line broken
