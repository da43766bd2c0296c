"""Opening a stored campaign, with what its job has brought meanwhile."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from rankbench import store
from rankbench.cli.folders import find_campaign, results_folder
from rankbench.language import render, say
from rankbench.model import RankbenchError

if TYPE_CHECKING:
    from pathlib import Path

    from rankbench.campaign import Decision
    from rankbench.store import Store

JOB = "job"
"""In a campaign's folder, that of its job, if it has one: `launch.script.FOLDER`, which takes long to load."""


def choose_folder(folder: Path | None) -> Path:
    """Return the folder of the campaign named by its folder or its name, without one of the newest."""
    return find_campaign(folder) if folder else store.newest(results_folder())


def open_current(folder: Path | None) -> Store:
    """Return a campaign, without a folder the newest below results, with what a job of it has brought meanwhile."""
    opened = store.open(choose_folder(folder))
    if (opened.folder / JOB).exists():
        with contextlib.suppress(RankbenchError):  # Another one takes it in, or it cannot be written here.
            take_in(opened)
    return opened


def take_in(opened: Store) -> Decision | None:
    """Take in what a job brought and end it where that is enough; return what was decided, if it could be looked at."""
    from rankbench.campaign import Decision, Progress, collect_results

    opened.lock()
    try:
        collect_results.take_in(opened, Progress(opened.campaign))
        if enough := collect_results.read_enough(opened):  # What it was sent after that does not undo it.
            return Decision(stop=True, reason=enough)
        stop, blocks = opened.campaign.plan.stop, collect_results.blocks_done(opened)
        if blocks < stop.blocks_min:
            return None
        decision = decide_after(opened, blocks)
        if decision.stop:
            collect_results.end(opened, render(decision.reason))
        return decision
    finally:
        opened.unlock()


def decide_after(opened: Store, blocks: int) -> Decision:
    """Return whether so many blocks are enough."""
    from rankbench import evaluation  # Where nothing is evaluated, Polars is not needed.
    from rankbench.evaluation.stopping import decide

    seconds = [0.0] * blocks
    for launch in opened.launches():
        if launch.block <= blocks:
            seconds[launch.block - 1] += launch.duration_s
    decision = decide(opened.campaign.plan, lambda: evaluation.evaluate(opened), seconds)
    most = opened.campaign.plan.stop.blocks_max
    done = say("the plan's {n:count block} {n:of is|are} done", n=most)
    return decision._replace(stop=True, reason=done) if blocks >= most else decision
