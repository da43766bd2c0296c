"""The command `script`: prints the job script that `submit` would submit; nothing is changed."""

from __future__ import annotations

import tempfile
from pathlib import Path

import typer

from rankbench import campaign
from rankbench.campaign import CampaignRequest  # noqa: TC001 - typer resolves the annotations at run time
from rankbench.campaign.batch import make_script
from rankbench.cli.job_options import add_job_options
from rankbench.launch import schedulers
from rankbench.launch.script import render_script

ORDER = 32
GROUP = "Cluster"
EXAMPLES = """
rankbench script plan.toml --scheduler slurm > job.sh
"""


@add_job_options
def script(request: CampaignRequest) -> None:
    """Print the job script that `submit` would use.

    Nothing is changed. Notes go to standard error.
    """
    with tempfile.TemporaryDirectory(prefix="rankbench-") as folder:
        prepared = campaign.prepare(request._replace(folder=Path(folder) / request.folder.name), lambda _: None)
        for note in prepared.store.campaign.notes:
            typer.echo(f"note: {note}", err=True)
        job_script = make_script(prepared)._replace(campaign=request.folder.absolute())
    print(render_script(job_script, schedulers.find_scheduler(job_script.job)), end="")  # noqa: T201 - a script, with no line broken
