"""Opens stored campaigns, and collects new launches of their jobs."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from rankbench import store
from rankbench.language import render, say
from rankbench.model import RankbenchError
from rankbench.workflows.locations import find_campaign, results_folder

if TYPE_CHECKING:
    from rankbench.campaign import Decision
    from rankbench.store import Store

JOB = "job"
"""Subfolder with a campaign's job: `launch.script.FOLDER`, whose module is slow to load."""


def choose_folder(folder: Path | None) -> Path:
    """Return the folder of the campaign with this folder or name; without either, of the newest."""
    return find_campaign(folder) if folder else store.newest(results_folder())


def open_current(folder: Path | None) -> Store:
    """Open a campaign, by default the newest below the results, and collect new launches of its job."""
    opened = store.open(choose_folder(folder))
    if (opened.folder / JOB).exists():
        with contextlib.suppress(RankbenchError):  # Another process collects them, or the folder is read-only.
            collect_job(opened)
    return opened


def collect_job(opened: Store) -> Decision | None:
    """Collect new launches of a job, and end it if they are enough; return the decision, if one was possible."""
    from rankbench.campaign import Decision, Progress, collect_results, sum_launches
    from rankbench.plan import count_least_blocks

    opened.lock()
    try:
        collect_results.collect_launches(opened, Progress(opened.campaign))
        sum_launches.collect_from_job(opened)
        if enough := collect_results.read_enough(opened):  # Launches after that do not change it.
            return Decision(stop=True, reason=enough)
        stop, blocks = opened.campaign.plan.stop, collect_results.blocks_done(opened)
        if blocks < count_least_blocks(stop):
            return None
        decision = _decide_after(opened, blocks)
        if decision.stop:
            collect_results.request_end(opened, render(decision.reason))
        return decision
    finally:
        opened.unlock()


def _decide_after(opened: Store, blocks: int) -> Decision:
    from rankbench.analysis import evaluation  # It loads Polars.
    from rankbench.analysis.evaluation.stopping import decide

    seconds = [0.0] * blocks
    for launch in opened.launches():
        if launch.block <= blocks:
            seconds[launch.block - 1] += launch.duration_s
    decision = decide(opened.campaign.plan, lambda: evaluation.evaluate(opened), seconds)
    most = opened.campaign.plan.stop.blocks_max
    reason = say("the plan's {n:count block} {n:of is|are} done", n=most)
    return decision._replace(stop=True, reason=reason) if blocks >= most else decision
